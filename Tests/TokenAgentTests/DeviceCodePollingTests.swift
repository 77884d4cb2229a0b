internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// The polls for a device code, and the pauses between them.
@Suite(.bounded) struct DeviceCodePollingTests {
    private let parts = Parts()

    @Test func pollsUntilTheUserHasFinished() async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0, "it waits for the interval first")
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().fail(.refusal("authorization_pending", .serverOAuth))
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        #expect(try await waiting.value().accessToken == Secret("at-1"))
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(parts.timers.count == 0)
    }

    @Test func pollsFiveSecondsLaterAfterSlowDown() async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().fail(.refusal("slow_down", .serverOAuth))
        try await parts.settle()
        try await parts.timers.advance(by: 9)
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        try await parts.timers.advance(by: 1)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        try await waiting.value()
    }

    @Test(
        arguments: [(.networkUnavailable, nil), (.unhandledHTTPResponse, 503), (.unhandledHTTPResponse, 429)]
            as [(TokenError.Code, Int32?)])
    func continuesPollingAfterATemporaryOutage(code: TokenError.Code, status: Int32?) async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        var outage = TokenError(code, "try again later")
        outage.details.httpStatus = status
        await parts.provider.redemptions.next().fail(outage)
        try await parts.settle()
        try await parts.timers.advance(by: 10)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        try await waiting.value()
    }

    /// The response after an outage has the tokens, for which a user waits.
    @Test func pollsAtTheIntervalAgainAfterAnOutage() async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        for pause in [5, 10, 15] as [Int64] {
            try await parts.timers.advance(by: pause - 1)
            try await parts.settle()
            #expect(parts.provider.redemptions.count == 0)
            try await parts.timers.advance(by: 1)
            await parts.provider.redemptions.next().fail(TokenError(.networkUnavailable, "try again later"))
            try await parts.settle()
        }
        try await parts.timers.advance(by: 20)
        await parts.provider.redemptions.next().fail(.refusal("authorization_pending", .serverOAuth))
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 1)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        try await waiting.value()
    }

    /// A date is one of the server's clock. Of two limits, the longer one holds.
    @Test(
        arguments: [
            (503, "60", 60), (503, "Sun, 06 Nov 1994 08:50:37 GMT", 60), (503, "1", 10), (503, "-60", 10),
            (429, "1", 10),
        ] as [(Int32, String, Int64)])
    func waitsAsLongAsTheProviderAsks(status: Int32, field: String, pause: Int64) async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().fail(.overload(status, retryAfter: field))
        try await parts.settle()
        try await parts.timers.advance(by: pause - 1)
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 0)
        try await parts.timers.advance(by: 1)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        try await waiting.value()
    }

    /// As after `slow_down`, for which some providers have this status.
    @Test func pollsFiveSecondsLaterFromThenOnAfterTooManyRequests() async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().fail(.overload(429, retryAfter: "60"))
        try await parts.settle()
        try await parts.timers.advance(by: 59)
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 0)
        try await parts.timers.advance(by: 1)
        await parts.provider.redemptions.next().fail(.refusal("authorization_pending", .serverOAuth))
        try await parts.settle()
        try await parts.timers.advance(by: 9)
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 0)
        try await parts.timers.advance(by: 1)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        try await waiting.value()
    }

    @Test func expiresWhileTheProviderAsksToWaitForEver() async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().fail(.overload(503, retryAfter: "99999999999999999999"))
        try await parts.settle()
        try await parts.timers.advance(by: 895)
        #expect(try await waiting.error()?.code == .timedOut)
        #expect(parts.timers.count == 0)
    }

    /// The second name is that of Entra's v1 endpoint.
    @Test(arguments: ["expired_token", "code_expired"]) func timesOutWithItsCode(name: String) async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().fail(.refusal(name, .serverOAuth))
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
