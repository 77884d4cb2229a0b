internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// Refresh tokens that an app has, and the cache, too.
@Suite(.bounded) struct AppGrantTests {
    private let parts = Parts()

    /// The other app would send the token again, which has been used up.
    @Test func renewsTheCopyOfAnotherAppOfTheFamily() async throws {
        var other = TokenParameters.sample()
        other.clientID = try .sample(1)
        let (parameters, tokens) = (other, Self.family("1"))
        try await parts.start { parts async throws(TokenError) in
            try await parts.core.saver.save(tokens, from: .signIn, parameters, at: parameters.authority)
        }.value()
        #expect(parts.store.refreshTokens == ["rt-1", "rt-1"])
        let grant = await redeem("rt-1")
        await parts.provider.redemptions.next().answer(Self.family("2"))
        try await grant.value()
        #expect(parts.store.refreshTokens == ["rt-2", "rt-2", "rt-2"])
        #expect(try await parts.refreshTokens() == ["rt-2", "rt-2", "rt-2"])
    }

    /// The provider has used up the token that was sent.
    @Test func keepsTheRefreshTokenOfAResponseThatIsNotValid() async throws {
        try await parts.signIn("alice", "1").value()
        let grant = await redeem("rt-1")
        let redemption = await parts.provider.redemptions.next()
        redemption.question.delivery?.recordRefused(.sample("alice", "2"))
        redemption.fail(Self.invalid)
        let error = try await grant.error()
        #expect(error?.code == .serverInvalidResponse)
        #expect(error?.details.hasChangedCache == true)
        #expect(parts.store.refreshTokens == ["rt-2"])
    }

    /// The app may keep an archive that has the token.
    @Test func reportsTheChangeWithAResponseThatTheCacheRefuses() async throws {
        try await parts.signIn("alice", "1").value()
        let grant = await redeem("rt-1")
        var tokens = IssuedTokens.sample("alice", "2")
        tokens.idToken = "no token"
        await parts.provider.redemptions.next().answer(tokens)
        let error = try await grant.error()
        #expect(error?.code == .serverInvalidResponse)
        #expect(error?.details.hasChangedCache == true)
        #expect(parts.store.refreshTokens == ["rt-2"])
    }

    @Test func leavesATokenWhoseResponseNamesAnotherAccount() async throws {
        try await parts.signIn("alice", "1").value()
        let grant = await redeem("rt-1", of: .sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        redemption.question.delivery?.recordRefused(.sample("bob", "2"))
        redemption.fail(Self.invalid)
        #expect(try await grant.error()?.code == .serverInvalidResponse)
        #expect(parts.store.refreshTokens == ["rt-1"])
    }

    @Test func leavesATokenThatTheAppDoesNotHave() async throws {
        try await parts.signIn("alice", "1").value()
        let grant = await redeem("rt-app")
        let redemption = await parts.provider.redemptions.next()
        redemption.question.delivery?.recordRefused(.sample("alice", "2"))
        redemption.fail(Self.invalid)
        #expect(try await grant.error()?.code == .serverInvalidResponse)
        #expect(parts.store.refreshTokens == ["rt-1"])
    }

    /// A response without a refresh token leaves the one that was sent as it is. An assertion is none.
    @Test func savesNoAssertionAsARefreshToken() async throws {
        let grant = await parts.redeem(
            RedeemGrant(parameters: .sample(), kind: .saml2, grant: Secret("<Assertion/>")))
        var tokens = IssuedTokens.sample("alice", "1")
        tokens.refreshToken = nil
        await parts.provider.redemptions.next().answer(tokens)
        #expect(try await grant.value().accessToken == Secret("at-1"))
        #expect(parts.store.refreshTokens == [])
    }

    /// The store was locked while the authority was validated. The response could not be saved, and would be lost.
    @Test func sendsNothingOnceTheStoreIsBeingLocked() async throws {
        let parameters = TokenParameters.sample(authority: try Authority("https://login.example.com/common"))
        let request = RedeemGrant(
            parameters: parameters, kind: .refreshToken, grant: Secret("rt-app"), account: AccountReference())
        let grant = await parts.redeem(request)
        let discovery = await parts.provider.discoveries.next()
        try await parts.start { parts async throws(TokenError) in
            parts.core.commits.beginClosing(TokenError(.storeUnavailable, "the store is being locked"))
        }.value()
        discovery.answer([])
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 0)
        #expect(try await grant.error()?.code == .storeUnavailable)
    }

    private func redeem(
        _ token: String, of account: AccountReference = AccountReference()
    ) async -> Pending<TokenResult> {
        let request = RedeemGrant(
            parameters: .sample(), kind: .refreshToken, grant: Secret(token), account: account)
        return await parts.redeem(request)
    }

    private static func family(_ token: String) -> IssuedTokens {
        var tokens = IssuedTokens.sample("alice", token)
        tokens.familyID = .presumed
        return tokens
    }

    private static let invalid = TokenError(.serverInvalidResponse, "the response is not valid")
}
