internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// The cached token that a request gets if its redemption fails.
@Suite(.bounded) struct FallbackTests {
    private static let now: Int64 = 1_800_000_000

    enum Outcome { case error, token, extendedToken }

    /// The lifetimes are the seconds that are left of them. An app must not go on with a token when a policy protects its data.
    @Test(
        arguments: [
            (.interactionRequired, nil, 1, nil, .token), (.interactionRequired, nil, 0, 100, .error),
            (.networkUnavailable, nil, 1, 100, .token), (.networkUnavailable, nil, 0, 1, .extendedToken),
            (.networkUnavailable, nil, 0, 0, .error), (.networkUnavailable, nil, 0, nil, .error),
            (.timedOut, nil, -100, 1, .extendedToken), (.serverError, nil, 0, 1, .extendedToken),
            (.unhandledHTTPResponse, 500, 0, 1, .extendedToken), (.unhandledHTTPResponse, 499, 0, 1, .error),
            (.protectionPolicyRequired, nil, 100, 100, .error),
        ] as [(TokenError.Code, Int32?, Int64, Int64?, Outcome)])
    func isReturnedAsLongAsItHolds(
        code: TokenError.Code, status: Int32?, lifetime: Int64, extendedLifetime: Int64?, outcome: Outcome
    ) {
        let token = Self.token(lifetime, extendedLifetime)
        var error = TokenError(code, "refused")
        error.details.httpStatus = status
        let failure = Result<TokenResult, TokenError>.failure(error)
        switch failure.usingFallback(token, at: Self.now) {
        case .success(let result):
            #expect(result.accessToken == token.accessToken)
            #expect(outcome == (result.isExtendedLifetime ? .extendedToken : .token))
        case .failure(let reported): #expect(outcome == .error && reported == error)
        }
        #expect(failure.usingFallback(nil, at: Self.now) == failure)
    }

    /// A refresh token is redeemed for one request at a time: a request waits behind others, to which the provider may not respond.
    @Test func isReturnedAfterALongWait() async throws {
        let parts = Parts()
        try await parts.signIn("alice", "1").value()
        let first = await parts.acquire(.sample("alice", .sample(["Mail.Read"])))
        let redemption = await parts.provider.redemptions.next()
        var request = AcquireTokenSilent.sample("alice", force: false)
        request.expirationBuffer = 86_400
        let second = await parts.acquire(request)
        try await parts.settle()
        try await parts.timers.advance(by: 29)
        try await parts.settle()
        #expect(!second.isDone)
        try await parts.timers.advance(by: 1)
        #expect(try await second.value().accessToken == Secret("at-1"))
        #expect(!first.isDone)
        // The redemption that has begun goes on. The other one, which waited for its turn, is abandoned.
        redemption.answer(.sample("alice", "2"))
        #expect(try await first.value().accessToken == Secret("at-2"))
        try await parts.waitUntilIdle()
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(parts.timers.count == 0)
    }

    /// The provider does not respond, and the cached token is as good for the app.
    @Test func isReturnedAfterAShortWaitForATokenThatIsRenewedEarly() async throws {
        let parts = Parts()
        let (request, redemption) = try await parts.beginRenewal()
        try await parts.timers.advance(by: 1)
        try await parts.settle()
        #expect(!request.isDone)
        try await parts.timers.advance(by: 1)
        try await parts.settle()
        try #require(request.isDone)
        #expect(try await request.value().accessToken == Secret("at-1"))
        // The redemption goes on, for the next request.
        redemption.answer(.sample("alice", "2"))
        try await parts.waitUntilIdle()
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(try await parts.acquire(.sample("alice", force: false)).value().accessToken == Secret("at-2"))
    }

    /// The provider does not respond to the renewal, and the app has signed in again meanwhile.
    @Test func isTheTokenOfASignInThatHasReplacedTheOneBefore() async throws {
        let parts = Parts()
        let (request, redemption) = try await parts.beginRenewal()
        try await parts.signIn("alice", "2").value()
        try await parts.timers.advance(by: 2)
        try await parts.settle()
        try #require(request.isDone)
        #expect(try await request.value().accessToken == Secret("at-2"))
        redemption.fail(TokenError(.networkUnavailable, "no connection"))
        try await parts.waitUntilIdle()
        #expect(parts.store.refreshTokens == ["rt-2"])
    }

    /// A token that has expired meanwhile is of no use.
    @Test func isNotReturnedAfterAWaitInWhichItExpired() async throws {
        let parts = Parts()
        try await parts.signIn("alice", "1").value()
        var request = AcquireTokenSilent.sample("alice", force: false)
        request.expirationBuffer = 86_400
        let pending = await parts.acquire(request)
        let redemption = await parts.provider.redemptions.next()
        parts.clock.advance(by: 3600)
        try await parts.timers.advance(by: 30)
        try await parts.settle()
        #expect(!pending.isDone)
        redemption.answer(.sample("alice", "2"))
        #expect(try await pending.value().accessToken == Secret("at-2"))
    }

    private static func token(_ lifetime: Int64, _ extendedLifetime: Int64?) -> TokenResult {
        TokenResult(
            accessToken: Secret("at"), tokenType: "Bearer", expiresOn: now + lifetime,
            extendedExpiresOn: extendedLifetime.map { now + $0 }, scopes: [], idToken: nil,
            account: Account(homeAccountID: nil, username: "alice", environment: "login.windows.net", source: .msal),
            tenantProfile: nil, authority: Authority.common.url, correlationID: CorrelationID(), isFromCache: true)
    }
}
