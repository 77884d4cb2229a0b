internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// Sign-ins at a provider with pushed authorization requests (RFC 9126).
@Suite(.bounded) struct PushedRequestTests {
    private static let main = "https://id.contoso.example/openid/Main"
    private static let alice = "Alice@contoso.example"

    private func settings(_ rule: EmulatorSettings.PushedRequests) -> EmulatorSettings {
        var settings = EmulatorSettings()
        settings.pushedRequests = rule
        return settings
    }

    @Test(arguments: [EmulatorSettings.PushedRequests.offered, .required])
    func keepsTheParametersOutOfTheURL(rule: EmulatorSettings.PushedRequests) async throws {
        try await AgentFixture.online(settings: settings(rule)) { f in
            let begun = try await f.agent.beginInteractive(
                BeginInteractive(parameters: f.parameters(at: Self.main, kind: .openID), loginHint: Self.alice))
            let query = try #require(begun.authorizationURL.split(separator: "?").last)
            #expect(query.split(separator: "&").map { $0.prefix { $0 != "=" } } == ["client_id", "request_uri"])
            try await f.browse(to: begun.authorizationURL)
            let result = try await f.agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID))
            #expect(result.account.username == Self.alice)
            #expect(f.emulator.control.counts[.pushedRequest] == 1)
        }
    }

    @Test func signsInWhereOnlyAppsWithASecretMayPush() async throws {
        try await AgentFixture.online(settings: settings(.confidentialOnly)) { f in
            let result = try await f.signIn(Self.alice, f.parameters(at: Self.main, kind: .openID))
            #expect(result.account.username == Self.alice)
            #expect(f.emulator.control.counts[.pushedRequest] == 1)
        }
    }
}
