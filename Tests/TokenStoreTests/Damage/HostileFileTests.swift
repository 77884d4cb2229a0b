internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// Files that somebody has made to cost memory or time. Each is kept in quarantine, and the store starts empty.
@Suite(.bounded) struct HostileFileTests {
    private static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    private static let state = "CREATE TABLE state (slot INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;"
    private static let key = "CREATE TABLE key (slot INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;"
    private static let sealed = "CREATE TABLE sealed (sequence INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;"

    /// A schema that is not a store's: it computes without end, or makes rows that the file does not have.
    @Test(arguments: [
        "CREATE VIEW sealed AS \(endless) SELECT i AS sequence, x'00' AS body FROM n; \(state)\(key)",
        "CREATE VIEW sealed AS \(endless) SELECT i AS sequence, x'00' AS body FROM n WHERE i < 0; \(state)\(key)",
        "\(sealed)\(state)CREATE VIEW key AS \(endless) SELECT i AS slot, zeroblob(500000000) AS body FROM n LIMIT 20;",
        "\(sealed)\(key)CREATE VIEW state AS SELECT 1 AS slot, zeroblob(900000000) AS body;",
        "\(state)\(key)CREATE TABLE sealed (sequence INTEGER PRIMARY KEY, body BLOB AS (zeroblob(900000000)));"
            + "INSERT INTO sealed (sequence) VALUES (1), (2), (3), (4), (5), (6), (7), (8);",
        "\(sealed)\(state)\(key)CREATE TRIGGER t AFTER INSERT ON sealed BEGIN DELETE FROM state; END;",
        "\(sealed)\(state)\(key)CREATE INDEX i ON sealed (length(body));",
        "\(sealed)\(state)\(key)CREATE TABLE other (x);",
        (0..<3000).map { "CREATE TABLE t\($0) (x);" }.joined(),
    ])
    func refusesAnotherSchema(sql: String) async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        try PlainDatabase.execute(PlainDatabase.header(version: 2) + sql, at: folder.file)
        try await expectFreshStart(folder)
    }

    /// SQLite does not check what the type of an index is that it has made itself. A hash of this text as Unicode takes days.
    @Test func refusesASchemaWhoseTypeIsLong() async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        try PlainDatabase.execute(
            PlainDatabase.header(version: 2) + Self.sealed + Self.state + Self.key
                + "CREATE TABLE other (x UNIQUE); PRAGMA writable_schema = ON;"
                + "UPDATE sqlite_schema SET type = replace(hex(zeroblob(4194304)), '00', char(769, 803)) WHERE sql IS NULL;",
            at: folder.file)
        #expect((try FileManager.default.attributesOfItem(atPath: folder.file)[.size] as? Int ?? 0) > 16 << 20)
        try await expectFreshStart(folder)
    }

    @Test(arguments: [
        "CREATE VIEW record AS \(endless) SELECT 'g' AS sharing_group, 1 AS kind, i AS key, x'7b7d' AS body FROM n;",
        "CREATE TABLE record (sharing_group, kind, key, body AS (zeroblob(900000000)));"
            + "INSERT INTO record VALUES ('g', 1, 'k'), ('g', 1, 'l');",
    ])
    func refusesAnotherSchemaOfVersion1(sql: String) async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        try PlainDatabase.execute(PlainDatabase.header(version: 1) + sql, at: folder.file)
        try await expectFreshStart(folder, keys: KeySettings(acceptsUnsealed: true))
    }

    /// A row that is longer than any record, in the table of a whole store.
    @Test func recoversARecordBesideARowThatIsTooLong() async throws {
        let folder = try await StoreFolder.withOneRecord()
        try PlainDatabase.execute(
            "INSERT INTO sealed VALUES (1000000, zeroblob(\(2 * Envelope.limit + 1))); PRAGMA wal_checkpoint(TRUNCATE);",
            at: folder.file)
        let store = try folder.open()
        #expect(try await store.load() == [.sample(1)])
        #expect(store.report.quarantined.count == 1)
        await store.close()
    }

    /// Nothing authenticates the records of version 1: JSON that is too deep, or cannot be compared in linear time, is left out.
    @Test func leavesOutRecordsOfVersion1ThatNoReaderTakes() async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        let table = """
            CREATE TABLE record (
                sharing_group TEXT NOT NULL,
                kind INTEGER NOT NULL,
                key TEXT NOT NULL,
                body BLOB NOT NULL,
                PRIMARY KEY (sharing_group, kind, key)
            ) STRICT, WITHOUT ROWID;
            """
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        let marks = "{\"" + String(repeating: "\u{301}\u{316}", count: 200_000) + "\":1}"
        let rows = [("good", "{}"), ("deep", deep), ("marks", marks)].map { "('g', 1, '\($0)', CAST('\($1)' AS BLOB))" }
        try PlainDatabase.execute(
            PlainDatabase.header(version: 1) + table + "INSERT INTO record VALUES \(rows.joined(separator: ","))",
            at: folder.file)
        let store = try folder.open(keys: KeySettings(acceptsUnsealed: true))
        #expect(try await store.load().map(\.key.key) == ["good"])
        #expect(store.report.quarantined.count == 1)
        await store.close()
    }

    /// The tree of a table has five levels, each of which has the next one 500 times: 31 thousand billion rows in ten pages.
    @Test func endsTheReadingOfPagesThatReferToEachOtherManyTimes() async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        // The rows of `state` take the pages from 5 on.
        try PlainDatabase.execute(
            PlainDatabase.header(version: 2) + Self.sealed + Self.state + Self.key
                + "INSERT INTO state VALUES (9, zeroblob(40000));", at: folder.file)
        var file = try Data(contentsOf: URL(filePath: folder.file))
        for level in 0..<5 {
            let page = level == 0 ? 2 : 5 + level
            file.replaceSubrange((page - 1) * 4096..<page * 4096, with: Self.interiorPage(500, above: UInt8(6 + level)))
        }
        file.replaceSubrange(10 * 4096 - 4096..<10 * 4096, with: Self.leafPage)
        try file.write(to: URL(filePath: folder.file))
        try await expectFreshStart(folder)
    }

    /// An interior page of a table: https://www.sqlite.org/fileformat2.html#b_tree_pages
    private static func interiorPage(_ count: Int, above child: UInt8) -> [UInt8] {
        let start = 4096 - 5 * count
        var page: [UInt8] = [5, 0, 0, UInt8(count >> 8), UInt8(count & 255), UInt8(start >> 8), UInt8(start & 255), 0]
        page += [0, 0, 0, child]
        for cell in 0..<count { page += [UInt8((start + 5 * cell) >> 8), UInt8((start + 5 * cell) & 255)] }
        page += [UInt8](repeating: 0, count: start - page.count)
        for _ in 0..<count { page += [0, 0, 0, child, 1] }
        return page
    }

    /// A leaf page of a table with one row: the number 1, and a blob of one byte.
    private static let leafPage: [UInt8] = {
        let cell: [UInt8] = [4, 1, 3, 0, 14, 7]
        let start = 4096 - cell.count
        var page: [UInt8] = [13, 0, 0, 0, 1, UInt8(start >> 8), UInt8(start & 255), 0]
        page += [UInt8(start >> 8), UInt8(start & 255)]
        return page + [UInt8](repeating: 0, count: start - page.count) + cell
    }()

    /// Two pages that are no database. Every twelve bytes claim to begin a record of 16 MiB that is in both, again and again.
    @Test(.disabled(if: Sanitizer.isOn, "a sanitizer needs more memory than the limit"))
    func boundsTheMemoryForWhatLooksLikeRecords() async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        // The length for which 488 bytes are in the first page, after which there is the number of the next one.
        let length = UInt32(488 + 4092 * 4099)
        var unit: [UInt8] = [0xA7, 0x53, 1, 2]
        unit += withUnsafeBytes(of: length.bigEndian) { Array($0) } + [0, 0, 0, 2]
        var page = [UInt8]()
        while page.count < 4096 { page += unit }
        page = Array(page.prefix(4096))
        let second: [UInt8] = [0, 0, 0, 2] + page.prefix(4092)
        try Data(page + second).write(to: URL(filePath: folder.file))
        // In a process of its own, since the limit of memory applies to the process.
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            var limit = rlimit(rlim_cur: 1 << 30, rlim_max: 1 << 30)
            #if canImport(Glibc)
                let resource = __rlimit_resource_t(RLIMIT_DATA.rawValue)
            #else
                let resource = RLIMIT_DATA
            #endif
            guard setrlimit(resource, &limit) == 0 else { exit(3) }
            let store = try StoreFolder.open(path)
            guard try await store.load().isEmpty else { exit(4) }
            await store.close()
        }
        #expect(folder.names.contains { $0.contains("quarantine") })
    }

    /// Every twelve bytes of 8 MiB claim to begin a record whose last page is missing.
    @Test func boundsTheTimeForWhatLooksLikeRecords() async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        let pages = 2048
        var unit: [UInt8] = [0xA7, 0x53, 1, 2]
        unit += withUnsafeBytes(of: UInt32(488 + 4092 * pages).bigEndian) { Array($0) } + [0, 0, 0, 2]
        let content = (0..<342).flatMap { _ in unit }
        var file = Data(content.prefix(4096))
        for page in 2...pages {
            let next = page < pages ? UInt32(page + 1) : 0
            file += withUnsafeBytes(of: next.bigEndian) { Array($0) } + content.prefix(4092)
        }
        try file.write(to: URL(filePath: folder.file))
        try await expectFreshStart(folder)
    }

    @Test func doesNotReadAFileOfManyGigabytes() async throws {
        let folder = try await StoreFolder.withOneRecord()
        #expect(truncate(folder.file, 1 << 40) == 0)
        try await expectFreshStart(folder)
    }

    @Test func doesNotReadALogOfManyGigabytes() async throws {
        let folder = try await StoreFolder.withOneRecord()
        #expect(FileManager.default.createFile(atPath: folder.file + "-wal", contents: nil))
        #expect(truncate(folder.file + "-wal", 1 << 40) == 0)
        let store = try folder.open()
        #expect(try await store.load() == [.sample(1)])
        #expect(store.report.quarantined.count == 1)
        await store.close()
    }

    /// A rollback journal names a file that SQLite deletes after it has played the journal back.
    @Test func movesAForeignRollbackJournalAside() async throws {
        let folder = try await StoreFolder.withOneRecord()
        let journal = Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7] + [UInt8](repeating: 0, count: 5000))
        try journal.write(to: URL(filePath: folder.file + "-journal"))
        let again = try folder.open()
        #expect(try await again.load() == [.sample(1)])
        #expect(!folder.names.contains("cache.sqlite-journal"))
        #expect(again.findQuarantined() == ["cache.sqlite-journal.quarantine-20300317T174640Z"])
        await again.close()
    }

    private func expectFreshStart(_ folder: StoreFolder, keys: KeySettings = KeySettings()) async throws {
        let store = try folder.open(keys: keys)
        #expect(try await store.load().isEmpty)
        #expect(store.report.notices.count == 1)
        #expect(store.report.quarantined.count == 1)
        try await store.commit([.put(.sample(7))])
        await store.close()
        let again = try folder.open()
        #expect(try await again.load() == [.sample(7)])
        await again.close()
    }
}
