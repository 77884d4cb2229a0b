internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// What happens to an agent in the foreground when its terminal is closed, which sends it SIGHUP: the signal that otherwise has it read
/// its configuration again.
@Suite(.bounded) struct ClosedTerminalTests {
    /// How the agent was started on the terminal; see `closed_terminal.py`.
    private enum Start: String {
        case alone, ignored, job, disowned, background
    }

    /// Starts an agent on a terminal, which SIGUSR1 to the process closes.
    private func agent(
        _ start: Start, _ f: AgentProcessFixture, variables: [String: String] = [:]
    ) async throws -> (terminal: TestProcess, processID: Int32) {
        let script = PackageFolder.path("Tests/DaemonTests/python/closed_terminal.py")
        let terminal = try TestProcess(
            "/usr/bin/env",
            ["python3", script, start.rawValue, Executable.path("sso-agent"), "--allow-loopback-http"],
            environment: f.environment.merging(variables) { $1 })
        let printed = try await terminal.waitForOutput("\n")
        let processID = try #require(printed.split(separator: " ").last.flatMap { Int32($0.dropLast()) })
        return (terminal, processID)
    }

    /// As any program ends then.
    @Test func endsWithItsTerminal() async throws {
        try await AgentProcessFixture.with { f in
            let terminal = try await agent(.alone, f).terminal
            terminal.signal(SIGUSR1)
            let ended = try await terminal.finish()
            #expect(ended.status == 0, "\(ended)")
        }
    }

    /// As after nohup: the signal of the closed terminal is one that does not end the agent.
    @Test func survivesItsTerminalIfItWasStartedToIgnoreThat() async throws {
        try await AgentProcessFixture.with { f in
            let manager = try DatagramSocket(at: f.folder.file("notify"))
            let (terminal, processID) = try await agent(
                .ignored, f, variables: ["NOTIFY_SOCKET": f.folder.file("notify")])
            #expect(try await offPool { try manager.receive() }.hasPrefix("READY=1\n"))
            terminal.signal(SIGUSR1)
            #expect(try await offPool { try manager.receive() }.hasPrefix("RELOADING=1\n"))
            #expect(try await AgentClient(socketPath: f.socketPath).status().processID == processID)
            kill(processID, SIGTERM)
            let ended = try await terminal.finish()
            #expect(ended.status == 0, "\(ended)")
        }
    }

    /// The agent gets SIGHUP from the shell, and again from the kernel when the shell ends.
    @Test func answersTheRequestsInProgressBeforeItEnds() async throws {
        try await AgentProcessFixture.with { f in
            let terminal = try await agent(.job, f).terminal
            let parameters = try f.parameters()
            let account = try await f.signIn("alice@contoso.com", parameters).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let client = AgentClient(socketPath: f.socketPath)
            async let renewed = client.acquireTokenSilent(
                AcquireTokenSilent(parameters: parameters, account: account, forceRefresh: true))
            await f.emulator.control.waitForHeld(atLeast: 1)
            terminal.signal(SIGUSR1)
            try await terminal.waitForOutput("closed")
            f.emulator.control.release()
            let result = try await renewed
            #expect(!result.isFromCache)
            let ended = try await terminal.finish()
            #expect(ended.status == 0, "\(ended)")
        }
    }

    @Test func readsItsConfigurationIfItIsDisownedAndItsTerminalWasClosedBefore() async throws {
        try await AgentProcessFixture.with { f in
            let manager = try DatagramSocket(at: f.folder.file("notify"))
            let (terminal, processID) = try await agent(
                .disowned, f, variables: ["NOTIFY_SOCKET": f.folder.file("notify")])
            #expect(try await offPool { try manager.receive() }.hasPrefix("READY=1\n"))
            terminal.signal(SIGUSR1)
            try await terminal.waitForOutput("closed")
            kill(processID, SIGHUP)
            #expect(try await offPool { try manager.receive() }.hasPrefix("RELOADING=1\n"))
            #expect(try await offPool { try manager.receive() }.hasPrefix("READY=1\n"))
            kill(processID, SIGTERM)
            let ended = try await terminal.finish()
            #expect(ended.status == 0, "\(ended)")
        }
    }

    /// It writes that it listens, and lines of the log.
    @Test func servesInTheBackgroundOfATerminalThatStopsWriters() async throws {
        try await AgentProcessFixture.with { f in
            let (terminal, processID) = try await agent(.background, f)
            #expect(try await AgentClient(socketPath: f.socketPath).status().processID == processID)
            terminal.signal(SIGUSR1)
            try await terminal.waitForOutput("closed")
            kill(processID, SIGTERM)
            let ended = try await terminal.finish()
            #expect(ended.status == 0, "\(ended)")
        }
    }
}
