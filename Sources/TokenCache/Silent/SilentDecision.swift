package import TokenModel

/// The answer of the cache to a silent request.
package enum SilentDecision: Sendable, Equatable {
    /// Return this result from the cache. At the times of `during`, which include the present one, an equal request gets an equal result
    /// from the same cache; nil if that is certain for the present time only.
    case use(TokenResult, during: ClosedRange<Int64>?)
    /// Redeem a refresh token.
    case redeem(RedemptionPlan)
    /// An interactive sign-in is needed. The text is the message for the app, and the reason is the part of the request
    /// that does not fit.
    case interactionRequired(String, TokenError.Reason)
    /// Several accounts match: the request names none, or a username that they have in common.
    case ambiguousAccount
    /// Tokens of this account have to be read from the store first.
    case unread(AccountKey)
}

/// The refresh tokens to redeem for a request, and the result to return if the redemption fails or takes too long.
package struct RedemptionPlan: Sendable, Equatable {
    /// The account that the new token is for.
    package var account: AccountKey
    /// The authority to send the request to: the app's, with the tenant that it leads to.
    package var authority: Authority
    /// The refresh tokens to try in turn, the best first: the next one if the issuer rejects one.
    package var candidates: [RefreshTokenRecord]
    /// The cached result to return if the redemption fails or takes too long. If it has expired, it is returned only during an outage or
    /// after the wait, within its extended lifetime (`usingFallback`).
    package var fallback: TokenResult?
}

extension CredentialCache {
    /// Decides a silent request. A pure function of the cache, the request and the time.
    package func decide(_ request: AcquireTokenSilent, now: Int64) -> SilentDecision {
        let partition = partition(request.parameters.sharingGroup)
        let clientID = request.parameters.clientID
        switch account(for: request, in: partition, now: now) {
        case .none: return Self.unknownAccount
        case .several: return .ambiguousAccount
        case .one(let account, let dependsOnTime):
            let credentials = partition[account]
            guard !request.parameters.isConfined || isKnown(credentials, to: clientID, in: partition) else {
                return Self.unknownAccount
            }
            guard !credentials.isSignedOut(clientID) else {
                return .interactionRequired("this account signed out of the app; sign in again", .account)
            }
            guard !credentials.hasUnreadTokens else { return .unread(account) }
            let decision = decide(request, account: account, credentials: credentials, in: partition, now: now)
            if dependsOnTime, case .use(let result, _) = decision { return .use(result, during: nil) }
            return decision
        }
    }

    private func decide(
        _ request: AcquireTokenSilent, account: AccountKey, credentials: AccountCredentials, in partition: Partition,
        now: Int64
    ) -> SilentDecision {
        let authority = effectiveAuthority(of: request.parameters, account: account, credentials: credentials)
        let token = usableToken(for: request, at: authority, of: account, credentials: credentials, now: now)
        if let token, token.isFresh {
            return .use(token.result, during: token.freshTimes)
        }
        let candidates = refreshTokens(for: request.parameters, at: authority, credentials: credentials, in: partition)
        if !candidates.isEmpty {
            let plan = RedemptionPlan(
                account: account, authority: authority, candidates: candidates, fallback: token?.result)
            return .redeem(plan)
        }
        // A token that should be renewed but cannot is valid until it expires.
        if let token, !token.result.isExtendedLifetime { return .use(token.result, during: nil) }
        return .interactionRequired(
            "no token in the cache fits this request; sign in", mismatch(of: request, at: authority, credentials))
    }

    /// Whether an app has anything of an account: tokens, those of its family, or a sign-in or a sign-out.
    func isKnown(_ credentials: AccountCredentials, to clientID: ClientID, in partition: Partition) -> Bool {
        credentials.metadata[clientID.key] != nil
            || credentials.accessTokens.values.contains { $0.clientID == clientID }
            || credentials.refreshTokens.values.contains { belongs($0, to: clientID, in: partition, isConfined: true) }
    }

    private static let unknownAccount = SilentDecision.interactionRequired(
        "this account is not in the cache; sign in", .account)

    /// The part of a request that does not fit the app's tokens of an account, which cannot be renewed.
    private func mismatch(
        of request: AcquireTokenSilent, at authority: Authority, _ credentials: AccountCredentials
    ) -> TokenError.Reason {
        let tokens = credentials.accessTokens.values.filter { $0.clientID == request.parameters.clientID }
        guard !tokens.isEmpty else { return .account }
        let isHere = tokens.contains {
            authority.admits($0.account) && $0.realm == authority.realm(for: $0.account, $0.version)
                && clouds.sameCloud($0.environment, authority.environment)
        }
        return isHere ? .scope : .authority
    }
}
