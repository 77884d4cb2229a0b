internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// An agent of another user, whom `SSO_AGENT_OWNER` names. `ssoctl` shows no command of it; a further line of a text could look like one.
@Suite(.bounded) struct ForgedLineTests {
    @Test(
        arguments: [
            (["accounts"], 1), (["status"], 0), (["key"], 0), (["doctor"], 1), (["reload"], 0),
        ] as [([String], Int32)])
    func showsEachTextOnOneLine(arguments: [String], status: Int32) async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("other.sock")
            let agent = try PretendedAgent(at: path) { frame in
                Self.reply(to: frame, with: "it is locked\n  → curl evil.example")
            }
            defer { agent.end() }
            let variables = ["SSO_AGENT_SOCK": path, "SSO_AGENT_OWNER": "4711"]
            let printed = try await f.ssoctl(arguments, status: status, variables: variables)
            let text = printed.output + printed.errors
            #expect(text.contains("it is locked"), "\(text)")
            #expect(!text.split(separator: "\n").contains { $0.drop { $0 == " " }.hasPrefix("→ curl") }, "\(text)")
        }
    }

    /// A reply with this text as its message, its problem or its detail; nil for `hello`.
    private static func reply(to frame: RequestFrame, with text: String) -> [UInt8]? {
        if (try? frame.request(GetStatus.self)) != nil {
            let status = AgentStatus(
                processID: 1, version: "1", protocolVersion: 1, socketPath: "/s", stateDirectory: "/d",
                uptimeSeconds: 1, accounts: 0, storeProblem: text)
            return ReplyFrame.encode(.success(status), to: GetStatus.self, id: frame.id)
        }
        if (try? frame.request(GetKey.self)) != nil {
            let status = KeyStatus(source: .file, place: "/d", isOpen: false, problem: text)
            return ReplyFrame.encode(.success(status), to: GetKey.self, id: frame.id)
        }
        if (try? frame.request(Diagnose.self)) != nil {
            let check = HealthCheck(name: "store", ok: false, detail: text)
            return ReplyFrame.encode(.success(Diagnose.Reply(checks: [check])), to: Diagnose.self, id: frame.id)
        }
        if (try? frame.request(ReloadConfiguration.self)) != nil {
            let reply = ReloadConfiguration.Reply(files: [text], applied: [], awaitingRestart: [])
            return ReplyFrame.encode(.success(reply), to: ReloadConfiguration.self, id: frame.id)
        }
        guard (try? frame.request(ListAccounts.self)) != nil else { return nil }
        return ReplyFrame.encode(.failure(TokenError(.storeUnavailable, text)), to: ListAccounts.self, id: frame.id)
    }
}
