internal import Dispatch
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// The records of one account are read before all others.
@Suite(.bounded) struct EarlyReadTests {
    @Test func readsTheRecordsOfAnAccountBeforeEveryRecordIsRead() async throws {
        let folder = try await Self.folder(accounts: 1_500)
        let early = try await Self.early(folder, ["account-1417"])[0]
        #expect(early.map(Self.keys)?.isSuperset(of: ["cloud", "account-1417/0", "account-1417/1"]) == true)
        // A tag of 16 bits may be that of another account, too.
        #expect(try #require(early).count < 50)
    }

    @Test func answersRequestsForSeveralAccountsAtOnce() async throws {
        let folder = try await Self.folder(accounts: 20)
        let early = try await Self.early(folder, ["account-3", "account-3", "account-7", "account-100"])
        let expected: [Set] = [
            ["cloud", "account-3/0", "account-3/1"], ["cloud", "account-3/0", "account-3/1"],
            ["cloud", "account-7/0", "account-7/1"], ["cloud"],
        ]
        for (found, expected) in zip(early, expected) {
            #expect(found.map(Self.keys)?.isSuperset(of: expected) == true)
        }
    }

    @Test func leavesOutTheAccountOfAnotherGroup() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit((0..<40).map { .put(.sample($0, group: "other-\($0)", account: .account("alice"))) })
        await store.close()
        let early = try #require(try await Self.early(folder, ["alice"], in: "other-1")[0])
        #expect(early.contains(.sample(1, group: "other-1", account: .account("alice"))))
        #expect(early.count < 40)
    }

    @Test func readsRecordsOfVersion2ForEveryAccount() async throws {
        let early = try await Self.early(try StoreFolder(fixture: "store-2"), ["nobody"])[0]
        #expect(early?.count == 42)
    }

    @Test func hasNoAnswerUnlessTheStoreIsBeingLoaded() async throws {
        let folder = try await Self.folder(accounts: 2)
        let store = try folder.open()
        #expect(await store.recordsWhileLoading(of: "account-1", in: "group") == nil)
        _ = try await store.load(into: [StoredRecord].self)
        #expect(await store.recordsWhileLoading(of: "account-1", in: "group") == nil)
        await store.close()
    }

    @Test func hasNoAnswerIfTheStoreCannotBeOpened() async throws {
        let folder = try await Self.folder(accounts: 2)
        let keys = KeySettings(required: .passphrase)
        #expect(try await Self.early(folder, ["account-1"], keys: keys) == [nil])
    }

    /// The log may have removed the account.
    @Test func hasNoAnswerFromADatabaseWhoseLogHidesCommits() async throws {
        let folder = try await Self.folder(accounts: 2)
        let store = try folder.open()
        _ = try await store.load()
        for number in 0..<4 { try await store.commit([.delete(.sample(number, kind: .account))]) }
        for number in 0..<4 { try await store.commit([.put(.sample(number))]) }
        let crashed = try folder.copyWithoutClosing()
        await store.close()
        var log = try Data(contentsOf: URL(filePath: crashed.file + "-wal"))
        log[32 + 24 + 100] ^= 1
        try log.write(to: URL(filePath: crashed.file + "-wal"))
        #expect(try await Self.early(crashed, ["account-1"]) == [nil])
    }

    @Test func hasNoAnswerFromADamagedRecord() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let record = StoredRecord.sample(1, size: 300, account: .account("alice"))
        try await store.commit([.put(record)])
        await store.close()
        var bytes = try Data(contentsOf: URL(filePath: folder.file))
        let mark = try #require(bytes.range(of: Data([0xA7, 0x53, 0x04, 0x02]))).lowerBound
        bytes[mark + 100] ^= 1
        try bytes.write(to: URL(filePath: folder.file))
        #expect(try await Self.early(folder, ["alice"]) == [nil])
    }

    /// Whoever asks for ever new accounts must not delay the load.
    @Test func limitsTheReadsDuringALoad() async throws {
        let folder = try await Self.folder(accounts: 2)
        let engine = try StoreEngine(folder.path, StoreOptions { 0 })
        let _: [StoredRecord] = try engine.load()
        let (keys, database) = (try engine.derivedKeys(), try #require(engine.database))
        let reads = EarlyReads()
        reads.begin()
        for number in 0...EarlyReads.maximumReads {
            let request = Task { await reads.records(of: "account-1", in: "group") }
            while reads.count == 0 { await letOthersRun() }
            reads.serve(database, keys)
            if number == EarlyReads.maximumReads { reads.end() }
            #expect((await request.value == nil) == (number == EarlyReads.maximumReads))
        }
        withExtendedLifetime(folder) {}
    }

    /// The tags are hashes under the store's key, like the names of records.
    @Test func changesTheTagsWithTheKey() async throws {
        let folder = try await Self.folder(accounts: 30)
        let before = try Self.tags(in: folder)
        let store = try folder.open()
        _ = try await store.load()
        try await store.changeKeySource(to: .file, passphrase: nil)
        await store.close()
        let after = try Self.tags(in: folder)
        #expect(after.count == before.count && after != before)
        let early = try await Self.early(folder, ["account-9"])[0]
        #expect(early.map(Self.keys)?.isSuperset(of: ["cloud", "account-9/0", "account-9/1"]) == true)
    }

    @Test func findsNobodysRecordsForNobody() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1, account: .noAccount)), .put(.sample(2, account: .everyAccount))])
        await store.close()
        #expect(try await Self.early(folder, ["alice"]) == [[.sample(2, account: .everyAccount)]])
    }

    /// A folder with two records of each account, and one that every account needs.
    private static func folder(accounts: Int) async throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try folder.open()
        var records = (0..<accounts).flatMap { account in
            (0..<2).map { number in
                StoredRecord(
                    key: RecordKey(group: "group", kind: .account, key: "account-\(account)/\(number)"),
                    body: [1, 2, 3], account: .account("account-\(account)"))
            }
        }
        records.append(
            StoredRecord(key: RecordKey(group: "", kind: .cloud, key: "cloud"), body: [4], account: .everyAccount))
        try await store.commit(records.map(StoreChange.put))
        await store.close()
        return folder
    }

    /// Loads a store while the records of accounts are requested.
    private static func early(
        _ folder: StoreFolder, _ accounts: [String], in group: String = "group", keys: KeySettings = KeySettings()
    ) async throws -> [[StoredRecord]?] {
        let store = try folder.open(keys: keys)
        // The load begins when all requests wait.
        store.queue.suspend()
        async let loaded = try? store.load(into: [StoredRecord].self)
        let requests = accounts.map { account in
            Task {
                // The first requests may come before the load.
                while !store.earlyReads.isOpen { await letOthersRun() }
                return await store.recordsWhileLoading(of: account, in: group)
            }
        }
        while store.earlyReads.count < accounts.count { await letOthersRun() }
        store.queue.resume()
        var found: [[StoredRecord]?] = []
        for request in requests { found.append(await request.value) }
        _ = await loaded
        await store.close()
        return found
    }

    private static func keys(_ records: [StoredRecord]) -> Set<String> { Set(records.map(\.key.key)) }

    private static func tags(in folder: StoreFolder) throws -> [AccountTag] {
        let copy = try folder.copyWithoutClosing()
        let engine = try StoreEngine(copy.path, StoreOptions { 0 })
        let _: [StoredRecord] = try engine.load()
        var tags: [AccountTag] = []
        try engine.database?.forEachBatch(of: 16) { tags += $0.compactMap { $0?.tag } }
        withExtendedLifetime(copy) {}
        return tags
    }
}
