internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// The agent while nobody reads its standard error, as behind a terminal whose output was stopped, or a journal that hangs.
@Suite(.bounded) struct UnreadLogTests {
    /// The lines of so many requests have more bytes than a pipe takes and the agent keeps.
    private static let requests = 6000

    /// Starts an agent whose standard error is a full pipe that nobody reads.
    private func agentWithFullLog(_ f: AgentProcessFixture) throws -> TestProcess {
        let pipe = f.folder.file("log-\(UUID().uuidString)")
        // Open for reading too, so that the pipe has a reader. It stays open as long as this process.
        guard mkfifo(pipe, 0o600) == 0, case let end = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC), end >= 0 else {
            throw POSIXError(.EIO)
        }
        var byte: UInt8 = 0
        while write(end, &byte, 1) == 1 {}
        return try TestProcess(
            "/bin/sh", ["-c", "exec \"$0\" --allow-loopback-http 2>\"$1\"", Executable.path("sso-agent"), pipe],
            environment: f.environment)
    }

    @Test func answersAndStopsIfItsLogIsFullFromTheStart() async throws {
        try await AgentProcessFixture.with { f in
            let agent = RunningAgent(try agentWithFullLog(f))
            while (try? await AgentClient(socketPath: f.socketPath).status()) == nil { await letOthersRun() }
            kill(agent.processID, SIGTERM)
            #expect(await agent.process.end() == 0)
        }
    }

    @Test func endsIfItCannotStartAndItsLogIsFull() async throws {
        try await AgentProcessFixture.with { f in
            let first = try await f.agent()
            let second = RunningAgent(try agentWithFullLog(f))
            #expect(await second.process.end() == 1)
            withExtendedLifetime(first) {}
        }
    }

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
