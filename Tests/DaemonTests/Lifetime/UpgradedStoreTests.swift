internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

/// A store that version 2 wrote: imports of several libraries, with entries and fields that the agent does not know.
@Suite(.bounded, .enabled(if: Date.now.timeIntervalSince1970 > 1_795_000_000, "the clock is before the store's tokens"))
struct UpgradedStoreTests {
    @Test(arguments: ["store-2", "store-2-killed"])
    func exportsWhatTheVersionBeforeExported(name: String) async throws {
        try await AgentProcessFixture.with { f in
            try Self.fill(f, name)
            for _ in 0..<2 {
                let agent = try await f.agent()
                #expect(try await Self.export(f) == Self.expected)
                // The records are written before the agent ends.
                agent.process.signal(SIGTERM)
                _ = try await agent.process.finish()
            }
            let records = try await Self.records(f)
            #expect(records.count == 42)
            #expect(records.allSatisfy { $0.account != .unknown }, "every record has been written again")
        }
    }

    @Test func losesNothingWhenItIsKilledDuringTheUpgrade() async throws {
        for _ in 0..<8 {
            try await AgentProcessFixture.with { f in
                try Self.fill(f, "store-2-killed")
                for _ in 0..<2 {
                    let agent = try await f.agent()
                    try await agent.process.killHard()
                }
                let agent = try await f.agent()
                #expect(try await Self.export(f) == Self.expected)
                try await agent.process.killHard()
                let quarantined = try FileManager.default.contentsOfDirectory(atPath: f.folder.file("state"))
                    .filter { $0.contains("quarantine") }
                #expect(quarantined == [])
            }
        }
    }

    /// What the agent of version 2 exported from the same store.
    private static var expected: Data {
        get throws { try Data(contentsOf: URL(filePath: fixture("store-2-export.json"))) }
    }

    private static func fixture(_ name: String) -> String {
        PackageFolder.path("Tests/TokenStoreTests/Fixtures/\(name)")
    }

    private static func fill(_ f: AgentProcessFixture, _ name: String) throws {
        let state = f.folder.file("state")
        try FileManager.default.createDirectory(
            atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for (source, file) in [
            ("\(name).sqlite", "cache.sqlite"), ("\(name).sqlite-wal", "cache.sqlite-wal"),
            ("store-2.key", "cache.key"),
        ] where FileManager.default.fileExists(atPath: fixture(source)) {
            try FileManager.default.copyItem(atPath: fixture(source), toPath: "\(state)/\(file)")
        }
    }

    private static func export(_ f: AgentProcessFixture) async throws -> Data {
        let file = f.folder.file("export.json")
        let ended = try await f.run(
            "ssoctl", ["export", "--format", "msal-json", "--include-secrets", "--force", "-o", file])
        #expect(ended.status == 0, "\(ended.errors)")
        return try Data(contentsOf: URL(filePath: file))
    }

    private static func records(_ f: AgentProcessFixture) async throws -> [StoredRecord] {
        let store = try Store.open(directory: f.folder.file("state"), StoreOptions(now: { 1_800_000_000 }))
        let records = try await store.load(into: [StoredRecord].self)
        await store.close()
        return records
    }
}
