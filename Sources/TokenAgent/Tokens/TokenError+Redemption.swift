internal import TokenCache
internal import TokenModel

/// What the token endpoint's refusals mean for a silent request.
extension TokenError {
    /// Whether the next refresh token may be tried: this one was refused, for a reason that is not the request itself.
    var allowsNextRefreshToken: Bool {
        guard details.oauthError != nil else { return false }
        switch code {
        case .protectionPolicyRequired, .invalidScope, .invalidClient, .serverError: return false
        default: return true
        }
    }

    /// Whether it says that nobody could be asked, rather than that the answer was no.
    var isOutage: Bool {
        switch code {
        case .networkUnavailable, .timedOut, .serverError: true
        case .unhandledHTTPResponse: (details.httpStatus ?? 0) >= 500
        default: false
        }
    }

    /// With the account it is about, which an app needs to tell its user.
    func concerning(_ account: AccountKey, cache: CredentialCache, in group: SharingGroup) -> TokenError {
        var error = self
        error.details.homeAccountID = account.homeAccountID
        error.details.username = cache.username(of: account, in: group)
        return error
    }

    /// Fewer scopes were granted than asked for.
    static func declining(_ declined: ScopeSet, _ result: TokenResult) -> TokenError {
        var details = Details()
        details.grantedScopes = ScopeSet(result.scopes).subtracting(.reserved).scopes
        details.declinedScopes = declined.scopes
        details.correlationID = result.correlationID
        details.partialResult = result
        return TokenError(
            .declinedScopes, "the issuer granted fewer scopes than asked for; declined: \(declined)", details: details)
    }
}

extension TokenResult {
    /// The same result for another operation that shared it.
    func answering(_ correlationID: CorrelationID) -> TokenResult {
        var result = self
        result.correlationID = correlationID
        return result
    }
}

extension Result<TokenResult, TokenError> {
    /// The fallback if a renewal failed and the fallback is still valid; an expired one only in an outage, within its extended
    /// lifetime.
    func usingFallback(_ fallback: TokenResult?, at now: Int64) -> Self {
        guard case .failure(let error) = self, let fallback, error.code != .protectionPolicyRequired else {
            return self
        }
        if fallback.expiresOn > now { return .success(fallback) }
        guard error.isOutage, fallback.extendedExpiresOn ?? 0 > now else { return self }
        var extended = fallback
        extended.isExtendedLifetime = true
        return .success(extended)
    }
}
