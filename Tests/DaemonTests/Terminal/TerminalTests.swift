internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// What the programs print: nothing in it is obeyed by a terminal, wherever it comes from.
@Suite(.bounded) struct TerminalTests {
    /// A file's name with an escape sequence, one in C1, a carriage return and a writing direction.
    private static let name = "cache.sqlite.quarantine-\u{1B}]0;x\u{7}\u{9B}2J\r\u{202E}\u{7F}"

    @Test(arguments: [["status"], ["doctor"], ["status", "--json"], ["doctor", "--json"]])
    func printsNamesOfFilesWithoutWhatATerminalObeys(arguments: [String]) async throws {
        try await AgentProcessFixture.with { f in
            try FileManager.default.createDirectory(
                atPath: f.folder.file("state"), withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            #expect(FileManager.default.createFile(atPath: f.folder.file("state/\(Self.name)"), contents: nil))
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let ended = try await f.run("ssoctl", arguments)
            Self.expectHarmless(ended.output + ended.errors)
            #expect(ended.output.contains("quarantine-"))
            if arguments == ["status", "--json"] {
                let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any]
                #expect(object?["quarantined"] as? [String] == [Self.name])
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func printsErrorsAndLogLinesOfTheAgentWithoutThem() async throws {
        try await AgentProcessFixture.with { f in
            let refused = try await f.run("sso-agent", ["--config", f.folder.file("none\u{1B}[2J\u{202E}.toml")])
            #expect(refused.status == 1)
            #expect(refused.errors.contains("none"))
            Self.expectHarmless(refused.errors)
            // The log names a damaged store by its path.
            let state = f.folder.file("state\u{1B}[31m\u{202E}\r")
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try Data(repeating: 0x5A, count: 8192).write(to: URL(filePath: state + "/cache.sqlite"))
            let agent = try await f.agent(["--state-dir", state])
            Self.expectHarmless(try await agent.process.waitForError("A new one was created"))
        }
    }

    /// A script may pass on what somebody else has written.
    @Test(arguments: ["sso-agent", "ssoctl"])
    func printsErrorsOfTheCommandLineWithoutThem(program: String) async throws {
        let ended = try await TestProcess(program, ["--log\u{1B}[2J\u{202E}\r"]).finish()
        #expect(ended.status == 64 && ended.errors.contains("--log\\u001B[2J"), "\(ended.errors)")
        Self.expectHarmless(ended.output + ended.errors)
        let help = try await TestProcess(program, ["--help"]).finish()
        #expect(help.status == 0 && help.errors.isEmpty && help.output.contains("USAGE: \(program)"))
    }

    /// An import's report has a line for each entry that was skipped, whatever the entry's name is.
    @Test func reportsASkippedEntryOnOneLine() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let file = f.folder.file("cache.json")
            try #"{"RefreshToken":{"a\nImported 9 accounts.\u001b[2J\u202e":{"secret":7}}}"#.write(
                toFile: file, atomically: true, encoding: .utf8)
            let ended = try await f.run("ssoctl", ["import", "--format", "msal-json", file])
            #expect(ended.status == 0, "\(ended.errors)")
            Self.expectHarmless(ended.output)
            #expect(!ended.output.split(separator: "\n").contains { $0.hasPrefix("Imported 9") })
            withExtendedLifetime(agent) {}
        }
    }

    /// A character that is written as its number takes more columns than it has characters.
    @Test func alignsTheColumnsOfNamesWithWhatATerminalObeys() async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("other.sock")
            let accounts = ["al\u{200E}ice@contoso.com", "bob\u{FEFF}@contoso.com", "carol@contoso.com"].map {
                Account(homeAccountID: HomeAccountID("a.b"), username: $0, environment: "host", source: .msal)
            }
            let agent = try PretendedAgent(at: path) { $0.answerLists(with: accounts) }
            defer { agent.end() }
            let printed = try await f.ssoctl(["accounts"], variables: ["SSO_AGENT_SOCK": path]).output
            let identifiers = printed.split(separator: "\n").compactMap { line in
                line.firstRange(of: "a.b").map { line.distance(from: line.startIndex, to: $0.lowerBound) }
            }
            #expect(printed.contains("al\\u200Eice") && printed.contains("bob\\uFEFF"), "\(printed)")
            #expect(identifiers.count == 3 && Set(identifiers).count == 1, "\(printed)")
        }
    }

    private static func expectHarmless(_ text: String) {
        let obeyed = text.unicodeScalars.filter {
            $0 != "\n" && $0 != "\t" && $0.properties.generalCategory == .control || $0.properties.isBidiControl
        }
        #expect(obeyed.isEmpty, "\(obeyed.map { String($0.value, radix: 16) })")
    }
}
