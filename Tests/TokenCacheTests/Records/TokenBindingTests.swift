internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenCache

/// Which authorities a refresh token may be redeemed at.
@Suite(.bounded) struct TokenBindingTests {
    @Test(arguments: [
        ("https://login.windows.net/common", Authority.Kind.entra, "", "login.microsoftonline.com"),
        ("https://login.contoso.example/common", .entra, "login.contoso.example", "login.contoso.example"),
        ("https://contoso.b2clogin.com/contoso/b2c_1_x", .b2c, "contoso.b2clogin.com", "contoso.b2clogin.com"),
        ("https://contoso.b2clogin.cn/contoso/b2c_1_x", .b2c, "contoso.b2clogin.cn", "contoso.b2clogin.cn"),
        ("https://contoso.ciamlogin.com/contoso", .ciam, "contoso.ciamlogin.com", "contoso.ciamlogin.com"),
        (
            "https://login.contoso.com/Contoso/B2C_1_x", .b2c, "login.contoso.com",
            "login.contoso.com/contoso/b2c_1_x/oauth2/v2.0/token"
        ),
        (
            "https://login.contoso.com/contoso", .ciam, "login.contoso.com",
            "login.contoso.com/contoso/oauth2/v2.0/token"
        ),
        ("https://login.contoso.com", .ciam, "login.contoso.com", "login.contoso.com/oauth2/v2.0/token"),
        ("https://fs.contoso.example/adfs", .adfs, "fs.contoso.example/adfs", "fs.contoso.example"),
        ("https://id.example/realms/a", .openID, "id.example/realms/a", "id.example"),
        ("https://id.example:8443", .openID, "id.example:8443", "id.example:8443"),
    ])
    func bindsARefreshTokenToWhereItWasIssued(url: String, kind: Authority.Kind, issuer: String, endpoint: String)
        throws
    {
        var builder = CacheBuilder()
        try builder.signIn("alice", CacheBuilder.parameters(url, kind))
        let bindings = builder.bindings
        #expect(bindings == [TokenBinding(kind: kind, issuer: Issuer(issuer), endpoint: endpoint)])
    }

    @Test func bindsAnOpenIDProvidersTokenToTheEndpointThatIssuedIt() throws {
        var builder = CacheBuilder()
        let parameters = try CacheBuilder.parameters("https://accounts.google.com", .openID)
        try builder.save(Self.tokens("first", "https://oauth2.googleapis.com/token"), from: .signIn, parameters)
        #expect(builder.bindings.map(\.endpoint) == ["oauth2.googleapis.com"])
        // A redemption does not move it, wherever the response came from.
        let token = try #require(builder.refreshTokens.first)
        try builder.save(Self.tokens("second", "https://evil.example/token"), from: .redemption(token), parameters)
        #expect(builder.refreshTokens.map { $0.secret.reveal() } == ["second"])
        #expect(builder.bindings.map(\.endpoint) == ["oauth2.googleapis.com"])
    }

    /// The worldwide endpoint has named the cloud of the user, which takes the refresh token from now on.
    @Test func bindsATokenToTheCloudThatMicrosoftsEndpointHasNamed() throws {
        var builder = CacheBuilder()
        let tokens = try Self.tokens("rt", "https://login.microsoftonline.com/common/oauth2/v2.0/token")
        let authority = try Authority("https://login.microsoftonline.us/\(CacheBuilder.tenant)")
        try builder.save(tokens, from: .signIn, builder.parameters(), at: authority)
        #expect(builder.bindings.map(\.endpoint) == ["login.microsoftonline.us"])
    }

    /// A request names the kind of its authority, and so may claim that any path of a host is an OpenID provider.
    @Test(arguments: [
        (
            "https://login.microsoftonline.com/common", Authority.Kind.entra,
            "https://login.microsoftonline.com/~mallory"
        ),
        ("https://login.contoso.example/common", .entra, "https://login.contoso.example/~mallory"),
        ("https://fs.contoso.example/adfs", .adfs, "https://fs.contoso.example/~mallory"),
        ("https://fs.contoso.example/adfs", .adfs, "https://fs.contoso.example/adfs"),
        ("https://contoso.b2clogin.com/contoso/p", .b2c, "https://contoso.b2clogin.com/~mallory"),
        ("https://contoso.ciamlogin.com/contoso", .ciam, "https://contoso.ciamlogin.com/~mallory"),
        ("https://id.example/realms/a", .openID, "https://id.example/realms/mallory"),
        ("https://id.example", .openID, "https://id.example/realms/mallory"),
    ])
    func offersATokenToNoOpenIDProviderThatDidNotIssueIt(url: String, kind: Authority.Kind, attacker: String) throws {
        var builder = CacheBuilder()
        let parameters = try CacheBuilder.parameters(url, kind)
        let account = try builder.signIn("alice", parameters).account.reference
        #expect(builder.decide(parameters, account, force: true).candidates?.count == 1)
        let foreign = try CacheBuilder.parameters(attacker, .openID)
        #expect(builder.decide(foreign, account, force: true).candidates == nil)
        #expect(builder.decide(foreign, AccountReference(), force: true).candidates == nil)
    }

    /// At a domain of their organisation, B2C and External ID have one issuer for every path: the token endpoint's path tells them
    /// from what else is published there.
    @Test(arguments: [Authority.Kind.b2c, .ciam]) func bindsATokenOfACustomDomainToThePathOfItsEndpoint(
        kind: Authority.Kind
    ) throws {
        var builder = CacheBuilder()
        let parameters = try CacheBuilder.parameters("https://login.contoso.com/Contoso/B2C_1_x", kind)
        let endpoint = "https://login.contoso.com/tfp/Contoso/B2C_1_x/oauth2/v2.0/token"
        try builder.save(Self.tokens("rt", endpoint), from: .signIn, parameters)
        let token = try #require(builder.refreshTokens.first)
        #expect(token.binding?.endpoint == String(endpoint.dropFirst("https://".count)).lowercased())
        #expect(token.binding?.endpoints(of: token.account).allSatisfy { $0.hasSuffix("/oauth2/v2.0/token") } == true)
    }

    /// Earlier versions named the tenant by its ID after the sign-in, and discovery documents may do so.
    @Test(
        arguments: [
            (.b2c, "d.contoso.com/tfp/contoso/p/oauth2/v2.0/token", "d.contoso.com/tfp/tid/p/oauth2/v2.0/token"),
            (.b2c, "d.contoso.com/contoso/p/oauth2/v2.0/token", "d.contoso.com/tid/p/oauth2/v2.0/token"),
            (.ciam, "d.contoso.com/contoso/oauth2/v2.0/token", "d.contoso.com/tid/oauth2/v2.0/token"),
            (.ciam, "d.contoso.com/oauth2/v2.0/token", nil),
            (.ciam, "contoso.ciamlogin.com", nil), (.adfs, "fs.contoso.com", nil), (.openID, "id.contoso.com", nil),
        ] as [(Authority.Kind, String, String?)])
    func allowsTheEndpointOfTheTenantsIDToo(kind: Authority.Kind, endpoint: String, other: String?) throws {
        let identifier = try #require(HomeAccountID(uid: "uid", utid: "TID"))
        let issuer = Issuer(endpoint)
        let binding = TokenBinding(kind: kind, issuer: issuer, endpoint: endpoint)
        let account = AccountKey(issuer: issuer, identity: .home(identifier))
        #expect(binding.endpoints(of: account) == Set([endpoint, other].compactMap(\.self)))
    }

    @Test(arguments: Authority.Kind.allCases, Authority.Kind.allCases)
    func offersATokenToNoOtherKindOfAuthority(of issuer: Authority.Kind, at other: Authority.Kind) throws {
        var builder = CacheBuilder()
        let url = "https://id.contoso.example/adfs/b2c_1_x"
        let account = try builder.signIn("alice", CacheBuilder.parameters(url, issuer)).account.reference
        let candidates = try builder.decide(CacheBuilder.parameters(url, other), account, force: true).candidates
        #expect((candidates != nil) == (issuer == other))
    }

    @Test func offersATokenOfAHostWithoutPortToNoPortOfIt() throws {
        var builder = CacheBuilder()
        let account = try builder.signIn("alice", CacheBuilder.parameters("https://localhost/t", .entra)).account
            .reference
        let other = try CacheBuilder.parameters("https://localhost:8443/t", .entra)
        #expect(builder.decide(other, account, force: true).candidates == nil)
    }

    @Test func offersATokenOfOneCloudToNoOther() throws {
        var builder = CacheBuilder()
        let account = try builder.signIn("alice", builder.parameters()).account.reference
        let other = try builder.parameters(authority: "https://login.microsoftonline.us/common")
        #expect(builder.decide(other, account, force: true).candidates == nil)
    }

    @Test func findsATokenThatWasSavedBeforeItsCloudWasKnown() throws {
        var builder = CacheBuilder()
        let account = try builder.signIn("alice", CacheBuilder.parameters("https://login.one/t", .entra)).account
            .reference
        let cloud = CloudDirectory.Cloud(
            aliases: ["login.one", "sts.one"], preferredNetwork: "login.one", preferredCache: "sts.one")
        _ = builder.cache.clouds.learn([cloud], about: "login.one")
        let alias = try CacheBuilder.parameters("https://sts.one/t", .entra)
        #expect(builder.decide(alias, account, force: true).candidates?.count == 1)
    }

    @Test func neverOffersATokenWhoseIssuerIsUnknown() throws {
        var builder = CacheBuilder()
        let parameters = try builder.parameters()
        let account = try builder.signIn("alice", parameters).account.reference
        for var token in builder.refreshTokens {
            token.binding = nil
            builder.cache.load(.refreshToken(token), in: .standard)
        }
        #expect(builder.decide(parameters, account, force: true).needsInteraction)
    }

    // MARK: Tokens that another library, or an earlier version, saved

    /// Earlier versions bound the tokens of a custom domain to its host. The app's authorities tell the path, if there is one.
    @Test(arguments: [Authority.Kind.b2c, .ciam]) func completesABindingWithoutAPathFromTheAppsAuthority(
        kind: Authority.Kind
    ) throws {
        var builder = CacheBuilder()
        let parameters = try CacheBuilder.parameters("https://login.contoso.com/contoso", kind)
        let account = try builder.signIn("alice", parameters).account.reference
        let token = try #require(builder.refreshTokens.first)
        let earlier = try Self.withoutPath(token)
        #expect(earlier.binding == nil)
        builder.cache.load(.refreshToken(earlier), in: .standard)
        #expect(builder.decide(parameters, account, force: true).needsInteraction)
        let credentials = builder.cache.partition(.standard)[token.account]
        #expect(credentials.derivedBinding(of: earlier, builder.cache.clouds) == token.binding)
        var completed = earlier
        completed.binding = token.binding
        #expect(completed == token)
    }

    @Test func completesNoBindingOfAnAppWithTwoAuthoritiesAtTheHost() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", CacheBuilder.parameters("https://login.contoso.com/contoso", .ciam))
        let token = try Self.withoutPath(#require(builder.refreshTokens.first))
        var credentials = builder.cache.partition(.standard)[token.account]
        for (app, metadata) in credentials.metadata {
            var metadata = metadata
            metadata.authorityMap["https://login.contoso.com/~mallory"] = "https://login.contoso.com/t"
            credentials.metadata[app] = metadata
        }
        #expect(credentials.derivedBinding(of: token, builder.cache.clouds) == nil)
        credentials.metadata = [:]
        #expect(credentials.derivedBinding(of: token, builder.cache.clouds) == nil)
    }

    /// The account's records may name another provider at the same host, to which the token must not go.
    @Test func keepsTheBindingOfALaterVersion() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", CacheBuilder.parameters("https://id.example/realms/a", .openID))
        var token = try #require(builder.refreshTokens.first)
        token.binding = nil
        let later = StoredBinding(kind: 99, issuer: "id.example/other", endpoint: "id.example")
        token.unusableBinding = later
        let record = CacheRecord.refreshToken(token)
        let stored = try #require(CacheRecord(record.stored(in: .standard)))
        let exported = try #require(CacheRecord(exportedAs: record.kindNumber, token.encoded()))
        #expect(stored == record)
        #expect(exported == record)
        let credentials = builder.cache.partition(.standard)[token.account]
        #expect(credentials.derivedBinding(of: token, builder.cache.clouds) == nil)
    }

    /// The record as an earlier version stored it, read from the store.
    private static func withoutPath(_ token: RefreshTokenRecord) throws -> RefreshTokenRecord {
        let binding = try #require(token.binding)
        let earlier = RefreshTokenRecord(
            account: token.account, environment: token.environment, clientID: token.clientID, familyID: nil,
            secret: token.secret, restriction: token.restriction,
            binding: TokenBinding(kind: binding.kind, issuer: binding.issuer, endpoint: binding.environment),
            obtainedOn: token.obtainedOn)
        let stored = CacheRecord.refreshToken(earlier).stored(in: .standard)
        guard case .asStored(.refreshToken(let read)) = CacheRecord.load(stored, in: .standard) else {
            throw TokenError(.internalError, "the record is not the one of an earlier version")
        }
        // What is known of the binding stays in the store until it is complete.
        #expect(CacheRecord(CacheRecord.refreshToken(read).stored(in: .standard)) == .refreshToken(read))
        #expect(read.unusableBinding?.endpoint == binding.environment)
        return read
    }

    @Test(arguments: [
        ("https://login.windows.net/common", Authority.Kind.entra),
        ("https://login.contoso.example/common", .entra), ("https://localhost/common", .entra),
        ("https://contoso.b2clogin.com/contoso/b2c_1_x", .b2c), ("https://login.contoso.com/contoso/b2c_1_x", .b2c),
        ("https://contoso.ciamlogin.com/contoso", .ciam), ("https://login.contoso.com/contoso", .ciam),
        ("https://fs.contoso.example/adfs", .adfs),
        ("https://id.example/realms/a", .openID),
        ("https://id.example", .openID),
    ])
    func derivesTheBindingThatASignInWouldGive(url: String, kind: Authority.Kind) throws {
        var builder = CacheBuilder()
        let cloud = CloudDirectory.Cloud(
            aliases: ["login.contoso.example"], preferredNetwork: "login.contoso.example",
            preferredCache: "login.contoso.example")
        _ = builder.cache.clouds.learn([cloud], about: "login.contoso.example")
        // The policy of a B2C account is in its identifier.
        try builder.signIn(kind == .b2c ? "alice-b2c_1_x" : "alice", CacheBuilder.parameters(url, kind))
        let token = try #require(builder.refreshTokens.first)
        let credentials = builder.cache.partition(.standard)[token.account]
        #expect(credentials.derivedBinding(of: token, builder.cache.clouds) == token.binding)
    }

    /// Microsoft's libraries save accounts of any provider with Entra's type, whose tokens may go to every path of the host.
    @Test func derivesNoBindingToEntraAtAHostThatIsNotKnown() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", CacheBuilder.parameters("https://id.contoso.example/common", .entra))
        let token = try #require(builder.refreshTokens.first)
        let credentials = builder.cache.partition(.standard)[token.account]
        #expect(credentials.derivedBinding(of: token, builder.cache.clouds) == nil)
    }

    @Test func derivesNoBindingFromAnAccountOfTwoKinds() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", CacheBuilder.parameters("https://id.contoso.example/adfs", .adfs))
        let token = try #require(builder.refreshTokens.first)
        var credentials = builder.cache.partition(.standard)[token.account]
        let account = try #require(credentials.accounts.values.first)
        var other = account
        (other.realm, other.authorityType) = ("realms/a", "Other")
        credentials.accounts = [account.key: account, other.key: other]
        #expect(credentials.derivedBinding(of: token, builder.cache.clouds) == nil)
    }

    /// Their tokens may go to every path below the provider's own one only.
    @Test func derivesNoBindingFromAnAccountOfTwoOpenIDProviders() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", CacheBuilder.parameters("https://id.example/realms/a", .openID))
        let token = try #require(builder.refreshTokens.first)
        var credentials = builder.cache.partition(.standard)[token.account]
        let account = try #require(credentials.accounts.values.first)
        var other = account
        other.realm = "realms/b"
        credentials.accounts = [account.key: account, other.key: other]
        #expect(credentials.derivedBinding(of: token, builder.cache.clouds) == nil)
    }

    @Test func derivesNoBindingWithoutAnAccountAtTheHost() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", CacheBuilder.parameters("https://login.contoso.example/common", .entra))
        let token = try #require(builder.refreshTokens.first)
        #expect(AccountCredentials().derivedBinding(of: token, builder.cache.clouds) == nil)
    }

    private static func tokens(_ refreshToken: String, _ endpoint: String) throws -> IssuedTokens {
        try IssuedTokens(
            accessToken: Secret("at"), refreshToken: Secret(refreshToken),
            idToken: CacheBuilder.idToken(["sub": "sub-alice", "preferred_username": "alice"]),
            endpoint: URLParts(endpoint))
    }
}

extension CacheBuilder {
    fileprivate var records: [CacheRecord] { cache.partition(.standard).records }

    fileprivate var refreshTokens: [RefreshTokenRecord] {
        records.compactMap { if case .refreshToken(let token) = $0 { token } else { nil } }
    }

    fileprivate var bindings: [TokenBinding] { refreshTokens.compactMap(\.binding) }
}
