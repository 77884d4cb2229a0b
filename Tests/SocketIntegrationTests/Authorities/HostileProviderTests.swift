internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// Providers whose responses are not for the app, or not to its request. Nothing of them is kept, except for a refresh token that replaces the
/// one that was sent.
@Suite(.bounded) struct HostileProviderTests {
    private static let provider = "https://id.contoso.example/openid/Main"
    private static let alice = "Alice@contoso.example"

    /// What is wrong with the ID tokens of providers of every kind.
    private static let wrongForAll: [[String: JSON]] = [
        ["aud": "app-2"], ["aud": nil], ["aud": 7], ["aud": []], ["aud": ["app-2"]], ["aud": ["app-1", 7]],
        ["aud": ["app-1", "app-2"]], ["aud": ["app-1", "app-2"], "azp": "app-2"],
        ["exp": 1_700_000_000], ["exp": nil], ["exp": "2900000000"],
        ["nonce": "another"], ["nonce": nil], ["nonce": 7],
    ]

    /// What else is wrong with those of an OpenID provider.
    private static let wrongForOpenID: [[String: JSON]] = [
        ["iss": "https://id.contoso.example/openid/Other"], ["iss": "https://id.contoso.example/openid/Main/"],
        ["iss": nil], ["iss": 7], ["azp": "app-2"], ["sub": nil], ["sub": ""], ["sub": 7],
    ]

    /// A provider chooses its subjects, and so the identifiers of its accounts.
    @Test func showsNoAccountOfAnotherProviderAtASocketForOneAccount() async throws {
        try await AgentFixture.online { f in
            f.emulator.control.settings.idTokenClaims = ["sub": "1234"]
            let mallory = "mallory@contoso.example"
            let (main, other) = (Self.provider, "https://id.contoso.example/openid/Another")
            try await f.signIn(Self.alice, f.parameters(at: main, kind: .openID))
            try await f.signIn(mallory, f.parameters(at: other, kind: .openID))
            let app = try #require(ClientID("app-1"))
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: app)).count == 2)
            for account in [Self.alice, mallory] {
                try await f.published(account: account) { client in
                    let listed = try await client.listAccounts(ListAccounts(clientID: app))
                    #expect(listed.map(\.username) == [account])
                    let current = try await client.currentAccount(GetCurrentAccount(clientID: app))
                    #expect(current.account?.username == account)
                }
            }
            try await f.published(account: Self.alice) { client in
                var events = client.events(WatchEvents(clientID: app)).makeAsyncIterator()
                #expect(try await events.next()?.kind == .resynchronise)
                #expect(try await events.next()?.storeState == .open)
                for name in [mallory, Self.alice] {
                    _ = try await f.agent.removeAccount(
                        RemoveAccount(clientID: app, account: AccountReference(username: name)))
                }
                let told = try #require(try await events.next())
                #expect(told.kind == .signedOut && told.account?.username == Self.alice)
            }
        }
    }

    @Test func servesNoTokenOfAnotherProviderAtASocketForOneAccount() async throws {
        try await AgentFixture.online { f in
            f.emulator.control.settings.idTokenClaims = ["sub": "1234"]
            let main = try f.parameters(at: Self.provider, kind: .openID)
            let other = try f.parameters(at: "https://id.contoso.example/openid/Another", kind: .openID)
            let alice = try await f.signIn(Self.alice, main).account.reference
            let mallory = try await f.signIn("mallory@contoso.example", other).account.reference
            #expect(alice.homeAccountID == mallory.homeAccountID)
            try await f.published(account: Self.alice) { client in
                let token = try await f.token(client, main)
                #expect(token.account.username == Self.alice)
                let identifier = AccountReference(homeAccountID: alice.homeAccountID)
                for account in [AccountReference(), identifier, AccountReference(username: Self.alice)] {
                    await f.expectDenied(client, other, account)
                }
            }
        }
    }

    @Test func showsTheAccountsOfTheNamedAuthoritiesOnlyAtASocket() async throws {
        try await AgentFixture.online { f in
            let main = try f.parameters(at: Self.provider, kind: .openID)
            let other = try f.parameters(at: "https://id.contoso.example/openid/Another", kind: .openID)
            try await f.signIn(Self.alice, main)
            try await f.signIn("mallory@contoso.example", other)
            try await f.published(authorities: [main.authority]) { client in
                let listed = try await client.listAccounts(ListAccounts(clientID: main.clientID))
                #expect(listed.map(\.username) == [Self.alice])
                let current = try await client.currentAccount(GetCurrentAccount(clientID: main.clientID))
                #expect(current.account?.username == Self.alice)
            }
            try await f.published { client in
                let listed = try await client.listAccounts(ListAccounts(clientID: main.clientID))
                #expect(listed.count == 2)
            }
        }
    }

    @Test func refusesASignInWithAnIDTokenThatIsNotForIt() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            for claims in Self.wrongForAll + Self.wrongForOpenID {
                f.emulator.control.settings.idTokenClaims = claims
                #expect(await f.signInError(Self.alice, parameters)?.code == .serverInvalidResponse, "\(claims)")
                #expect(try await f.isEmpty, "\(claims)")
            }
            f.emulator.control.settings.idTokenClaims = ["aud": ["app-2", "APP-1"], "azp": "app-1"]
            #expect(await f.signInError(Self.alice, parameters) == nil)
        }
    }

    @Test(
        arguments: [
            ("https://login.microsoftonline.com/common", nil),
            ("https://login.microsoftonline.com/common", "https://graph.microsoft.com"),
            ("https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_SignIn", nil),
            ("https://contoso.ciamlogin.com", nil), ("https://fs.contoso.com/adfs", "https://api.contoso.com"),
        ])
    func refusesSuchASignInAtMicrosoftsProvidersToo(authority: String, resource: String?) async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: authority, resource: resource, validates: false)
            for claims in Self.wrongForAll {
                f.emulator.control.settings.idTokenClaims = claims
                #expect(await f.signInError(Self.alice, parameters)?.code == .serverInvalidResponse, "\(claims)")
                #expect(try await f.isEmpty, "\(claims)")
            }
            // These do not name the user; their issuers are their own.
            f.emulator.control.settings.idTokenClaims = ["azp": "app-2"]
            #expect(await f.signInError(Self.alice, parameters) == nil)
        }
    }

    @Test func refusesAnIDTokenOfAnotherIssuerThanTheADFS() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(
                at: "https://fs.contoso.com/adfs", resource: "https://api.contoso.com", validates: false)
            let wrong: [[String: JSON]] = [
                ["iss": "https://fs.contoso.com/~mallory"], ["iss": "https://sts.windows.net/t/"], ["iss": nil],
            ]
            for claims in wrong {
                f.emulator.control.settings.idTokenClaims = claims
                #expect(await f.signInError(Self.alice, parameters)?.code == .serverInvalidResponse)
                #expect(try await f.isEmpty)
            }
            f.emulator.control.settings.idTokenClaims = [:]
            let account = try await f.signIn(Self.alice, parameters).account.reference
            #expect(try await !f.silent(parameters, account, force: true).isFromCache)
        }
    }

    /// The issuer of a B2C policy has its name or not, as the policy's settings say.
    @Test(arguments: ["b2c_1_signin", nil]) func refusesAnIDTokenOfAnotherIssuerThanTheB2CPolicy(
        policy: String?
    ) async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(
                at: "https://login.contoso.com/contoso.onmicrosoft.com/B2C_1_SignIn", kind: .b2c, validates: false)
            let path = policy.map { "tfp/t-1/\($0)" } ?? "t-1"
            let issuer = "https://login.contoso.com/\(path)/v2.0/"
            f.emulator.control.settings.openIDConfiguration = ["issuer": .string(issuer)]
            let wrong: [[String: JSON]] = [
                ["iss": "https://login.contoso.com/t-2/v2.0/"], ["iss": .string(issuer + "/")], ["iss": nil],
            ]
            for claims in wrong {
                f.emulator.control.settings.idTokenClaims = claims
                #expect(await f.signInError(Self.alice, parameters)?.code == .serverInvalidResponse, "\(claims)")
                #expect(try await f.isEmpty)
            }
            f.emulator.control.settings.idTokenClaims = ["iss": .string(issuer)]
            let account = try await f.signIn(Self.alice, parameters).account.reference
            #expect(try await !f.silent(parameters, account, force: true).isFromCache)
        }
    }

    @Test func refusesATenantOfAnotherIssuer() async throws {
        try await AgentFixture.with { (f) async throws in
            f.emulator.control.settings.idTokenClaims = ["tid": "9188040d-6c67-4c5b-b112-36a304b66dad"]
            #expect(try await f.signInError(Self.alice, f.parameters())?.code == .serverInvalidResponse)
            #expect(try await f.isEmpty)
        }
    }

    /// Without an ID token nothing says who has signed in.
    @Test func refusesASignInWithoutAnIDToken() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            f.emulator.control.settings.tokenReply = ["id_token": nil]
            #expect(await f.signInError(Self.alice, parameters)?.code == .serverInvalidResponse)
            f.timers.skipDelays(upTo: 5)
            f.emulator.control.settings.deviceCodeApprovedAtPoll = 1
            let begun = try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: parameters))
            let error = await #expect(throws: TokenError.self) {
                try await f.agent.completeDeviceCode(CompleteDeviceCode(sessionID: begun.sessionID))
            }
            #expect(error?.code == .serverInvalidResponse)
            #expect(try await f.isEmpty)
        }
    }

    /// OpenID Connect Core 1.0 section 12.2.
    @Test func refusesARefreshForAnotherUser() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            let signedIn = try await f.signIn(Self.alice, parameters)
            let reference = signedIn.account.reference
            for claims in [["sub": "mallory"], ["sub": nil], ["aud": "app-2"], ["iss": "https://x"], ["exp": 1]]
                as [[String: JSON]]
            {
                f.emulator.control.settings.rotation = .lenient
                f.emulator.control.settings.idTokenClaims = claims
                let error = await #expect(throws: TokenError.self) {
                    try await f.silent(parameters, reference, force: true)
                }
                #expect(error?.code == .serverInvalidResponse, "\(claims)")
                let cached = try await f.silent(parameters, reference)
                #expect(cached.accessToken == signedIn.accessToken && cached.idToken == signedIn.idToken, "\(claims)")
            }
            f.emulator.control.settings.idTokenClaims = [:]
            #expect(try await f.silent(parameters, reference, force: true).account.reference == reference)
            // A refresh need not have an ID token.
            f.emulator.control.settings.tokenReply = ["id_token": nil]
            #expect(try await f.silent(parameters, reference, force: true).account.reference == reference)
        }
    }

    /// RFC 6749 section 6: the refresh token of a response replaces the one that was sent, which the emulator accepts once.
    @Test func keepsTheRefreshTokenOfARefreshThatIsRefused() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            let reference = try await f.signIn(Self.alice, parameters).account.reference
            for claims in [["sub": nil], ["aud": "app-2"], ["iss": "https://x"], ["exp": 1]] as [[String: JSON]] {
                f.emulator.control.settings.idTokenClaims = claims
                let error = await #expect(throws: TokenError.self) {
                    try await f.silent(parameters, reference, force: true)
                }
                #expect(error?.code == .serverInvalidResponse, "\(claims)")
            }
            f.emulator.control.settings.idTokenClaims = [:]
            // The first response is refused when its access token is to be saved, the second one when it is read.
            let marks = String(repeating: "\u{301}", count: 31)
            for reply in [["access_token": "a\u{1}b"], ["x": "a\(marks)"]] as [[String: JSON]] {
                f.emulator.control.settings.tokenReply = reply
                let error = await #expect(throws: TokenError.self) {
                    try await f.silent(parameters, reference, force: true)
                }
                #expect(error?.code == .serverInvalidResponse, "\(reply)")
            }
            f.emulator.control.settings.tokenReply = [:]
            try await f.restarted { (f) async throws in
                let renewed = try await f.silent(parameters, reference, force: true)
                #expect(renewed.account.reference == reference)
                #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
            }
        }
    }

    /// The app gets the error, as of Microsoft's libraries. The provider has replaced the refresh token nevertheless.
    @Test func keepsTheRefreshTokenThatComesWithAnError() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            let reference = try await f.signIn(Self.alice, parameters).account.reference
            f.emulator.control.settings.tokenReply = ["error": "odd"]
            for _ in 1...2 {
                let error = await #expect(throws: TokenError.self) {
                    try await f.silent(parameters, reference, force: true)
                }
                #expect(error?.details.oauthError == "odd" && error?.details.isThrottled == false)
            }
            f.emulator.control.settings.tokenReply = [:]
            let renewed = try await f.silent(parameters, reference, force: true)
            #expect(renewed.account.reference == reference)
            #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
        }
    }

    @Test func keepsNoRefreshTokenOfAnotherUser() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            let reference = try await f.signIn(Self.alice, parameters).account.reference
            f.emulator.control.settings.idTokenClaims = ["sub": "mallory"]
            for code in [TokenError.Code.serverInvalidResponse, .interactionRequired] {
                let error = await #expect(throws: TokenError.self) {
                    try await f.silent(parameters, reference, force: true)
                }
                #expect(error?.code == code)
            }
            // The token that was sent first was sent again.
            #expect(f.emulator.control.counts.reusedRefreshTokens == 1)
        }
    }

    /// RFC 9207: the browser was sent to another provider, whose code must not go to this one.
    @Test(arguments: [["iss": "https://honest.example"], ["iss": nil], ["iss": ""]] as [[String: JSON]])
    func sendsNoCodeOfAnotherIssuer(parameters reply: [String: JSON]) async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            f.emulator.control.settings.authorizationReply = reply
            #expect(await f.signInError(Self.alice, parameters)?.code == .serverInvalidResponse)
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .authorize
                    $0.error = "access_denied"
                })
            #expect(await f.signInError(Self.alice, parameters)?.code == .serverInvalidResponse)
            #expect(f.emulator.control.counts[.authorizationCode] == 0)
        }
    }

    @Test func requiresTheIssuerOfAResponseOnlyOfProvidersThatSendIt() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            f.emulator.control.settings.openIDConfiguration = ["authorization_response_iss_parameter_supported": nil]
            f.emulator.control.settings.authorizationReply = ["iss": nil]
            #expect(await f.signInError(Self.alice, parameters) == nil)
            f.emulator.control.settings.authorizationReply = ["iss": "https://honest.example"]
            #expect(await f.signInError(Self.alice, parameters)?.code == .serverInvalidResponse)
        }
    }
}

extension AgentFixture {
    /// Whether the agent knows no account.
    fileprivate var isEmpty: Bool {
        get async throws { try await agent.listAccounts(ListAccounts(clientID: nil)).isEmpty }
    }

    /// The error of a sign-in; nil if it succeeds.
    fileprivate func signInError(_ username: String, _ parameters: TokenParameters) async -> TokenError? {
        do {
            try await signIn(username, parameters)
            return nil
        } catch {
            return error as? TokenError ?? TokenError(.internalError, "\(error)")
        }
    }
}
