internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// Imports and exports of long caches, which must not need memory in proportion to their length.
@Suite(.boundedLong) struct LongTransferTests {
    /// 64 MiB was the limit of an import and of an export in earlier versions.
    @Test(.disabled(if: Sanitizer.isOn, "released memory stays"))
    func importsAndExports65MiBWithinBoundedMemory() async throws {
        try await AgentProcessFixture.with { f in
            let (file, exported) = (f.folder.file("in.json"), f.folder.file("out.json"))
            let size = try Self.write(accounts: 273, to: file)
            #expect(size > 65 << 20)
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let idle = try Self.peak(agent.processID)
            try await Self.succeed(f, ["import", "--format", "msal-json", file])
            try await Self.succeed(f, ["export", "--format", "msal-json", "--include-secrets", "-o", exported])
            let peak = try Self.peak(agent.processID)
            #expect(
                peak - idle < 3 * size, "\(idle >> 20) MiB idle, \(peak >> 20) MiB peak, for \(size >> 20) MiB")
            #expect(try TemporaryFolder.mode(of: exported) == 0o600)
        }
    }

    /// An import and an export in many parts, with a restart in between.
    @Test func importsItsOwnExport() async throws {
        try await AgentProcessFixture.with { f in
            let (file, exported, copy) = (
                f.folder.file("in.json"), f.folder.file("out.json"), f.folder.file("copy.json")
            )
            _ = try Self.write(accounts: 20, to: file)
            let first = try await f.agent()
            try await Self.succeed(f, ["import", "--format", "msal-json", file])
            try await Self.succeed(f, ["export", "--format", "msal-json", "--include-secrets", "-o", exported])
            // Another agent cannot start while this one runs.
            try await first.process.killHard()
            let agent = try await f.agent()
            let again = try await Self.succeed(f, ["import", "--format", "msal-json", exported])
            #expect(again.contains("Imported 0 accounts, 0 refresh tokens, 0 access tokens, 0 ID tokens."))
            try await Self.succeed(f, ["import", "--format", "msal-json", exported, "--group", "other"])
            try await Self.succeed(
                f, ["export", "--format", "msal-json", "--include-secrets", "-o", copy, "--group", "other"])
            let (one, other) = (URL(filePath: copy), URL(filePath: exported))
            #expect(try Data(contentsOf: one) == Data(contentsOf: other))
            withExtendedLifetime(agent) {}
        }
    }

    /// A file appears under its name when it is complete.
    @Test func removesAnIncompleteExport() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let file = f.folder.file("in.json")
            _ = try Self.write(accounts: 8, to: file)
            try await Self.succeed(f, ["import", "--format", "msal-json", file])
            let folder = f.folder.file("exports")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            // The export is begun, and cannot be finished: its name is that of a folder.
            try FileManager.default.createDirectory(atPath: "\(folder)/taken", withIntermediateDirectories: false)
            let ended = try await f.run(
                "ssoctl",
                ["export", "--format", "msal-json", "--include-secrets", "--force", "-o", "\(folder)/taken"])
            #expect(ended.status == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["taken"])
            try FileManager.default.removeItem(atPath: "\(folder)/taken")
            try await Self.succeed(
                f, ["export", "--format", "msal-json", "--include-secrets", "-o", "\(folder)/whole"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["whole"])
            withExtendedLifetime(agent) {}
        }
    }

    @discardableResult
    private static func succeed(_ f: AgentProcessFixture, _ arguments: [String]) async throws -> String {
        let ended = try await f.run("ssoctl", arguments)
        // No progress either: there is no terminal.
        try #require(ended.status == 0 && ended.errors.isEmpty, "\(arguments): \(ended.errors)\(ended.output)")
        return ended.output
    }

    /// Writes a cache of accounts with long tokens, so that a long file has few of them; returns its length.
    private static func write(accounts: Int, to path: String) throws -> Int {
        let token = String(repeating: "t", count: 250_000)
        try Data().write(to: URL(filePath: path))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        func add(_ section: String, _ entry: (String) -> String) throws {
            try file.write(contentsOf: Data("\"\(section)\": {".utf8))
            for number in 0..<accounts {
                let base =
                    #""home_account_id": "\#(number).7a1e0000-0000-4000-8000-000000000001", "#
                    + #""environment": "login.microsoftonline.com", "client_id": "app-1", "#
                    + #""realm": "7a1e0000-0000-4000-8000-000000000001""#
                let comma = number == 0 ? "" : ", "
                try file.write(contentsOf: Data("\(comma)\"\(number)\": {\(base), \(entry("\(number)"))}".utf8))
            }
            try file.write(contentsOf: Data("}".utf8))
        }
        try file.write(contentsOf: Data("{".utf8))
        try add("AccessToken") {
            #""credential_type": "AccessToken", "target": "s", "cached_at": "1", "expires_on": "9999999999", "#
                + #""secret": "\#($0)\#(token)""#
        }
        try file.write(contentsOf: Data(", ".utf8))
        try add("Account") { #""username": "user-\#($0)", "authority_type": "MSSTS""# }
        try file.write(contentsOf: Data("}".utf8))
        let size = Int(try file.offset())
        try file.close()
        return size
    }

    /// The peak resident memory of a process in bytes.
    static func peak(_ process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }) * 1024
    }
}
