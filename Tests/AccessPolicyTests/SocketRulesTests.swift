internal import AccessPolicy
internal import TestSupport
internal import Testing
internal import TokenModel

/// What a published socket serves: each field of a request, and each property of a result.
@Suite(.bounded) struct SocketRulesTests {
    private static let home = HomeAccountID("oid.tid")
    private static let graph = "https://graph.microsoft.com"

    private static func rules(
        scopes: [String] = ["User.Read"], authorities: [Authority] = [], account: Bool = false
    ) -> SocketRules {
        SocketRules(
            userIDs: [1000], clientIDs: PolicySamples.clients("notes", "mail"), sharingGroup: .standard,
            scopes: ScopeSet(scopes), authorities: authorities,
            account: account ? .init(homeAccountID: home, username: "Alice@contoso.com") : nil)
    }

    private static func silent(
        _ app: String = "notes", scopes: [String] = ["User.Read"], version: OAuthVersion = .v2,
        authority: Authority = .common, account: AccountReference = AccountReference(),
        changing change: (inout AcquireTokenSilent) -> Void = { _ in }
    ) throws -> AcquireTokenSilent {
        var request = AcquireTokenSilent(
            parameters: TokenParameters(
                clientID: try #require(ClientID(app)), authority: authority, version: version, scopes: ScopeSet(scopes)),
            account: account)
        change(&request)
        return request
    }

    private static func result(
        _ scopes: [String], account: HomeAccountID? = home, username: String = "alice@contoso.com", isHome: Bool? = true
    ) -> TokenResult {
        TokenResult(
            accessToken: Secret("t"), tokenType: "Bearer", expiresOn: 0, scopes: scopes, idToken: nil,
            account: Account(
                homeAccountID: account, username: username, environment: "login.windows.net", source: .msal),
            tenantProfile: isHome.map {
                TenantProfile(
                    realm: "tid", localAccountID: nil, username: nil, environment: "login.windows.net", isHome: $0)
            }, authority: Authority.common.url, correlationID: CorrelationID(), isFromCache: true)
    }

    private func expectDenied(_ rules: SocketRules, _ request: AcquireTokenSilent, _ name: String = "") {
        let error = #expect(throws: TokenError.self, "\(name)") { try rules.admitted(request) }
        #expect(error?.code == .requestDenied)
    }

    private func isServed(_ result: TokenResult, by rules: SocketRules, _ request: AcquireTokenSilent) -> Bool {
        switch rules.checked(.success(result), of: request) {
        case .success: return true
        case .failure(let error):
            #expect(error.code == .requestDenied && error.details.partialResult == nil)
            return false
        }
    }

    @Test func servesTheAppsOfItsSharingGroupRegardlessOfCase() throws {
        #expect(throws: Never.self) { try Self.rules().admitted(Self.silent("NOTES")) }
        expectDenied(Self.rules(), try Self.silent("calendar"))
        expectDenied(Self.rules(), try Self.silent { $0.parameters.sharingGroup = SharingGroup("other") ?? .standard })
    }

    /// Each would let a stranger renew tokens at will, get other tokens than the cached ones, or get longer ones.
    @Test func refusesEveryFieldThatAsksForMoreThanACachedToken() throws {
        let changes: [(String, (inout AcquireTokenSilent) -> Void)] = [
            ("force_refresh", { $0.forceRefresh = true }),
            ("expiration_buffer", { $0.expirationBuffer = SocketRules.longestBuffer + 1 }),
            ("claims", { $0.parameters.claims = "{}" }),
            ("capabilities", { $0.parameters.capabilities = ["cp1"] }),
            ("extra_parameters", { $0.parameters.extraParameters = ["instance_aware": "true"] }),
        ]
        for (name, change) in changes { expectDenied(Self.rules(), try Self.silent(changing: change), name) }
    }

    @Test func admitsTheFieldsThatReachNothingFurther() throws {
        let request = try Self.silent {
            $0.expirationBuffer = SocketRules.longestBuffer
            $0.allowsExtendedLifetime = true
            $0.parameters.validatesAuthority = false
            $0.parameters.redirectURI = "http://evil.example"
        }
        let admitted = try Self.rules().admitted(request)
        #expect(admitted.parameters.redirectURI == nil)
        #expect(admitted.allowsExtendedLifetime && admitted.parameters.scopes == request.parameters.scopes)
    }

    /// A provider for which case matters would refuse the owner's refresh token, and the owner's apps would get that error for two minutes.
    @Test func asksForTheAppAndTheScopesInThePublishedSpelling() throws {
        let admitted = try Self.rules().admitted(Self.silent("NOTES", scopes: ["OpenID", "user.READ"]))
        #expect(admitted.parameters.clientID.text == "notes")
        #expect(admitted.parameters.scopes.scopes == ["openid", "User.Read"])
    }

    /// Each policy and each tenant would get the owner's refresh token.
    @Test func servesAnAuthorityOfB2COrExternalIDOnlyIfItIsNamed() throws {
        for (url, kind) in [
            ("https://contoso.b2clogin.com/tfp/tenant/b2c_1_admin", Authority.Kind.b2c),
            ("https://contoso.ciamlogin.com/other", .ciam),
        ] {
            let authority = try Authority(url, kind: kind)
            let request = try Self.silent { $0.parameters.authority = authority }
            expectDenied(Self.rules(), request, url)
            var rules = Self.rules()
            rules.authorities = [authority]
            #expect(throws: Never.self, "\(url)") { try rules.admitted(request) }
        }
    }

    /// The error reaches the user of a container, and it is the only one that says what to publish.
    @Test func saysWithWhichOptionASocketServesTheRequest() throws {
        let consumers = try Self.silent(authority: Authority("https://login.microsoftonline.com/consumers"))
        let otherGroup = try Self.silent { $0.parameters.sharingGroup = SharingGroup("other") ?? .standard }
        let refused: [(SocketRules, AcquireTokenSilent, String)] = [
            (
                Self.rules(), try Self.silent("calendar"),
                "other apps; to serve this one, publish a socket with --app or --client-id"
            ),
            (Self.rules(), otherGroup, "another sharing group; to serve this one, publish a socket with --group"),
            (
                Self.rules(), try Self.silent(scopes: ["Mail.Read"]),
                "to serve these, publish a socket with --scope or --resource"
            ),
            (
                Self.rules(authorities: [.common]), consumers,
                "other authorities; to serve this one, publish a socket with --authority"
            ),
            (
                Self.rules(account: true), try Self.silent(account: AccountReference(username: "bob@contoso.com")),
                "another account; to serve this one, publish a socket with --account"
            ),
            (Self.rules(), try Self.silent { $0.forceRefresh = true }, "that needs the agent's own socket"),
            (Self.rules(), try Self.silent { $0.parameters.claims = "{}" }, "that needs the agent's own socket"),
        ]
        for (rules, request, remedy) in refused {
            let error = #expect(throws: TokenError.self, "\(remedy)") { try rules.admitted(request) }
            #expect(error?.message.contains(remedy) == true, "\(error?.message ?? "")")
        }
    }

    // MARK: Scopes

    @Test(
        arguments: [
            (["User.Read"], true), (["user.read"], true), (["User.Read", "offline_access", "openid"], true),
            (["User.Read", "Mail.Read"], false), (["Mail.Read"], false), ([], false), (["offline_access"], false),
            (["openid", "profile"], false), (["https://graph.microsoft.com/.default"], false), ([".default"], false),
        ] as [([String], Bool)])
    func servesASubsetOfItsScopes(scopes: [String], isServed: Bool) throws {
        let request = try Self.silent(scopes: scopes)
        if isServed {
            #expect(throws: Never.self) { try Self.rules().admitted(request) }
        } else {
            expectDenied(Self.rules(), request)
        }
    }

    /// A resource is one for both generations, and no prefix of another one.
    @Test(arguments: [
        ("https://graph.microsoft.com/.default", OAuthVersion.v1, true),
        ("https://graph.microsoft.com/.default", .v2, true),
        ("https://graph.microsoft.com//.default", .v1, false), ("https://graph.microsoft.com/User.Read", .v2, false),
        ("https://graph.microsoft.com/x/.default", .v2, false), ("https://other.example/.default", .v1, false),
    ])
    func servesAResourceToBothGenerations(scope: String, version: OAuthVersion, isServed: Bool) throws {
        let rules = Self.rules(scopes: ScopeSet(resource: Self.graph).scopes)
        let request = try Self.silent(scopes: [scope], version: version)
        if isServed {
            #expect(throws: Never.self) { try rules.admitted(request) }
        } else {
            expectDenied(rules, request)
        }
    }

    /// A cached token answers a request for some of its scopes, and a provider grants what was consented to.
    @Test(
        arguments: [
            (["User.Read"], true), (["User.Read", "openid", "profile", "email", "offline_access"], true),
            (["User.Read", "Mail.Read"], false), (["User.Read", "https://graph.microsoft.com/.default"], false),
        ] as [([String], Bool)])
    func servesNoTokenWithFurtherScopes(granted: [String], isServed: Bool) throws {
        #expect(self.isServed(Self.result(granted), by: Self.rules(), try Self.silent()) == isServed)
    }

    @Test func servesEveryScopeOfAResource() throws {
        let rules = Self.rules(scopes: ScopeSet(resource: Self.graph).scopes)
        let request = try Self.silent(scopes: ["https://graph.microsoft.com/.default"])
        #expect(isServed(Self.result(["User.Read", "Mail.Read"]), by: rules, request))
    }

    /// A provider that does not know the resource ignores it, and grants what was consented to.
    @Test func servesNoFurtherScopesToARequestForAScopeAndAResource() throws {
        let resource = "https://graph.microsoft.com/.default"
        let rules = Self.rules(scopes: ["read", "email", resource])
        let request = try rules.admitted(Self.silent(scopes: ["read", resource]))
        #expect(isServed(Self.result(["read", "openid"]), by: rules, request))
        #expect(!isServed(Self.result(["read", "write"]), by: rules, request))
        let ofResource = try rules.admitted(Self.silent(scopes: [resource, "openid", "email"]))
        #expect(isServed(Self.result(["read", "write"]), by: rules, ofResource))
    }

    @Test func servesEveryScopeIfNoneIsNamed() throws {
        let request = try Self.rules(scopes: []).admitted(Self.silent(scopes: ["Mail.Read"]))
        #expect(isServed(Self.result(["Mail.Read", "User.Read"]), by: Self.rules(scopes: []), request))
    }

    /// A failure because of declined scopes has a token with the others.
    @Test func removesTheTokenFromAFailureThatReachesFurther() throws {
        var details = TokenError.Details()
        details.partialResult = Self.result(["User.Read", "Mail.Read"])
        let failure = TokenError(.declinedScopes, "declined", details: details)
        guard case .failure(let error) = Self.rules().checked(.failure(failure), of: try Self.silent()) else {
            Issue.record("the failure was not kept")
            return
        }
        #expect(error.code == .requestDenied && error.details.partialResult == nil)
        details.partialResult = Self.result(["User.Read"])
        let harmless = TokenError(.declinedScopes, "declined", details: details)
        #expect(Self.rules().checked(.failure(harmless), of: try Self.silent()) == .failure(harmless))
    }

    // MARK: Accounts

    @Test(
        arguments: [
            (nil, nil, true), ("oid.tid", nil, true), ("OID.TID", nil, true), (nil, "ALICE@CONTOSO.COM", true),
            ("other.tid", nil, false), (nil, "bob@contoso.com", false), ("other.tid", "alice@contoso.com", false),
        ] as [(String?, String?, Bool)])
    func servesItsAccountByAnyName(identifier: String?, username: String?, isServed: Bool) throws {
        let account = AccountReference(homeAccountID: identifier.flatMap { HomeAccountID($0) }, username: username)
        let request = try Self.silent(account: account)
        if isServed {
            #expect(try Self.rules(account: true).admitted(request).account.homeAccountID == Self.home)
        } else {
            expectDenied(Self.rules(account: true), request)
        }
    }

    @Test func servesNoTokenOfAnotherAccount() throws {
        let (rules, request) = (Self.rules(account: true), try Self.silent())
        #expect(isServed(Self.result(["User.Read"]), by: rules, request))
        #expect(!isServed(Self.result(["User.Read"], account: HomeAccountID("other.tid")), by: rules, request))
        // A token of AD FS that names no user.
        #expect(!isServed(Self.result(["User.Read"], account: nil), by: rules, request))
    }

    /// As of AD FS. An account with an identifier is another one, whatever its username.
    @Test func servesAnAccountWithoutAnIdentifierByItsUsername() throws {
        var rules = Self.rules()
        rules.account = AccountReference(username: "Alice@contoso.com")
        let request = try rules.admitted(Self.silent(account: AccountReference(username: "alice@CONTOSO.com")))
        #expect(request.account == rules.account)
        expectDenied(rules, try Self.silent(account: AccountReference(username: "bob@contoso.com")))
        expectDenied(rules, try Self.silent(account: AccountReference(homeAccountID: Self.home)))
        #expect(isServed(Self.result(["User.Read"], account: nil, isHome: nil), by: rules, request))
        #expect(!isServed(Self.result(["User.Read"]), by: rules, request))
        #expect(
            !isServed(
                Self.result(["User.Read"], account: nil, username: "bob@contoso.com", isHome: nil), by: rules, request))

        let notes = ClientID("notes")
        #expect(try rules.admitted(ListAccounts(clientID: notes))?.username == "Alice@contoso.com")
        #expect(try rules.admitted(ListAccounts(clientID: notes, username: "bob@contoso.com")) == nil)
        #expect(try rules.admitted(ListAccounts(clientID: notes, homeAccountID: Self.home)) == nil)
        let names: [(HomeAccountID?, String)] = [
            (nil, "alice@contoso.com"), (Self.home, "alice@contoso.com"), (nil, "bob@contoso.com"),
        ]
        let accounts = names.map { Account(homeAccountID: $0, username: $1, environment: "e", source: .msal) }
        #expect(rules.visible(accounts) == [accounts[0]])
    }

    @Test func listsItsAccountsOnly() throws {
        let rules = Self.rules(account: true)
        let list = ListAccounts(clientID: ClientID("notes"))
        #expect(try rules.admitted(list)?.homeAccountID == Self.home)
        for other in [
            ListAccounts(clientID: nil), ListAccounts(clientID: ClientID("calendar")),
            ListAccounts(clientID: ClientID("notes"), onlySignedIn: false),
            ListAccounts(clientID: ClientID("notes"), sharingGroup: SharingGroup("other") ?? .standard),
        ] {
            let error = #expect(throws: TokenError.self) { try rules.admitted(other) }
            #expect(error?.code == .requestDenied)
        }
        #expect(
            try rules.admitted(ListAccounts(clientID: ClientID("notes"), homeAccountID: HomeAccountID("x.y"))) == nil)
        let accounts = ["oid.tid", "other.tid"].map {
            Account(homeAccountID: HomeAccountID($0), username: nil, environment: "e", source: .msal)
        }
        #expect(rules.visible(accounts).map(\.homeAccountID) == [Self.home])
    }

    // MARK: Tenants

    @Test func servesTheHomeTenantUnlessAnAuthorityIsNamed() throws {
        let rules = Self.rules(account: true)
        for realm in ["common", "organizations", "tid"] {
            #expect(throws: Never.self) { try rules.admitted(Self.silent(authority: .common.withRealm(realm))) }
        }
        for realm in ["guest", "contoso.com"] {
            expectDenied(rules, try Self.silent(authority: .common.withRealm(realm)), realm)
            // A request that names an account, at a socket for every account.
            expectDenied(
                Self.rules(),
                try Self.silent(
                    authority: .common.withRealm(realm), account: AccountReference(homeAccountID: Self.home)), realm)
            // One that does not is decided by its result.
            let open = try Self.rules().admitted(Self.silent(authority: .common.withRealm(realm)))
            #expect(!isServed(Self.result(["User.Read"], isHome: false), by: Self.rules(), open))
            #expect(!isServed(Self.result(["User.Read"], isHome: nil), by: Self.rules(), open))
        }
    }

    @Test func servesTheNamedAuthoritiesOnly() throws {
        let policy = try Authority("https://contoso.b2clogin.com/tfp/contoso.com/B2C_1_Sign_In")
        let rules = Self.rules(authorities: [policy, Authority.common.withRealm("guest")])
        #expect(throws: Never.self) { try rules.admitted(Self.silent(authority: policy)) }
        let guest = try rules.admitted(Self.silent(authority: .common.withRealm("guest")))
        #expect(isServed(Self.result(["User.Read"], isHome: false), by: rules, guest))
        expectDenied(rules, try Self.silent())
        expectDenied(
            rules, try Self.silent(authority: Authority("https://contoso.b2clogin.com/tfp/contoso.com/B2C_1_Edit")))
        expectDenied(
            rules, try Self.silent(authority: Authority("https://login.microsoftonline.com/guest", kind: .openID)))
    }

    @Test func listsProfilesOfServedTenantsOnly() throws {
        let profiles = [("tid", true), ("guest", false), ("third", false)].map {
            TenantProfile(realm: $0, localAccountID: nil, username: nil, environment: "e", isHome: $1)
        }
        let account = Account(
            homeAccountID: Self.home, username: nil, environment: "e", source: .msal, tenantProfiles: profiles)
        #expect(Self.rules().visible([account]).first?.tenantProfiles.map(\.realm) == ["tid"])
        let rules = Self.rules(authorities: [.common.withRealm("guest")])
        #expect(rules.visible([account]).first?.tenantProfiles.map(\.realm) == ["tid", "guest"])
    }

    // MARK: Rules of the configuration

    @Test func obeysARuleOfTheConfigurationThatRefuses() throws {
        let request = PolicySamples.request("acquire_token_silent", try Self.silent())
        for (effect, isRefused) in [(PolicyRule.Effect.deny, true), (.confirm, true), (.allow, false)] {
            let rule = PolicyRule(clientIDs: PolicySamples.clients("notes"), requests: .all, effect: effect)
            for peer in [PolicySamples.installed, PolicySamples.unknownSandbox] {
                let reason = PeerPolicy(userID: 1000, rules: [rule]).refusal(ofPublished: request, from: peer)
                #expect((reason != nil) == isRefused)
            }
        }
        #expect(PeerPolicy(userID: 1000).refusal(ofPublished: request, from: PolicySamples.unknownSandbox) == nil)
    }
}
