internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// Stores of version 2, which that version wrote: one that was closed, and one whose agent was killed.
@Suite(.bounded) struct UpgradeTests {
    private static let fixtures = ["store-2", "store-2-killed"]

    @Test(arguments: fixtures)
    func readsAStoreOfVersion2(name: String) async throws {
        let folder = try StoreFolder(fixture: name)
        for _ in 0..<2 {
            let store = try folder.open()
            let records = try await store.load()
            #expect(records.count == 42)
            #expect(records.allSatisfy { $0.account == .unknown })
            #expect(store.report.notices == [] && store.report.quarantined == [])
            await store.close()
        }
        #expect(try folder.version() == 2, "nothing has been written")
    }

    @Test(arguments: fixtures)
    func givesTheFirstCommitTheNewVersion(name: String) async throws {
        let folder = try StoreFolder(fixture: name)
        let store = try folder.open()
        let records = try await store.load()
        try await store.commit([.put(.sample(1))])
        #expect(try folder.version() == 3)
        await store.close()
        let again = try folder.open()
        #expect(try await again.load() == records + [.sample(1)])
        #expect(again.report.notices == [])
        await again.close()
    }

    /// Version 2 would take records of version 3 for none at all.
    @Test(arguments: fixtures, FaultyDisk.Failure.allCases)
    func hasNoNewRecordInAnOldStoreWhicheverOperationFails(name: String, failure: FaultyDisk.Failure) async throws {
        for after in 0... {
            let (folder, disk) = (try StoreFolder(fixture: name), try FaultyDisk())
            let store = try folder.open(vfs: disk.name)
            #expect(try await store.load().count == 42)
            disk.fail(failure, after: after)
            let isWritten = (try? await store.commit([.put(.sample(1))])) != nil
            let failed = disk.failed > 0
            let killed = try folder.copyWithoutClosing()
            disk.recover()
            try await store.commit([.put(.sample(2))])
            await store.close()
            let comment: Comment = "\(failure) after \(after)"
            // As a kill leaves it, and after the next commit.
            let version = try killed.version()
            let first = try killed.open()
            let found = try await first.load()
            #expect(found.count >= (isWritten ? 43 : 42), comment)
            #expect(version == 3 || found.allSatisfy { $0.account == .unknown }, comment)
            #expect(first.report.notices == [], comment)
            await first.close()
            let again = try folder.open()
            #expect(try await again.load().contains(.sample(2)), comment)
            #expect(again.report.notices == [], comment)
            await again.close()
            #expect(try folder.version() == 3, comment)
            guard failed else { break }
        }
    }

    /// The last commit is the one that changes the version.
    @Test func recoversAStoreWhoseLogIsDamagedAfterTheChangeOfVersion() async throws {
        var seed = TestSeed()
        let folder = try StoreFolder(fixture: "store-2")
        let store = try folder.open()
        let before = try await store.load()
        try await store.commit(before.map { .put(StoredRecord(key: $0.key, body: $0.body, account: .noAccount)) })
        let crashed = try folder.copyWithoutClosing()
        await store.close()
        let log = try Data(contentsOf: URL(filePath: crashed.file + "-wal"))
        for _ in 0..<60 {
            let place = Int.random(in: 0..<log.count, using: &seed)
            let damaged = try crashed.copyWithoutClosing()
            var bytes = log
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &seed)
            try bytes.write(to: URL(filePath: damaged.file + "-wal"))
            let opened = try damaged.open()
            let found = try await opened.load()
            let keys = Set(found.map(\.key))
            #expect(keys.count >= before.count - 1, "byte \(place), \(seed)")
            let isAsBefore = found == before
            #expect(isAsBefore || found.contains { $0.account == .noAccount }, "byte \(place), \(seed)")
            #expect(keys.count == before.count || !opened.report.notices.isEmpty, "byte \(place), \(seed)")
            await opened.close()
        }
    }

    @Test func sealsTheRecordsOfVersion2AgainUnderANewKey() async throws {
        let folder = try StoreFolder(fixture: "store-2")
        let store = try folder.open()
        let records = try await store.load()
        try await store.changeKeySource(to: .file, passphrase: nil)
        await store.close()
        let again = try folder.open()
        #expect(try await again.load() == records)
        await again.close()
    }
}
