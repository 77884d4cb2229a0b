internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// Files that released versions wrote: one that was closed, and one whose agent was killed.
@Suite(.bounded) struct MigrationTests {
    @Test(arguments: ["store-1", "store-1-killed"])
    func sealsAStoreOfVersion1(name: String) async throws {
        let folder = try StoreFolder(fixture: name)
        for isSealed in [false, true] {
            let store = try folder.open(keys: isSealed ? KeySettings() : Self.accepting)
            let records = try await store.load()
            #expect(records.count == 14)
            let names = records.filter { $0.key.kind == .account }.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(names.contains { $0.contains("alice@contoso.com") })
            #expect(names.contains { $0.contains("bob@fabrikam.com") })
            #expect(records.count { $0.key.kind == .refreshToken } == 2)
            #expect(store.report.notices.count == (isSealed ? 0 : 1) && store.report.quarantined.isEmpty)
            #expect(try readableFiles(folder) == [])
            await store.close()
        }
    }

    @Test func keepsADamagedLogOfVersion1() async throws {
        var seed = TestSeed()
        let log = try Data(contentsOf: URL(filePath: fixture("store-1-killed.sqlite-wal")))
        // The records after each commit.
        var stages: [[StoredRecord]] = []
        for length in stride(from: 32, through: log.count, by: 24 + 4096) {
            let folder = try StoreFolder(fixture: "store-1-killed")
            try log.prefix(length).write(to: URL(filePath: folder.file + "-wal"))
            stages.append(try await contents(of: folder))
        }
        let records = try #require(stages.last)
        // In the header, in the frames of the tables, and in the frames of the records.
        let places = [40, 20_000, 40_000] + (0..<100).map { _ in Int.random(in: 0..<log.count, using: &seed) }
        for place in places {
            let folder = try StoreFolder(fixture: "store-1-killed")
            var damaged = log
            damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &seed)
            try damaged.write(to: URL(filePath: folder.file + "-wal"))
            let store = try folder.open(keys: Self.accepting)
            let found = try await store.load()
            let report = store.report
            await store.close()
            #expect(found.allSatisfy { record in stages.contains { $0.contains(record) } }, "byte \(place); \(seed)")
            guard Set(found.map(\.key)) != Set(records.map(\.key)) else { continue }
            #expect(report.notices.contains { $0.contains("damaged") }, "byte \(place); \(seed)")
            let name = try #require(report.quarantined.first, "byte \(place); \(seed)")
            let kept = try Data(contentsOf: URL(filePath: "\(folder.path)/\(name)-wal"))
            #expect(kept == damaged, "byte \(place); \(seed)")
        }
    }

    @Test(arguments: ["store-1", "store-1-killed"], FaultyDisk.Failure.allCases)
    func sealsAStoreOfVersion1LaterIfTheDiskFails(name: String, failure: FaultyDisk.Failure) async throws {
        for after in 0... {
            let (folder, disk) = (try StoreFolder(fixture: name), try FaultyDisk())
            disk.fail(failure, after: after)
            let store = try folder.open(vfs: disk.name, keys: Self.accepting)
            if let found = try? await store.load() { #expect(found.count == 14, "\(failure) after \(after)") }
            let failed = disk.failed > 0
            disk.recover()
            #expect(try await store.load().count == 14, "\(failure) after \(after)")
            try await store.commit([.put(.sample(1))])
            #expect(store.report.writeError == nil)
            #expect(try readableFiles(folder) == [], "\(failure) after \(after)")
            await store.close()
            let again = try folder.open()
            #expect(try await again.load().count == 15, "\(failure) after \(after)")
            #expect(again.report.notices.isEmpty)
            await again.close()
            guard failed else { break }
        }
    }

    /// The records of the store are in memory only: the file has none that are sealed.
    @Test func keepsTheRecordsOfAStoreOfVersion1ThatACommitFindsDamaged() async throws {
        let (folder, disk) = (try StoreFolder(fixture: "store-1"), try FaultyDisk())
        disk.fail(.write)
        let store = try folder.open(vfs: disk.name, keys: Self.accepting)
        #expect(try await store.load().count == 14)
        disk.recover()
        disk.findDamage()
        try await store.commit([.put(.sample(1))])
        #expect(store.report.losses == 0 && store.report.writeError == nil)
        #expect(store.report.notices.last?.contains("its quarantined copy is not sealed") == true)
        #expect(store.report.quarantined.count == 1)
        await store.close()
        let again = try folder.open()
        #expect(try await again.load().count == 15)
        await again.close()
    }

    /// The sealed records wait until the disk can be written.
    @Test func keepsTheRecordsOfAStoreOfVersion1WhenItsLogIsToBeEmptied() async throws {
        let (folder, disk) = (try StoreFolder(fixture: "store-1"), try FaultyDisk())
        disk.fail(.write)
        let store = try folder.open(vfs: disk.name, keys: Self.accepting)
        #expect(try await store.load().count == 14)
        await store.truncateLog()
        disk.recover()
        try await store.commit([.put(.sample(1))])
        await store.close()
        let again = try folder.open()
        #expect(try await again.load().count == 15)
        await again.close()
    }

    private static let accepting = KeySettings(acceptsUnsealed: true)

    private func contents(of folder: StoreFolder) async throws -> [StoredRecord] {
        let store = try folder.open(keys: Self.accepting)
        let records = try await store.load()
        await store.close()
        return records
    }

    /// The files that contain one of the texts.
    private func readableFiles(_ folder: StoreFolder) throws -> [String] {
        try folder.names.filter { file in
            let bytes = try Data(contentsOf: URL(filePath: folder.path + "/" + file))
            // The texts are too long to occur by chance in encrypted data.
            return ["alice@", "bob@fabrikam", "app-1", "adalcache", "eyJhbGci", "refreshtoken", "home_account_id"]
                .contains { bytes.range(of: Data($0.utf8)) != nil }
        }
    }

    private func fixture(_ name: String) -> String {
        PackageFolder.path("Tests/TokenStoreTests/Fixtures/\(name)")
    }
}
