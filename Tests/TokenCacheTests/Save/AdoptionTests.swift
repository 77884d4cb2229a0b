internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenCache

/// An account that was known by its username gets its identifier.
@Suite(.bounded) struct AdoptionTests {
    private static let app = "d3590ed6-52b3-4102-aeff-aad2292ab01c"
    private static let name = "alice@contoso.onmicrosoft.com"
    private static let environment = "login.windows.net"
    private static let tenant = "72f988bf-0000-4000-8000-2d7cd011db47"
    private static let user = "11111111-1111-1111-1111-111111111111"
    private static let now: Int64 = 1_795_230_000

    @Test func reportsTheIdentifierToEveryApp() throws {
        var cache = try Self.cache(apps: [Self.app, "other"])
        let saved = try cache.redeemForMSAL(Self.app, now: Self.now)
        cache.apply(saved.changes, in: .standard)
        for clientID in [Self.app, "other"] {
            let accounts = cache.accounts(ListAccounts(clientID: ClientID(clientID))).accounts
            #expect(accounts.map { $0.homeAccountID?.text } == ["oid.tid"], "\(clientID)")
        }
        #expect(cache.partition(.standard).accounts.count == 1)
    }

    @Test func servesADALAppsFromTheMovedRecords() throws {
        var cache = try Self.cache(apps: [Self.app])
        let token = AccessTokenRecord(
            account: AccountKey(issuer: .microsoft, identity: .name(Self.name)), environment: Self.environment,
            clientID: try #require(ClientID(Self.app)),
            realm: "contoso.onmicrosoft.com", version: .v1, scopes: ScopeSet(resource: "https://graph.windows.net"),
            tokenType: "Bearer", secret: Secret("AT-alice-aadgraph"), cachedAt: Self.now - 60,
            expiresOn: Self.now + 3600, extendedExpiresOn: nil, refreshOn: nil)
        cache.load(.accessToken(token), in: .standard)
        let saved = try cache.redeemForMSAL(Self.app, now: Self.now)
        cache.apply(saved.changes, in: .standard)
        let parameters = TokenParameters(
            clientID: try #require(ClientID(Self.app)),
            authority: try Authority("https://login.microsoftonline.com/contoso.onmicrosoft.com"), version: .v1,
            scopes: ScopeSet(resource: "https://graph.windows.net"))
        let request = AcquireTokenSilent(
            parameters: parameters, account: AccountReference(username: Self.name))
        #expect(cache.decide(request, now: Self.now).token == "AT-alice-aadgraph")
    }

    /// Apps of ADAL know no other name, such as the one that MSAL's endpoint has for the user.
    @Test func findsTheAccountByTheNameThatItHad() throws {
        var cache = try Self.cache(apps: [Self.app])
        let name = AccountKey(issuer: .microsoft, identity: .name(Self.name))
        let used = try #require(cache.partition(.standard)[name].refreshTokens.values.first)
        let parameters = try CacheBuilder().parameters(Self.app)
        var tokens = Self.signIn()
        tokens.idToken = CacheBuilder.idToken([
            "ver": "2.0", "tid": Self.tenant, "oid": Self.user, "sub": "s", "preferred_username": "al@contoso.com",
        ])
        let saved = try cache.changes(
            saving: tokens, from: .redemption(used), parameters, at: parameters.authority, now: Self.now)
        cache.apply(saved.changes, in: .standard)
        for username in [Self.name, "al@contoso.com"] {
            let list = ListAccounts(clientID: ClientID(Self.app), username: username)
            #expect(cache.accounts(list).accounts.map(\.username) == ["al@contoso.com"], "\(username)")
        }
    }

    /// The claim that has the name tells whose account it is, and the next sign-in need not have it.
    @Test(arguments: ["upn", "email"]) func findsTheAccountAfterASignInByTheNameThatItHad(claim: String) throws {
        var builder = CacheBuilder()
        builder.cache = try Self.cache(apps: [Self.app])
        builder.now = Self.now
        let claims = [
            "ver": "2.0", "tid": Self.tenant, "oid": Self.user, "sub": "s", "preferred_username": "al@contoso.com",
        ]
        for names in [[claim: Self.name], [:]] {
            var tokens = Self.signIn()
            tokens.idToken = CacheBuilder.idToken(claims.merging(names) { $1 })
            try builder.save(tokens, from: .signIn, builder.parameters("new-app"))
            for username in [Self.name, "al@contoso.com"] {
                let list = ListAccounts(clientID: ClientID(Self.app), username: username)
                let accounts = builder.cache.accounts(list).accounts
                #expect(accounts.map { $0.homeAccountID?.text } == ["oid.tid"], "\(username)")
            }
        }
    }

    /// Each response to MSAL has another name. The one of ADAL stays until ADAL gets another one.
    @Test func findsTheAccountByTheNameThatADALGotLast() throws {
        var builder = CacheBuilder()
        let older = try builder.parameters(resource: "https://graph.windows.net")
        try builder.signIn("alice", older)
        for name in ["al@contoso.com", "ali@contoso.com"] {
            let renamed = Self.alice(["ver": "2.0", "preferred_username": name])
            try builder.save(renamed, from: .signIn, builder.parameters())
            #expect(Self.usernames(named: "alice@contoso.com", builder) == [name])
        }
        #expect(Self.usernames(named: "al@contoso.com", builder).isEmpty)
        try builder.save(Self.alice(["ver": "1.0", "upn": "alicia@contoso.com"]), from: .signIn, older)
        #expect(Self.usernames(named: "alice@contoso.com", builder).isEmpty)
        #expect(Self.usernames(named: "alicia@contoso.com", builder) == ["alicia@contoso.com"])
    }

    /// No app of ADAL uses the tenant in which MSAL has named the user otherwise.
    @Test func findsTheAccountByNoFormerNameThatMSALAloneHad() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(resource: "https://graph.windows.net"))
        let tenant = "7a1e0000-0000-4000-8000-000000000002"
        let parameters = try builder.parameters(authority: "https://login.microsoftonline.com/\(tenant)")
        for name in ["al@fabrikam.com", "ali@fabrikam.com"] {
            let renamed = Self.alice(["ver": "2.0", "tid": tenant, "preferred_username": name])
            try builder.save(renamed, from: .signIn, parameters)
        }
        #expect(Self.usernames(named: "al@fabrikam.com", builder).isEmpty)
        #expect(Self.usernames(named: "ali@fabrikam.com", builder) == ["alice@contoso.com"])
    }

    /// An app of ADAL names its user by the ID that it has saved, which may be from before several renames.
    @Test func findsTheAccountByTheUserIDsThatADALHasGivenBefore() throws {
        var builder = CacheBuilder()
        let older = try builder.parameters(resource: "https://graph.windows.net")
        let names = (0..<6).map { "alice-\($0)@contoso.com" }
        for name in names { try builder.save(Self.alice(["ver": "1.0", "upn": name]), from: .signIn, older) }
        // MSAL has another name, and keeps those of ADAL.
        try builder.save(
            Self.alice(["ver": "2.0", "preferred_username": "al@contoso.com"]), from: .signIn, builder.parameters())
        func isFound(_ name: String) -> Bool {
            builder.decide(older, AccountReference(username: name)).token == "at-alice"
        }
        #expect(names.filter(isFound) == Array(names.dropFirst()))
        let identifier = try #require(CacheBuilder.account("alice").homeAccountID)
        for (name, isKnown) in [(names[1], true), (names[0], false)] {
            #expect(
                builder.cache.isAccount(identifier, named: name, at: older.authority, in: .standard) == isKnown)
        }
        builder.remove(
            RemoveAccount(
                clientID: older.clientID, account: AccountReference(username: names[2]), extent: .account))
        #expect(!names.contains(where: isFound))
    }

    /// A name may be given to another person, who is not taken for the one who had it, nor the other way round.
    @Test func findsThePersonWhoHasANameNow() throws {
        var builder = CacheBuilder()
        let older = try builder.parameters(resource: "https://graph.windows.net")
        func token(_ name: String) -> String? { builder.decide(older, AccountReference(username: name)).token }
        for name in ["common@contoso.com", "alice@contoso.com"] {
            try builder.save(Self.alice(["ver": "1.0", "upn": name]), from: .signIn, older)
        }
        #expect(token("common@contoso.com") == "at-alice")
        try builder.save(Self.tokens(of: "bob", ["ver": "1.0", "upn": "common@contoso.com"]), from: .signIn, older)
        #expect(token("common@contoso.com") == "at-bob")
        // Both have had it.
        try builder.save(Self.tokens(of: "bob", ["ver": "1.0", "upn": "bob@contoso.com"]), from: .signIn, older)
        #expect(token("common@contoso.com") == nil)
        #expect(token("alice@contoso.com") == "at-alice" && token("bob@contoso.com") == "at-bob")
    }

    private static func alice(_ names: [String: String]) -> IssuedTokens { tokens(of: "alice", names) }

    private static func tokens(of user: String, _ names: [String: String]) -> IssuedTokens {
        let claims = ["tid": CacheBuilder.tenant, "oid": "oid-\(user)", "sub": "sub-\(user)"]
        return IssuedTokens(
            accessToken: Secret("at-\(user)"), refreshToken: Secret("rt-\(user)"),
            idToken: CacheBuilder.idToken(claims.merging(names) { $1 }),
            homeAccountID: CacheBuilder.account(user).homeAccountID)
    }

    private static func usernames(named name: String, _ builder: CacheBuilder) -> [String?] {
        builder.cache.accounts(ListAccounts(clientID: CacheBuilder.app, username: name)).accounts.map(\.username)
    }

    /// The sign-in names the same object of the same directory as the import did.
    @Test func givesTheIdentifierAtASignInToAnotherApp() throws {
        var builder = CacheBuilder()
        builder.cache = try Self.cache(apps: [Self.app])
        builder.now = Self.now
        let parameters = try builder.parameters("new-app")
        try builder.save(Self.signIn(), from: .signIn, parameters)
        for clientID in [Self.app, "new-app"] {
            let accounts = builder.cache.accounts(ListAccounts(clientID: ClientID(clientID))).accounts
            #expect(accounts.map { $0.homeAccountID?.text } == ["oid.tid"], "\(clientID)")
        }
        let app = try builder.parameters(Self.app)
        let byIdentifier = AccountReference(homeAccountID: HomeAccountID("oid.tid"))
        #expect(builder.decide(app, byIdentifier).candidates == ["RT-\(Self.app)"])
        #expect(builder.decide(app, AccountReference(username: Self.name)).candidates == ["RT-\(Self.app)"])
    }

    /// A personal account may have the same name. Until the work account signs in, both are listed.
    @Test func givesTheIdentifierOfTheWorkAccountBesideAPersonalOne() throws {
        var builder = CacheBuilder()
        builder.cache = try Self.cache(apps: [Self.app])
        builder.now = Self.now
        let parameters = try builder.parameters("new-app")
        let personal = try #require(HomeAccountID(uid: "oid", utid: HomeAccountID.personalTenantID))
        func identifiers() -> Set<HomeAccountID?> {
            Set(builder.cache.accounts(ListAccounts(clientID: nil)).accounts.map(\.homeAccountID))
        }
        var tokens = Self.signIn(tenant: HomeAccountID.personalTenantID)
        tokens.homeAccountID = personal
        try builder.save(tokens, from: .signIn, parameters)
        #expect(identifiers() == [nil, personal])
        try builder.save(Self.signIn(), from: .signIn, parameters)
        #expect(identifiers() == [HomeAccountID("oid.tid"), personal])
        let app = try builder.parameters(Self.app)
        #expect(builder.decide(app, AccountReference(homeAccountID: personal)).needsInteraction)
        #expect(builder.decide(app, AccountReference(username: Self.name)).candidates == ["RT-\(Self.app)"])
    }

    /// Of another user, or of one whose token is being redeemed, nothing is moved.
    @Test(arguments: [(oid: "22222222-1111-1111-1111-111111111111", inUse: false), (oid: user, inUse: true)])
    func leavesTheAccountAtASignInUnlessItIsTheUsers(oid: String, inUse: Bool) throws {
        let cache = try Self.cache(apps: [Self.app])
        let parameters = try CacheBuilder().parameters("new-app")
        let saved = try cache.changes(
            saving: Self.signIn(oid), from: .signIn, parameters, at: parameters.authority, now: Self.now,
            leaving: inUse ? [Secret("RT-\(Self.app)")] : [])
        var after = cache
        after.apply(saved.changes, in: .standard)
        let name = AccountKey(issuer: .microsoft, identity: .name(Self.name))
        #expect(after.partition(.standard)[name] == cache.partition(.standard)[name])
    }

    /// A tenant of another name may have a user with the same object identifier.
    @Test func leavesTheAccountAtASignInToAnotherTenant() throws {
        let cache = try Self.cache(apps: [Self.app])
        let parameters = try CacheBuilder().parameters("new-app")
        let tokens = Self.signIn(tenant: "9e570000-0000-4000-8000-000000000002")
        let saved = try cache.changes(
            saving: tokens, from: .signIn, parameters, at: parameters.authority, now: Self.now)
        var after = cache
        after.apply(saved.changes, in: .standard)
        let name = AccountKey(issuer: .microsoft, identity: .name(Self.name))
        #expect(after.partition(.standard)[name] == cache.partition(.standard)[name])
    }

    /// The username may be somebody else's there, and the response has no token for that cloud.
    @Test func leavesTheTokenOfAnotherCloudUnderTheUsername() throws {
        var cache = try Self.cache(apps: [Self.app])
        let name = AccountKey(issuer: .microsoft, identity: .name(Self.name))
        var token = try #require(cache.partition(.standard)[name].refreshTokens.values.first)
        (token.environment, token.secret) = ("login.microsoftonline.us", Secret("RT-us"))
        cache.load(.refreshToken(token), in: .standard)
        let saved = try cache.redeemForMSAL(Self.app, now: Self.now)
        cache.apply(saved.changes, in: .standard)
        let left = cache.partition(.standard)[name].refreshTokens.values.map { $0.secret.reveal() }
        #expect(left == ["RT-us"])
    }

    private static func signIn(_ user: String = user, tenant: String = tenant) -> IssuedTokens {
        IssuedTokens(
            accessToken: Secret("at-new"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
            scopes: nil, refreshToken: Secret("rt-new"), isMultiResource: true,
            idToken: CacheBuilder.idToken([
                "ver": "2.0", "tid": tenant, "oid": user, "sub": "s", "preferred_username": name,
            ]), homeAccountID: HomeAccountID("oid.tid"), clientInfo: nil, familyID: nil)
    }

    /// A refresh token that another app is redeeming is not moved: the new token would be overwritten.
    @Test func doesNotMoveATokenThatIsBeingRedeemed() throws {
        var cache = try Self.cache(apps: [Self.app, "other"])
        let saved = try cache.redeemForMSAL(Self.app, now: Self.now, inUse: [Secret("RT-other")])
        cache.apply(saved.changes, in: .standard)
        let name = AccountKey(issuer: .microsoft, identity: .name(Self.name))
        #expect(cache.partition(.standard)[name].refreshTokens.values.map { $0.secret.reveal() } == ["RT-other"])
    }

    /// The response has no other token for that resource.
    @Test func movesTheTokenOfOneResourceWithItsAccount() throws {
        var cache = try Self.cache(apps: [Self.app])
        let name = AccountKey(issuer: .microsoft, identity: .name(Self.name))
        var token = try #require(cache.partition(.standard)[name].refreshTokens.values.first)
        token.secret = Secret("RT-mail")
        token.restriction = RefreshTokenRecord.Restriction(
            realm: "common", scopes: ScopeSet(resource: "https://mail.example"))
        cache.load(.refreshToken(token), in: .standard)
        let saved = try cache.redeemForMSAL(Self.app, now: Self.now)
        cache.apply(saved.changes, in: .standard)
        let identified = AccountKey(issuer: .microsoft, identity: .home(try #require(HomeAccountID("oid.tid"))))
        let held = cache.partition(.standard)[identified].refreshTokens.values
        #expect(Set(held.map(\.secret)) == [Secret("rt-new"), Secret("RT-mail")])
        #expect(cache.partition(.standard)[name].refreshTokens.isEmpty)
    }

    /// An app of the same family has a copy of the token, which the redemption has used up. It stays under the username if the app has
    /// another one under the identifier.
    @Test(arguments: [false, true]) func movesNoCopyOfATokenThatHasBeenRedeemed(hasAnother: Bool) throws {
        var builder = CacheBuilder()
        builder.cache = try Self.cache(apps: [Self.app])
        builder.now = Self.now
        let name = AccountKey(issuer: .microsoft, identity: .name(Self.name))
        var shared = try #require(builder.cache.partition(.standard)[name].refreshTokens.values.first)
        shared.familyID = FamilyID("1")
        builder.cache.load(.refreshToken(shared), in: .standard)
        let identified = AccountKey(issuer: .microsoft, identity: .home(try #require(HomeAccountID("oid.tid"))))
        if hasAnother {
            var other = shared
            (other.account, other.familyID, other.secret) = (identified, nil, Secret("rt-other"))
            builder.cache.load(.refreshToken(other), in: .standard)
        }
        var response = Self.signIn()
        response.familyID = FamilyID("1")
        try builder.save(response, from: .redemption(shared), builder.parameters("member"))
        let kept = builder.cache.partition(.standard)[hasAnother ? name : identified].refreshTokens.values
        #expect(kept.first { $0.clientID == shared.clientID && $0.familyID == nil }?.secret.reveal() == "rt-new")
        #expect(!builder.cache.partition(.standard).records.contains { $0.isRefreshToken("RT-\(Self.app)") })
    }

    /// A redemption of the token has not been overtaken by a sign-out.
    @Test func findsAMovedTokenThatHasLeftMemory() throws {
        var cache = try Self.cache(apps: [Self.app, "other"])
        let name = AccountKey(issuer: .microsoft, identity: .name(Self.name))
        let token = try #require(
            cache.partition(.standard)[name].refreshTokens.values.first { $0.secret == Secret("RT-other") })
        let saved = try cache.redeemForMSAL(Self.app, now: Self.now)
        cache.apply(saved.changes, in: .standard)
        #expect(cache.partition(.standard)[name].refreshTokens.isEmpty)
        #expect(cache.stillHolds(token, in: .standard))
        cache.pack(in: .standard, leaving: [])
        #expect(cache.stillHolds(token, in: .standard))
        for account in cache.partition(.standard).accountKeys {
            let identifier = try #require(account.homeAccountID)
            let removal = RemoveAccount(
                clientID: token.clientID, account: AccountReference(homeAccountID: identifier), extent: .account)
            cache.apply(cache.changes(removing: removal), in: .standard)
        }
        #expect(!cache.stillHolds(token, in: .standard))
    }

    /// The records of an account that several apps have a refresh token of, as an older ADAL left them.
    private static func cache(apps: [String]) throws -> CredentialCache {
        var cache = CredentialCache()
        let account = AccountRecord(
            homeAccountID: nil, environment: environment, realm: tenant, localAccountID: user, username: name,
            authorityType: "MSSTS",
            source: "adal")
        cache.load(.account(account), in: .standard)
        for app in apps {
            let clientID = try #require(ClientID(app))
            let token = RefreshTokenRecord(
                account: account.account, environment: environment, clientID: clientID, familyID: nil,
                secret: Secret("RT-\(app)"), binding: cache.clouds.binding(to: .common))
            let metadata = AccountMetadataRecord(
                account: account.account, clientID: clientID, signInState: .signedIn, authorityMap: [:])
            cache.load(.refreshToken(token), in: .standard)
            cache.load(.accountMetadata(metadata), in: .standard)
        }
        return cache
    }
}

extension CacheRecord {
    fileprivate func isRefreshToken(_ secret: String) -> Bool {
        if case .refreshToken(let token) = self { token.secret == Secret(secret) } else { false }
    }
}
