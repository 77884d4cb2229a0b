internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// The agent's part of `ssoctl doctor`.
@Suite(.bounded) struct DiagnosisTests {
    private func check(_ name: String, _ f: AgentFixture) async throws -> HealthCheck {
        let request = Diagnose(authority: try f.parameters().authority)
        let checks = try await f.agent.diagnose(request).checks
        return try #require(checks.first { $0.name == name })
    }

    /// With a wrong clock, tokens seem expired, or good when they are not. The emulator has the clock of the machine.
    @Test(arguments: [(-3600, false), (0, true), (3600, false)] as [(Int64, Bool)])
    func comparesTheClockWithThatOfTheProvider(skew: Int64, isRight: Bool) async throws {
        try await AgentFixture.with { f in
            f.clock.advance(by: Int64(Date().timeIntervalSince1970) + skew - f.clock.now)
            let clock = try await check("clock", f)
            #expect(clock.ok == isRight && (clock.hint == nil) == isRight, "\(clock.detail)")
        }
    }

    /// It was reached, so that nothing about the network has to be changed.
    @Test(arguments: [429, 503]) func saysToWaitForAProviderThatIsBusy(status: Int) async throws {
        try await AgentFixture.with { f in
            // A GET with the status 503 is sent again.
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .openIDConfiguration
                    ($0.status, $0.count) = (status, status >= 500 ? 2 : 1)
                })
            let provider = try await check("token endpoint", f)
            #expect(!provider.ok && provider.hint?.hasPrefix("wait, and try again") == true, "\(provider)")
        }
    }

    /// Each costs more than other requests, and may take half a minute.
    @Test func limitsTheDiagnosesThatOneProcessWaitsFor() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .openIDConfiguration
                    $0.hold = true
                })
            _ = try await f.agent.listAccounts(ListAccounts(clientID: nil))
            let request = Diagnose(authority: try f.parameters().authority)
            let peer = try RawPeer(f.socketPath)
            for id in UInt64(1)...9 { try peer.write(request, id: id) }
            // The first waits for the provider, and others for the first. A request that waits for nothing is answered meanwhile.
            var refused: ReplyFrame?
            for id in UInt64(10)...29 where refused == nil {
                try peer.write(CompleteInteractive(sessionID: "unknown"), id: id)
                let reply = try await offPool { try peer.reply() }
                if let reply, reply.id < 10 { refused = reply }
            }
            let failure = try refused?.failure
            #expect(refused?.id == 9 && failure?.code == .requestDenied)
            await f.emulator.control.waitForHeld(atLeast: 1)
            f.emulator.control.release()
        }
    }
}
