internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// What a request searches among many accounts and tokens.
@Suite(.bounded) struct SearchTests {
    /// The agent saves the port with the host, and other libraries do not.
    @Test func answersForAnotherPortWithATokenOfAnotherLibraryOnly() throws {
        var builder = CacheBuilder()
        let parameters = try CacheBuilder.parameters("https://id.contoso.example/p", .openID)
        let account = try builder.signIn("alice", parameters).account.reference
        let other = try CacheBuilder.parameters("https://id.contoso.example:8443/p", .openID)
        #expect(builder.decide(parameters, account).token == "at-alice-User.Read")
        #expect(builder.decide(other, account).token == nil)
        // A file has brought the account, and then the token.
        for (kind, token) in [(.account, nil), (.accessToken, "at-alice-User.Read")] as [(RecordKind, String?)] {
            for record in builder.cache.partition(.standard).records where record.kind == kind {
                builder.cache.load(record.changed { $0.setUnknownFields(UnknownFields.none) }, in: .standard)
            }
            #expect(builder.decide(other, account).token == token, "\(kind)")
        }
    }

    /// Adding and removing records in any order leaves the indexes that the records need.
    @Test func keepsTheIndexesOfItsRecords() throws {
        var random = TestSeed()
        let seed = "\(random)"
        var builder = CacheBuilder()
        for _ in 0..<400 {
            let user = "user-\(random.next() % 20)"
            let app = "app-\(random.next() % 4)"
            switch random.next() % 6 {
            case 0:
                builder.remove(
                    RemoveAccount(
                        clientID: try #require(ClientID(app)), account: CacheBuilder.account(user), extent: .account))
            case 1:
                let listed = builder.cache.credentials(ListCredentials(), localScheme: "https").credentials
                guard !listed.isEmpty else { continue }
                let credential = listed[Int(random.next() % UInt64(listed.count))]
                let changes = builder.cache.changes(removing: RemoveCredential(id: credential.id))
                #expect(changes.count == 1, "\(seed)")
                builder.cache.apply(changes, in: .standard)
            default:
                let host = ["login.microsoftonline.com", "login.microsoftonline.us"][Int(random.next() % 2)]
                let parameters = try builder.parameters(
                    app, scopes: ["Scope.\(random.next() % 8)"], authority: "https://\(host)/common")
                try builder.signIn(
                    user, parameters,
                    refreshToken: "rt-\(random.next())", family: random.next() % 3 == 0 ? "1" : nil)
            }
        }
        let partition = builder.cache.partition(.standard)
        var rebuilt = CredentialCache()
        for record in partition.records { rebuilt.load(record, in: .standard) }
        #expect(rebuilt.partition(.standard) == partition, "\(seed)")
        #expect(partition.order.values == partition.accounts.keys.sorted { $0.key < $1.key }, "\(seed)")
        for number in 0..<4 {
            let app = "app-\(number)"
            for credentials in partition.accounts.values {
                let tokens = credentials.accessTokens.values.filter { $0.clientID.key == app }
                for series in Set(tokens.map(\.series)) {
                    #expect(
                        credentials.accessTokens(of: series).map(\.key).sorted()
                            == tokens.filter { $0.series == series }.map(\.key).sorted(), "\(seed)")
                }
            }
        }
        #expect(
            builder.cache.environments
                == Set(partition.accounts.values.flatMap { $0.accounts.values.map(\.environment) }), "\(seed)")
        #expect(builder.cache.accountCount == partition.accounts.values.count { !$0.accounts.isEmpty }, "\(seed)")
    }

    @Test func findsTheOnlyAccountOfAnAppAmongManyOthers() throws {
        var builder = CacheBuilder()
        for number in 0..<1000 { try builder.signIn("user-\(number)", builder.parameters("other")) }
        try builder.signIn("alice", builder.parameters("mine"))
        #expect(try builder.decide(builder.parameters("mine"), AccountReference()).token == "at-alice-User.Read")
        #expect(try builder.decide(builder.parameters("none"), AccountReference()).needsInteraction)
    }

    @Test func findsTheOnlyAccountOfAFamily() throws {
        var builder = CacheBuilder()
        for number in 0..<1000 { try builder.signIn("user-\(number)", builder.parameters("other")) }
        try builder.signIn("alice", builder.parameters("member"), refreshToken: "rt-family", family: "1")
        #expect(try builder.decide(builder.parameters("newcomer"), AccountReference()).candidates == ["rt-family"])
    }

    /// The refresh token of the family stays, for another app.
    @Test func findsTheOnlyAccountOfWhichAnAppHasNotSignedOut() throws {
        var builder = CacheBuilder()
        for app in ["mine", "member"] { try builder.signIn("bob", builder.parameters(app), family: "1") }
        builder.remove(
            RemoveAccount(clientID: try builder.parameters("mine").clientID, account: CacheBuilder.account("bob")))
        try builder.signIn("alice", builder.parameters("mine"), family: "1")
        #expect(try builder.decide(builder.parameters("mine"), AccountReference()).token == "at-alice-User.Read")
    }

    /// Not all of them are searched.
    @Test(arguments: [2, 256, 257, 1000])
    func isAmbiguousAmongManyAccountsOfTheApp(_ count: Int) throws {
        var builder = CacheBuilder()
        for number in 0..<count { try builder.signIn("user-\(number)", builder.parameters()) }
        guard case .ambiguousAccount = try builder.decide(builder.parameters(), AccountReference()) else {
            Issue.record("one of \(count) was chosen")
            return
        }
        let request = GetCurrentAccount(clientID: try #require(CacheBuilder.app))
        #expect(throws: TokenError.self) { try builder.cache.currentAccount(request) }
    }

    /// Of the accounts with one username, one is the app's.
    @Test(arguments: [256, 257])
    func isAmbiguousAmongManyAccountsOfOneName(_ count: Int) throws {
        var builder = CacheBuilder()
        for number in 0..<count {
            try builder.save(Self.tokens(number), from: .signIn, builder.parameters(number == 0 ? "mine" : "other"))
        }
        let decision = try builder.decide(
            builder.parameters("mine"), AccountReference(username: "alice@contoso.com"))
        #expect((decision == .ambiguousAccount) == (count > 256))
    }

    /// An app has redeemed a refresh token of its own, and names the account by its username.
    @Test(arguments: [256, 257])
    func looksForARedeemedTokenAmongFewAccountsOfOneName(_ count: Int) throws {
        var builder = CacheBuilder()
        for number in 0..<count {
            try builder.save(Self.tokens(number), from: .signIn, builder.parameters())
        }
        let accounts = builder.cache.accounts(
            namedBy: AccountReference(username: "alice@contoso.com"), IssuedTokens(accessToken: Secret("at")),
            at: .common, in: .standard)
        #expect(accounts.count == (count > 256 ? 0 : count))
    }

    /// A page ends when a limited number of accounts has been examined, also if none of them is listed.
    @Test func listsTheOnlyAccountOfAPersonOnALaterPage() throws {
        var builder = CacheBuilder()
        for number in 0..<1200 { try builder.signIn("a-\(number)", builder.parameters("other")) }
        try builder.signIn("z", builder.parameters("mine"))
        let person = "oid-z-in-\(CacheBuilder.tenant.prefix(4))"
        let request = ListAccounts(clientID: ClientID("mine"), localAccountID: person, onlySignedIn: false)
        let (listed, pages) = builder.list(request)
        #expect(listed == ["z@contoso.com"])
        #expect(pages == 1201 / CredentialCache.examinedAccounts + 1)
    }

    /// The list of an app takes the work for its own accounts, however many others there are.
    @Test func listsTheAccountsOfAnAppWithoutExaminingTheOthers() throws {
        var builder = CacheBuilder()
        for number in 0..<1200 { try builder.signIn("a-\(number)", builder.parameters("other")) }
        try builder.signIn("b", builder.parameters("relative"), family: "1")
        for user in ["z", "b", "y"] { try builder.signIn(user, builder.parameters("mine")) }
        let (listed, pages) = builder.list(ListAccounts(clientID: ClientID("MINE")))
        #expect(listed == ["b@contoso.com", "y@contoso.com", "z@contoso.com"])
        #expect(pages == 1)
        // Those of an app with very many are looked for among all.
        #expect(builder.list(ListAccounts(clientID: ClientID("other"))).listed.count == 1200)
    }

    /// Accounts are not counted twice that have tokens of the app and of its family.
    @Test func listsTheAccountsOfAMemberWithoutExaminingTheOthers() throws {
        var builder = CacheBuilder()
        for number in 0..<400 { try builder.signIn("a-\(number)", builder.parameters("other")) }
        for number in 0..<200 { try builder.signIn("m-\(number)", builder.parameters("mine"), family: "1") }
        let (listed, pages) = builder.list(ListAccounts(clientID: ClientID("mine")))
        #expect(listed.count == 200)
        #expect(pages == 200 / CredentialCache.pageItems + 1)
    }

    /// Other libraries save under other names of the cloud; a token under the preferred one is the agent's own.
    @Test func triesTheRefreshTokenUnderThePreferredNameOfTheCloudFirst() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), refreshToken: "rt-own")
        let account = try #require(builder.cache.partition(.standard).accountKeys.first)
        var token = try #require(builder.cache.partition(.standard)[account].refreshTokens.values.first)
        #expect(token.environment == "login.windows.net")
        (token.environment, token.secret) = ("login.microsoftonline.com", Secret("rt-imported"))
        builder.cache.load(.refreshToken(token), in: .standard)
        let decision = try builder.decide(builder.parameters(), CacheBuilder.account("alice"), force: true)
        #expect(decision.candidates == ["rt-own", "rt-imported"])
    }

    /// The response to a refresh token has to name the same user, by the `sub` claim, which may be another one in each tenant.
    @Test func findsTheSubjectInTheTenantOfTheRequest() throws {
        var builder = CacheBuilder()
        let alice = try #require(CacheBuilder.account("alice").homeAccountID)
        let authorities = try [CacheBuilder.tenant, "9e570000-0000-4000-8000-000000000002"].map {
            try Authority("https://login.microsoftonline.com/\($0)")
        }
        for authority in authorities {
            let tokens = IssuedTokens(
                accessToken: Secret("at"), refreshToken: Secret("rt"),
                idToken: CacheBuilder.idToken([
                    "tid": authority.realm, "oid": "oid", "sub": "sub-\(authority.realm)",
                    "preferred_username": "alice@contoso.com",
                ]), homeAccountID: alice)
            try builder.save(tokens, from: .signIn, builder.parameters(authority: authority.url))
        }
        let account = AccountKey(issuer: .microsoft, identity: .home(alice))
        let app = try #require(CacheBuilder.app)
        for authority in authorities {
            let subject = builder.cache.subject(of: account, for: app, at: authority, in: .standard)
            #expect(subject == "sub-\(authority.realm)")
        }
    }

    @Test func knowsTheScopesThatAProviderHasGrantedLast() throws {
        var builder = CacheBuilder()
        let parameters = try CacheBuilder.parameters("https://id.contoso.example/p", .openID)
        for scope in ["write", "read"] {
            try builder.signIn("alice", parameters, granted: ["openid", scope])
            builder.now += 60
        }
        let account = try #require(builder.cache.partition(.standard).accountKeys.first)
        #expect(builder.cache.partition(.standard)[account].accessTokens.count == 2)
        let granted = builder.cache.grantedScopes(
            of: account, for: parameters.clientID, at: parameters.authority, in: .standard)
        #expect(granted == ScopeSet(["openid", "read"]))
    }

    /// An app with tokens for many resources makes no request of another app slower, and its own not much.
    @Test func keepsALimitedNumberOfAccessTokensOfAnApp() throws {
        var builder = CacheBuilder()
        for number in 0..<300 {
            builder.now += 1
            try builder.signIn("alice", builder.parameters(scopes: ["Scope.\(number)"]))
        }
        try builder.signIn("alice", builder.parameters("other"))
        func token(_ number: Int) throws -> String? {
            try builder.decide(builder.parameters(scopes: ["Scope.\(number)"]), CacheBuilder.account("alice")).token
        }
        // Those that expire first were removed.
        #expect(try token(43) == nil)
        #expect(try token(44) == "at-alice-Scope.44")
        #expect(try token(299) == "at-alice-Scope.299")
        #expect(try builder.decide(builder.parameters("other"), CacheBuilder.account("alice")).token != nil)
    }

    /// The tokens of a user, who is in a tenant of the same number and has the same name as the others.
    private static func tokens(_ number: Int) -> IssuedTokens {
        IssuedTokens(
            accessToken: Secret("at-\(number)"), refreshToken: Secret("rt-\(number)"),
            idToken: CacheBuilder.idToken([
                "oid": "\(number)", "tid": "t\(number)", "preferred_username": "alice@contoso.com",
            ]), homeAccountID: HomeAccountID(uid: "\(number)", utid: "t\(number)"))
    }
}

extension CacheBuilder {
    /// The usernames on all pages of a list, and the number of pages.
    fileprivate func list(_ request: ListAccounts) -> (listed: [String?], pages: Int) {
        var (request, listed, pages) = (request, [String?](), 0)
        repeat {
            let page = cache.accounts(request)
            listed += page.accounts.map(\.username)
            request.after = page.next
            pages += 1
        } while request.after != nil
        return (listed, pages)
    }
}
