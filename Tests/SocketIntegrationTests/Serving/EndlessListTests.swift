internal import AgentClient
internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// An agent that names a next page with every page, as a broken one could, or one of another user whom `SSO_AGENT_OWNER` names.
@Suite(.bounded) struct EndlessListTests {
    @Test func endsListsThatHaveNoEnd() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let agent = try PretendedAgent(at: path) { frame in
            if (try? frame.request(ListAccounts.self)) != nil {
                return ReplyFrame.encode(
                    .success(ListAccounts.Reply(accounts: [], next: "next")), to: ListAccounts.self, id: frame.id)
            }
            guard (try? frame.request(ListCredentials.self)) != nil else { return nil }
            return ReplyFrame.encode(
                .success(ListCredentials.Reply(credentials: [], next: "next")), to: ListCredentials.self, id: frame.id)
        }
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        let accounts = await #expect(throws: TokenError.self) {
            try await client.listAccounts(ListAccounts(clientID: nil))
        }
        #expect(accounts?.code == .malformedMessage)
        let credentials = #expect(throws: TokenError.self) {
            try client.listCredentialsAndWait(ListCredentials())
        }
        #expect(credentials?.code == .malformedMessage)
    }
}
