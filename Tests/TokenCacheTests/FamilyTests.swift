internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

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
}
