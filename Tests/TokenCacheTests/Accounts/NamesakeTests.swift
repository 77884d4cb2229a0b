internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenCache

/// Which of several accounts a username means, and which a request means that names none.
@Suite(.bounded) struct NamesakeTests {
    private static let name = "alice@contoso.com"
    private static let host = "https://login.microsoftonline.com"
    private static let personal = HomeAccountID.personalTenantID

    private func signIn(
        _ objectID: String, _ builder: inout CacheBuilder, tenant: String = CacheBuilder.tenant, name: String = name
    ) throws {
        let tokens = IssuedTokens(
            accessToken: Secret("at-\(objectID)"), refreshToken: Secret("rt-\(objectID)"),
            idToken: CacheBuilder.idToken([
                "ver": "2.0", "oid": objectID, "sub": objectID, "tid": tenant, "preferred_username": name,
            ]), homeAccountID: HomeAccountID(uid: objectID, utid: tenant))
        try builder.save(tokens, from: .signIn, builder.parameters())
    }

    private func objectIDs(_ builder: CacheBuilder, named name: String? = name) -> [String] {
        let request = ListAccounts(clientID: CacheBuilder.app, username: name)
        return builder.cache.accounts(request).accounts.compactMap(\.homeAccountID?.objectID)
    }

    /// A tenant has deleted a user and created one of the same name: an app that knows the name only would otherwise find the deleted user
    /// at each start, and ask the new one to sign in.
    @Test(arguments: [["1", "2"], ["2", "1"]]) func listsTheUserFirstWhoGotATokenLast(users: [String]) throws {
        var builder = CacheBuilder()
        for user in users {
            try signIn(user, &builder)
            builder.now += 60
        }
        #expect(objectIDs(builder) == Array(users.reversed()))
        #expect(objectIDs(builder, named: nil) == ["1", "2"], "other lists have the order of their pages")
    }

    /// As for ADAL, so that a name means the same account to apps of both libraries.
    @Test(arguments: [true, false]) func listsAWorkAccountBeforeAPersonalOne(isPersonalLast: Bool) throws {
        var builder = CacheBuilder()
        for isPersonal in [!isPersonalLast, isPersonalLast] {
            try signIn(isPersonal ? "1" : "2", &builder, tenant: isPersonal ? Self.personal : CacheBuilder.tenant)
            builder.now += 60
        }
        #expect(objectIDs(builder) == ["2", "1"])
    }

    /// A page begins where the one before has ended.
    @Test func listsManyAccountsOfOneNameOnceEach() throws {
        var builder = CacheBuilder()
        let count = CredentialCache.pageItems + 8
        for user in 0..<count {
            try signIn("\(1000 + user)", &builder)
            builder.now += 60
        }
        var (request, found) = (ListAccounts(clientID: CacheBuilder.app, username: Self.name), [String]())
        repeat {
            let page = builder.cache.accounts(request)
            found += page.accounts.compactMap(\.homeAccountID?.objectID)
            request.after = page.next
        } while request.after != nil
        #expect(found == (0..<count).map { "\(1000 + $0)" })
    }

    @Test(
        arguments: [
            ("consumers", "at-personal"), (HomeAccountID.personalTenantID, "at-personal"), ("organizations", "at-work"),
            ("common", nil),
        ] as [(String, String?)])
    func meansTheAccountsThatTheAuthorityIsFor(realm: String, token: String?) throws {
        var builder = CacheBuilder()
        try signIn("personal", &builder, tenant: Self.personal)
        try signIn("work", &builder)
        let parameters = try builder.parameters(authority: "\(Self.host)/\(realm)")
        for account in [AccountReference(username: Self.name), AccountReference()] {
            let decision = builder.decide(parameters, account)
            #expect(decision.token == token)
            #expect((decision == .ambiguousAccount) == (token == nil))
        }
    }

    @Test func meansAnAccountThatTheAuthorityIsNotForIfThereIsNoOther() throws {
        var builder = CacheBuilder()
        try signIn("work", &builder)
        let parameters = try builder.parameters(authority: "\(Self.host)/consumers")
        for account in [AccountReference(username: Self.name), AccountReference()] {
            #expect(builder.decide(parameters, account).token == "at-work", "MSAL takes the account's home tenant")
        }
    }

    /// The v1 endpoint has no personal accounts.
    @Test func countsNoPersonalAccountForADALBesideAnother() throws {
        var builder = CacheBuilder()
        try signIn("personal", &builder, tenant: Self.personal, name: "alice@outlook.com")
        let parameters = try builder.parameters(resource: "https://graph.windows.net")
        #expect(builder.decide(parameters, AccountReference()).candidates == ["rt-personal"], "the only one")
        try signIn("work", &builder)
        #expect(builder.decide(parameters, AccountReference()).candidates == ["rt-work"])
        try signIn("other", &builder, name: "bob@contoso.com")
        #expect(builder.decide(parameters, AccountReference()).needsInteraction)
    }

    /// ADAL saves their tokens under two user IDs, which are not the names that MSAL has.
    @Test func countsTwoUsersOfOneNameForADALIfTheirUserIDsDiffer() throws {
        var builder = CacheBuilder()
        let parameters = try builder.parameters(resource: "https://graph.windows.net")
        for user in ["1", "2"] {
            let tokens = IssuedTokens(
                accessToken: Secret("at-\(user)"), refreshToken: Secret("rt-\(user)"),
                idToken: CacheBuilder.idToken([
                    "ver": "1.0", "oid": user, "sub": user, "tid": CacheBuilder.tenant, "upn": "\(user)@contoso.com",
                    "preferred_username": Self.name,
                ]), homeAccountID: HomeAccountID(uid: user, utid: CacheBuilder.tenant))
            try builder.save(tokens, from: .signIn, parameters)
        }
        #expect(builder.decide(parameters, AccountReference()) == .ambiguousAccount)
        #expect(builder.decide(parameters, AccountReference(username: "1@contoso.com")).token == "at-1")
    }

    /// An older ADAL has left its tokens without an identifier, and the personal account is of an MSAL app.
    @Test func meansTheAccountWithoutAnIdentifierForADALBesideAPersonalOne() throws {
        var builder = CacheBuilder()
        let older = try builder.parameters(resource: "https://graph.windows.net")
        try builder.signIn("alice", older, refreshToken: "rt-older", hasClientInfo: false)
        try signIn("personal", &builder, tenant: Self.personal)
        let parameters = try builder.parameters(resource: "https://outlook.office365.com")
        #expect(builder.decide(parameters, AccountReference(username: Self.name)).candidates == ["rt-older"])
    }

    /// A request that names the account means it as well: it has no identifier.
    @Test func listsTheAccountWithoutAnIdentifierBeforeAPersonalOne() throws {
        var builder = CacheBuilder()
        let older = try builder.parameters(resource: "https://graph.windows.net")
        try builder.signIn("alice", older, refreshToken: "rt-older", hasClientInfo: false)
        builder.now += 60
        try signIn("personal", &builder, tenant: Self.personal)
        let request = ListAccounts(clientID: CacheBuilder.app, username: Self.name)
        let identifiers = builder.cache.accounts(request).accounts.map { $0.homeAccountID?.objectID }
        #expect(identifiers == [nil, "personal"])
        for (realm, token) in [("common", "rt-older"), ("organizations", "rt-older"), ("consumers", "rt-personal")] {
            let parameters = try builder.parameters(scopes: ["Mail.Read"], authority: "\(Self.host)/\(realm)")
            let decision = builder.decide(parameters, AccountReference(username: Self.name))
            #expect(decision.candidates == [token], "\(realm)")
        }
    }

    /// The scopes are not the reason, since no scope of this policy's is granted to an account of another one.
    @Test func saysThatAnAccountIsOfAnotherPolicy() throws {
        var builder = CacheBuilder()
        let tenant = "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com"
        let identifier = try #require(
            HomeAccountID(uid: "00000000-0000-4000-8000-000000000001-b2c_1_in", utid: CacheBuilder.tenant))
        let tokens = IssuedTokens(
            accessToken: Secret("at"), refreshToken: Secret("rt"),
            idToken: CacheBuilder.idToken(["ver": "1.0", "oid": "1", "sub": "1"]), homeAccountID: identifier)
        try builder.save(tokens, from: .signIn, CacheBuilder.parameters("\(tenant)/b2c_1_in", .b2c))
        let account = AccountReference(homeAccountID: identifier)
        #expect(try builder.decide(CacheBuilder.parameters("\(tenant)/b2c_1_in", .b2c), account).token == "at")
        let decision = try builder.decide(CacheBuilder.parameters("\(tenant)/b2c_1_edit", .b2c), account)
        guard case .interactionRequired(_, let reason) = decision else {
            Issue.record("expected that a sign-in is needed")
            return
        }
        #expect(reason == .authority)
    }
}
