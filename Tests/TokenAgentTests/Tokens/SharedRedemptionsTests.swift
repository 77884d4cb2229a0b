internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent
@testable internal import TokenEndpoint

/// Requests that share a redemption or its error, and peers that share the connections to providers.
@Suite(.bounded) struct SharedRedemptionsTests {
    private let parts = Parts()

    // MARK: Equal requests

    @Test func sharesOneRedemptionAmongEqualRequests() async throws {
        try await parts.signIn("alice", "1").value()
        var requests: [Pending<TokenResult>] = []
        for _ in 0..<3 { requests.append(await parts.acquire(.sample("alice"))) }
        let redemption = await parts.provider.redemptions.next()
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        redemption.answer(.sample("alice", "2"))
        for request in requests { #expect(try await request.value().accessToken == Secret("at-2")) }
    }

    /// The peer that has asked first may have many requests before this one.
    @Test func redeemsForSeveralPeersInTheFirstTurnOfAnyOfThem() async throws {
        try await parts.signIn("alice", "1").value()
        var requests: [Pending<TokenResult>] = []
        for scope in ["First", "A", "B", "C", "Mail.Read"] {
            requests.append(await parts.acquire(.sample("alice", .sample([scope])), of: 1))
        }
        let own = await parts.acquire(.sample("alice", .sample(["Mail.Read"])), of: 2)
        // The one that was begun, one of the first peer, and the shared one.
        for number in 2...4 {
            await parts.provider.redemptions.next().answer(.sample("alice", "\(number)"))
        }
        #expect(try await own.value().accessToken == Secret("at-4"))
        for number in 5...6 {
            await parts.provider.redemptions.next().answer(.sample("alice", "\(number)"))
        }
        for request in requests { try await request.value() }
        #expect(parts.store.refreshTokens == ["rt-6"])
    }

    /// A commit waits for those of other redemptions if there are several.
    @Test func countsARedemptionOnceUntilItEnds() async throws {
        try await parts.signIn("alice", "1").value()
        let requests = [await parts.acquire(.sample("alice")), await parts.acquire(.sample("alice"))]
        #expect(await parts.redemptionCounts == [1, 1])
        await parts.provider.redemptions.next().answer(.sample("alice", "2"))
        for request in requests { try await request.value() }
        #expect(await parts.redemptionCounts == [0, 0])
    }

    @Test func countsTheRequestsThatShareARedemption() async throws {
        try await parts.signIn("alice", "1").value()
        var requests: [Pending<TokenResult>] = []
        for _ in 0..<3 { requests.append(await parts.acquire(.sample("alice"))) }
        await parts.provider.redemptions.next().answer(.sample("alice", "2"))
        for request in requests { try await request.value() }
        #expect(await parts.sharedCount == 2)
    }

    /// The token endpoint refuses a refresh token with another redirect URI than the app's.
    @Test func sharesNoRedemptionBetweenRedirectURIs() async throws {
        try await parts.signIn("alice", "1").value()
        var other = AcquireTokenSilent.sample("alice")
        other.parameters.redirectURI = "http://localhost/other"
        let wrong = await parts.acquire(other)
        let sent = await parts.provider.redemptions.next()
        let right = await parts.acquire(.sample("alice"), of: 2)
        try await parts.settle()
        sent.fail(.refusal("invalid_request", .interactionRequired))
        #expect(try await wrong.error()?.code == .interactionRequired)
        await parts.provider.redemptions.next().answer(.sample("alice", "2"))
        #expect(try await right.value().accessToken == Secret("at-2"))
    }

    @Test func throttlesRequestsAfterAnOverload() async throws {
        try await parts.signIn("alice", "1").value()
        let request = AcquireTokenSilent.sample("alice")
        let first = await parts.acquire(request)
        let redemption = await parts.provider.redemptions.next()
        redemption.question.delivery?.recordSending()
        var overload = TokenError.refusal("temporarily_unavailable", .serverError)
        overload.details.httpStatus = 503
        redemption.fail(overload)
        #expect(try await first.error()?.code == .serverError)
        let second = try #require(try await parts.acquire(request).error())
        #expect(second.details.isThrottled)
        parts.clock.advance(by: 61)
        let third = await parts.acquire(request)
        await parts.provider.redemptions.next().answer(.sample("alice", "2"))
        try await third.value()
    }

    /// An import may have taken the refresh token out of memory meanwhile. It is the same one.
    @Test func throttlesRequestsWhoseTokenHasLeftMemory() async throws {
        let (first, redemption) = try await parts.beginRedemption()
        try await parts.pack("alice")
        redemption.question.delivery?.recordSending()
        var overload = TokenError(.unhandledHTTPResponse, "busy")
        overload.details.httpStatus = 503
        redemption.fail(overload)
        #expect(try await first.error()?.code == .unhandledHTTPResponse)
        let second = await parts.acquire(.sample("alice"))
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 0)
        #expect(try await second.error()?.details.isThrottled == true)
    }

    // MARK: Connections that end

    /// Nobody would get the token, and the redemptions of others would wait for it.
    @Test func abandonsARedemptionThatWaitsForItsTurnWhenItsConnectionEnds() async throws {
        try await parts.signIn("alice", "1").value()
        let first = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        let waiting = await parts.acquire(.sample("alice", .sample(["Mail.Read"])), on: 2)
        try await parts.settle()
        await parts.endConnection(of: 1, 2)
        #expect(try await waiting.error()?.code == .cancelled)
        #expect(await parts.redemptionCounts == [1, 1])
        // The token that is on its way is saved, also for a connection that has ended.
        await parts.endConnection()
        #expect(await parts.redemptionCounts == [1, 1])
        redemption.answer(.sample("alice", "2"))
        #expect(try await first.value().accessToken == Secret("at-2"))
        #expect(await parts.redemptionCounts == [0, 0])
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(parts.provider.redemptions.count == 0)
    }

    @Test func redeemsForTheConnectionsThatAreLeft() async throws {
        try await parts.signIn("alice", "1").value()
        let first = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        let mail = AcquireTokenSilent.sample("alice", .sample(["Mail.Read"]))
        let waiting = [await parts.acquire(mail, on: 2), await parts.acquire(mail, of: 2, on: 3)]
        await parts.endConnection(of: 1, 2)
        redemption.answer(.sample("alice", "2"))
        try await first.value()
        await parts.provider.redemptions.next().answer(.sample("alice", "3"))
        for request in waiting { #expect(try await request.value().accessToken == Secret("at-3")) }
    }

    /// The abandoned redemption ends in a later turn of the event loop.
    @Test func beginsAnotherRedemptionForAnEqualRequestAfterOneWasAbandoned() async throws {
        try await parts.signIn("alice", "1").value()
        let first = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        let mail = AcquireTokenSilent.sample("alice", .sample(["Mail.Read"]))
        let abandoned = await parts.acquire(mail, on: 2)
        let again = await parts.acquireAfterEnding(2, mail, on: 3)
        #expect(try await abandoned.error()?.code == .cancelled)
        redemption.answer(.sample("alice", "2"))
        try await first.value()
        await parts.provider.redemptions.next().answer(.sample("alice", "3"))
        #expect(try await again.value().accessToken == Secret("at-3"))
        #expect(await parts.redemptionCounts == [0, 0])
    }

    /// A connection that its app closes at once ends in the turn of the event loop in which its requests are read.
    @Test func abandonsRequestsWhoseConnectionEndsBeforeTheyBegin() async throws {
        try await parts.signIn("alice", "1").value()
        let requests = await parts.sendBeforeEnding(
            2, .sample("alice"), RedeemGrant(parameters: .sample(), kind: .refreshToken, grant: Secret("rt-other")))
        for request in requests { #expect(try await request.error()?.code == .cancelled) }
        #expect(await parts.redemptionCounts == [0, 0])
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.refreshTokens == ["rt-1"])
    }

    @Test func abandonsWhatWaitsForAPlaceOrForTheSameGrantWhenItsConnectionEnds() async throws {
        let parameters = TokenParameters.sample(authority: try Authority("https://contoso.ciamlogin.com"))
        let share = TokenEndpointClient.otherConnections / 2
        let grant = Secret("rt-other")
        var requests: [Pending<TokenResult>] = []
        for number in 0...share {
            let secret = number < 2 ? grant : Secret("rt-\(number)")
            let request = RedeemGrant(parameters: parameters, kind: .refreshToken, grant: secret)
            requests.append(await parts.redeem(request, on: 2))
        }
        let user = try await parts.signIn("alice", "1", parameters).value()
        #expect(user.accessToken == Secret("at-1"))
        // All of the peer's places are taken: those of the different grants.
        let silent = await parts.acquire(.sample("alice", parameters), on: 2)
        try await parts.settle()
        #expect(parts.provider.redemptions.count == share)
        await parts.endConnection(of: 1, 2)
        #expect(try await requests[1].error()?.code == .cancelled)
        #expect(try await silent.error()?.code == .cancelled)
        for _ in 0..<share {
            await parts.provider.redemptions.next().fail(TokenError(.networkUnavailable, "no answer"))
        }
        try await parts.waitUntilIdle()
        #expect(parts.provider.redemptions.count == 0)
    }

    // MARK: Early renewals

    /// An app could begin any number of them: its requests wait two seconds only, and each renewal may take its turn for half a minute.
    @Test func abandonsAnEarlyRenewalThatWaitsForItsTurnAfterItsRequestHasTheCachedToken() async throws {
        let (first, redemption) = try await parts.beginRenewal()
        let second = await parts.acquire(Self.otherRenewal)
        try await parts.settle()
        #expect(await parts.redemptionCounts == [2, 2])
        try await parts.timers.advance(by: 2)
        for request in [first, second] { #expect(try await request.value().accessToken == Secret("at-1")) }
        try await parts.settle()
        #expect(await parts.redemptionCounts == [1, 1])
        // The one that has begun goes on, and an equal request shares it.
        let third = await parts.acquire(.sample("alice", force: false))
        #expect(await parts.sharedCount == 1)
        redemption.answer(.sample("alice", "2"))
        #expect(try await third.value().accessToken == Secret("at-2"))
        #expect(await parts.redemptionCounts == [0, 0])
        #expect(parts.provider.redemptions.count == 0)
    }

    @Test func keepsAnEarlyRenewalForARequestOfTheSameConnectionThatStillWaits() async throws {
        let (_, redemption) = try await parts.beginRenewal()
        var patient = Self.otherRenewal
        patient.expirationBuffer = 86_400
        let early = await parts.acquire(Self.otherRenewal)
        let waiting = await parts.acquire(patient)
        try await parts.settle()
        try await parts.timers.advance(by: 2)
        #expect(try await early.value().accessToken == Secret("at-1"))
        try await parts.settle()
        #expect(!waiting.isDone)
        redemption.answer(.sample("alice", "2"))
        #expect(try await waiting.value().accessToken == Secret("at-2"))
    }

    /// A request that the cached token answers, and that shares no redemption with one for the app's usual redirect URI.
    private static var otherRenewal: AcquireTokenSilent {
        var request = AcquireTokenSilent.sample("alice", force: false)
        request.parameters.redirectURI = "http://localhost/other"
        return request
    }

    // MARK: Shares of peers

    /// An app whose providers never answer must not use up the connections of all apps. Grants of the app count, too.
    @Test func leavesConnectionsToOtherPeersAtProvidersThatAppsName() async throws {
        let parameters = TokenParameters.sample(authority: try Authority("https://contoso.ciamlogin.com"))
        let share = TokenEndpointClient.otherConnections / 2
        let users = (0..<share).map { "user\($0)" }
        for user in users + ["alice"] { try await parts.signIn(user, user, parameters).value() }
        var requests: [Pending<TokenResult>] = []
        for user in users { requests.append(await parts.acquire(.sample(user, parameters))) }
        let grant = RedeemGrant(parameters: parameters, kind: .refreshToken, grant: Secret("rt-other"))
        requests.append(await parts.redeem(grant))
        try await parts.settle()
        #expect(parts.provider.redemptions.count == share)
        requests.append(await parts.acquire(.sample("alice", parameters), of: 2))
        try await parts.settle()
        #expect(parts.provider.redemptions.count == share + 1)
        // What waits is sent when another redemption has ended.
        for _ in requests {
            await parts.provider.redemptions.next().fail(TokenError(.networkUnavailable, "no answer"))
        }
        for request in requests { #expect(try await request.error()?.code == .networkUnavailable) }
        #expect(parts.provider.redemptions.count == 0)
    }

    @Test func leavesConnectionsToAThirdPeerBesideTwoWhoseProvidersNeverAnswer() async throws {
        let parameters = TokenParameters.sample(authority: try Authority("https://contoso.ciamlogin.com"))
        let share = TokenEndpointClient.otherConnections / 2
        let users = (0...share).map { "user\($0)" }
        for user in users + ["alice"] { try await parts.signIn(user, user, parameters).value() }
        var requests: [Pending<TokenResult>] = []
        for user in users { requests.append(await parts.acquire(.sample(user, parameters))) }
        for number in 0...share {
            let grant = RedeemGrant(parameters: parameters, kind: .refreshToken, grant: Secret("rt-\(number)"))
            requests.append(await parts.redeem(grant, of: 2, on: 2))
        }
        try await parts.settle()
        #expect(parts.provider.redemptions.count == share + share / 2)
        requests.append(await parts.acquire(.sample("alice", parameters), of: 3))
        try await parts.settle()
        #expect(parts.provider.redemptions.count == share + share / 2 + 1)
        for _ in requests {
            await parts.provider.redemptions.next().fail(TokenError(.networkUnavailable, "no answer"))
        }
        for request in requests { #expect(try await request.error()?.code == .networkUnavailable) }
    }

    @Test func limitsNoRedemptionsAtMicrosoftsClouds() async throws {
        let users = (0...TokenEndpointClient.otherConnections).map { "user\($0)" }
        for user in users { try await parts.signIn(user, user).value() }
        var requests: [Pending<TokenResult>] = []
        for user in users { requests.append(await parts.acquire(.sample(user))) }
        try await parts.settle()
        #expect(parts.provider.redemptions.count == users.count)
        for _ in users {
            await parts.provider.redemptions.next().fail(TokenError(.networkUnavailable, "no answer"))
        }
        for request in requests { #expect(try await request.error()?.code == .networkUnavailable) }
    }
}

extension Parts {
    /// Ends a connection, and sends a silent request in the same turn of the event loop.
    fileprivate func acquireAfterEnding(
        _ ended: UInt64, _ request: AcquireTokenSilent, on number: UInt64
    ) -> Pending<TokenResult> {
        endConnection(of: 1, ended)
        return acquire(request, on: number)
    }

    /// Sends a silent request and a grant, and ends their connection in the same turn of the event loop.
    fileprivate func sendBeforeEnding(
        _ number: UInt64, _ request: AcquireTokenSilent, _ grant: RedeemGrant
    ) -> [Pending<TokenResult>] {
        defer { endConnection(of: 1, number) }
        return [acquire(request, on: number), redeem(grant, on: number)]
    }

    /// The measurement of requests that have shared a redemption.
    fileprivate var sharedCount: Int64? {
        core.metrics.snapshot.first { $0.name == MetricName.sharedRedemptions.rawValue }?.value
    }

    /// The number of redemptions in progress, and the number that commits of the store are told of.
    fileprivate var redemptionCounts: [Int] { [redeemer.redemptions.count, core.commits.redemptions] }
}
