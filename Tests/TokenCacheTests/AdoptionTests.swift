internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// An account that was known by its username gets its identifier.
@Suite(.bounded) struct AdoptionTests {
    static let app = "d3590ed6-52b3-4102-aeff-aad2292ab01c"

    @Test func reportsTheIdentifierToEveryApp() throws {
        var cache = CredentialCache()
        let second =
            #"{"_clientId": "other", "_authority": "https://login.windows.net/common", "isMRRT": true, "#
            + #""refreshToken": "RT-other", "userId": "alice@contoso.onmicrosoft.com"}"#
        cache.merge(try Fixture.adal[0].read())
        try cache.merge(Array("[\(second)]".utf8), .adalJSON)
        let saved = try cache.redeemForMSAL(Self.app, now: Fixture.whenWritten)
        cache.apply(saved.changes, in: .standard)
        for clientID in [Self.app, "other"] {
            let accounts = cache.accounts(ListAccounts(clientID: ClientID(clientID))).accounts
            #expect(accounts.map { $0.homeAccountID?.text } == ["oid.tid"], "\(clientID)")
        }
        #expect(cache.partition(.standard).accounts.count == 1)
    }

    @Test func servesADALAppsFromTheMovedRecords() throws {
        var cache = CredentialCache()
        cache.merge(try Fixture.adal[1].read())
        let saved = try cache.redeemForMSAL(Self.app, now: Fixture.whenWritten)
        cache.apply(saved.changes, in: .standard)
        let parameters = TokenParameters(
            clientID: try #require(ClientID(Self.app)),
            authority: try Authority("https://login.microsoftonline.com/contoso.onmicrosoft.com"), version: .v1,
            scopes: ScopeSet(resource: "https://graph.windows.net"))
        let request = AcquireTokenSilent(
            parameters: parameters, account: AccountReference(username: "alice@contoso.onmicrosoft.com"))
        #expect(cache.decide(request, now: Fixture.whenWritten).token == "AT-alice-aadgraph")
    }

    /// A refresh token that another app is redeeming is not moved: the new token would be overwritten.
    @Test func doesNotMoveATokenThatIsBeingRedeemed() throws {
        var cache = CredentialCache()
        let second =
            #"{"_clientId": "other", "_authority": "https://login.windows.net/common", "isMRRT": true, "#
            + #""refreshToken": "RT-other", "userId": "alice@contoso.onmicrosoft.com"}"#
        cache.merge(try Fixture.adal[0].read())
        try cache.merge(Array("[\(second)]".utf8), .adalJSON)
        let saved = try cache.redeemForMSAL(Self.app, now: Fixture.whenWritten, inUse: [Secret("RT-other")])
        cache.apply(saved.changes, in: .standard)
        let name = AccountKey(issuer: .microsoft, identity: .name("alice@contoso.onmicrosoft.com"))
        #expect(cache.partition(.standard)[name].refreshTokens.values.map { $0.secret.reveal() } == ["RT-other"])
    }
}

extension CredentialCache {
    /// The changes of redeeming the app's only refresh token for an MSAL app.
    func redeemForMSAL(_ clientID: String, now: Int64, inUse: Set<Secret> = []) throws -> SavedTokens {
        let app = try #require(ClientID(clientID))
        let account = try #require(accounts(ListAccounts(clientID: app)).accounts.first)
        let parameters = TokenParameters(clientID: app, authority: .common, scopes: ScopeSet(["User.Read"]))
        let request = AcquireTokenSilent(parameters: parameters, account: account.reference)
        guard case .redeem(let plan) = decide(request, now: now), let used = plan.candidates.first else {
            throw TokenError(.internalError, "nothing to redeem")
        }
        let tokens = IssuedTokens(
            accessToken: Secret("at-new"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
            scopes: nil, refreshToken: Secret("rt-new"), isMultiResource: true, idToken: Self.aliceIDToken,
            homeAccountID: HomeAccountID("oid.tid"), clientInfo: nil, familyID: nil)
        return try changes(
            saving: tokens, from: .redemption(used), parameters, at: plan.authority, now: now, leaving: inUse)
    }

    /// The user's identifiers in the directory of Fixtures/adal-json.
    private static let aliceIDToken = CacheBuilder.idToken([
        "ver": "2.0", "tid": "72f988bf-0000-4000-8000-2d7cd011db47", "oid": "11111111-1111-1111-1111-111111111111",
        "sub": "s", "preferred_username": "alice@contoso.onmicrosoft.com",
    ])
}
