internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent
@testable internal import TokenEndpoint

/// Requests that wait for a redemption, alone or with others, and tokens that leave memory meanwhile.
@Suite(.bounded) struct RedemptionWaitTests {
    private let parts = Parts()

    // MARK: Requests that share a redemption

    /// The abandoned redemption ends in a later turn of the event loop, in which the other one has begun.
    @Test func sharesARedemptionThatHasBegunBesideAnAbandonedOne() async throws {
        let (first, redemption) = try await parts.beginRedemption()
        let mail = AcquireTokenSilent.sample("alice", .sample(["Mail.Read"]))
        let abandoned = await parts.acquire(mail, on: 2)
        let second = await parts.acquireAfterEnding(2, mail, on: 3)
        #expect(try await abandoned.error()?.code == .cancelled)
        let third = await parts.acquire(mail, on: 4)
        redemption.answer(.sample("alice", "2"))
        try await first.value()
        await parts.provider.redemptions.next().answer(.sample("alice", "3"))
        #expect(try await second.value().accessToken == Secret("at-3"))
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 0)
        #expect(try await third.value().accessToken == Secret("at-3"))
    }

    /// One of two equal requests has got the cached token, and the other one waits until its connection ends.
    @Test func abandonsARedemptionForWhichOneOfTwoEqualRequestsOfTheConnectionWaited() async throws {
        let (_, redemption) = try await parts.beginRenewal()
        var early = AcquireTokenSilent.sample("alice", force: false)
        early.parameters.redirectURI = "http://localhost/other"
        var patient = early
        patient.expirationBuffer = 86_400
        let requests = [await parts.acquire(early, on: 2), await parts.acquire(patient, on: 2)]
        try await parts.settle()
        try await parts.timers.advance(by: 2)
        #expect(try await requests[0].value().accessToken == Secret("at-1"))
        try await parts.settle()
        #expect(await parts.redemptionCount == 2)
        await parts.endConnection(of: 1, 2)
        try await parts.settle()
        try #require(await parts.redemptionCount == 1)
        // The redemption has failed, and the cached token is valid still.
        #expect(try await requests[1].value().accessToken == Secret("at-1"))
        redemption.answer(.sample("alice", "2"))
        try await parts.waitUntilIdle()
        #expect(parts.provider.redemptions.count == 0)
    }

    /// The identity provider got that of the first one only.
    @Test func returnsTheCorrelationIDOfEachRequestThatSharesARedemption() async throws {
        try await parts.signIn("alice", "1").value()
        let requests = [AcquireTokenSilent.sample("alice"), AcquireTokenSilent.sample("alice")]
        var results: [Pending<TokenResult>] = []
        for request in requests { results.append(await parts.acquire(request)) }
        await parts.provider.redemptions.next().answer(.sample("alice", "2"))
        for (request, result) in zip(requests, results) {
            #expect(try await result.value().correlationID == request.parameters.correlationID)
        }
        #expect(parts.provider.redemptions.count == 0)
    }

    /// Also if the response comes after the time limit, and the cached token has expired.
    @Test func returnsTheCorrelationIDOfEachRequestThatWaitsLonger() async throws {
        try await parts.signIn("alice", "1").value()
        var requests = [
            AcquireTokenSilent.sample("alice", force: false), AcquireTokenSilent.sample("alice", force: false),
        ]
        for index in requests.indices { requests[index].expirationBuffer = 86_400 }
        var results: [Pending<TokenResult>] = []
        for request in requests { results.append(await parts.acquire(request)) }
        let redemption = await parts.provider.redemptions.next()
        parts.clock.advance(by: 3600)
        try await parts.timers.advance(by: 30)
        try await parts.settle()
        redemption.answer(.sample("alice", "2"))
        for (request, result) in zip(requests, results) {
            #expect(try await result.value().correlationID == request.parameters.correlationID)
        }
        #expect(parts.provider.redemptions.count == 0)
    }

    // MARK: Tokens that are in the store only

    /// An app may close its connection in the turn of the event loop in which its request is read.
    @Test func redeemsNothingForAConnectionThatEndsWhileItsTokensAreRead() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.answerLoads(with: .success(parts.store.loadedWithoutTokens))
        try await parts.loadStore().value()
        let request = await parts.acquireBeforeEnding(2, .sample("alice"))
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 0)
        #expect(try await request.error()?.code == .cancelled)
        #expect(await parts.redemptionCount == 0)
    }

    /// An import has taken the token out of memory, and the disk fails: nothing shows that another one has replaced it.
    @Test func sendsATokenThatHasLeftMemoryAndCannotBeReadAgain() async throws {
        try await parts.signIn("alice", "1").value()
        let request = try await parts.acquireBeforePacking("alice")
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 1)
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-1")
        parts.store.failReads(false)
        redemption.answer(.sample("alice", "2"))
        #expect(try await request.value().accessToken == Secret("at-2"))
    }

    /// Otherwise it would be sent again after the next start.
    @Test func removesARefusedTokenThatHasLeftMemory() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        try await parts.pack("alice")
        redemption.question.delivery?.recordSending()
        var refusal = TokenError.invalidGrant
        refusal.details.subError = "bad_token"
        redemption.fail(refusal)
        #expect(try await request.error()?.code == .interactionRequired)
        #expect(parts.store.refreshTokens == [])
    }
}

extension Parts {
    /// The number of redemptions in progress.
    fileprivate var redemptionCount: Int { redeemer.redemptions.count }

    /// Ends a connection, and sends a silent request in the same turn of the event loop.
    fileprivate func acquireAfterEnding(
        _ ended: UInt64, _ request: AcquireTokenSilent, on number: UInt64
    ) -> Pending<TokenResult> {
        endConnection(of: 1, ended)
        return acquire(request, on: number)
    }

    /// Sends a silent request, and ends its connection in the same turn of the event loop.
    fileprivate func acquireBeforeEnding(_ number: UInt64, _ request: AcquireTokenSilent) -> Pending<TokenResult> {
        defer { endConnection(of: 1, number) }
        return acquire(request, on: number)
    }

    /// Sends a silent request, removes the user's tokens from memory in the same turn of the event loop, and lets later reads fail.
    fileprivate func acquireBeforePacking(_ user: String) throws -> Pending<TokenResult> {
        let pending = acquire(.sample(user))
        try pack(user)
        store.failReads()
        return pending
    }
}
