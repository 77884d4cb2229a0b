internal import NIOCore
internal import TokenCache
internal import TokenModel
internal import TokenStore

/// Redeems refresh tokens, and no refresh token twice at the same time.
///
/// The steps of a redemption:
///
/// 1. `SharedRedemptions` begins it, unless one is in progress for an equal request.
/// 2. `tryEach` tries the refresh tokens of the plan in order, each when it is the request's turn at the token's place in the cache.
/// 3. `redeem(_:at:_:)` decides again if the token may have been replaced before this turn, and holds the token while it is sent.
/// 4. `RefreshTokenSender` makes the redemption note durable, sends the token, and saves the response in the commit that deletes the note.
/// 5. `redeem(_:for:from:)` gives the waiting requests the result, or the cached token that is still valid.
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
    /// The refresh tokens and assertions that apps have, and for which their requests queue.
    private lazy var grants = TurnLock<Secret, PeerKey>()
    let redemptions: SharedRedemptions
    private let sender: RefreshTokenSender
    private let tasks: TaskTracker
    private let loop: any EventLoop
    private let now: @Sendable () -> Int64

    init(_ core: AgentCore) {
        memory = core.memory
        commits = core.commits
        reader = core.reader
        notes = core.notes
        tokensInUse = core.tokensInUse
        redemptions = SharedRedemptions(core)
        sender = RefreshTokenSender(core)
        tasks = core.tasks
        loop = core.loop
        now = core.now
    }

    /// Redeems a refresh token of the plan. If that fails, or takes too long, the result is the plan's fallback if it is still valid.
    ///
    /// - Parameter connection: the connection that waits. Peers that ask for the same refresh token take turns.
    func redeem(
        _ plan: RedemptionPlan, for request: AcquireTokenSilent, from connection: ConnectionID
    ) -> EventLoopFuture<Result<TokenResult, TokenError>> {
        let redemption = redemptions.shared(plan, request.parameters, for: connection) {
            peers async throws(TokenError) in
            try await self.tryEach(plan, for: request, of: peers)
        }
        let isEarly = plan.fallback.map { $0.expiresOn >= now() + request.expirationBuffer } ?? false
        let awaited = plan.fallback == nil ? redemption : redemptions.limited(redemption, isEarly: isEarly)
        return awaited.assumeIsolated().flatMap { outcome in
            let outcome = outcome.map { $0.answering(request.parameters.correlationID) }
            guard case .failure = outcome, plan.fallback != nil else {
                return self.loop.makeSucceededFuture(outcome)
            }
            return self.tasks.start { () async throws(TokenError) in
                let fallback = await self.fallback(of: plan, for: request)
                if case .success(let token) = outcome.usingFallback(fallback, at: self.now()) {
                    self.redemptions.stopWaiting(for: redemption, plan, request.parameters, on: connection)
                    return token
                }
                // The redemption continues after the time limit.
                let token: TokenResult = try await redemption.outcome()
                return token.answering(request.parameters.correlationID)
            }
        }.nonisolated()
    }

    /// Redeems a grant that the app has. The cache has no part in the answer, and a refusal removes nothing from it.
    ///
    /// - Parameter connection: the connection that waits. Peers that have the same grant take turns.
    func redeem(
        _ request: RedeemGrant, from connection: ConnectionID
    ) -> EventLoopFuture<Result<TokenResult, TokenError>> {
        redemptions.start(for: connection) { peers async throws(TokenError) in
            let result = try await self.grants.exclusive(request.grant, for: peers) { _ async throws(TokenError) in
                try await self.redeem(request, of: peers)
            }
            guard let result else { throw SharedRedemptions.abandoned }
            return result
        }
    }

    private func redeem(
        _ request: RedeemGrant, of peers: SharedRequest<PeerKey>
    ) async throws(TokenError) -> TokenResult {
        try await redemptions.inShare(of: peers, at: request.parameters.authority) { () async throws(TokenError) in
            // The cache may contain the same refresh token.
            try await tokensInUse.exclusive(request.grant) { () async throws(TokenError) in
                try await sender.send(request)
            }
        }
    }

    /// The cached access token to use if the redemption fails or takes too long: the plan's or, if another one that need not be renewed has
    /// taken its place meanwhile, that one. Nil if there is none, or if it has been removed.
    private func fallback(of plan: RedemptionPlan, for request: AcquireTokenSilent) async -> TokenResult? {
        let group = request.parameters.sharingGroup
        guard let token = plan.fallback else { return nil }
        // By now, the tokens of the account may be in the store only.
        try? await reader.read(memory.cache.accounts(withTokensOf: plan.account, in: group), in: group)
        if memory.cache.stillHolds(token.accessToken, of: plan.account, in: group) {
            return token.answering(request.parameters.correlationID)
        }
        let decision = try? await reader.decide(request, now: now).decision
        guard case .use(let result, .some)? = decision else { return nil }
        return result
    }

    /// Tries the refresh tokens of the plan in order. If one is being redeemed already, waits for its turn and makes a new plan.
    private func tryEach(
        _ plan: RedemptionPlan, for request: AcquireTokenSilent, of peers: SharedRequest<PeerKey>
    ) async throws(TokenError) -> TokenResult {
        var attempt = RedemptionAttempt(plan)
        while let token = attempt.next {
            let place = place(of: token, request)
            do throws(TokenError) {
                let turn: Void? = try await places.exclusive(place, for: peers) { hasWaited async throws(TokenError) in
                    attempt.isOutdated = attempt.isOutdated || hasWaited
                    try await redeem(&attempt, at: place, request)
                }
                guard turn != nil else { throw SharedRedemptions.abandoned }
            } catch  where error.allowsNextRefreshToken(request.parameters.version) {
                attempt.noteRefusal(error, isV1: request.parameters.version == .v1)
                // A sign-in or an import may have brought another token meanwhile.
                if attempt.next == nil, let decision = try? await reader.decide(request, now: now).decision {
                    attempt.updateAfterRefusals(decision)
                }
            } catch {
                throw error.changingCache(attempt.hasChangedCache)
            }
        }
        if var result = attempt.result {
            result.hasChangedCache = attempt.hasChangedCache
            return result
        }
        let refusal = attempt.refusal
        if let error = refusal?.error, error.refusesRequest { throw error.changingCache(attempt.hasChangedCache) }
        if let refusal, refusal.isOfEveryRequest(request.parameters) {
            memory.events.interactionIsDue(
                plan.account, of: request.parameters.clientID, in: request.parameters.sharingGroup, memory.cache)
        }
        throw TokenError(
            .interactionRequired, refusal?.reason ?? Refusal.unknown,
            details: refusal?.error.details ?? TokenError.Details()
        ).changingCache(attempt.hasChangedCache)
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
            try? await reader.read([token.account], in: request.parameters.sharingGroup)
            attempt.isOutdated = memory.cache.hasReplaced(token, in: request.parameters.sharingGroup)
            if attempt.isOutdated { continue }
            if tokensInUse.isHeld(token.secret) {
                await tokensInUse.waitUntilReleased(token.secret)
            } else {
                attempt.sent = token
                attempt.wasInterrupted = notes.wasInterrupted(token, in: request.parameters.sharingGroup)
                let (plan, began) = (attempt.plan, now())
                let result = try await tokensInUse.exclusive(token.secret) { () async throws(TokenError) in
                    try await sender.send(token, plan, request.parameters, username: request.account.username)
                }
                if let result { attempt.note(result, since: began, now: now()) }
                if attempt.result != nil { return }
            }
            attempt.isOutdated = true
        }
    }

    private func place(of token: RefreshTokenRecord, _ request: AcquireTokenSilent) -> RecordKey {
        CacheRecord.refreshToken(token).key(in: request.parameters.sharingGroup)
    }
}

extension TokenResult {
    /// The result for a request with another correlation ID that has shared the redemption.
    fileprivate func answering(_ correlationID: CorrelationID) -> TokenResult {
        var result = self
        result.correlationID = correlationID
        return result
    }
}
