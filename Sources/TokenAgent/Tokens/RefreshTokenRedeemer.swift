internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

/// Redeems refresh tokens: concurrent requests for the same token share one redemption, and no refresh token is redeemed twice at
/// the same time.
///
/// The steps of a redemption, in `RefreshTokenSender.send`: its redemption note is made durable, the refresh token is sent, and the
/// response is saved in the commit that deletes the note; then the waiting requests are answered.
///
/// Used on the actor of `CacheOwner` only.
final class RefreshTokenRedeemer {
    private let memory: CacheMemory
    private let commits: CommitQueue
    private let reader: TokenReader
    private let notes: RedemptionNotes
    /// The refresh tokens that are being redeemed. A rotating token that is sent twice at the same time may be revoked.
    private let tokensInUse: KeyedLock<Secret>
    /// The places of refresh tokens in the cache, for which requests queue. A place stays the same when its token is rotated, so that
    /// each request is decided again once, when it is its turn.
    private lazy var places = TurnLock<RecordKey, PeerKey>()
    /// The redemptions of each peer at other providers than Microsoft's clouds.
    private lazy var otherProviders = ConcurrencyLimit<PeerKey>(places: Self.otherConnections)
    private let throttle: ThrottleTable
    private let sender: RefreshTokenSender
    private let tasks: TaskTracker
    private let loop: any EventLoop
    private let now: @Sendable () -> Int64
    private let metrics: AgentMetrics
    private typealias Redemption = EventLoopFuture<Result<TokenResult, TokenError>>
    /// The redemptions in progress, which concurrent requests share, each with the peers in whose turns and shares it may begin.
    private var inProgress: [RedemptionKey: (redemption: Redemption, peers: SharedRequest<PeerKey>)] = [:] {
        didSet { commits.redemptions = inProgress.count }
    }

    init(_ core: AgentCore) {
        memory = core.memory
        commits = core.commits
        reader = core.reader
        notes = core.notes
        tokensInUse = core.tokensInUse
        throttle = core.throttle
        sender = RefreshTokenSender(core)
        tasks = core.tasks
        loop = core.loop
        now = core.now
        metrics = core.metrics
    }

    /// The number of redemptions in progress.
    var count: Int { inProgress.count }

    /// Redeems a refresh token of the plan. If that fails, or takes too long, the result is the plan's fallback if it is still valid.
    ///
    /// - Parameter peer: the peer that asks. Peers that ask for the same refresh token take turns.
    func redeem(
        _ plan: RedemptionPlan, for request: AcquireTokenSilent, of peer: PeerKey
    ) -> EventLoopFuture<Result<TokenResult, TokenError>> {
        let redemption = shared(plan, request, peer)
        let awaited = plan.fallback == nil ? redemption : limited(redemption)
        return awaited.assumeIsolated().flatMap { outcome in
            let outcome = outcome.map { $0.answering(request.parameters.correlationID) }
            guard case .failure = outcome, plan.fallback != nil else {
                return self.loop.makeSucceededFuture(outcome)
            }
            return self.tasks.start { () async throws(TokenError) in
                let fallback = await self.fallback(of: plan, for: request)
                if case .success(let token) = outcome.usingFallback(fallback, at: self.now()) { return token }
                // After the time limit, the redemption goes on.
                let token: TokenResult = try await redemption.outcome()
                return token.answering(request.parameters.correlationID)
            }
        }.nonisolated()
    }

    /// The outcome of a redemption, or an error after a time limit: it may wait for its turn behind others that get no answer.
    private func limited(_ redemption: Redemption) -> Redemption {
        let promise = loop.makePromise(of: Result<TokenResult, TokenError>.self)
        let timer = tasks.schedule(after: Self.longestWait) { promise.succeed(.failure(Self.unanswered)) }
        redemption.whenComplete { outcome in
            timer.cancel()
            promise.completeWith(outcome)
        }
        return promise.futureResult
    }

    /// Redeems a grant that the app has. The cache is not read, and a refusal removes nothing from it.
    ///
    /// - Parameter peer: the peer that asks.
    func redeem(_ request: RedeemGrant, of peer: PeerKey) async throws(TokenError) -> TokenResult {
        try await inShare(of: SharedRequest(peer), at: request.parameters.authority) { () async throws(TokenError) in
            // The cache may contain the same refresh token.
            try await tokensInUse.exclusive(request.grant) { () async throws(TokenError) in
                try await sender.send(request)
            }
        }
    }

    /// Runs a redemption when the share of a peer allows it. Microsoft's clouds, which answer, have connections of their own. The other
    /// connections are for hosts that apps name: without shares, apps whose hosts answer slowly or never could use up all of them.
    private func inShare<Value>(
        of peers: SharedRequest<PeerKey>, at authority: Authority, _ work: () async throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        if CloudDirectory.isBuiltIn(authority.environment) { return try await work() }
        return try await otherProviders.run(for: peers, work)
    }

    /// The number of redemptions at other hosts than Microsoft's, one for each connection. A peer alone has half of them, as many as there
    /// are connections to one host.
    static var otherConnections: Int { TokenEndpointClient.otherConnections }

    /// The cached access token to use if the redemption fails or takes too long; nil if there is none, or if it has been removed meanwhile.
    private func fallback(of plan: RedemptionPlan, for request: AcquireTokenSilent) async -> TokenResult? {
        let group = request.parameters.sharingGroup
        guard let token = plan.fallback else { return nil }
        // By now, the tokens of the account may be in the store only.
        try? await reader.read(memory.cache.accounts(withTokensOf: plan.account, in: group), in: group)
        guard memory.cache.stillHolds(token.accessToken, of: plan.account, in: group) else { return nil }
        return token.answering(request.parameters.correlationID)
    }

    /// The redemption in progress for the same request; begins one if there is none.
    private func shared(
        _ plan: RedemptionPlan, _ request: AcquireTokenSilent, _ peer: PeerKey
    ) -> EventLoopFuture<Result<TokenResult, TokenError>> {
        guard let key = RedemptionKey(plan, request.parameters) else {
            return loop.makeSucceededFuture(.failure(Self.nothingToRedeem))
        }
        if let (redemption, peers) = inProgress[key] {
            metrics.count(.sharedRedemption)
            peers.add(peer)
            return redemption
        }
        // MSAL throttles requests, ADAL does not.
        let isThrottled = request.parameters.version == .v2
        if isThrottled, let error = throttle.error(for: key, at: now()) {
            return loop.makeSucceededFuture(.failure(error))
        }
        let peers = SharedRequest(peer)
        let redemption = tasks.start { () async throws(TokenError) in
            defer { self.inProgress[key] = nil }
            do throws(TokenError) {
                return try await self.inShare(of: peers, at: plan.authority) { () async throws(TokenError) in
                    try await self.tryEach(plan, for: request, of: peers)
                }
            } catch {
                guard isThrottled else { throw error }
                throw self.throttle.record(error, for: key, at: self.now())
            }
        }
        inProgress[key] = (redemption, peers)
        return redemption
    }

    /// Tries the refresh tokens of the plan in order. If one is being redeemed already, waits for its turn and makes a new plan.
    private func tryEach(
        _ plan: RedemptionPlan, for request: AcquireTokenSilent, of peers: SharedRequest<PeerKey>
    ) async throws(TokenError) -> TokenResult {
        var attempt = RedemptionAttempt(plan)
        while let token = attempt.next {
            let place = place(of: token, request)
            do throws(TokenError) {
                try await places.exclusive(place, for: peers) { hasWaited async throws(TokenError) in
                    attempt.isOutdated = attempt.isOutdated || hasWaited
                    try await redeem(&attempt, at: place, request)
                }
                if let result = attempt.result { return result }
            } catch  where error.allowsNextRefreshToken(request.parameters.version) {
                attempt.noteRefusal(error, isV1: request.parameters.version == .v1)
            }
        }
        let refusal = attempt.refusal
        if let error = refusal?.error, error.refusesRequest { throw error }
        if refusal != nil {
            memory.events.interactionIsDue(
                plan.account, of: request.parameters.clientID, in: request.parameters.sharingGroup, memory.cache)
        }
        throw TokenError(
            .interactionRequired, refusal?.reason ?? Refusal.unknown,
            details: refusal?.error.details ?? TokenError.Details())
    }

    /// Redeems the next refresh token of the attempt, if it is the one at a place after all earlier redemptions have ended.
    ///
    /// - Parameter place: the place that the caller holds.
    private func redeem(
        _ attempt: inout RedemptionAttempt, at place: RecordKey, _ request: AcquireTokenSilent
    ) async throws(TokenError) {
        while true {
            // A locked store has an empty cache, from which a new decision would be wrong.
            if let refusal = commits.refusal { throw refusal }
            if attempt.isOutdated { attempt.update(try await reader.decide(request, now: now).decision) }
            guard let token = attempt.next, self.place(of: token, request) == place else { return }
            // A redemption may have ended between the decision and this turn, also without a wait: its token must not be sent again.
            attempt.isOutdated = await isReplaced(token, in: request.parameters.sharingGroup)
            if attempt.isOutdated { continue }
            guard tokensInUse.isHeld(token.secret) else {
                attempt.sent = token
                attempt.wasInterrupted = notes.wasInterrupted(token, in: request.parameters.sharingGroup)
                let plan = attempt.plan
                attempt.result = try await tokensInUse.exclusive(token.secret) { () async throws(TokenError) in
                    try await sender.send(token, plan, request.parameters, username: request.account.username)
                }
                return
            }
            await tokensInUse.waitUntilReleased(token.secret)
            attempt.isOutdated = true
        }
    }

    /// Whether the cache has another refresh token in the place of this one.
    private func isReplaced(_ token: RefreshTokenRecord, in group: SharingGroup) async -> Bool {
        try? await reader.read([token.account], in: group)
        guard let current = memory.cache.refreshToken(inPlaceOf: token, in: group) else { return false }
        return !current.secret.isUnread && current.secret != token.secret
    }

    private func place(of token: RefreshTokenRecord, _ request: AcquireTokenSilent) -> RecordKey {
        CacheRecord.refreshToken(token).key(in: request.parameters.sharingGroup)
    }

    private static let unanswered = TokenError(.timedOut, "the token could not be renewed in time")

    /// The time for which a request with a valid token waits for a new one, as long as for one response of the token endpoint.
    private static let longestWait = TimeAmount.seconds(30)

    private static let nothingToRedeem = TokenError(
        .interactionRequired, "there is no refresh token to redeem; sign in")
}

extension TokenResult {
    /// The result for a request with another correlation ID that has shared the redemption.
    fileprivate func answering(_ correlationID: CorrelationID) -> TokenResult {
        var result = self
        result.correlationID = correlationID
        return result
    }
}
