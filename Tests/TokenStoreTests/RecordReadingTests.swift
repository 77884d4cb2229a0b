internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// Reading single records while the store is in use.
@Suite(.bounded) struct RecordReadingTests {
    private let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    @Test func readsTheLatestVersionsOfRecords() async throws {
        let store = try await store()
        try await store.commit([.put(.sample(3, fill: 0x42)), .delete(.sample(4))])
        let keys = [3, 4, 5, 99].map { RecordKey.sample($0) }
        let read = try await store.records(with: keys)
        #expect(Set(read.map(\.key)) == [.sample(3), .sample(5)])
        #expect(read.first { $0.key == .sample(3) }?.body.first == 0x42)
        #expect(try store.readRecords(with: keys) == read)
        await store.close()
    }

    @Test func readsAfterAChangeOfTheKey() async throws {
        let store = try await store()
        try await store.changeKeySource(to: .file, passphrase: nil)
        #expect(try await store.records(with: [.sample(7)]) == [.sample(7)])
        await store.close()
    }

    @Test func refusesToReadALockedOrClosedStore() async throws {
        let store = try await store()
        try await store.lock()
        await #expect(throws: TokenError.self) { try await store.records(with: [.sample(7)]) }
        await store.close()
        #expect(throws: TokenError.self) { try store.readRecords(with: [.sample(7)]) }
    }

    /// The disk holds every record, although SQLite cannot find them.
    @Test func recoversRecordsFromPagesThatSQLiteCannotRead() async throws {
        let store = try await reopened()
        try StoreFile(folder.file).damagePages()
        #expect(try await store.records(with: [.sample(3), .sample(7)]) == [.sample(3), .sample(7)])
        #expect(store.report.losses == 0)
        #expect(store.report.notices.count == 1 && store.report.quarantined.count == 1)
        #expect(store.report.notices.first?.contains("all 10 records were saved") == true)
        await store.close()
        #expect(try await count() == 10)
    }

    /// One record is not authentic any more, so that its account has lost it.
    @Test func returnsTheOtherRecordsIfOneIsNotAuthentic() async throws {
        let file = StoreFile(folder.file)
        let first = try folder.open()
        try await first.commit([.put(.sample(20))])
        await first.close()
        let lost = try file.records()
        let store = try await reopened()
        let all = try file.records()
        #expect(all.count == 11 && lost.count == 1)
        try file.damageRecords(except: all.subtracting(lost))
        #expect(try await store.records(with: [.sample(0), .sample(20), .sample(2)]) == [.sample(0), .sample(2)])
        #expect(store.report.losses == 1)
        #expect(store.report.notices.first?.contains("a record is missing or not authentic") == true)
        #expect(try store.readRecords(with: [.sample(20)]).isEmpty)
        #expect(store.report.losses == 1 && store.report.notices.count == 1, "once for a loss")
        // The caller has it in memory, and writes it again.
        try await store.commit([.put(.sample(20))])
        #expect(try await store.records(with: [.sample(20)]) == [.sample(20)])
        await store.close()
        #expect(try await count() == 11)
    }

    /// The recovered records are in memory until the new file can be written.
    @Test func returnsRecoveredRecordsWhileTheDiskCannotBeWritten() async throws {
        let disk = try FaultyDisk()
        let store = try await reopened(vfs: disk.name)
        try StoreFile(folder.file).damagePages()
        disk.fail(.full)
        for _ in 0..<2 {
            #expect(try await store.records(with: [.sample(3), .sample(7)]) == [.sample(3), .sample(7)])
        }
        #expect(store.report.losses == 0 && store.report.notices.count == 1)
        #expect(store.report.quarantined.isEmpty)
        disk.recover()
        #expect(try await store.records(with: [.sample(3)]) == [.sample(3)])
        #expect(store.report.quarantined.count == 1)
        await store.close()
        #expect(try await count() == 10)
    }

    /// They are in memory only.
    @Test func isNotLockedWhileRecoveredRecordsCannotBeWritten() async throws {
        let disk = try FaultyDisk()
        let store = try await reopened(vfs: disk.name)
        try StoreFile(folder.file).damagePages()
        disk.fail(.full)
        #expect(try await store.records(with: [.sample(3)]) == [.sample(3)])
        await #expect(throws: TokenError.self) { try await store.lock() }
        for isWritable in [false, true] {
            if isWritable { disk.recover() }
            #expect(try await store.records(with: [.sample(3)]) == [.sample(3)])
        }
        try await store.lock()
        await store.close()
        #expect(try await count() == 10)
    }

    /// As somebody may remove the log to make room. What it has cannot be written into the database, and can be read.
    @Test func readsOnIfItsLogIsRemovedFromAFullDisk() async throws {
        let disk = try FaultyDisk()
        let store = try await reopened(vfs: disk.name)
        try await store.commit([.put(.sample(20, size: 5000))])
        try FileManager.default.removeItem(atPath: folder.file + "-wal")
        disk.fail(.full)
        for _ in 0..<2 {
            let read = try await store.records(with: [.sample(3), .sample(20)])
            #expect(read == [.sample(3), .sample(20, size: 5000)])
        }
        await #expect(throws: TokenError.self) { try await store.commit([.put(.sample(21))]) }
        disk.recover()
        try await store.commit([.put(.sample(21))])
        #expect(store.report.writeError == nil && store.report.notices.isEmpty)
        await store.close()
        #expect(try await count() == 12)
    }

    /// Whichever read finds damage, and with it all later ones: the records are returned, or cannot be read now.
    @Test func repairsAFileOnceForARead() async throws {
        for after in 0... {
            let folder = try StoreFolder()
            let (disk, first) = (try FaultyDisk(), try folder.open())
            for number in 0..<10 { try await first.commit([.put(.sample(number))]) }
            await first.close()
            let store = try folder.open(vfs: disk.name)
            _ = try await store.load()
            try store.forgetPages()
            disk.findDamageInReads(after: after)
            do throws(TokenError) {
                #expect(try await store.records(with: [.sample(3)]) == [.sample(3)], "after \(after)")
            } catch {
                #expect(error.code == .storeUnavailable, "after \(after)")
            }
            let failed = disk.failed
            disk.recover()
            #expect(try await store.records(with: [.sample(3)]) == [.sample(3)], "after \(after)")
            #expect(store.report.losses == 0)
            await store.close()
            guard failed > 0 else { break }
        }
    }

    /// A read ends the wait of commits that gather, and sees what they write.
    @available(macOS 26, *)
    @Test func readsWhatGatheringCommitsWrite() async throws {
        let store = try folder.open()
        _ = try await store.load()
        try await withThrowingTaskGroup { group in
            group.addImmediateTask { try await store.commit([.put(.sample(1))], gatheringFor: .seconds(3600)) }
            #expect(try await store.records(with: [.sample(1)]) == [.sample(1)])
            try await group.waitForAll()
        }
        await store.close()
    }

    private func store() async throws -> Store {
        let store = try folder.open()
        _ = try await store.load()
        for number in 0..<10 { try await store.commit([.put(.sample(number))]) }
        return store
    }

    /// The store after a restart: its records are in the database, and no longer in the log. SQLite has no page in memory.
    private func reopened(vfs: String? = nil) async throws -> Store {
        await (try await store()).close()
        let store = try folder.open(vfs: vfs)
        _ = try await store.load()
        try store.forgetPages()
        return store
    }

    /// The number of records after another restart.
    private func count() async throws -> Int {
        let store = try folder.open()
        defer { withExtendedLifetime(folder) {} }
        let count = try await store.load().count
        #expect(store.report.notices.isEmpty)
        await store.close()
        return count
    }
}
