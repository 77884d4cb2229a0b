internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// The polls for a device code, and the pauses between them.
@Suite(.bounded) struct DeviceCodePollingTests {
    private let parts = Parts()
    /// The interval of the device code, in seconds.
    private static let interval: Int64 = 5

    /// Begins a sign-in, which waits for its first poll.
    private func signIn() async throws -> Pending<TokenResult> {
        let id = try await parts.beginDeviceCode()
        return await parts.completeDeviceCode(id)
    }

    /// The next poll, which must come after this pause, in seconds, and not before.
    private func poll(after pause: Int64 = interval) async throws -> ScriptedProvider.Redemption {
        try await parts.settle()
        try await parts.timers.advance(by: pause - 1)
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 0)
        try await parts.timers.advance(by: 1)
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 1)
        return await parts.provider.redemptions.next()
    }

    @Test func pollsUntilTheUserHasFinished() async throws {
        let waiting = try await signIn()
        try await poll().fail(.refusal("authorization_pending", .serverOAuth))
        try await poll().answer(.sample("alice", "1"))
        #expect(try await waiting.value().accessToken == Secret("at-1"))
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(parts.timers.count == 0)
    }

    @Test func pollsFiveSecondsLaterAfterSlowDown() async throws {
        let waiting = try await signIn()
        try await poll().fail(.refusal("slow_down", .serverOAuth))
        try await poll(after: 10).answer(.sample("alice", "1"))
        try await waiting.value()
    }

    @Test(
        arguments: [(.networkUnavailable, nil), (.unhandledHTTPResponse, 503), (.unhandledHTTPResponse, 429)]
            as [(TokenError.Code, Int32?)])
    func continuesPollingAfterATemporaryOutage(code: TokenError.Code, status: Int32?) async throws {
        let waiting = try await signIn()
        var outage = TokenError(code, "try again later")
        outage.details.httpStatus = status
        try await poll().fail(outage)
        try await poll(after: 10).answer(.sample("alice", "1"))
        try await waiting.value()
    }

    /// The response after an outage has the tokens, for which a user waits.
    @Test func pollsAtTheIntervalAgainAfterAnOutage() async throws {
        let waiting = try await signIn()
        for pause in [5, 10, 15] as [Int64] {
            try await poll(after: pause).fail(TokenError(.networkUnavailable, "try again later"))
        }
        try await poll(after: 20).fail(.refusal("authorization_pending", .serverOAuth))
        try await poll().answer(.sample("alice", "1"))
        try await waiting.value()
    }

    /// A date is one of the server's clock. Of two limits, the longer one holds.
    @Test(
        arguments: [
            (503, "60", 60), (503, "Sun, 06 Nov 1994 08:50:37 GMT", 60), (503, "1", 10), (503, "-60", 10),
            (429, "1", 10),
        ] as [(Int32, String, Int64)])
    func waitsAsLongAsTheProviderAsks(status: Int32, field: String, pause: Int64) async throws {
        let waiting = try await signIn()
        try await poll().fail(.overload(status, retryAfter: field))
        try await poll(after: pause).answer(.sample("alice", "1"))
        try await waiting.value()
    }

    /// As after `slow_down`, for which some providers have this status.
    @Test func pollsFiveSecondsLaterFromThenOnAfterTooManyRequests() async throws {
        let waiting = try await signIn()
        try await poll().fail(.overload(429, retryAfter: "60"))
        try await poll(after: 60).fail(.refusal("authorization_pending", .serverOAuth))
        try await poll(after: 10).answer(.sample("alice", "1"))
        try await waiting.value()
    }

    @Test func expiresWhileTheProviderAsksToWaitForEver() async throws {
        let waiting = try await signIn()
        try await poll().fail(.overload(503, retryAfter: "99999999999999999999"))
        try await parts.settle()
        try await parts.timers.advance(by: 895)
        #expect(try await waiting.error()?.code == .timedOut)
        #expect(parts.timers.count == 0)
    }

    /// The second name is that of Entra's v1 endpoint.
    @Test(arguments: ["expired_token", "code_expired"]) func timesOutWithItsCode(name: String) async throws {
        let waiting = try await signIn()
        try await poll().fail(.refusal(name, .serverOAuth))
        #expect(try await waiting.error()?.code == .timedOut)
    }
}

extension TokenError {
    /// The response of a server that asks to wait, at a certain time of its clock.
    fileprivate static func overload(_ status: Int32, retryAfter: String) -> TokenError {
        var error = TokenError(.unhandledHTTPResponse, "try again later")
        error.details.httpStatus = status
        error.details.httpHeaders = ["Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": retryAfter]
        return error
    }
}
