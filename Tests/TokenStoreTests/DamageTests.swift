internal import AgentTestSupport
internal import Foundation
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// Files cut and flipped: the store opens, serves what is whole, and loses no more than what was hit.
@Suite(.timeLimit(.minutes(5))) struct DamageTests {
    private static let folderNames = ["cache.sqlite", "cache.sqlite-wal", "cache.key"]

    @Test func losesOneRecordAtMostToAFlippedBit() async throws {
        var seed = TestSeed()
        let sample = try await Sample()
        for _ in 0..<Self.rounds {
            let name = Self.folderNames[Int.random(in: 0..<3, using: &seed)]
            let count = try #require(sample.files[name]?.count)
            // Half of them where something is: a small store is mostly empty pages.
            let offset = Int.random(in: 0..<count, using: &seed)
            let damaged = try await sample.opened { files in
                files[name]?[offset] ^= 1 << UInt8.random(in: 0..<8, using: &seed)
            }
            #expect(damaged.isGenuine, "byte \(offset) of \(name); \(seed)")
            #expect(damaged.missing <= 1, "byte \(offset) of \(name); \(seed)")
            #expect(damaged.missing == 0 || damaged.isSaid, "byte \(offset) of \(name); \(seed)")
        }
    }

    @Test func servesWhatIsLeftOfACutDatabase() async throws {
        var seed = TestSeed()
        let sample = try await Sample()
        let count = try #require(sample.files["cache.sqlite"]?.count)
        for _ in 0..<Self.rounds {
            let length = Int.random(in: 0..<count, using: &seed)
            let damaged = try await sample.opened { $0["cache.sqlite"]?.removeSubrange(length...) }
            #expect(damaged.isGenuine, "cut to \(length); \(seed)")
            #expect(damaged.missing == 0 || damaged.isSaid, "cut to \(length); \(seed)")
            // What the log holds is whole.
            #expect(damaged.hasLog, "cut to \(length); \(seed)")
        }
    }

    @Test func servesAnEarlierCommitOfACutLog() async throws {
        var seed = TestSeed()
        let sample = try await Sample()
        let count = try #require(sample.files["cache.sqlite-wal"]?.count)
        for _ in 0..<Self.rounds {
            let length = Int.random(in: 0..<count, using: &seed)
            let damaged = try await sample.opened { $0["cache.sqlite-wal"]?.removeSubrange(length...) }
            #expect(damaged.isGenuine, "cut to \(length); \(seed)")
            #expect(damaged.hasDatabase, "cut to \(length); \(seed)")
        }
    }

    @Test func startsAfreshWithAnotherKeyAndKeepsTheOldStore() async throws {
        let sample = try await Sample()
        let other = try await Sample()
        for key in [other.files["cache.key"], Data(), nil] {
            let damaged = try await sample.opened { $0["cache.key"] = key }
            #expect(damaged.missing == sample.records.count)
            #expect(damaged.isSaid)
        }
    }

    /// Each takes a few milliseconds; `SSO_AGENT_ROUNDS` asks for more.
    private static var rounds: Int {
        ProcessInfo.processInfo.environment["SSO_AGENT_ROUNDS"].flatMap { Int($0) } ?? 150
    }
}

/// A small store as a crash leaves it: some of it in the database, some in the log.
private struct Sample {
    var files: [String: Data] = [:]
    var records: [RecordKey: StoredRecord] = [:]
    var inDatabase: Set<RecordKey> = []
    var inLog: Set<RecordKey> = []

    init() async throws {
        let folder = try StoreFolder()
        let first = try folder.open()
        // The last is longer than a page: its end lies in pages of its own.
        let early = (1...5).map { StoredRecord.sample($0, size: 200 * $0) } + [.sample(6, size: 10_000)]
        for record in early { try await first.commit([.put(record)]) }
        await first.close()
        let second = try folder.open()
        let late = (7...9).map { StoredRecord.sample($0, size: 300) }
        for record in late { try await second.commit([.put(record)]) }
        let crashed = try folder.copyWithoutClosing()
        for name in crashed.names {
            files[name] = try Data(contentsOf: URL(filePath: crashed.path + "/" + name))
        }
        await second.close()
        records = Dictionary(uniqueKeysWithValues: (early + late).map { ($0.key, $0) })
        inDatabase = Set(early.map(\.key))
        inLog = Set(late.map(\.key))
    }

    struct Opened {
        var missing: Int
        /// Whether everything found is as it was written.
        var isGenuine: Bool
        /// Whether the damage was reported and the damaged file kept.
        var isSaid: Bool

        var hasDatabase: Bool
        var hasLog: Bool
    }

    /// Opens a copy of it with `damage` done, writes to it, and opens it again.
    func opened(_ damage: (inout [String: Data]) -> Void) async throws -> Opened {
        var files = files
        damage(&files)
        let folder = try StoreFolder()
        try folder.makeDirectory()
        for (name, data) in files { try data.write(to: URL(filePath: folder.path + "/" + name)) }
        let store = try folder.open()
        let found = Dictionary(uniqueKeysWithValues: try store.load().map { ($0.key, $0) })
        let report = store.report
        try await store.commit([.put(.sample(100))])
        await store.close()
        let again = try folder.open()
        let isKept = try again.load().count == found.count + 1
        #expect(isKept && again.report.notices.isEmpty)
        await again.close()
        return Opened(
            missing: records.count - found.count,
            isGenuine: found.allSatisfy { records[$0.key] == $0.value },
            isSaid: !report.notices.isEmpty && !report.quarantined.isEmpty,
            hasDatabase: inDatabase.isSubset(of: found.keys), hasLog: inLog.isSubset(of: found.keys))
    }
}
