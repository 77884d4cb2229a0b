internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
@testable internal import TokenStore

@Suite(.bounded) struct DurabilityTests {
    @Test func keepsEveryRecordWhenItIsClosedAndOpenedAgain() async throws {
        let folder = try StoreFolder()
        let records = RecordKind.allCases.map { kind in
            StoredRecord(key: .sample(1, kind: kind), body: [0, 1, 255, UInt8(kind.rawValue)])
        }
        let store = try folder.open()
        try await store.commit(records.map(StoreChange.put))
        await store.close()

        let again = try folder.open()
        #expect(try await again.sorted() == records)
        await again.close()
    }

    @Test func keepsCommitsWhenTheFilesAreCopiedWithoutClosing() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        for number in 1...20 { try await store.commit([.put(.sample(number))]) }
        let crashed = try folder.copyWithoutClosing()

        let copy = try crashed.open()
        #expect(try await copy.load().count == 20)
        await copy.close()
        await store.close()
    }

    @Test func keepsCommitsWhenTheProcessIsKilled() async throws {
        let folder = try StoreFolder()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let store = try StoreFolder.open(path)
            try await store.commit([.put(.sample(1)), .put(.sample(2))])
            try await store.commit([.delete(.sample(1))])
            kill(getpid(), SIGKILL)
        }
        let store = try folder.open()
        #expect(try await store.load() == [.sample(2)])
        await store.close()
    }

    /// Its last commit may not have reached the disk, and is visible after the next start: a loss of power must not take that back.
    @Test func flushesTheLogThatAKilledProcessHasLeft() async throws {
        let (folder, disk) = (try StoreFolder(), try FaultyDisk())
        let first = try folder.open()
        try await first.commit([.put(.sample(1))])
        let crashed = try folder.copyWithoutClosing()
        await first.close()
        // The flush is seen by its failure, which does not keep the records from being read.
        disk.fail(.sync)
        let store = try crashed.open(vfs: disk.name)
        #expect(try await store.load() == [.sample(1)])
        #expect(disk.failed > 0)
        disk.recover()
        await store.close()
    }

    @Test func keepsNothingOfADeletedRecordInTheDatabaseFile() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let secret = StoredRecord(key: .sample(1), body: Array("a-refresh-token-to-forget".utf8))
        try await store.commit([.put(secret)])
        try await store.commit([.delete(secret.key)])
        await store.close()
        let bytes = try Data(contentsOf: URL(filePath: folder.file))
        #expect(bytes.range(of: Data(secret.body)) == nil)
        #expect(folder.mode(of: "cache.sqlite-wal") == nil)
    }

    @Test func keepsNothingOfADeletedRecordInItsFilesWhenItsLogIsEmptied() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1))])
        let copy = try folder.copyWithoutClosing()
        let connection = try StoreDatabase.connect(copy.file)
        let select = try connection.prepare("SELECT body FROM sealed")
        try #require(try select.step())
        let sealed = Data(select.blob(0))
        func isOnTheDisk() throws -> Bool {
            try folder.names.contains { name in
                try Data(contentsOf: URL(filePath: "\(folder.path)/\(name)")).range(of: sealed) != nil
            }
        }
        try await store.commit([.delete(.sample(1))])
        #expect(try isOnTheDisk(), "the log has it")
        await store.truncateLog()
        #expect(try !isOnTheDisk())
        try await store.commit([.put(.sample(2))])
        await store.close()
        let again = try folder.open()
        #expect(try await again.load() == [.sample(2)])
        await again.close()
    }

    /// By a backup that restores an earlier log beside the database, which changes seldom.
    @Test(arguments: [false, true])
    func losesNothingIfItsLogIsRemovedOrReplaced(isReplaced: Bool) async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1))])
        let backup = try folder.copyWithoutClosing()
        try await store.commit([.put(.sample(2))])
        let log = folder.file + "-wal"
        try FileManager.default.removeItem(atPath: log)
        if isReplaced { try FileManager.default.copyItem(atPath: backup.file + "-wal", toPath: log) }
        try await store.commit([.put(.sample(3)), .delete(.sample(1))])
        #expect(try await store.records(with: [.sample(2)]) == [.sample(2)])
        // As after a kill.
        let crashed = try folder.copyWithoutClosing()
        await store.close()
        let again = try crashed.open()
        #expect(try await again.load() == [.sample(2), .sample(3)])
        #expect(again.report.notices.isEmpty && again.report.quarantined.isEmpty, "\(again.report.notices)")
        await again.close()
    }

    /// A home folder is mounted over that of an agent that was started before, and nothing is written.
    @Test func findsThatItsFolderIsNotInItsPlaceUntilItIsAgain() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1))])
        #expect(await store.checkPlace() == nil)
        let elsewhere = folder.root + "/elsewhere"
        try FileManager.default.moveItem(atPath: folder.path, toPath: elsewhere)
        try folder.makeDirectory()
        let error = try #require(await store.checkPlace())
        #expect(error.message.contains("was removed or replaced by another program"))
        #expect(store.report.writeError == error)
        #expect(await store.checkPlace() == nil, "it is told once")
        #expect(store.report.writeError == error)
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.moveItem(atPath: elsewhere, toPath: folder.path)
        #expect(await store.checkPlace() == nil)
        #expect(store.report.writeError == nil)
        await store.close()
    }

    /// By `rm -r`, or by a backup that is put in its place: SQLite writes on to the file that has no name any more.
    @Test(arguments: [false, true])
    func acknowledgesNothingInAFileThatWasRemovedOrReplaced(isReplaced: Bool) async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1))])
        let backup = try folder.copyWithoutClosing()
        try FileManager.default.removeItem(atPath: folder.path)
        if isReplaced { try FileManager.default.copyItem(atPath: backup.path, toPath: folder.path) }
        let changes: [StoreChange] = [.put(.sample(2))]
        for hasBatches in [false, true] {
            let error = await #expect(throws: TokenError.self) {
                if hasBatches {
                    try await store.commit(batches: { number throws(TokenError) in number == 0 ? changes : nil })
                } else {
                    try await store.commit(changes)
                }
            }
            #expect(error?.code == .storeUnavailable)
            #expect(error?.message.contains("was removed or replaced by another program") == true)
            #expect(store.report.writeError == error)
        }
        #expect(try await store.records(with: [.sample(1)]) == [.sample(1)], "what was written before is served")
        await store.close()
        // Closing leaves the log of the backup alone.
        let again = try folder.open()
        #expect(try await again.load() == (isReplaced ? [.sample(1)] : []))
        await again.close()
    }
}
