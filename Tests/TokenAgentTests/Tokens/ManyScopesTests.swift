internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// Requests that need one refresh token at the same time, for different scopes.
@Suite(.bounded) struct ManyScopesTests {
    private let parts = Parts()

    /// Each response rotates the refresh token.
    @Test func redeemsTheNewestTokenForEachRequestInOrder() async throws {
        try await parts.signIn("alice", "1").value()
        var requests: [Pending<TokenResult>] = []
        for number in 1...40 { requests.append(await parts.acquire(.scope(number))) }
        for number in 1...40 {
            let redemption = await parts.provider.redemptions.next()
            #expect(redemption.token == "rt-\(number)")
            #expect(redemption.question.request.scopes == ScopeSet(["Scope.\(number)"]))
            redemption.answer(.sample("alice", "\(number + 1)"))
        }
        for (index, request) in requests.enumerated() {
            #expect(try await request.value().accessToken.reveal() == "at-\(index + 2)")
        }
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.refreshTokens == ["rt-41"])
    }

    /// One request of an app is not delayed by all those of another process.
    @Test func letsProcessesTakeTurns() async throws {
        try await parts.signIn("alice", "1").value()
        var requests: [Pending<TokenResult>] = []
        for number in 1...20 { requests.append(await parts.acquire(.scope(number), of: 1)) }
        requests.append(await parts.acquire(.scope(99), of: 2))
        var order: [ScopeSet] = []
        for number in 2...22 {
            let redemption = await parts.provider.redemptions.next()
            order.append(redemption.question.request.scopes)
            redemption.answer(.sample("alice", "\(number)"))
        }
        #expect(order.firstIndex(of: ScopeSet(["Scope.99"])) == 2)
        for request in requests { try await request.value() }
    }

    /// A request whose token an earlier one has brought needs no redemption of its own.
    @Test func usesTheTokenOfAnEarlierRequest() async throws {
        try await parts.signIn("alice", "1").value()
        let first = await parts.acquire(.scope(1))
        let narrower = await parts.acquire(
            .sample("alice", .sample(["Scope.2"]), force: false), of: 2)
        let last = await parts.acquire(.scope(3), of: 3)
        var tokens = IssuedTokens.sample("alice", "2")
        tokens.scopes = ScopeSet(["Scope.1", "Scope.2"])
        await parts.provider.redemptions.next().answer(tokens)
        #expect(try await narrower.value().accessToken.reveal() == "at-2")
        await parts.provider.redemptions.next().answer(.sample("alice", "3"))
        #expect(try await last.value().accessToken.reveal() == "at-3")
        try await first.value()
    }

    /// A refusal of the token that a waiting request has to use is that request's refusal; it is not sent again.
    @Test func asksForASignInAfterTheRefusalOfARotatedToken() async throws {
        try await parts.signIn("alice", "1").value()
        let requests = [await parts.acquire(.scope(1)), await parts.acquire(.scope(2))]
        await parts.provider.redemptions.next().answer(.sample("alice", "2"))
        try await requests[0].value()
        let second = await parts.provider.redemptions.next()
        #expect(second.token == "rt-2")
        second.fail(.invalidGrant)
        #expect(try await requests[1].error()?.code == .interactionRequired)
        #expect(parts.provider.redemptions.count == 0)
    }
}

extension AcquireTokenSilent {
    fileprivate static func scope(_ number: Int) -> AcquireTokenSilent {
        .sample("alice", .sample(["Scope.\(number)"]))
    }
}
