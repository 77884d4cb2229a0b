internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// A database that is damaged while it is in use: the ledger has its records, and no others are recovered.
@Suite(.bounded) struct MendTests {
    @Test func keepsEveryRecordThatIsStillOnDisk() async throws {
        let (folder, disk) = (try StoreFolder(), try FaultyDisk())
        let store = try await Self.store(folder, disk)
        disk.findDamage()
        try await store.commit([.put(.sample(7))])
        #expect(disk.failed == 1)
        #expect(store.report.losses == 0)
        let expected: [StoredRecord] = [.sample(1), .sample(2, fill: 0x42), .sample(4), .sample(7)]
        try await Self.check(store, folder, expected)
    }

    @Test func restoresNoReplacedOrRemovedRecord() async throws {
        let (folder, disk) = (try StoreFolder(), try FaultyDisk())
        let store = try await Self.store(folder, disk)
        // The database remains as before the replacement and the removal.
        #expect(truncate(folder.file + "-wal", 0) == 0)
        disk.findDamage()
        try await store.commit([.put(.sample(7))])
        #expect(store.report.losses == 1)
        try await Self.check(store, folder, [.sample(1), .sample(4), .sample(7)])
    }

    @Test func continuesWithoutAnyRecord() async throws {
        let (folder, disk) = (try StoreFolder(), try FaultyDisk())
        let store = try await Self.store(folder, disk)
        for name in [folder.file, folder.file + "-wal"] { #expect(truncate(name, 0) == 0) }
        disk.findDamage()
        try await store.commit([.put(.sample(1))])
        #expect(store.report.losses == 1)
        try await Self.check(store, folder, [.sample(1)])
    }

    /// The disk could not be read when the store was loaded, which was then read without SQLite.
    @Test func repairsADatabaseThatIsDamagedBeforeItIsOpened() async throws {
        let (folder, disk) = (try StoreFolder(), try FaultyDisk())
        let first = try folder.open()
        try await first.commit((1...4).map { .put(.sample($0)) })
        await first.close()
        disk.fail(.read)
        let store = try folder.open(vfs: disk.name)
        #expect(try await store.load().count == 4)
        disk.recover()
        let file = try FileHandle(forUpdating: URL(filePath: folder.file))
        try file.write(contentsOf: Data(repeating: 0x41, count: 100))
        try file.close()
        try await store.commit([.put(.sample(5))])
        #expect(store.report.writeError == nil && store.report.losses == 0 && store.report.size > 0)
        try await Self.check(store, folder, [.sample(1), .sample(2), .sample(3), .sample(4), .sample(5)])
    }

    /// Four records in the database; in the log, one is replaced and one removed.
    private static func store(_ folder: StoreFolder, _ disk: FaultyDisk) async throws -> Store {
        let first = try folder.open()
        try await first.commit((1...4).map { .put(.sample($0)) })
        await first.close()
        let store = try folder.open(vfs: disk.name)
        _ = try await store.load()
        try await store.commit([.put(.sample(2, fill: 0x42))])
        try await store.commit([.delete(.sample(3))])
        return store
    }

    private static func check(_ store: Store, _ folder: StoreFolder, _ expected: [StoredRecord]) async throws {
        #expect(store.report.notices.count == 1 && store.report.quarantined.count == 1)
        #expect(try await store.sorted() == expected)
        await store.close()
        let again = try folder.open()
        #expect(try await again.sorted() == expected)
        #expect(again.report.notices.isEmpty)
        await again.close()
    }
}
