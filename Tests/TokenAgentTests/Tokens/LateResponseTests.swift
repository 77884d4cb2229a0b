internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent
@testable internal import TokenEndpoint

/// A response that is read hours after it was sent, since the machine has slept meanwhile: its token has expired.
@Suite(.bounded) struct LateResponseTests {
    private let parts = Parts()

    /// The request asks for a new token, or for one of the cache.
    @Test(arguments: [true, false])
    func redeemsTheNewRefreshTokenIfTheTokenHasExpiredMeanwhile(force: Bool) async throws {
        let (request, redemption) = try await parts.requestRenewal(force: force)
        parts.clock.advance(by: 36_000)
        redemption.answer(.expired("alice", "2"))
        let next = try await parts.nextRedemption()
        #expect(next.token == "rt-2")
        next.answer(.sample("alice", "3"))
        let token = try await request.value()
        #expect(token.accessToken == Secret("at-3") && token.expiresOn > parts.clock.now)
        #expect(try await parts.refreshTokens() == ["rt-3"])
        #expect(parts.store.notes == 0)
    }

    /// A provider that does not replace refresh tokens has answered: the same one is not sent for want of an answer.
    @Test func redeemsTheSameRefreshTokenIfTheResponseHasNoOther() async throws {
        let (request, redemption) = try await parts.requestRenewal()
        parts.clock.advance(by: 36_000)
        var tokens = IssuedTokens.expired("alice", "2")
        tokens.refreshToken = nil
        redemption.answer(tokens)
        let next = try await parts.nextRedemption()
        #expect(next.token == "rt-1")
        next.answer(.sample("alice", "3"))
        #expect(try await request.value().accessToken == Secret("at-3"))
    }

    /// The network may not be back yet. The app may keep an archive that has the refresh token that was replaced.
    @Test func reportsWhyNoOtherTokenCanBeHad() async throws {
        let (request, redemption) = try await parts.requestRenewal()
        parts.clock.advance(by: 36_000)
        redemption.answer(.expired("alice", "2"))
        try await parts.nextRedemption().fail(TokenError(.networkUnavailable, "no network"))
        let error = try #require(try await request.error())
        #expect(error.code == .networkUnavailable && error.details.hasChangedCache)
        #expect(try await parts.refreshTokens() == ["rt-2"])
    }

    @Test func redeemsOnceMoreOnly() async throws {
        let (request, redemption) = try await parts.requestRenewal()
        parts.clock.advance(by: 36_000)
        redemption.answer(.expired("alice", "2"))
        let next = try await parts.nextRedemption()
        parts.clock.advance(by: 36_000)
        next.answer(.expired("alice", "3"))
        #expect(try await request.value().accessToken == Secret("at-3"))
        #expect(parts.provider.redemptions.count == 0)
    }

    /// A provider may issue tokens without a lifetime, of which each redemption brings another one.
    @Test func redeemsNothingMoreIfTheMachineWasAwake() async throws {
        let (request, redemption) = try await parts.requestRenewal()
        parts.clock.advance(by: 30)
        redemption.answer(.expired("alice", "2"))
        #expect(try await request.value().accessToken == Secret("at-2"))
        #expect(parts.provider.redemptions.count == 0)
    }
}

extension Parts {
    /// Signs alice in, and asks for a token when hers has expired.
    fileprivate func requestRenewal(
        force: Bool = false
    ) async throws -> (request: Pending<TokenResult>, redemption: ScriptedProvider.Redemption) {
        try await signIn("alice", "1").value()
        clock.advance(by: 7200)
        let request = acquire(.sample("alice", force: force))
        return (request, await provider.redemptions.next())
    }

    fileprivate nonisolated func nextRedemption() async throws -> ScriptedProvider.Redemption {
        try await settle()
        try #require(provider.redemptions.count == 1)
        return await provider.redemptions.next()
    }
}

extension IssuedTokens {
    /// Tokens of a user whose access token has expired, as of a response that has waited.
    fileprivate static func expired(_ user: String, _ token: String) -> IssuedTokens {
        var tokens = IssuedTokens.sample(user, token)
        tokens.expiresIn = 0
        return tokens
    }
}
