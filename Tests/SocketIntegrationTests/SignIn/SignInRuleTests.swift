internal import AccessPolicy
internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel

/// Rules about an app, and its sign-ins: the requests that complete these do not name the app.
@Suite(.bounded) struct SignInRuleTests {
    private static func rule(_ effect: PolicyRule.Effect) throws -> PolicyRule {
        PolicyRule(
            clientIDs: [try #require(ClientID("app-1"))], requests: .named([], includesOwn: true), effect: effect)
    }

    @Test func completesTheSignInOfAnAppThatAloneIsAllowed() async throws {
        let rules = [try Self.rule(.allow), PolicyRule(requests: .all, effect: .deny)]
        try await AgentFixture.with(rules: rules) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account
            #expect(account.username?.lowercased() == "alice@contoso.com")
        }
    }

    @Test func doesNotCompleteTheSignInOfAnAppThatIsDeniedSinceItHasBegun() async throws {
        let rules = [try Self.rule(.deny), .everything]
        try await AgentFixture.with(adjust: { $0.readConfiguration = { ReadConfiguration(rules: rules) } }) { f in
            f.timers.skipDelays(upTo: 5)
            let begun = try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: f.parameters()))
            _ = try await f.agent.reloadConfiguration()
            #expect(f.emulator.control.approveDeviceCode(begun.userCode, username: "alice@contoso.com") == 1)
            let failure = await #expect(throws: TokenError.self) {
                try await f.agent.completeDeviceCode(CompleteDeviceCode(sessionID: begun.sessionID))
            }
            #expect(failure?.code == .requestDenied)
        }
    }
}
