internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// The agent while nobody reads its standard error, as behind a terminal whose output was stopped, or a journal that hangs.
@Suite(.bounded) struct UnreadLogTests {
    /// The lines of so many requests have more bytes than a pipe takes and the agent keeps.
    private static let requests = 6000

    @Test func answersAndStopsIfNobodyReadsItsLog() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent(["--log-level", "debug"])
            let client = AgentClient(socketPath: f.socketPath)
            for _ in 0..<Self.requests { _ = try await client.status() }
            kill(agent.processID, SIGTERM)
            #expect(await agent.process.end() == 0)
        }
    }

    @Test func saysThatLinesWereLostWhenItsLogIsReadAgain() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent(["--log-level", "debug"])
            let client = AgentClient(socketPath: f.socketPath)
            for _ in 0..<Self.requests { _ = try await client.status() }
            async let lost = agent.process.waitForError("lines of the log were lost")
            for _ in 0..<Self.requests { _ = try await client.status() }
            #expect(try await lost.contains("request=get_status"))
        }
    }
}
