internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// Programs whose parent process had blocked or ignored signals.
@Suite(.bounded) struct StartSignalTests {
    /// As the threads of many runtimes do, whose programs inherit that.
    private static let blocking = """
        import os, signal, sys
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        os.execv(sys.argv[1], sys.argv[1:])
        """

    private func blocked(_ f: AgentProcessFixture, _ command: [String]) throws -> TestProcess {
        try TestProcess("/usr/bin/env", ["python3", "-c", Self.blocking] + command, environment: f.environment)
    }

    @Test func stopsAnAgentWhoseSignalsWereBlocked() async throws {
        try await AgentProcessFixture.with { f in
            let agent = RunningAgent(try blocked(f, [Executable.path("sso-agent")]))
            try await agent.process.waitForError("listening on \(f.socketPath)")
            agent.process.signal(SIGTERM)
            #expect(try await agent.process.finish().status == 0)
        }
    }

    @Test func stopsACommandWhoseSignalsWereBlocked() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let watch = try blocked(f, [Executable.path("ssoctl"), "watch"])
            try await watch.waitForOutput("store open")
            watch.signal(SIGTERM)
            #expect(await watch.end() == 0)
            withExtendedLifetime(agent) {}
        }
    }
}
