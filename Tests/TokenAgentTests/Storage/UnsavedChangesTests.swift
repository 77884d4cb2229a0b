internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

@Suite(.bounded) struct UnsavedChangesTests {
    @Test func keepsTheLatestChangeOfEachRecord() {
        var unsaved = UnsavedChanges()
        unsaved.append([.put(.sample("a", 1)), .put(.sample("b", 1))])
        unsaved.append([.put(.sample("a", 2))])
        #expect(unsaved.changes == [.put(.sample("b", 1)), .put(.sample("a", 2))])
        unsaved.append([.delete(.sample("b"))])
        #expect(unsaved.changes == [.put(.sample("a", 2)), .delete(.sample("b"))])
    }

    @Test func removesWrittenChangesAndEarlierOnesOfTheSameRecords() {
        var unsaved = UnsavedChanges()
        unsaved.append([.put(.sample("a", 1)), .put(.sample("b", 1)), .delete(.sample("c"))])
        // The older value must not be written after the newer one.
        unsaved.supersede([.put(.sample("a", 2))])
        #expect(unsaved.changes == [.put(.sample("b", 1)), .delete(.sample("c"))])
        unsaved.supersede([.put(.sample("c", 1)), .delete(.sample("b"))])
        #expect(unsaved.isEmpty)
    }

    @Test func removesChangesOfADeletedGroupOnly() {
        var unsaved = UnsavedChanges()
        unsaved.append([.put(.sample("a", 1)), .delete(.sample("b")), .put(.sample("a", 1, group: "other"))])
        unsaved.append([.deleteGroup("group")])
        #expect(unsaved.changes == [.put(.sample("a", 1, group: "other")), .deleteGroup("group")])
        // A later change of the group does not remove its deletion.
        unsaved.append([.put(.sample("a", 2))])
        #expect(
            unsaved.changes == [
                .put(.sample("a", 1, group: "other")), .deleteGroup("group"), .put(.sample("a", 2)),
            ])
        unsaved.supersede([.deleteGroup("group")])
        #expect(unsaved.changes == [.put(.sample("a", 1, group: "other"))])
    }

    /// As on the disk: canonically equivalent names with other bytes are other names.
    @Test func distinguishesTheBytesOfNames() {
        var unsaved = UnsavedChanges()
        unsaved.append([.put(.sample("caf\u{E9}", 1)), .put(.sample("a", 1, group: "caf\u{E9}"))])
        unsaved.supersede([.put(.sample("cafe\u{301}", 2)), .deleteGroup("cafe\u{301}")])
        #expect(unsaved.changes == [.put(.sample("caf\u{E9}", 1)), .put(.sample("a", 1, group: "caf\u{E9}"))])
        unsaved.supersede([.put(.sample("caf\u{E9}", 2)), .deleteGroup("caf\u{E9}")])
        #expect(unsaved.isEmpty)
    }

    @Test func distinguishesRecordKinds() {
        var unsaved = UnsavedChanges()
        unsaved.append([.put(.sample("a", 1)), .put(.sample("a", 1, kind: .account))])
        unsaved.supersede([.delete(.sample("a", kind: .account))])
        #expect(unsaved.changes == [.put(.sample("a", 1))])
    }

    @Test func returnsWhatCouldNotBeWrittenAgainBeforeNewerChanges() {
        var unsaved = UnsavedChanges()
        unsaved.append([.put(.sample("a", 1)), .put(.sample("b", 1)), .put(.sample("c", 1))])
        let (attempt, _) = unsaved.beginWriting()
        #expect(unsaved.isEmpty && unsaved.areBeingWritten)
        // Another commit fails meanwhile, and a third one succeeds.
        unsaved.append([.put(.sample("a", 2))])
        unsaved.supersede([.delete(.sample("b"))])
        unsaved.failWriting(attempt)
        #expect(unsaved.changes == [.put(.sample("c", 1)), .put(.sample("a", 2))])
        #expect(!unsaved.areBeingWritten)
    }

    @Test func countsNoUpgradeAsAddition() {
        var unsaved = UnsavedChanges()
        unsaved.append(StoreUpgrade(changes: [.put(.sample("a", 1)), .put(.sample("b", 1))]))
        #expect(unsaved.sizeOfAdditions == 0)
        unsaved.append([.put(.sample("c", 1))])
        let size = unsaved.sizeOfAdditions
        #expect(size > 0)
        var (attempt, _) = unsaved.beginWriting()
        unsaved.failWriting(attempt)
        #expect(unsaved.sizeOfAdditions == size)
        (attempt, _) = unsaved.beginWriting()
        unsaved.endWriting(attempt)
        // The upgrade has been written: everything counts from now on.
        unsaved.append([.put(.sample("c", 1))])
        #expect(unsaved.sizeOfAdditions == size)
    }

    /// Otherwise the record would come back after a kill, under the key that it had in an earlier version.
    @Test func deletesARecordUnderTheKeyThatItHasUntilTheUpgrade() {
        var unsaved = UnsavedChanges()
        unsaved.append(
            StoreUpgrade(
                changes: [.delete(.sample("old")), .put(.sample("new", 1))],
                formerKeys: [.sample("new"): .sample("old")]))
        #expect(unsaved.formerDeletions(of: [.delete(.sample("other")), .put(.sample("new", 2))]) == [])
        #expect(unsaved.formerDeletions(of: [.delete(.sample("new"))]) == [.delete(.sample("old"))])
        let (attempt, _) = unsaved.beginWriting()
        #expect(unsaved.formerDeletions(of: [.delete(.sample("new"))]) == [.delete(.sample("old"))])
        unsaved.failWriting(attempt)
        // Another record has got the key meanwhile.
        unsaved.supersede([.put(.sample("old", 2))])
        #expect(unsaved.formerDeletions(of: [.delete(.sample("new"))]) == [])
    }

    /// Another record may have got the former key, and be removed.
    @Test(arguments: ["new", "old"])
    func tellsARemovalFromTheDeletionsOfAnUpgrade(removed: String) throws {
        let group = try #require(SharingGroup("group"))
        var unsaved = UnsavedChanges()
        unsaved.append(
            StoreUpgrade(
                changes: [.delete(.sample("old")), .put(.sample("new", 1))],
                formerKeys: [.sample("new"): .sample("old")]))
        #expect(!unsaved.hasRemovals(in: group))
        unsaved.append([.delete(.sample(removed))])
        #expect(unsaved.hasRemovals(in: group))
    }

    /// Memory gets every change, the disk those of successful commits.
    @Test func makesTheDiskEqualToMemoryWhicheverCommitsFail() {
        var seed = TestSeed()
        for _ in 0..<300 {
            var (memory, disk, unsaved) = (Model(), Model(), UnsavedChanges())
            for _ in 0..<Int.random(in: 1...12, using: &seed) {
                let changes = (0..<Int.random(in: 0...4, using: &seed)).map { _ in StoreChange.random(&seed) }
                memory.apply(changes)
                let (attempt, earlier) = unsaved.beginWriting()
                let together = earlier + changes
                if Bool.random(using: &seed) {
                    unsaved.failWriting(attempt)
                    unsaved.append(changes)
                } else {
                    disk.apply(together)
                    unsaved.endWriting(attempt)
                    unsaved.supersede(together)
                    #expect(disk == memory, "\(seed)")
                    #expect(unsaved.isEmpty, "\(seed)")
                }
            }
            disk.apply(unsaved.changes)
            #expect(disk == memory, "\(seed)")
        }
    }
}

extension UnsavedChanges {
    /// The changes that remain to be written.
    fileprivate var changes: [StoreChange] {
        var copy = self
        return copy.beginWriting().steps
    }
}

/// A store that never fails.
private struct Model: Equatable {
    private var records: [RecordKey: StoredRecord] = [:]

    mutating func apply(_ changes: [StoreChange]) {
        for change in changes {
            switch change {
            case .put(let record): records[record.key] = record
            case .delete(let key): records[key] = nil
            case .deleteGroup(let group): records = records.filter { $0.key.group != group }
            }
        }
    }
}

extension RecordKey {
    fileprivate static func sample(
        _ name: String, group: String = "group", kind: RecordKind = .refreshToken
    ) -> RecordKey {
        RecordKey(group: group, kind: kind, key: name)
    }
}

extension StoredRecord {
    fileprivate static func sample(
        _ name: String, _ version: UInt8, group: String = "group", kind: RecordKind = .refreshToken
    ) -> StoredRecord {
        StoredRecord(key: .sample(name, group: group, kind: kind), body: [version])
    }
}

extension StoreChange {
    fileprivate static func random(_ seed: inout TestSeed) -> StoreChange {
        let name = ["a", "b", "c"][Int.random(in: 0..<3, using: &seed)]
        let group = ["group", "other"][Int.random(in: 0..<2, using: &seed)]
        switch Int.random(in: 0..<8, using: &seed) {
        case 0: return .deleteGroup(group)
        case 1, 2: return .delete(.sample(name, group: group))
        default: return .put(.sample(name, UInt8.random(in: 0...255, using: &seed), group: group))
        }
    }
}
