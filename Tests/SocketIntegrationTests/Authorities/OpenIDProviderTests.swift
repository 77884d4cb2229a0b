internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// Providers other than Microsoft's, with OpenID Connect Discovery.
@Suite(.bounded) struct OpenIDProviderTests {
    private static let main = "https://id.contoso.example/openid/Main"
    private static let alice = "Alice@contoso.example"

    @Test func signsInThenAnswersFromTheCacheThenRenews() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.main, kind: .openID)
            let first = try await f.signIn(Self.alice, parameters)
            let subject = try #require(first.idToken.flatMap(IDTokenClaims.init)?.subject)
            #expect(first.account.homeAccountID == HomeAccountID(subject))
            #expect(first.account.username == Self.alice)
            #expect(first.authority == Self.main)
            #expect(first.tenantProfile?.localAccountID == subject)
            #expect(try await f.silent(parameters, first.account.reference).accessToken == first.accessToken)
            let fresh = try await f.silent(parameters, first.account.reference, force: true)
            #expect(fresh.accessToken != first.accessToken)
            #expect(fresh.account.reference == first.account.reference)
            let requests = f.emulator.control.requests
            #expect(requests.allSatisfy { $0.parameters["client_info"] == nil })
            #expect(requests.count { $0.counter == .openIDConfiguration } == 1)
            #expect(requests.filter { $0.counter == .refreshToken }.map(\.path) == ["/openid/Main/token"])
            #expect(f.emulator.control.counts[.instanceDiscovery] == 0)
        }
    }

    @Test func redeemsNothingWhileATokenThatLivesForFiveMinutesIsNew() async throws {
        try await AgentFixture.online { f in
            f.emulator.control.settings.accessTokenLifetime = 300
            let parameters = try f.parameters(at: Self.main, kind: .openID)
            let account = try await f.signIn(Self.alice, parameters).account.reference
            f.clock.advance(by: 100)
            #expect(try await f.silent(parameters, account).isFromCache)
            f.clock.advance(by: 100)
            #expect(try await !f.silent(parameters, account).isFromCache)
        }
    }

    /// The claim `ver` is Microsoft's; that of Okta is a number.
    @Test func signsInWhereTheVersionOfAnIDTokenIsANumber() async throws {
        try await AgentFixture.online { f in
            f.emulator.control.settings.idTokenClaims = ["ver": 1]
            let parameters = try f.parameters(at: Self.main, kind: .openID)
            let reference = try await f.signIn(Self.alice, parameters).account.reference
            #expect(reference.username == Self.alice)
            #expect(try await !f.silent(parameters, reference, force: true).isFromCache)
        }
    }

    /// Google and Amazon Cognito refuse requests with a scope that they do not have, as does Django OAuth Toolkit.
    @Test(arguments: ["offline_access", "profile"])
    func sendsNoReservedScopeToAProviderThatListsItsScopesWithoutIt(missing: String) async throws {
        try await AgentFixture.online { f in
            f.timers.skipDelays(upTo: 5)
            f.emulator.control.settings.deviceCodeApprovedAtPoll = 1
            let listed = ["email", "profile", "offline_access"].filter { $0 != missing }
            f.emulator.control.settings.openIDConfiguration = ["scopes_supported": .array(listed.map { .string($0) })]
            f.emulator.control.addUser(Self.alice)
            var parameters = try f.parameters(at: Self.main, kind: .openID)
            try await f.signIn(Self.alice, parameters)
            let begun = try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: parameters))
            _ = try await f.agent.completeDeviceCode(CompleteDeviceCode(sessionID: begun.sessionID))
            let scopes = f.emulator.control.requests.compactMap { $0.parameters["scope"] }.map(ScopeSet.init(target:))
            #expect(scopes.count >= 4)
            #expect(scopes.allSatisfy { !$0.contains(missing) && $0.contains("openid") })
            // An app may know better.
            f.emulator.control.resetCounts()
            parameters.scopes = parameters.scopes.union(ScopeSet([missing]))
            let result = try await f.signIn(Self.alice, parameters)
            #expect(try await !f.silent(parameters, result.account.reference, force: true).isFromCache)
            let named = f.emulator.control.requests.compactMap { $0.parameters["scope"] }
            #expect(named.first?.contains(missing) == true)
        }
    }

    /// A redemption must not request a scope that was not granted (RFC 6749 section 6); those made with Authlib, such as Canaille, refuse it.
    @Test func renewsWithoutTheReservedScopesThatWereNotGranted() async throws {
        try await AgentFixture.online { f in
            f.emulator.control.settings.declinedScopes = ["profile"]
            let parameters = try f.parameters(at: Self.main, kind: .openID)
            let reference = try await f.signIn(Self.alice, parameters).account.reference
            for _ in 0..<2 { _ = try await f.silent(parameters, reference, force: true) }
            #expect(Self.redeemedScopes(f) == [ScopeSet(["User.Read", "openid"]), ScopeSet(["User.Read", "openid"])])
            // A provider that does not name the granted scopes has granted all.
            f.clock.advance(by: 1)
            f.emulator.control.settings.tokenReply = ["scope": .null]
            try await f.signIn(Self.alice, parameters)
            f.emulator.control.resetCounts()
            _ = try await f.silent(parameters, reference, force: true)
            #expect(Self.redeemedScopes(f) == [ScopeSet(["User.Read"]).union(.reserved)])
        }
    }

    private static func redeemedScopes(_ f: AgentFixture) -> [ScopeSet] {
        f.emulator.control.requests.filter { $0.counter == .refreshToken }.compactMap { $0.parameters["scope"] }
            .map(ScopeSet.init(target:))
    }

    /// The ID token of a redemption need not have the user's names (OpenID Connect Core 1.0 section 12.2).
    @Test func keepsTheUsernameIfARenewedIDTokenHasNone() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.main, kind: .openID)
            let reference = try await f.signIn(Self.alice, parameters).account.reference
            f.emulator.control.settings.idTokenClaims = ["preferred_username": .null, "upn": .null, "email": .null]
            #expect(try await f.silent(parameters, reference, force: true).account.username == Self.alice)
            #expect(try await f.silent(parameters, AccountReference(username: Self.alice)).isFromCache)
        }
    }

    /// A scope may exceed what the user has granted (RFC 6749 section 5.2), as those that an app requests later.
    @Test func asksForASignInIfTheScopesOfARedemptionAreRefused() async throws {
        try await AgentFixture.online { f in
            let reference = try await f.signIn(Self.alice, f.parameters(at: Self.main, kind: .openID)).account.reference
            let parameters = try f.parameters(at: Self.main, kind: .openID, scopes: ["Mail.Read"])
            f.emulator.control.inject(Fault { ($0.grant, $0.error) = (.refreshToken, "invalid_scope") })
            let error = await #expect(throws: TokenError.self) { try await f.silent(parameters, reference) }
            #expect(error?.code == .interactionRequired && error?.reason == .scope)
            #expect(error?.details.oauthError == "invalid_scope")
            _ = try await f.signIn(Self.alice, parameters)
            #expect(try await !f.silent(parameters, reference, force: true).isFromCache)
        }
    }

    @Test func signsInWithACodeOnAnotherDevice() async throws {
        try await AgentFixture.online { f in
            f.timers.skipDelays(upTo: 5)
            f.emulator.control.settings.deviceCodeApprovedAtPoll = 1
            f.emulator.control.addUser(Self.alice)
            let parameters = try f.parameters(at: Self.main, kind: .openID)
            let begun = try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: parameters))
            let result = try await f.agent.completeDeviceCode(CompleteDeviceCode(sessionID: begun.sessionID))
            #expect(result.account.username == Self.alice)
            #expect(try await f.silent(parameters, result.account.reference).isFromCache)
        }
    }

    /// Auth0 refuses grants with the status 403, also while it waits for the user. Google has 428 then.
    @Test(arguments: [403, 428]) func understandsARefusalOfAGrantWithAnotherStatus(status: Int) async throws {
        try await AgentFixture.online { f in
            f.timers.skipDelays(upTo: 5)
            f.emulator.control.settings.deviceCodeApprovedAtPoll = 1
            f.emulator.control.addUser(Self.alice)
            let parameters = try f.parameters(at: Self.main, kind: .openID)
            let begun = try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: parameters))
            f.emulator.control.inject(Self.refusal("authorization_pending", status))
            let result = try await f.agent.completeDeviceCode(CompleteDeviceCode(sessionID: begun.sessionID))
            #expect(result.account.username == Self.alice)
            // What is no error of a grant may be the answer of a proxy, and requires no sign-in.
            for (name, code) in [
                ("invalid_grant", TokenError.Code.interactionRequired), ("blocked", .unhandledHTTPResponse),
            ] {
                f.emulator.control.inject(Self.refusal(name, status))
                let error = await #expect(throws: TokenError.self) {
                    try await f.silent(parameters, result.account.reference, force: true)
                }
                #expect(error?.code == code)
                f.clock.advance(by: 200)
            }
        }
    }

    private static func refusal(_ error: String, _ status: Int) -> Fault {
        Fault { ($0.endpoint, $0.error, $0.status) = (.token, error, status) }
    }

    @Test func sendsATokenToNoOtherProviderOnTheSameHost() async throws {
        try await AgentFixture.online { f in
            let other = try f.parameters(at: "https://id.contoso.example/openid/other", kind: .openID)
            let reference = try await f.signIn(Self.alice, f.parameters(at: Self.main, kind: .openID)).account.reference
            let error = await #expect(throws: TokenError.self) { try await f.silent(other, reference) }
            #expect(error?.code == .interactionRequired)
            try await f.restarted { f in
                await #expect(throws: TokenError.self) { try await f.silent(other, reference) }
                #expect(f.redemptions == 0)
            }
        }
    }

    @Test func refusesAProviderWithoutADiscoveryDocument() async throws {
        try await AgentFixture.online { f in
            let nowhere = try f.parameters(at: "https://id.contoso.example/no/such/issuer/here", kind: .openID)
            let error = await #expect(throws: TokenError.self) { try await f.signIn(Self.alice, nowhere) }
            #expect(error?.code == .unhandledHTTPResponse)
        }
    }

    @Test func refusesAProviderWithAnotherIssuer() async throws {
        try await AgentFixture.online { f in
            // The document at this URL is Entra's, and names an issuer of another URL.
            let entra = try f.parameters(at: "https://id.contoso.example/contoso.com", kind: .openID)
            let error = await #expect(throws: TokenError.self) { try await f.signIn(Self.alice, entra) }
            #expect(error?.code == .serverInvalidResponse)
        }
    }
}
