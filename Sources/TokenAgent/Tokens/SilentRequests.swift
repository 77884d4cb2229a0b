internal import TokenCache
internal import TokenModel

/// Answers silent requests once the store is loaded: with a token in memory, with one that is read from the store first, or with one that
/// a redemption brings.
///
/// Used on the actor of `CacheOwner` only.
final class SilentRequests {
    private let memory: CacheMemory
    private let reader: TokenReader
    private let redeemer: RefreshTokenRedeemer
    private let now: @Sendable () -> Int64

    init(_ core: AgentCore, _ redeemer: RefreshTokenRedeemer) {
        memory = core.memory
        reader = core.reader
        now = core.now
        self.redeemer = redeemer
    }

    /// The answer to a request. A hit whose token is in memory is answered before this returns.
    ///
    /// - Parameter connection: the connection that asks.
    func answer(_ request: AcquireTokenSilent, from connection: ConnectionID) -> Answer<TokenResult> {
        let time = now()
        return answer(memory.cache.decide(request, now: time), to: request, from: connection, at: time)
    }

    /// The answer to a request for which the cache has decided.
    ///
    /// - Parameter time: the time for which it has decided.
    private func answer(
        _ decision: SilentDecision, to request: AcquireTokenSilent, from connection: ConnectionID, at time: Int64
    ) -> Answer<TokenResult> {
        switch decision {
        case .use(var result, let times):
            result.allowsSingleIDToken = request.acceptsSingleIDToken
            guard let end = times?.upperBound else { return .now(.success(result)) }
            // The reply does not hold for earlier times: if the clock is set back, a host may be refused that is
            // allowed now.
            if request.wantsFreshness { result.freshness = time...end }
            let parameters = request.parameters
            return .repeatable(
                result,
                KeptReplies.Conditions(
                    group: parameters.sharingGroup, account: request.account.homeAccountID,
                    host: parameters.authority.environment,
                    times: time...end))
        case .redeem(let plan):
            return Answer.later(redeemer.redeem(plan, for: request, from: connection)).withSingleIDToken(for: request)
        case .interactionRequired(let why, let reason):
            return .now(.failure(TokenError(.interactionRequired, why, reason: reason)))
        case .ambiguousAccount: return .now(.failure(Self.ambiguous(request.account)))
        case .unread(let account):
            return .later(
                redeemer.redemptions.start(for: connection) { read async throws(TokenError) in
                    let (decision, time) = try await self.reader.decide(
                        request, afterReading: account, now: self.now)
                    guard !read.isAbandoned else { throw SharedRedemptions.abandoned }
                    return try await self.answer(decision, to: request, from: connection, at: time).outcome()
                })
        }
    }

    private static func ambiguous(_ account: AccountReference) -> TokenError {
        TokenError(
            .ambiguousAccount,
            account.username == nil
                ? "several accounts are signed in; name one by its home account ID or username"
                : "several accounts have this username; name one by its home account ID")
    }
}

extension AcquireTokenSilent {
    /// The request without the reserved scopes, which the agent always adds.
    var withoutReservedScopes: AcquireTokenSilent {
        guard parameters.scopes.intersects(.reserved) else { return self }
        var request = self
        request.parameters.scopes = parameters.scopes.subtracting(.reserved)
        return request
    }
}
