internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing

/// Concurrent requests of many processes.
@Suite(.bounded) struct ManyProcessesTests {
    @Test func sendsOneRefreshForSixtyFourProcesses() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters(scopes: ["User.Read"]))
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let arguments = [
                "token", "--client-id", "app-1", "--authority", "\(f.emulator.url)/common", "--username",
                "alice@contoso.com", "--scope", "Mail.Read",
            ]
            let apps = try (0..<64).map { _ in try TestProcess("ssoctl", arguments, environment: f.environment) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            f.emulator.control.release()
            var results: [(status: Int32, output: String, errors: String)] = []
            for app in apps { results.append(try await app.finish()) }
            #expect(results.allSatisfy { $0.status == 0 })
            #expect(Set(results.map(\.output)).count == 1)
            #expect(f.emulator.control.counts[.refreshToken] == 1)
            withExtendedLifetime(agent) {}
        }
    }
}
