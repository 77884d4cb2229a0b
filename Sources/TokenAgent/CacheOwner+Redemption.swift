internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

extension CacheOwner {
    /// A redemption, shared with everyone who asks for the same while it is under way.
    func redemption(
        of plan: RedemptionPlan, for request: AcquireTokenSilent
    ) -> EventLoopFuture<Result<TokenResult, TokenError>> {
        shared(plan, request).map { outcome in
            self.assumeIsolated { owner in
                outcome.map { $0.answering(request.parameters.correlationID) }
                    .orElse(owner.fallback(of: plan, for: request), at: owner.options.now())
            }
        }
    }

    /// The token to do with when it cannot be renewed, unless it has been removed meanwhile.
    private func fallback(of plan: RedemptionPlan, for request: AcquireTokenSilent) -> TokenResult? {
        guard let token = plan.fallback,
            cache.stillHolds(token.accessToken, of: plan.owner, in: request.parameters.sharingGroup)
        else { return nil }
        return token.answering(request.parameters.correlationID)
    }

    private func shared(
        _ plan: RedemptionPlan, _ request: AcquireTokenSilent
    ) -> EventLoopFuture<Result<TokenResult, TokenError>> {
        guard let key = RedemptionKey(plan, request.parameters) else {
            return loop.makeSucceededFuture(.failure(Self.nothingToRedeem))
        }
        if let underWay = redemptions[key] { return underWay }
        // ADAL asks as often as it is asked; only MSAL's requests are held back.
        let isThrottled = request.parameters.version == .v2
        if isThrottled, let error = throttled.error(for: key, at: options.now()) {
            return loop.makeSucceededFuture(.failure(error))
        }
        let redemption = later { owner async throws(TokenError) in
            defer { owner.redemptions[key] = nil }
            do throws(TokenError) {
                return try await owner.redeem(plan, for: request)
            } catch {
                if isThrottled { owner.throttled.note(error, for: key, at: owner.options.now()) }
                throw error
            }
        }
        redemptions[key] = redemption
        return redemption
    }

    /// Tries the plan's refresh tokens in turn; the cache is asked again whenever somebody else used one meanwhile.
    private func redeem(_ plan: RedemptionPlan, for request: AcquireTokenSilent) async throws(TokenError) -> TokenResult
    {
        var plan = plan
        var rejected: Set<Secret> = []
        var refusal: Refusal?
        while let token = plan.candidates.first(where: { !rejected.contains($0.secret) }) {
            if let inUse = refreshTokensInUse[token.secret] {
                _ = try? await inUse.get()
                switch cache.decide(request, now: options.now()) {
                case .use(let result): return result
                case .redeem(let fresh): plan = fresh
                case .interactionRequired, .ambiguousAccount: plan.candidates = []
                }
                continue
            }
            let key = CacheRecord.refreshToken(token).key(in: request.parameters.sharingGroup)
            let wasInterrupted = interrupted.contains(key)
            do throws(TokenError) {
                return try await exchange(token, plan, request.parameters, asked: request.account.username)
            } catch  where error.letsAnotherRefreshTokenTry {
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

    /// One refresh token for new tokens: sent by nobody else meanwhile, on disk before it is answered.
    private func exchange(
        _ token: RefreshTokenRecord, _ plan: RedemptionPlan, _ parameters: TokenParameters, asked: String?
    ) async throws(TokenError) -> TokenResult {
        try await using(token.secret) { () async throws(TokenError) in
            try await send(token, plan, parameters, asked: asked)
        }
    }

    /// Does `work` while nobody else sends this refresh token; call it when nobody does.
    func using<Value>(
        _ refreshToken: Secret, _ work: () async throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        let done = loop.makePromise(of: Void.self)
        refreshTokensInUse[refreshToken] = done.futureResult
        defer {
            refreshTokensInUse[refreshToken] = nil
            done.succeed()
        }
        return try await work()
    }

    private func send(
        _ token: RefreshTokenRecord, _ plan: RedemptionPlan, _ parameters: TokenParameters, asked: String?
    ) async throws(TokenError) -> TokenResult {
        let authority = try await resolve(
            plan.authority, parameters, username: cache.username(of: plan.owner, in: parameters.sharingGroup) ?? asked)
        let key = CacheRecord.refreshToken(token).key(in: parameters.sharingGroup)
        // Before it is sent: where nothing can be written, the answer could not be kept, and the old token stays good.
        try await write([.put(RedemptionNote.of(key, at: options.now()))], insists: false)
        guard cache.stillHolds(token, in: parameters.sharingGroup) else { throw await signedOut(token, parameters) }
        let request = tokenRequest(.refreshToken(token.secret), at: authority, parameters)
        let sending = SendingMark()
        let response: TokenResponse
        do throws(TokenError) {
            response = try await endpoint.redeem(request, sending)
        } catch {
            if sending.mayHaveArrived {
                try await note(error, about: token, parameters)
            } else {
                await strikeOut(token, in: parameters.sharingGroup)
            }
            throw error.concerning(plan.owner, cache: cache, in: parameters.sharingGroup)
        }
        return try await save(response, from: .redemption(token), parameters, at: plan.authority)
    }

    private func signedOut(_ token: RefreshTokenRecord, _ parameters: TokenParameters) async -> TokenError {
        await strikeOut(token, in: parameters.sharingGroup)
        return Self.signedOutMeanwhile
    }

    /// Takes back the note about a refresh token that nothing came of.
    private func strikeOut(_ token: RefreshTokenRecord, in group: SharingGroup) async {
        guard let key = settled(token, in: group) else { return }
        try? await write([.delete(RedemptionNote.key(of: key))])
    }

    /// Whose note an answer to this refresh token settles; nil where the note is by now that of another token, which has
    /// taken its place and is on its way itself.
    private func settled(_ token: RefreshTokenRecord, in group: SharingGroup) -> RecordKey? {
        let held = cache.refreshToken(inPlaceOf: token, in: group)?.secret
        guard held == nil || held == token.secret || held.map({ refreshTokensInUse[$0] == nil }) == true else {
            return nil
        }
        return CacheRecord.refreshToken(token).key(in: group)
    }

    /// What the refusal says about the refresh token itself is remembered before anyone hears of it.
    private func note(
        _ error: TokenError, about token: RefreshTokenRecord, _ parameters: TokenParameters
    ) async throws(TokenError) {
        // Without an answer the note stays: the token may have been redeemed all the same.
        guard error.details.oauthError != nil else { return }
        let group = parameters.sharingGroup
        try await inTurn(SavingKey(group: group, owner: token.owner)) { () async throws(TokenError) in
            let changes = cache.changes(rejecting: token, for: parameters.clientID, in: group, error)
            try await commit(changes, settling: settled(token, in: group), in: group)
        }
    }

    /// Saves a response and returns what the app gets.
    ///
    /// - Throws: `declinedScopes` with the partial result when fewer scopes were granted; the tokens are kept.
    func save(
        _ response: TokenResponse, from issuance: Issuance, _ parameters: TokenParameters, at authority: Authority
    ) async throws(TokenError) -> TokenResult {
        let group = parameters.sharingGroup
        let tokens = IssuedTokens(response, version: parameters.version)
        let changes = { () throws(TokenError) in
            try self.cache.changes(
                saving: tokens, from: issuance, parameters,
                at: self.authority(parameters, at: authority, movedTo: response.cloudName), now: self.options.now(),
                leaving: Set(self.refreshTokensInUse.keys))
        }
        let saved = try await inTurn(SavingKey(group: group, owner: try changes().owner)) {
            () async throws(TokenError) in
            // Only now: whoever signed out while it waited for its turn must not find the account there again.
            if let used = issuance.token, !cache.stillHolds(used, in: group) {
                throw await signedOut(used, parameters)
            }
            let saved = try changes()
            try await commit(
                saved.changes, settling: issuance.token.flatMap { settled($0, in: group) }, in: group)
            return saved
        }
        if case .signIn = issuance { throttled.noteSignIn() }
        let declined = parameters.scopes.subtracting(ScopeSet(saved.result.scopes).union(Self.neverDeclined))
        guard parameters.version == .v1 || declined.isEmpty else {
            throw TokenError.declining(declined, saved.result)
        }
        return saved.result
    }
}

extension Issuance {
    /// The refresh token that was redeemed.
    fileprivate var token: RefreshTokenRecord? {
        if case .redemption(let token) = self { token } else { nil }
    }
}

/// How a refresh token was refused.
private struct Refusal {
    let details: TokenError.Details
    /// What whoever has to sign in again is told.
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
