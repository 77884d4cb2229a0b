internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// What a terminal shows while a command waits for the agent.
@Suite(.bounded) struct TickingLineTests {
    private static let text = "Waiting for the agent: 0:0"

    @Test func showsForHowLongATokenIsWaitedForAndRemovesThat() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let command = try f.onTerminal(["token", "--force-refresh"])
            let shown = try await command.waitForOutput(Self.text)
            await f.emulator.control.waitForHeld(atLeast: 1)
            f.emulator.control.release()
            let ended = try await command.finish()
            #expect(ended.status == 0)
            #expect((shown + ended.output).contains("\r\u{1B}[KeyJ"), "\(shown)\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }

    /// Before the page or the code is shown, the agent may wait for the provider.
    @Test func showsForHowLongTheCodeOfASignInIsWaitedFor() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .deviceCode
                    $0.hold = true
                })
            let command = try f.onTerminal(["sign-in", "--device-code"], [("Waiting for the sign-in", "\u{3}")])
            try await command.waitForOutput(Self.text)
            await f.emulator.control.waitForHeld(atLeast: 1)
            f.emulator.control.release()
            let ended = try await command.finish()
            #expect(ended.status == 130 && ended.output.contains("enter the code"), "\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }

    /// The agent saves the tokens of a request that is on its way when the sign-in is cancelled.
    @Test func saysWhatACancelledSignInWaitsForAndThatCtrlCEndsIt() async throws {
        try await AgentProcessFixture.with { f in
            try FileManager.default.createDirectory(
                atPath: f.folder.file("run"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let agent = try PretendedAgent(at: f.socketPath) { frame in
                // The provider does not respond.
                if (try? frame.request(CompleteInteractive.self)) != nil { return [] }
                return frame.answer(BeginInteractive.self, with: .success(.sample))
                    ?? frame.answer(CancelInteraction.self, with: .success(CancelInteraction.Reply()))
            }
            defer { agent.end() }
            let app = ["--client-id", "app-1", "--scope", "User.Read", "--authority", "\(f.emulator.url)/common"]
            let command = try f.onTerminal(
                ["sign-in", "--print-url"] + app,
                [("left (Ctrl-C ends it)", "\u{3}"), (" (Ctrl-C again ends it at once)", "\u{3}")],
                variables: ["TERMINAL_COLUMNS": "80"])
            let ended = try await command.finish()
            #expect(ended.status == 130, "\(ended.output)")
        }
    }

    @Test func showsNothingWhereItIsNoTerminalThatCanRemoveIt() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            f.emulator.control.inject(Fault { ($0.grant, $0.delayMilliseconds) = (.refreshToken, 1500) })
            let command = try f.onTerminal(["token", "--force-refresh"], variables: ["TERM": "dumb"])
            let ended = try await command.finish()
            #expect(ended.status == 0 && ended.output.hasPrefix("eyJ"), "\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }
}
