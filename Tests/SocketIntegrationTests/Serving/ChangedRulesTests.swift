internal import AccessPolicy
internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel
internal import TokenWire

/// Rules that change while a request is in progress.
@Suite(.bounded) struct ChangedRulesTests {
    /// Runs a test with an agent that denies these requests when it has read its configuration again.
    private static func with(_ denied: Set<String>, _ body: (AgentFixture) async throws -> Void) async throws {
        let new = [PolicyRule(requests: .named(denied, includesOwn: false), effect: .deny), .everything]
        try await AgentFixture.with(adjust: { $0.readConfiguration = { ReadConfiguration(rules: new) } }, body)
    }

    @Test(arguments: [true, false]) func returnsNoTokenOfARedemptionThatIsDeniedMeanwhile(isDenied: Bool) async throws {
        try await Self.with(isDenied ? ["acquire_token_silent"] : []) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let peer = try RawPeer(f.socketPath)
            try peer.write(AcquireTokenSilent(parameters: f.parameters(), account: account, forceRefresh: true))
            await f.emulator.control.waitForHeld(atLeast: 1)
            _ = try await f.agent.reloadConfiguration()
            f.emulator.control.release()
            let reply = try #require(try await offPool { try peer.reply() })
            let (code, expected) = (try reply.failure?.code, isDenied ? TokenError.Code.requestDenied : nil)
            #expect(code == expected)
        }
    }

    /// The account is signed in, as the next list of accounts says.
    @Test func returnsNoTokenOfASignInThatIsDeniedMeanwhile() async throws {
        try await Self.with(["complete_device_code"]) { f in
            f.timers.skipDelays(upTo: 5)
            let begun = try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: f.parameters()))
            let peer = try RawPeer(f.socketPath)
            try await peer.begin(CompleteDeviceCode(sessionID: begun.sessionID))
            _ = try await f.agent.reloadConfiguration()
            #expect(f.emulator.control.approveDeviceCode(begun.userCode, username: "alice@contoso.com") == 1)
            let reply = try #require(try await offPool { try peer.reply() })
            let failure = try reply.failure
            #expect(failure?.code == .requestDenied)
            let accounts = try await f.agent.listAccounts(ListAccounts(clientID: f.parameters().clientID))
            #expect(accounts.count == 1)
        }
    }

    /// What a request has changed is not taken back by a refusal.
    @Test func answersTheRequestThatHasChangedTheRules() async throws {
        try await Self.with(["reload_configuration"]) { f in
            _ = try await f.agent.reloadConfiguration()
            let failure = await #expect(throws: TokenError.self) { try await f.agent.reloadConfiguration() }
            #expect(failure?.code == .requestDenied)
        }
    }
}
