internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// Programs whose parent process had blocked signals, and the signal of a limit that it had set.
@Suite(.bounded) struct StartSignalTests {
    /// As the threads of many runtimes do, whose programs inherit that.
    private static let blocking = """
        from os import execv
        from signal import SIG_BLOCK, pthread_sigmask, valid_signals
        from sys import argv
        pthread_sigmask(SIG_BLOCK, valid_signals())
        execv(argv[1], argv[1:])
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

    /// The signal of that limit would end them without a message, and an agent before it serves anybody.
    @Test func reportsThatFilesMayNotBeWritten() async throws {
        try await AgentProcessFixture.with { f in
            let limited = "ulimit -f 0; exec "
            let start = limited + Executable.path("sso-agent")
            let agent = RunningAgent(try TestProcess("/bin/sh", ["-c", start], environment: f.environment))
            try await agent.process.waitForError("listening on \(f.socketPath)")
            let failure = try await f.failure(["accounts"], status: 1)
            #expect((failure["message"] as? String)?.contains("File too large") == true, "\(failure)")
            let arguments = " app add graph --client-id 11111111-2222-4333-8444-555555555555 --scope User.Read"
            let ended = try await f.run("/bin/sh", ["-c", limited + Executable.path("ssoctl") + arguments])
            #expect(ended.status == 1 && ended.errors.contains("File too large"), "\(ended)")
            withExtendedLifetime(agent) {}
        }
    }
}
