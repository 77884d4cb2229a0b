internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

/// Redeems refresh tokens: one request for everyone who waits for the same, and never one token twice at the same time.
///
/// A redemption, from start to end: a note that the token is on its way is durable before the token is sent; the response is
/// saved, and with it the note is deleted, before any app hears of the new access token.
///
/// Used on the actor of `CacheOwner` only.
final class RefreshTokenRedeemer {
    private let memory: CacheMemory
    private let commits: CommitQueue
    private let notes: RedemptionNotes
    /// Refresh tokens on their way to a token endpoint. One that rotates and is sent twice at once is a lost session.
    private let tokensInUse: KeyedLock<Secret>
    private let throttle: ThrottleTable
    private let authorities: AuthorityResolver
    private let saver: TokenSaver
    private let service: any TokenService
    private let tasks: TaskTracker
    private let loop: any EventLoop
    private let now: @Sendable () -> Int64
    /// Redemptions under way, which everyone who asks for the same shares.
    private var underWay: [RedemptionKey: EventLoopFuture<Result<TokenResult, TokenError>>] = [:]

    init(_ core: AgentCore) {
        memory = core.memory
        commits = core.commits
        notes = core.notes
        tokensInUse = core.tokensInUse
        throttle = core.throttle
        authorities = core.authorities
        saver = core.saver
        service = core.service
        tasks = core.tasks
        loop = core.loop
        now = core.now
    }

    /// The token that a redemption brings, or one that is still valid if none can be had.
    func redeem(
        _ plan: RedemptionPlan, for request: AcquireTokenSilent, isolation: isolated (any Actor)? = #isolation
    ) -> EventLoopFuture<Result<TokenResult, TokenError>> {
        shared(plan, request).assumeIsolated().map { outcome in
            outcome.map { $0.answering(request.parameters.correlationID) }
                .usingFallback(self.fallback(of: plan, for: request), at: self.now())
        }.nonisolated()
    }

    /// Trades a grant of the app's own for tokens. The cache is not asked, and a refusal removes nothing from it.
    func redeem(_ request: RedeemGrant) async throws(TokenError) -> TokenResult {
        // The same refresh token may be in the cache as well.
        try await tokensInUse.exclusive(request.grant) { () async throws(TokenError) in
            let parameters = request.parameters
            let authority = try await authorities.resolve(
                parameters.authority, parameters, username: request.account.username)
            let response = try await service.redeem(
                authorities.tokenRequest(request.tokenGrant, at: authority, parameters), nil)
            return try await saver.save(response, from: .signIn, parameters, at: parameters.authority)
        }
    }

    /// The token to use if it cannot be renewed, unless it has been removed meanwhile.
    private func fallback(of plan: RedemptionPlan, for request: AcquireTokenSilent) -> TokenResult? {
        guard let token = plan.fallback,
            memory.cache.stillHolds(token.accessToken, of: plan.owner, in: request.parameters.sharingGroup)
        else { return nil }
        return token.answering(request.parameters.correlationID)
    }

    private func shared(
        _ plan: RedemptionPlan, _ request: AcquireTokenSilent, isolation: isolated (any Actor)? = #isolation
    ) -> EventLoopFuture<Result<TokenResult, TokenError>> {
        guard let key = RedemptionKey(plan, request.parameters) else {
            return loop.makeSucceededFuture(.failure(Self.nothingToRedeem))
        }
        if let redemption = underWay[key] { return redemption }
        // ADAL asks as often as it is asked; only MSAL's requests are held back.
        let isThrottled = request.parameters.version == .v2
        if isThrottled, let error = throttle.error(for: key, at: now()) {
            return loop.makeSucceededFuture(.failure(error))
        }
        let redemption = tasks.start { () async throws(TokenError) in
            defer { self.underWay[key] = nil }
            do throws(TokenError) {
                return try await self.tryEach(plan, for: request)
            } catch {
                if isThrottled { self.throttle.note(error, for: key, at: self.now()) }
                throw error
            }
        }
        underWay[key] = redemption
        return redemption
    }

    /// Tries the plan's refresh tokens in turn. After waiting for another redemption of one, asks the cache again.
    private func tryEach(
        _ plan: RedemptionPlan, for request: AcquireTokenSilent
    ) async throws(TokenError) -> TokenResult {
        var plan = plan
        var rejected: Set<Secret> = []
        var refusal: Refusal?
        while let token = plan.candidates.first(where: { !rejected.contains($0.secret) }) {
            if tokensInUse.isHeld(token.secret) {
                await tokensInUse.waitUntilReleased(token.secret)
                switch memory.cache.decide(request, now: now()) {
                case .use(let result): return result
                case .redeem(let fresh): plan = fresh
                case .interactionRequired, .ambiguousAccount: plan.candidates = []
                }
                continue
            }
            let wasInterrupted = notes.wasInterrupted(token, in: request.parameters.sharingGroup)
            do throws(TokenError) {
                return try await tokensInUse.exclusive(token.secret) { () async throws(TokenError) in
                    try await send(token, plan, request.parameters, asked: request.account.username)
                }
            } catch  where error.allowsNextRefreshToken {
                rejected.insert(token.secret)
                // ADAL reports what was said to the app's own refresh token, whichever was tried last.
                if request.parameters.version == .v2 || token.familyID == nil || refusal == nil {
                    refusal = Refusal(error, wasInterrupted: wasInterrupted)
                }
            }
        }
        throw TokenError(
            .interactionRequired, refusal?.reason ?? Refusal.unknown, details: refusal?.details ?? TokenError.Details())
    }

    /// Notes that the token is on its way, sends it, and saves the response.
    private func send(
        _ token: RefreshTokenRecord, _ plan: RedemptionPlan, _ parameters: TokenParameters, asked: String?
    ) async throws(TokenError) -> TokenResult {
        let group = parameters.sharingGroup
        let authority = try await authorities.resolve(
            plan.authority, parameters, username: memory.cache.username(of: plan.owner, in: group) ?? asked)
        // Before it is sent: where nothing can be written, the answer could not be kept, and the old token stays good.
        try await commits.write([notes.note(of: token, in: group, at: now())], isRetried: false)
        guard memory.cache.stillHolds(token, in: group) else {
            await deleteNote(about: token, in: group)
            throw TokenSaver.signedOutMeanwhile
        }
        let request = authorities.tokenRequest(.refreshToken(token.secret), at: authority, parameters)
        let delivery = DeliveryTracker()
        let response: IssuedTokens
        do throws(TokenError) {
            response = try await service.redeem(request, delivery)
        } catch {
            if delivery.mayHaveArrived {
                try await remember(error, about: token, parameters)
            } else {
                await deleteNote(about: token, in: group)
            }
            throw error.concerning(plan.owner, cache: memory.cache, in: group)
        }
        do throws(TokenError) {
            return try await saver.save(response, from: .redemption(token), parameters, at: plan.authority)
        } catch {
            // Whoever signed out is owed no warning about a lost answer.
            if error == TokenSaver.signedOutMeanwhile { await deleteNote(about: token, in: group) }
            throw error
        }
    }

    /// Commits what a refusal says about the refresh token, before any app hears of it.
    private func remember(
        _ error: TokenError, about token: RefreshTokenRecord, _ parameters: TokenParameters
    ) async throws(TokenError) {
        // Without an answer the note stays: the token may have been redeemed all the same.
        guard error.details.oauthError != nil else { return }
        let group = parameters.sharingGroup
        try await commits.commit(changing: token.owner, in: group) { () async throws(TokenError) in
            let changes = memory.cache.changes(rejecting: token, for: parameters.clientID, in: group, error)
            return (CommitQueue.Commit(changes: changes, settled: notes.settled(by: token, in: group)), ())
        }
    }

    /// Takes back the note about a refresh token that was not sent, or that nobody waits for any more.
    private func deleteNote(about token: RefreshTokenRecord, in group: SharingGroup) async {
        guard let key = notes.settled(by: token, in: group) else { return }
        try? await commits.write(notes.deletions(of: [key]))
    }

    private static let nothingToRedeem = TokenError(
        .interactionRequired, "there is no refresh token to redeem; sign in")
}

/// How a refresh token was refused.
private struct Refusal {
    let details: TokenError.Details
    /// What the user who has to sign in again is told.
    let reason: String

    /// - Parameter wasInterrupted: whether an earlier redemption, whose answer was lost, may have used the token up.
    init(_ error: TokenError, wasInterrupted: Bool) {
        details = error.details
        reason = wasInterrupted && error.details.oauthError == "invalid_grant" ? Self.interruption : Self.unknown
    }

    static let unknown = "no refresh token is accepted any more; sign in again"
    private static let interruption =
        "no answer came when this account's refresh token was redeemed before the agent stopped, and it may have been used "
        + "up; sign in again"
}

extension RedeemGrant {
    fileprivate var tokenGrant: Grant {
        switch kind {
        case .refreshToken: .refreshToken(grant)
        case .saml11: .assertion(grant, isSAML2: false)
        case .saml2: .assertion(grant, isSAML2: true)
        }
    }
}
