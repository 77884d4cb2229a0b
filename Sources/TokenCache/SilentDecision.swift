package import TokenModel

/// What to do with a silent request, decided from the cache alone.
package enum SilentDecision: Sendable, Equatable {
    /// Return this; nothing to redeem.
    case use(TokenResult)
    /// Redeem a refresh token.
    case redeem(RedemptionPlan)
    /// Only an interactive request can help; the text says why.
    case interactionRequired(String)
    /// Several accounts fit and the app named none.
    case ambiguousAccount
}

/// How to get a new access token, and what to return if that cannot be done now.
package struct RedemptionPlan: Sendable, Equatable {
    /// Whose token it will be.
    package var owner: OwnerID
    /// Who to ask: the app's authority with the tenant it leads to.
    package var authority: Authority
    /// The refresh tokens to try, best first; one that the issuer rejects gives way to the next.
    package var candidates: [RefreshTokenRecord]
    /// A token that is still good, for when the issuer cannot be reached.
    package var fallback: TokenResult?
}

extension CredentialCache {
    /// Decides a silent request. Pure: the same cache, request and moment give the same decision.
    package func decide(_ request: AcquireTokenSilent, now: Int64) -> SilentDecision {
        let partition = partition(request.parameters.sharingGroup)
        let clientID = request.parameters.clientID
        switch owner(for: request, in: partition, now: now) {
        case .none: return .interactionRequired("this account is not in the cache; sign in")
        case .several: return .ambiguousAccount
        case .one(let owner):
            let holdings = partition[owner]
            guard !holdings.isSignedOut(clientID) else {
                return .interactionRequired("this account signed out of the app; sign in again")
            }
            return decide(request, owner: owner, holdings: holdings, in: partition, now: now)
        }
    }

    private func decide(
        _ request: AcquireTokenSilent, owner: OwnerID, holdings: Holdings, in partition: Partition, now: Int64
    ) -> SilentDecision {
        let authority = effectiveAuthority(of: request.parameters, owner: owner, holdings: holdings)
        let token = usableToken(for: request, at: authority, holdings: holdings, now: now)
        if let token, token.isFresh { return .use(token.result) }
        let candidates = refreshTokens(for: request.parameters, at: authority, holdings: holdings, in: partition)
        if !candidates.isEmpty {
            let plan = RedemptionPlan(
                owner: owner, authority: authority, candidates: candidates, fallback: token?.result)
            return .redeem(plan)
        }
        // A token that cannot be renewed is still a good token.
        if let token, !token.result.isExtendedLifetime { return .use(token.result) }
        return .interactionRequired("no token in the cache fits this request; sign in")
    }
}
