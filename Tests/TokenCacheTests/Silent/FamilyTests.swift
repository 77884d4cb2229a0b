internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// Families of client IDs share refresh tokens.
@Suite(.bounded) struct FamilyTests {
    @Test func triesTheAppsOwnRefreshTokenBeforeTheFamilysForMSAL() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        try builder.signIn("alice", builder.parameters("app-2"), refreshToken: "rt-2", family: "1")
        let decision = try builder.decide(
            builder.parameters("app-1"), CacheBuilder.account("alice"), force: true)
        #expect(decision.candidates == ["rt-1", "rt-2"])
    }

    @Test func triesTheFamilysRefreshTokenFirstForADAL() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        try builder.signIn("alice", builder.parameters("app-2"), refreshToken: "rt-2", family: "1")
        let adal = try builder.parameters("app-1", resource: "https://graph.microsoft.com")
        #expect(builder.decide(adal, CacheBuilder.account("alice")).candidates == ["rt-2", "rt-1"])
    }

    @Test func presumesThatAnUnknownAppBelongsToTheFamily() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        let stranger = try builder.parameters("app-9")
        #expect(builder.decide(stranger, CacheBuilder.account("alice")).candidates == ["rt-1"])
        #expect(builder.cache.accounts(ListAccounts(clientID: stranger.clientID)).accounts.count == 1)
    }

    @Test func doesNotUseTheFamilysTokenForAnAppWithoutFamily() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        try builder.signIn("bob", builder.parameters("app-9"))
        let loner = try builder.parameters("app-9")
        #expect(builder.decide(loner, CacheBuilder.account("alice")).needsInteraction)
        let names = builder.cache.accounts(ListAccounts(clientID: loner.clientID)).accounts.map(\.username)
        #expect(names == ["bob@contoso.com"])
    }

    @Test func remembersAClientMismatch() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        let stranger = try builder.parameters("app-9")
        guard case .redeem(let plan) = builder.decide(stranger, CacheBuilder.account("alice")) else {
            Issue.record("expected a redemption")
            return
        }
        var error = TokenError(.invalidGrant, "refused")
        (error.details.oauthError, error.details.subError) = ("invalid_grant", "client_mismatch")
        let changes = builder.cache.changes(
            rejecting: plan.candidates[0], for: stranger.clientID, in: .standard, error)
        builder.cache.apply(changes, in: .standard)
        #expect(builder.decide(stranger, CacheBuilder.account("alice")).needsInteraction)
    }

    /// That error of the app's own refresh token says nothing of its family.
    @Test func keepsTheFamilyOfAnAppWhoseOwnTokenIsRefused() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), family: "1")
        let parameters = try builder.parameters("app-1")
        guard case .redeem(let plan) = builder.decide(parameters, CacheBuilder.account("alice"), force: true) else {
            Issue.record("expected a redemption")
            return
        }
        let own = try #require(plan.candidates.first { $0.familyID == nil })
        var error = TokenError(.invalidGrant, "refused")
        (error.details.oauthError, error.details.subError) = ("invalid_grant", "client_mismatch")
        let changes = builder.cache.changes(rejecting: own, for: parameters.clientID, in: .standard, error)
        #expect(changes.isEmpty)
    }

    /// A response may name no family, since the app is no member any more. Other members still have the family's token only.
    @Test(arguments: [nil, "1"] as [String?])
    func keepsTheFamilysTokenUnlessTheResponseHasAnother(family: String?) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        var used = try #require(Self.familyTokens(builder).first)
        // Under the name that other libraries give the cloud.
        let saved = CacheRecord.refreshToken(used).key(in: .standard)
        builder.cache.apply([.remove(saved, account: used.account)], in: .standard)
        #expect(used.environment == "login.windows.net")
        used.environment = "login.microsoftonline.com"
        builder.cache.apply([.save(.refreshToken(used))], in: .standard)
        let tokens = IssuedTokens(
            accessToken: Secret("at-2"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
            scopes: nil, refreshToken: Secret("rt-2"), isMultiResource: true,
            idToken: CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2),
            homeAccountID: HomeAccountID(uid: "oid-alice", utid: CacheBuilder.tenant), clientInfo: nil,
            familyID: family.flatMap(FamilyID.init))
        try builder.save(tokens, from: .redemption(used), builder.parameters("app-2"))
        #expect(Self.familyTokens(builder).map { $0.secret.reveal() } == [family == nil ? "rt-1" : "rt-2"])
    }

    /// An app belongs to one family, and an account may have refresh tokens of several.
    @Test func offersNoTokenOfAnotherFamily() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        try builder.signIn("alice", builder.parameters("app-2"), refreshToken: "rt-2", family: "2")
        let decision = try builder.decide(
            builder.parameters("app-1"), CacheBuilder.account("alice"), force: true)
        #expect(decision.candidates == ["rt-1"])
    }

    /// Another library has saved that the app belongs to no family. It would be presumed to belong to one.
    @Test func knowsTheFamilyOfAnAppUnderEveryNameOfTheCloud() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        let loner = try builder.parameters("app-9")
        let account = CacheBuilder.account("alice")
        #expect(builder.decide(loner, account).candidates == ["rt-1"])
        let app = AppMetadataRecord(clientID: "app-9", environment: "login.microsoftonline.com", familyID: "")
        builder.cache.load(.appMetadata(app), in: .standard)
        #expect(builder.decide(loner, account).needsInteraction)
    }

    /// The store would have a record that no message can hold.
    @Test func putsNoTokenInTheOthersPlaceThatIsTooLong() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        let used = try #require(Self.familyTokens(builder).first)
        let app = try #require(CacheBuilder.app)
        for (length, count) in [(ValueLimits.token, 2), (ValueLimits.token + 1, 0)] {
            let secret = Secret(String(repeating: "r", count: length))
            let tokens = IssuedTokens(accessToken: nil, refreshToken: secret, familyID: FamilyID("1"))
            let changes = builder.cache.changes(
                renewing: used, with: tokens, for: app, at: builder.now, in: .standard)
            #expect(changes.count == count)
        }
    }

    /// Each member has a copy of the token, which is used up by the redemption of another one.
    @Test(arguments: [nil, "1"] as [String?])
    func sendsNoCopyOfATokenThatAnotherMemberHasRedeemed(family: String?) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        let used = try #require(Self.familyTokens(builder).first)
        let tokens = IssuedTokens(
            accessToken: Secret("at-2"), refreshToken: Secret("rt-2"),
            idToken: CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2),
            homeAccountID: HomeAccountID(uid: "oid-alice", utid: CacheBuilder.tenant),
            familyID: family.flatMap(FamilyID.init))
        try builder.save(tokens, from: .redemption(used), builder.parameters("app-2"))
        let decision = try builder.decide(builder.parameters("app-1"), CacheBuilder.account("alice"), force: true)
        // A response without a family is of no use to another app.
        #expect(decision.candidates == [family == nil ? "rt-1" : "rt-2"])
    }

    /// The app has signed in while another member redeemed the family's token, of which a third one has a copy.
    @Test func renewsTheCopiesOfATokenThatASignInHasReplaced() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-3"), refreshToken: "rt-1", family: "1")
        let used = try #require(Self.familyTokens(builder).first)
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-2", family: "1")
        let tokens = IssuedTokens(
            accessToken: Secret("at-3"), refreshToken: Secret("rt-3"),
            idToken: CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2),
            homeAccountID: HomeAccountID(uid: "oid-alice", utid: CacheBuilder.tenant), familyID: FamilyID("1"))
        try builder.save(tokens, from: .redemption(used), builder.parameters("app-2"))
        let decision = try builder.decide(builder.parameters("app-3"), CacheBuilder.account("alice"), force: true)
        #expect(decision.candidates == ["rt-3", "rt-2"])
    }

    private static func familyTokens(_ builder: CacheBuilder) -> [RefreshTokenRecord] {
        builder.cache.partition(.standard).records.compactMap { record in
            guard case .refreshToken(let token) = record, token.familyID != nil else { return nil }
            return token
        }
    }

    /// A peer in a sandbox, or at a published socket, may name any client ID.
    @Test func presumesNothingOfAnAppOfAConfinedPeer() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        let account = CacheBuilder.account("alice")
        for resource in [nil, "https://graph.microsoft.com"] {
            let stranger = try AcquireTokenSilent(
                parameters: builder.parameters("app-9", resource: resource), account: account)
            #expect(
                builder.cache.decide(stranger, now: builder.now)
                    != builder.cache.decide(stranger.confined, now: builder.now))
            #expect(builder.cache.decide(stranger.confined, now: builder.now).needsInteraction)
        }
        let app = try #require(ClientID("app-9"))
        #expect(builder.cache.accounts(ListAccounts(clientID: app).confined).accounts.isEmpty)
        var tokens = ListedTokens(in: .standard)
        let current = try builder.cache.currentAccount(GetCurrentAccount(clientID: app).confined, &tokens)
        #expect(current.reply.account == nil)
        // A member that the token endpoint has named is one.
        try builder.signIn("bob", builder.parameters("app-9"), family: "1")
        #expect(builder.cache.accounts(ListAccounts(clientID: app).confined).accounts.count == 2)
    }

    /// Whether another app has an account is not shown to a confined peer.
    @Test func answersAConfinedPeerAlikeForAccountsOfOtherAppsAndForNone() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), family: "1")
        try builder.signIn("bob", builder.parameters("app-1"))
        let parameters = try builder.parameters("app-9")
        for name in ["alice@contoso.com", "bob@contoso.com"] {
            for account in [AccountReference(username: name), CacheBuilder.account(String(name.prefix { $0 != "@" }))] {
                let request = AcquireTokenSilent(parameters: parameters, account: account).confined
                let nobody = AcquireTokenSilent(parameters: parameters, account: .init(username: "zoe@contoso.com"))
                    .confined
                let now = builder.now
                #expect(builder.cache.decide(request, now: now) == builder.cache.decide(nobody, now: now))
                let removal = RemoveAccount(clientID: parameters.clientID, account: account)
                #expect(builder.cache.changes(removing: removal.confined).isEmpty)
                #expect(!builder.cache.changes(removing: removal).isEmpty, "the user's own apps may sign out")
            }
        }
    }

    /// A file of another library need not tell the families of its apps.
    @Test func removesNoFamilysRefreshTokenForAnAppThatIsNoMember() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        let account = CacheBuilder.account("alice")
        let held = builder.cache.partition(.standard).apps.values.map {
            builder.cache.remove(.appMetadata, $0.key, account: nil, .standard)
        }
        builder.cache.apply(held, in: .standard)
        builder.remove(RemoveAccount(clientID: try #require(ClientID("app-9")), account: account))
        let tokens = builder.cache.partition(.standard).accounts.values.flatMap { $0.refreshTokens.values }
        #expect(tokens.contains { $0.familyID != nil }, "the app's own token has the same secret")
        builder.remove(RemoveAccount(clientID: try #require(ClientID("app-1")), account: account))
        let left = builder.cache.partition(.standard).accounts.values.flatMap { $0.refreshTokens.values }
        #expect(left.isEmpty)
    }

    @Test func removesTheFamilysRefreshTokenWithItsLastMember() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), family: "1")
        try builder.signIn("alice", builder.parameters("app-2"), family: "1")
        let account = CacheBuilder.account("alice")
        builder.remove(RemoveAccount(clientID: try builder.parameters("app-2").clientID, account: account))
        let first = try builder.parameters("app-1")
        #expect(builder.decide(first, account, force: true).candidates?.count == 2)
        builder.remove(RemoveAccount(clientID: first.clientID, account: account))
        #expect(
            builder.cache.accounts(ListAccounts(clientID: try builder.parameters("app-3").clientID)).accounts.isEmpty)
    }

    /// The app for which the token was issued does not need it any more, although its family is not known, as after an import.
    @Test func removesTheFamilysRefreshTokenOfAnAppThatHasSignedOut() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-2"), refreshToken: "rt-2", family: "1")
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        let (app, other) = (try #require(CacheBuilder.app), try #require(CacheBuilder.otherApp))
        let account = CacheBuilder.account("alice")
        #expect(Self.familyTokens(builder).map(\.clientID) == [app])
        builder.remove(RemoveAccount(clientID: app, account: account))
        #expect(Self.familyTokens(builder).count == 1, "the other app is a member, too")
        let known = try #require(builder.cache.partition(.standard).apps.values.first { $0.clientID == app.text })
        let change = builder.cache.remove(.appMetadata, known.key, account: nil, .standard)
        builder.cache.apply([change], in: .standard)
        builder.remove(RemoveAccount(clientID: other, account: account))
        #expect(Self.familyTokens(builder).isEmpty)
    }

    /// ADAL for Objective-C saves the token under a client ID that no app has. Any app that is signed in may have got it.
    @Test(arguments: [false, true])
    func removesAFamilysRefreshTokenOfNoAppWithItsLastMember(mayHaveAnotherMember: Bool) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        var token = try #require(Self.familyTokens(builder).first)
        token.clientID = try #require(ClientID("foci-1"))
        builder.cache.apply([.save(.refreshToken(token))], in: .standard)
        if mayHaveAnotherMember {
            try builder.signIn("alice", builder.parameters("app-9"), refreshToken: "rt-9")
            let app = try #require(builder.cache.partition(.standard).apps.values.first { $0.clientID == "app-9" })
            let change = builder.cache.remove(.appMetadata, app.key, account: nil, .standard)
            builder.cache.apply([change], in: .standard)
        }
        let app = try builder.parameters("app-1").clientID
        builder.remove(RemoveAccount(clientID: app, account: CacheBuilder.account("alice")))
        #expect(Self.familyTokens(builder).isEmpty != mayHaveAnotherMember)
    }
}
