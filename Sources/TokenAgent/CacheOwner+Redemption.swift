internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

extension CacheOwner {
    /// A redemption, shared with everyone who asks for the same while it is under way.
    func redemption(
        of plan: RedemptionPlan, for request: AcquireTokenSilent
    ) -> EventLoopFuture<Result<TokenResult, TokenError>> {
        shared(plan, request).map { outcome in
            outcome.map { $0.answering(request.parameters.correlationID) }
                .orElse(plan.fallback?.answering(request.parameters.correlationID), at: self.options.now())
        }
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
        var rejected: [Secret: TokenError] = [:]
        var lastError: TokenError?
        while let token = plan.candidates.first(where: { rejected[$0.secret] == nil }) {
            if let inUse = refreshTokensInUse[token.secret] {
                _ = try? await inUse.get()
                switch cache.decide(request, now: options.now()) {
                case .use(let result): return result
                case .redeem(let fresh): plan = fresh
                case .interactionRequired, .ambiguousAccount: plan.candidates = []
                }
                continue
            }
            do throws(TokenError) {
                return try await exchange(token, plan, request.parameters)
            } catch  where error.letsAnotherRefreshTokenTry {
                rejected[token.secret] = error
                // ADAL reports what was said to the app's own refresh token, whichever was tried last.
                if request.parameters.version == .v2 || token.familyID == nil || lastError == nil { lastError = error }
            }
        }
        throw TokenError(
            .interactionRequired, "no refresh token is accepted any more; sign in again",
            details: lastError?.details ?? TokenError.Details())
    }

    /// One refresh token for new tokens: sent by nobody else meanwhile, on disk before it is answered.
    private func exchange(
        _ token: RefreshTokenRecord, _ plan: RedemptionPlan, _ parameters: TokenParameters
    ) async throws(TokenError) -> TokenResult {
        let done = loop.makePromise(of: Void.self)
        refreshTokensInUse[token.secret] = done.futureResult
        defer {
            refreshTokensInUse[token.secret] = nil
            done.succeed()
        }
        let authority = try await resolve(plan.authority, parameters)
        let request = tokenRequest(.refreshToken(token.secret), at: authority, parameters)
        let response: TokenResponse
        do throws(TokenError) {
            response = try await endpoint.redeem(request)
        } catch {
            try await note(error, about: token, parameters)
            throw error.concerning(plan.owner, cache: cache, in: parameters.sharingGroup)
        }
        guard cache.stillHolds(token, in: parameters.sharingGroup) else { throw Self.signedOutMeanwhile }
        return try await save(response, from: .redemption(token), parameters, at: plan.authority)
    }

    /// What the refusal says about the refresh token itself is remembered before anyone hears of it.
    private func note(
        _ error: TokenError, about token: RefreshTokenRecord, _ parameters: TokenParameters
    ) async throws(TokenError) {
        let changes = cache.changes(
            rejecting: token, for: parameters.clientID, in: parameters.sharingGroup, error)
        try await commit(changes, in: parameters.sharingGroup)
    }

    /// Saves a response and returns what the app gets.
    ///
    /// - Throws: `declinedScopes` with the partial result when fewer scopes were granted; the tokens are kept.
    func save(
        _ response: TokenResponse, from issuance: Issuance, _ parameters: TokenParameters, at authority: Authority
    ) async throws(TokenError) -> TokenResult {
        let group = parameters.sharingGroup
        let saved = try cache.changes(
            saving: IssuedTokens(response, version: parameters.version), from: issuance, parameters, at: authority,
            now: options.now())
        try await commit(saved.changes, in: group)
        if case .signIn = issuance { throttled.noteSignIn() }
        let declined = parameters.scopes.subtracting(ScopeSet(saved.result.scopes).union(Self.neverDeclined))
        guard parameters.version == .v1 || declined.isEmpty else {
            throw TokenError.declining(declined, saved.result)
        }
        return saved.result
    }
}
