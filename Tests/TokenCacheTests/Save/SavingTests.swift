internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// The changes of saving a token response.
@Suite(.bounded) struct SavingTests {
    @Test func replacesATokenWhoseScopesTheNewOneIncludes() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(scopes: ["User.Read", "Mail.Read"]))
        try builder.signIn("alice", builder.parameters(scopes: ["Mail.Read"]))
        let account = CacheBuilder.account("alice")
        #expect(try builder.decide(builder.parameters(scopes: ["User.Read"]), account).token == nil)
        #expect(try builder.decide(builder.parameters(scopes: ["Mail.Read"]), account).token == "at-alice-Mail.Read")
    }

    @Test func keepsATokenOfOtherScopesThatSharesTheReservedOnes() throws {
        var builder = CacheBuilder()
        let reserved = ["openid", "profile", "email"]
        try builder.signIn("alice", builder.parameters(scopes: ["User.Read"]), granted: ["User.Read"] + reserved)
        try builder.signIn("alice", builder.parameters(scopes: ["Mail.Read"]), granted: ["Mail.Read"] + reserved)
        let account = CacheBuilder.account("alice")
        #expect(try builder.decide(builder.parameters(scopes: ["User.Read"]), account).token != nil)
        #expect(try builder.decide(builder.parameters(scopes: ["Mail.Read"]), account).token != nil)
    }

    /// The clock ran ahead, and has been set back: once it has caught up, the token would be taken for valid, although it has expired.
    @Test func removesTheTokensOfTheAccountThatWereSavedInTheFuture() throws {
        var builder = CacheBuilder()
        let early = try builder.parameters(scopes: ["User.Read"])
        try builder.signIn("alice", early)
        try builder.signIn("bob", early)
        builder.now -= 7200
        try builder.signIn("alice", builder.parameters("app-2", scopes: ["Mail.Read"]))
        builder.now += 7200
        #expect(builder.decide(early, CacheBuilder.account("alice")).token == nil)
        #expect(builder.decide(early, CacheBuilder.account("bob")).token != nil)
    }

    /// As above, of the app itself.
    @Test func removesTheTokensOfTheAppThatWereSavedInTheFuture() throws {
        var builder = CacheBuilder()
        let early = try builder.parameters(scopes: ["User.Read"])
        try builder.signIn("alice", early)
        builder.now -= 7200
        try builder.signIn("alice", builder.parameters(scopes: ["Mail.Read"]))
        builder.now += 7200
        #expect(builder.decide(early, CacheBuilder.account("alice")).token == nil)
    }

    /// An account keeps its identifier in all clouds, and its tenant may have the same ID.
    @Test func keepsATokenOfAnotherCloud() throws {
        var builder = CacheBuilder()
        let other = try builder.parameters(authority: "https://login.microsoftonline.us/common")
        try builder.signIn("alice", builder.parameters())
        try builder.signIn("alice", other)
        let account = CacheBuilder.account("alice")
        #expect(try builder.decide(builder.parameters(), account).token != nil)
        #expect(builder.decide(other, account).token != nil)
    }

    /// Other libraries save under other names of the cloud. The new token does not serve what that one does.
    @Test func keepsARefreshTokenOfOneResourceUnderAnotherNameOfTheCloud() throws {
        var builder = CacheBuilder()
        let account = Self.alice
        let token = RefreshTokenRecord(
            account: account, environment: "login.microsoftonline.com", clientID: try #require(CacheBuilder.app),
            familyID: nil, secret: Secret("rt-resource"),
            restriction: RefreshTokenRecord.Restriction(realm: "common", scopes: ScopeSet(resource: "https://r")),
            binding: builder.cache.clouds.binding(to: .common))
        builder.cache.load(.refreshToken(token), in: .standard)
        try builder.signIn("alice", builder.parameters())
        let held = builder.cache.partition(.standard)[account].refreshTokens.values
        #expect(Set(held.map(\.secret)) == [Secret("rt-resource"), Secret("rt-alice-app-1")])
    }

    private static var alice: AccountKey {
        AccountKey(issuer: .microsoft, homeAccountID: CacheBuilder.account("alice").homeAccountID, username: nil)
    }

    /// Otherwise the result would name the user of an earlier ID token.
    @Test func refusesAResponseWhoseIDTokenCannotBeRead() throws {
        var builder = CacheBuilder()
        let parameters = try builder.parameters(
            authority: "https://login.microsoftonline.com/\(CacheBuilder.tenant)")
        try builder.signIn("alice", parameters)
        let tokens = IssuedTokens(
            accessToken: Secret("at"), refreshToken: Secret("rt"), idToken: "no.token",
            homeAccountID: Self.alice.homeAccountID)
        let error = #expect(throws: TokenError.self) { try builder.save(tokens, from: .signIn, parameters) }
        #expect(error?.code == .serverInvalidResponse)
    }

    /// The subject is another identifier, which no app knows.
    @Test func savesARedemptionWithoutClientInfoUnderTheAccountOfItsToken() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let used = try #require(builder.cache.partition(.standard)[Self.alice].refreshTokens.values.first)
        let tokens = IssuedTokens(
            accessToken: Secret("at-2"), refreshToken: Secret("rt-2"),
            idToken: CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2))
        let result = try builder.save(tokens, from: .redemption(used), builder.parameters())
        #expect(result.account.homeAccountID == Self.alice.homeAccountID)
        #expect(builder.cache.partition(.standard).accountKeys == [Self.alice])
    }

    /// Microsoft's token endpoints do not name `.default` if the resource is one of the v1 endpoint. An AD FS never does.
    @Test(arguments: [
        ("https://login.microsoftonline.com/common", Authority.Kind.entra, ["https://r/.default"], true),
        ("https://login.microsoftonline.com/common", .entra, ["openid", "https://R//.Default"], true),
        ("https://login.microsoftonline.com/common", .entra, ["https://r/.default", "https://r/Read"], false),
        ("https://login.microsoftonline.com/common", .entra, ["https://r/Write"], false),
        ("https://t.ciamlogin.com/t", .ciam, ["https://r/.default"], true),
        ("https://fs.example/adfs", .adfs, ["https://r/.default"], true),
        ("https://fs.example/adfs", .adfs, ["https://r/Write"], false),
        ("https://id.example/t", .openID, ["https://r/.default"], false),
    ])
    func countsDefaultAsGrantedIfNothingElseIsRequested(
        authority: String, kind: Authority.Kind, requested: [String], isGranted: Bool
    ) throws {
        var builder = CacheBuilder()
        var parameters = try builder.parameters(scopes: requested)
        parameters.authority = try Authority(authority, kind: kind)
        let result = try builder.signIn("alice", parameters, granted: ["https://r/user_impersonation"])
        let scopes = ["https://r/user_impersonation"] + (isGranted ? requested.filter { $0 != "openid" } : [])
        #expect(result.scopes == scopes)
        parameters.scopes = parameters.scopes.subtracting(.reserved)
        #expect((builder.decide(parameters, result.account.reference).token != nil) == isGranted)
    }

    @Test func keepsTheOldRefreshTokenWhenTheResponseHasNone() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let tokens = IssuedTokens(
            accessToken: Secret("new"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
            scopes: nil, refreshToken: nil, isMultiResource: true,
            idToken: CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2),
            homeAccountID: HomeAccountID(uid: "oid-alice", utid: CacheBuilder.tenant), clientInfo: nil, familyID: nil)
        try builder.save(tokens, from: .signIn, builder.parameters())
        let decision = try builder.decide(builder.parameters(), CacheBuilder.account("alice"), force: true)
        #expect(decision.candidates == ["rt-alice-app-1"])
    }

    /// Families of apps are Microsoft's. Another provider that names one would put its accounts among those of every app.
    @Test(arguments: [
        ("https://login.microsoftonline.com/common", Authority.Kind.entra, true),
        ("https://login.attacker.example/common", .entra, false), ("https://localhost:8443/common", .entra, true),
        ("https://localhost:8443/op", .openID, false), ("https://login.attacker.example/op", .openID, false),
    ])
    func keepsAFamilyOfMicrosoftsCloudsOnly(authority: String, kind: Authority.Kind, isKept: Bool) throws {
        var builder = CacheBuilder()
        var parameters = try builder.parameters("app-2", authority: authority)
        parameters.authority = try Authority(authority, kind: kind)
        try builder.signIn("eve", parameters, family: "1")
        let tokens = builder.cache.partition(.standard).records.compactMap { record in
            if case .refreshToken(let token) = record { token.familyID } else { nil }
        }
        #expect(tokens.isEmpty == !isKept)
        // Another app, of which nothing is known.
        let listed = builder.cache.accounts(ListAccounts(clientID: ClientID("app-1"))).accounts
        #expect(listed.isEmpty == !isKept)
    }

    /// Each authority is saved again with every response: an app that names ever new ones must not make the record ever longer.
    @Test func notesALimitedNumberOfAuthorities() throws {
        var builder = CacheBuilder()
        for number in 0..<40 {
            let authority = "https://login.microsoftonline.com/tenant-\(number).example"
            try builder.signIn("alice", builder.parameters(authority: authority))
            let maps = builder.cache.partition(.standard).records.compactMap { record in
                if case .accountMetadata(let metadata) = record { metadata.authorityMap } else { nil }
            }
            #expect(maps.count == 1 && maps.allSatisfy { $0.count <= 16 && $0[authority] != nil })
        }
    }

    @Test func refusesAResponseWithoutTokenOrAccount() throws {
        let builder = CacheBuilder()
        let tokens = IssuedTokens(
            accessToken: nil, tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil, scopes: nil,
            refreshToken: Secret("rt"), isMultiResource: true, idToken: nil, homeAccountID: nil, clientInfo: nil,
            familyID: nil)
        #expect(throws: TokenError.self) {
            try builder.cache.changes(
                saving: tokens, from: .signIn, builder.parameters(), at: .common, now: builder.now)
        }
    }

    /// Case matters in the subjects of OpenID providers (OpenID Connect Core 1.0 section 2), as in those that are base64.
    @Test func keepsUsersApartWhoseSubjectsDifferInCase() throws {
        var builder = CacheBuilder()
        var parameters = try builder.parameters()
        parameters.authority = try Authority("https://idp.example/staff", kind: .openID)
        let alice = try builder.signIn("alice", parameters, hasClientInfo: false).account
        let other = try builder.signIn("aLICE", parameters, hasClientInfo: false).account
        #expect(alice.homeAccountID?.text == "sub-alice")
        let hash = String(Fingerprint.of("sub-aLICE").prefix(32))
        #expect(other.homeAccountID?.text == "sub-alice#\(hash)")
        // Nobody gets the identifier by a subject that looks like it.
        let imitator = try builder.signIn("alice#\(hash)", parameters, hasClientInfo: false).account
        #expect(imitator.homeAccountID?.text.hasPrefix("sub-alice#\(hash)#") == true)
        #expect(builder.decide(parameters, alice.reference).token == "at-alice-User.Read")
        #expect(builder.decide(parameters, other.reference).token == "at-aLICE-User.Read")
    }

    @Test func usesTheSubjectAsIdentifierWithoutClientInfo() throws {
        var builder = CacheBuilder()
        let parameters = try builder.parameters(authority: "https://fs.contoso.com/adfs")
        let result = try builder.signIn("alice", parameters, hasClientInfo: false)
        #expect(result.account.homeAccountID?.text == "sub-alice")
    }

    /// A claim rule of an AD FS may issue any claim, `tid` too; the tokens are looked up under the realm `adfs`.
    @Test func findsTheTokensOfADFSWhateverTenantTheyName() throws {
        var builder = CacheBuilder()
        let parameters = try builder.parameters(authority: "https://fs.contoso.com/adfs")
        let account = try builder.signIn("alice", parameters, hasClientInfo: false).account
        #expect(builder.decide(parameters, account.reference).token == "at-alice-User.Read")
    }

    @Test func keepsMSALsSpellingOfAName() throws {
        var builder = CacheBuilder()
        try builder.signIn("Alice", builder.parameters())
        let adal = try builder.parameters(resource: "https://graph.microsoft.com")
        try builder.signIn("Alice", adal)
        let account = try #require(builder.cache.accounts(ListAccounts(clientID: CacheBuilder.app)).accounts.first)
        #expect(account.username == "Alice@contoso.com")
        #expect(account.source == .msal)
    }

    @Test func replacesATokenOfOpenIDScopesOnlyByAnEqualOne() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), granted: ["openid", "email"])
        try builder.signIn("alice", builder.parameters(), granted: ["email", "openid"])
        #expect(try builder.cache.listedCredentials().filter { $0.kind == .accessToken }.count == 1)
    }

    /// Otherwise the account would be listed under another name than its tokens are found by.
    @Test func namesAnAccountWithoutAnIdentifierAsItsTokens() throws {
        var builder = CacheBuilder()
        let parameters = try builder.parameters(resource: "https://graph.windows.net")
        let tokens = IssuedTokens(
            accessToken: Secret("at"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
            scopes: nil, refreshToken: Secret("rt"), isMultiResource: true,
            idToken: CacheBuilder.idToken([
                "tid": CacheBuilder.tenant, "upn": "Alice@contoso.com", "preferred_username": "al@contoso.com",
            ]), homeAccountID: nil, clientInfo: nil, familyID: nil)
        try builder.save(tokens, from: .signIn, parameters)
        let listed = builder.cache.accounts(ListAccounts(clientID: parameters.clientID)).accounts
        #expect(listed.map(\.username) == ["alice@contoso.com"])
        let request = AcquireTokenSilent(
            parameters: parameters, account: AccountReference(username: listed.first?.username))
        #expect(builder.cache.decide(request, now: builder.now).token == "at")
    }

    @Test func refusesASignInWithAnAmbiguousIdentifier() throws {
        let builder = CacheBuilder()
        let parameters = try builder.parameters(authority: "https://fs.contoso.com/adfs")
        let tokens = IssuedTokens(
            accessToken: Secret("at"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
            scopes: nil, refreshToken: Secret("rt"), isMultiResource: true,
            idToken: CacheBuilder.idToken(["sub": "name:bob@contoso.com"]), homeAccountID: nil, clientInfo: nil,
            familyID: nil)
        let error = #expect(throws: TokenError.self) {
            try builder.cache.changes(
                saving: tokens, from: .signIn, parameters, at: parameters.authority, now: builder.now)
        }
        #expect(error?.code == .serverInvalidResponse)
    }

    @Test func survivesTheStoreAndBack() throws {
        var builder = CacheBuilder()
        let parameters = try builder.parameters()
        let tokens = try builder.signIn("alice", parameters, family: "1", refreshIn: 600, extendedExpiresIn: 7200)
        try builder.signIn("alice", builder.parameters(resource: "https://graph.microsoft.com"))
        var records: [StoredRecord] = []
        var copy = CacheBuilder()
        let again = try copy.signIn("alice", parameters, family: "1", refreshIn: 600, extendedExpiresIn: 7200)
        #expect(again == tokens.answering(again.correlationID))
        for partition in builder.cache.partitions.values {
            for credentials in partition.accounts.values {
                let all =
                    credentials.accounts.values.map(CacheRecord.account)
                    + credentials.accessTokens.values.map(CacheRecord.accessToken)
                    + credentials.refreshTokens.values.map(CacheRecord.refreshToken)
                    + credentials.idTokens.values.map(CacheRecord.idToken)
                    + credentials.metadata.values.map(CacheRecord.accountMetadata)
                records += all.map { $0.stored(in: .standard) }
            }
            records += partition.apps.values.map { CacheRecord.appMetadata($0).stored(in: .standard) }
        }
        var loaded = CredentialCache()
        for record in records { loaded.load(try #require(CacheRecord(record)), in: .standard) }
        #expect(loaded == builder.cache)
    }
}

extension TokenResult {
    fileprivate func answering(_ correlationID: CorrelationID) -> TokenResult {
        var result = self
        result.correlationID = correlationID
        return result
    }
}
