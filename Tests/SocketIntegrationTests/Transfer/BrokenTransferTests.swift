internal import AgentClient
internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// An agent that breaks the rules of a transfer, as a broken one could, or one of another user whom `SSO_AGENT_OWNER` names.
@Suite(.bounded) struct BrokenTransferTests {
    @Test func endsAnImportWhoseLastPartHasNoReport() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let agent = try PretendedAgent(at: path) { frame in
            guard (try? frame.request(ImportCache.self)) != nil else { return nil }
            return ReplyFrame.encode(
                .success(ImportCache.Reply(importID: "1")), to: ImportCache.self, id: frame.id)
        }
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        let error = await #expect(throws: TokenError.self) {
            try await client.importCache(Secret("{}"), format: .msalJSON)
        }
        #expect(error?.code == .malformedMessage)
        let blocking = #expect(throws: TokenError.self) {
            try client.importCacheAndWait(Secret("{}"), format: .msalJSON)
        }
        #expect(blocking?.code == .malformedMessage)
    }
}
