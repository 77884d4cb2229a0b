internal import AgentClient
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// An agent that is being stopped: it ends the requests in progress with `cancelled`.
@Suite(.bounded) struct StoppingAgentTests {
    /// MSAL and ADAL report `cancelled` as the wish of the user, for which apps show nothing.
    @Test func doesNotTakeTheEndOfTheAgentForACancelledCall() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let agent = try PretendedAgent(at: path) { frame in
            guard (try? frame.request(CompleteInteractive.self)) != nil else { return nil }
            let stopping = TokenError(.cancelled, "the agent is stopping")
            return ReplyFrame.encode(.failure(stopping), to: CompleteInteractive.self, id: frame.id)
        }
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        let error = await #expect(throws: TokenError.self) {
            try await client.completeInteractive(CompleteInteractive(sessionID: "1"))
        }
        #expect(error?.code == .agentUnavailable)
        #expect(error?.message.contains("try again") == true)
    }
}
