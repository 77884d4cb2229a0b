internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// A survey of an account says of each list what the list itself would say; and which changes need one.
@Suite(.bounded) struct AccountSurveyTests {
    private static let apps: [String?] = [nil, "app-1", "app-2", "app-3", "app-4"]
    private static let otherTenant = "7a1e0000-0000-4000-8000-000000000002"

    /// Sign-ins and sign-outs of users with and without identifiers, by apps in a family and in none; `app-4` is never used.
    @Test func findsTheAccountsThatListsHave() throws {
        var random = TestSeed()
        var builder = CacheBuilder()
        for _ in 0..<150 {
            try Self.change(&builder, &random)
            var packed = builder.cache
            packed.pack(in: .standard, leaving: [])
            for cache in [builder.cache, packed] {
                for app in Self.apps {
                    for isConfined in [false, true] {
                        let clientID = app.flatMap(ClientID.init)
                        let surveyed = Self.surveyed(cache, clientID, isConfined: isConfined)
                        let listed = Self.listed(cache, clientID, isConfined: isConfined)
                        #expect(surveyed == listed, "\(app ?? "all apps"), \(isConfined), \(random)")
                    }
                }
            }
        }
    }

    private static func change(_ builder: inout CacheBuilder, _ random: inout TestSeed) throws {
        let user = ["alice", "bob", "carol"][Int.random(in: 0..<3, using: &random)]
        let app = "app-\(Int.random(in: 1...3, using: &random))"
        let family = app == "app-1" ? nil : "1"
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let older = try builder.parameters(app, resource: "https://graph.windows.net")
            try builder.signIn(user, older, hasClientInfo: false)
        case 1: try builder.signIn(user, builder.parameters(app), family: family, tenant: otherTenant)
        case 2: try builder.signIn(user, builder.parameters(app), family: family)
        case 3: try builder.remove(RemoveAccount(clientID: clientID(app), account: CacheBuilder.account(user)))
        default:
            let name = AccountReference(username: "\(user)@contoso.com")
            let extent: RemoveAccount.Extent = Bool.random(using: &random) ? .account : .app
            try builder.remove(RemoveAccount(clientID: clientID(app), account: name, extent: extent))
        }
    }

    private static func clientID(_ text: String) throws -> ClientID { try #require(ClientID(text)) }

    private static func surveyed(_ cache: CredentialCache, _ clientID: ClientID?, isConfined: Bool) -> [Account] {
        cache.partition(.standard).order.values.map { cache.survey($0, in: .standard) }
            .filter { cache.lists($0, for: clientID, in: .standard, isConfined: isConfined) }.compactMap(\.account)
    }

    private static func listed(_ cache: CredentialCache, _ clientID: ClientID?, isConfined: Bool) -> [Account] {
        var request = ListAccounts(clientID: clientID)
        request.isConfined = isConfined
        return cache.accounts(request).accounts.map { account in
            var account = account
            account.homeIDToken = nil
            for index in account.tenantProfiles.indices { account.tenantProfiles[index].idToken = nil }
            return account
        }
    }

    @Test func needsNoSurveyAfterARenewal() throws {
        var builder = CacheBuilder()
        let one = AffectedAccounts.some([Self.record(realm: CacheBuilder.tenant).account])
        let none = AffectedAccounts.some([])
        #expect(try Self.affected(by: Self.tokens("rt-1"), in: builder) == one, "a first sign-in")
        try builder.save(Self.tokens("rt-1"), from: .signIn, builder.parameters())
        #expect(try Self.affected(by: Self.tokens("rt-2"), in: builder) == none, "other tokens")
        let renamed = Self.tokens("rt-2", name: "bob@contoso.com")
        #expect(try Self.affected(by: renamed, in: builder) == one, "another name")
        builder.cache.pack(in: .standard, leaving: [])
        #expect(try Self.affected(by: Self.tokens("rt-2"), in: builder) == none, "while the account is packed")
    }

    @Test func needsASurveyAfterASignInOfAnAppThatHasSignedOut() throws {
        var builder = CacheBuilder()
        let parameters = try builder.parameters()
        try builder.save(Self.tokens("rt-1"), from: .signIn, parameters)
        let account = AccountReference(homeAccountID: Self.record(realm: "tid").account.homeAccountID)
        builder.remove(RemoveAccount(clientID: parameters.clientID, account: account))
        #expect(try Self.affected(by: Self.tokens("rt-2"), in: builder) != AffectedAccounts.some([]))
    }

    @Test(arguments: [(AffectedAccounts.recordLimit, false), (AffectedAccounts.recordLimit + 1, true)])
    func surveysNoAccountWithVeryManyRecords(count: Int, isAny: Bool) {
        var cache = CredentialCache()
        for number in 0..<count { cache.load(.account(Self.record(realm: "tenant-\(number)")), in: .standard) }
        let record = Self.record(realm: "tenant-0")
        let removal = CacheChange.remove(CacheRecord.account(record).key(in: .standard), account: record.account)
        let affected = isAny ? AffectedAccounts.any : AffectedAccounts.some([record.account])
        #expect(cache.accounts(affectedBy: [removal], in: .standard) == affected)
    }

    private static func record(realm: String) -> AccountRecord {
        AccountRecord(
            homeAccountID: "1.\(CacheBuilder.tenant)", environment: "login.windows.net", realm: realm,
            localAccountID: "1", username: "alice@contoso.com", authorityType: AccountRecord.entraType,
            source: AccountRecord.msalSource)
    }

    private static func tokens(_ refreshToken: String, name: String = "alice@contoso.com") -> IssuedTokens {
        IssuedTokens(
            accessToken: Secret("at-\(refreshToken)"), refreshToken: Secret(refreshToken),
            idToken: CacheBuilder.idToken([
                "ver": "2.0", "oid": "1", "sub": "1", "tid": CacheBuilder.tenant, "preferred_username": name,
            ]), homeAccountID: HomeAccountID(uid: "1", utid: CacheBuilder.tenant))
    }

    /// The accounts that are affected if tokens are saved.
    private static func affected(by tokens: IssuedTokens, in builder: CacheBuilder) throws -> AffectedAccounts {
        let parameters = try builder.parameters()
        let saved = try builder.cache.changes(
            saving: tokens, from: .signIn, parameters, at: parameters.authority, now: builder.now)
        try #require(!saved.changes.isEmpty)
        return builder.cache.accounts(affectedBy: saved.changes, in: .standard)
    }
}
