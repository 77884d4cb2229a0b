internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenCache

/// Client IDs and scopes whose case matters: those of OpenID providers (RFC 6749 sections 2.2 and 3.3).
@Suite(.bounded) struct ExactComparisonTests {
    private static let providers = ["https://id.contoso.example/realms/Staff", "https://id.contoso.example"]

    private static func parameters(
        _ app: String, _ scopes: [String], at url: String, _ kind: Authority.Kind = .openID
    ) throws -> TokenParameters {
        var parameters = try CacheBuilder().parameters(app, scopes: scopes)
        parameters.authority = try Authority(url, kind: kind)
        return parameters
    }

    @Test(arguments: providers) func findsATokenByTheCaseOfItsScopes(url: String) throws {
        var builder = CacheBuilder()
        let (upper, lower) = (
            try Self.parameters("app", ["Files.Read"], at: url), try Self.parameters("app", ["files.read"], at: url)
        )
        let account = try builder.signIn("alice", upper).account.reference
        #expect(builder.decide(upper, account).token == "at-alice-Files.Read")
        #expect(builder.decide(lower, account).candidates == ["rt-alice-app"])
        // Neither of the two replaces the other.
        try builder.signIn("alice", lower)
        #expect(builder.decide(upper, account).token == "at-alice-Files.Read")
        #expect(builder.decide(lower, account).token == "at-alice-files.read")
    }

    @Test(arguments: providers) func keepsTheTokensOfTwoAppsApart(url: String) throws {
        var builder = CacheBuilder()
        let apps = ["notes", "Notes"]
        let account = try builder.signIn("alice", Self.parameters(apps[0], ["read"], at: url)).account.reference
        #expect(try builder.decide(Self.parameters(apps[1], ["read"], at: url), account).needsInteraction)
        try builder.signIn("alice", Self.parameters(apps[1], ["read"], at: url))
        let credentials = try #require(builder.cache.partition(.standard).accounts.values.first)
        #expect(credentials.accessTokens.count == 2 && credentials.idTokens.count == 2)
        builder.now += 4000
        for app in apps {
            let decision = try builder.decide(Self.parameters(app, ["read"], at: url), account)
            #expect(decision.candidates == ["rt-alice-\(app)"])
        }
    }

    /// An account with many tokens has an index of them.
    @Test func findsEachOfManyTokensByTheCaseOfItsScope() throws {
        var builder = CacheBuilder()
        let scopes = (0..<12).flatMap { ["Scope.\($0)", "scope.\($0)"] }
        let requests = try scopes.map { try Self.parameters("App", [$0], at: Self.providers[0]) }
        for request in requests { try builder.signIn("alice", request) }
        let account = try builder.signIn("alice", requests[0]).account.reference
        for (scope, request) in zip(scopes, requests) {
            #expect(builder.decide(request, account).token == "at-alice-\(scope)")
        }
    }

    /// Otherwise each request of the app would redeem its refresh token.
    @Test func findsATokenWhoseProviderNamesTheScopesInAnotherCase() throws {
        var builder = CacheBuilder()
        let parameters = try Self.parameters("app", ["Files.Read"], at: Self.providers[0])
        let account = try builder.signIn("alice", parameters, granted: ["openid", "files.read"]).account.reference
        #expect(builder.decide(parameters, account).token == "at-alice-Files.Read")
    }

    /// Its ID token names the app for which it was issued.
    @Test func returnsEachOfTwoAppsItsOwnIDToken() throws {
        var builder = CacheBuilder()
        let apps = ["notes", "Notes"]
        func tokens(of app: String) -> IssuedTokens {
            let claims = ["sub": "alice", "aud": app, "preferred_username": "alice@contoso.example"]
            return IssuedTokens(
                accessToken: Secret("at-\(app)"), idToken: CacheBuilder.idToken(claims))
        }
        var account = AccountReference()
        for app in apps {
            let parameters = try Self.parameters(app, ["read"], at: Self.providers[0])
            account = try builder.save(tokens(of: app), from: .signIn, parameters).account.reference
        }
        for app in apps {
            let parameters = try Self.parameters(app, ["read"], at: Self.providers[0])
            guard case .use(let result, _) = builder.decide(parameters, account) else {
                Issue.record("there is no token of \(app)")
                return
            }
            #expect(result.accessToken == Secret("at-\(app)") && result.idToken == tokens(of: app).idToken)
        }
    }

    @Test func namesTheScopesThatWereGrantedToAnApp() throws {
        var builder = CacheBuilder()
        let apps = [("notes", "read"), ("Notes", "write")]
        for (app, scope) in apps {
            let parameters = try Self.parameters(app, [scope], at: Self.providers[0])
            try builder.signIn("alice", parameters, granted: ["openid", scope])
            builder.now += 1
        }
        let account = try #require(builder.cache.partition(.standard).accountKeys.first)
        for (app, scope) in apps {
            let parameters = try Self.parameters(app, [scope], at: Self.providers[0])
            let granted = builder.cache.grantedScopes(
                of: account, for: parameters.clientID, at: parameters.authority, in: .standard)
            #expect(granted?.scopes.contains(scope) == true, "\(app)")
        }
    }

    @Test(
        arguments: [
            ("https://login.microsoftonline.com/common", .entra), ("https://fs.contoso.example/adfs", .adfs),
            ("https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_in", .b2c),
            ("https://contoso.ciamlogin.com/contoso.onmicrosoft.com", .ciam),
        ] as [(String, Authority.Kind)])
    func findsATokenOfAnyOtherKindInAnyCase(url: String, kind: Authority.Kind) throws {
        var builder = CacheBuilder()
        let account = try builder.signIn("alice", Self.parameters("Notes", ["Files.Read"], at: url, kind)).account
        let other = try Self.parameters("NOTES", ["files.read"], at: url, kind)
        #expect(builder.decide(other, account.reference).token == "at-alice-Files.Read")
        builder.now += 4000
        #expect(builder.decide(other, account.reference).candidates == ["rt-alice-Notes"])
    }
}
