internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@testable internal import TokenCache

/// Accounts and credentials that take more than one reply.
@Suite(.bounded) struct LongListTests {
    /// More than the limits of a list in a message, and of a page.
    @Test(arguments: [1, 39, 40, 41, 257, 450])
    func listsEveryTenantProfileOfAnAccount(count: Int) throws {
        var cache = CredentialCache()
        for user in ["alice", "bob", "carol"] {
            for number in 0..<(user == "bob" ? count : 2) {
                let account = AccountRecord(
                    homeAccountID: "\(user).\(CacheBuilder.tenant)", environment: "login.microsoftonline.com",
                    realm: number == 0 ? CacheBuilder.tenant : "realm-\(number)", localAccountID: "\(user)-\(number)",
                    username: user, authorityType: "MSSTS", source: "msal")
                cache.load(.account(account), in: .standard)
            }
        }
        let accounts = try cache.listedAccounts()
        #expect(
            accounts.map { $0.homeAccountID?.text } == ["alice", "bob", "carol"].map { "\($0).\(CacheBuilder.tenant)" })
        #expect(accounts.map(\.tenantProfiles.count) == [2, count, 2])
        let realms = accounts[1].tenantProfiles.map(\.realm)
        #expect(Set(realms).count == count)
        #expect(accounts[1].tenantProfiles.first?.isHome == true)
        #expect(Array(realms.dropFirst()) == realms.dropFirst().sorted())
        try cache.removeAllThatIsListed()
        #expect(try cache.listedAccounts().isEmpty)
    }

    @Test func keepsRepliesWithLongNamesWithinTheLimit() throws {
        var cache = CredentialCache()
        let idToken = CacheBuilder.idToken(["tid": CacheBuilder.tenant, "sub": String(repeating: "s", count: 80_000)])
        let app = try #require(CacheBuilder.app)
        for number in 0..<20 {
            let environment = "login.microsoftonline.com"
            let home = "\(number)\(String(repeating: "h", count: 900)).\(CacheBuilder.tenant)"
            let account = try #require(HomeAccountID(home))
            for realm in 0..<5 {
                let tenant = realm == 0 ? CacheBuilder.tenant : "\(realm)\(String(repeating: "r", count: 1000))"
                cache.load(
                    .account(
                        AccountRecord(
                            homeAccountID: home, environment: environment, realm: tenant,
                            localAccountID: String(repeating: "l", count: 1024),
                            username: String(repeating: "u", count: 4096), authorityType: "MSSTS", source: "msal")),
                    in: .standard)
            }
            let token = try #require(
                IDTokenRecord(
                    account: AccountKey(issuer: Issuer(ofEnvironment: environment), identity: .home(account)),
                    environment: environment, clientID: app, realm: CacheBuilder.tenant,
                    version: .v2, idToken: idToken))
            cache.load(.idToken(token), in: .standard)
        }
        let accounts = try cache.listedAccounts(ListAccounts(clientID: CacheBuilder.app, onlySignedIn: false))
        #expect(accounts.count == 20)
        #expect(accounts.allSatisfy { $0.tenantProfiles.count == 5 && $0.homeIDToken == idToken })
    }

    /// A token result with every value at its limit.
    @Test func encodesTheLongestTokenResult() throws {
        var builder = CacheBuilder()
        let padding = String(repeating: "p", count: 90_000)
        let idToken = CacheBuilder.idToken([
            "ver": "2.0", "tid": CacheBuilder.tenant, "oid": "oid", "preferred_username": "alice", "p": padding,
        ])
        #expect(idToken.utf8.count > 120_000 && idToken.utf8.count <= ValueLimits.idToken)
        let scopes = (0..<ValueLimits.listItems).map { "s\($0)-\(String(repeating: "x", count: 120))" }
        let tokens = IssuedTokens(
            accessToken: Secret(String(repeating: "t", count: ValueLimits.token)), tokenType: "Bearer", expiresIn: 3600,
            extendedExpiresIn: nil, refreshIn: nil, scopes: ScopeSet(scopes), refreshToken: Secret("rt"),
            isMultiResource: true, idToken: idToken,
            homeAccountID: HomeAccountID(uid: String(repeating: "u", count: 900), utid: CacheBuilder.tenant),
            clientInfo: nil, familyID: FamilyID(String(repeating: "1", count: 1024)))
        let result = try builder.save(tokens, from: .signIn, builder.parameters())
        #expect(try CredentialCache.received(result, to: AcquireTokenSilent.self) == result)
        #expect(result.scopes == scopes)
        _ = try builder.cache.listedCredentials()
    }

    /// A token with very many scopes is listed under an identifier that fits into a message, and removed by it.
    @Test func listsAndRemovesACredentialWithVeryManyScopes() throws {
        var builder = CacheBuilder()
        let scopes = (0..<200).map { "https://graph.microsoft.com/Permission.Number.\($0)" }
        try builder.signIn("alice", builder.parameters(), granted: scopes + ["User.Read"])
        let credential = try #require(try builder.cache.listedCredentials().first { $0.kind == .accessToken })
        #expect(credential.scopes.scopes.count == 201)
        #expect(credential.id.utf8.count <= ValueLimits.text)
        let removal = builder.cache.changes(removing: RemoveCredential(id: credential.id))
        #expect(removal.count == 1)
        builder.cache.apply(removal, in: .standard)
        #expect(try builder.cache.listedCredentials().map(\.kind) == [.refreshToken])
    }

    /// Requested scopes are kept before other granted ones.
    @Test func keepsTheRequestedScopesOfVeryMany() throws {
        var builder = CacheBuilder()
        let granted = (0..<400).map { "s\($0)" }
        let result = try builder.signIn("alice", builder.parameters(scopes: ["s399"]), granted: granted)
        #expect(result.scopes.count == ValueLimits.listItems)
        #expect(result.scopes.last == "s399")
        #expect(try builder.decide(builder.parameters(scopes: ["s399"]), CacheBuilder.account("alice")).token != nil)
    }

    @Test func cutsAProvidersNameThatIsTooLong() throws {
        for (name, shown) in [
            (String(repeating: "n", count: 5000), String(repeating: "n", count: 4096)),
            ("alice\0@contoso.com", "alice @contoso.com"),
        ] {
            var builder = CacheBuilder()
            let tokens = IssuedTokens(
                accessToken: Secret("at"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
                scopes: nil, refreshToken: Secret("rt"), isMultiResource: true,
                idToken: CacheBuilder.idToken([
                    "ver": "2.0", "tid": CacheBuilder.tenant, "oid": "oid", "preferred_username": name,
                ]), homeAccountID: HomeAccountID(uid: "oid", utid: CacheBuilder.tenant), clientInfo: nil, familyID: nil)
            let result = try builder.save(tokens, from: .signIn, builder.parameters())
            #expect(result.account.username == shown)
            #expect(try builder.cache.listedAccounts().map(\.username) == [shown])
            #expect(try builder.cache.listedAccounts(ListAccounts(clientID: nil, username: shown)).count == 1)
        }
    }

    @Test func refusesAResponseWhoseIdentifierIsTooLong() throws {
        let builder = CacheBuilder()
        let long = String(repeating: "u", count: 2000)
        for (uid, tenant) in [(long, CacheBuilder.tenant), ("oid", long)] {
            let tokens = IssuedTokens(
                accessToken: Secret("at"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
                scopes: nil, refreshToken: Secret("rt"), isMultiResource: true,
                idToken: CacheBuilder.idToken(["ver": "2.0", "tid": tenant, "oid": "oid"]),
                homeAccountID: HomeAccountID(uid: uid, utid: CacheBuilder.tenant), clientInfo: nil, familyID: nil)
            let parameters = try builder.parameters()
            let error = #expect(throws: TokenError.self) {
                try builder.cache.changes(
                    saving: tokens, from: .signIn, parameters, at: parameters.authority, now: builder.now)
            }
            #expect(error?.code == .serverInvalidResponse)
        }
    }
}
