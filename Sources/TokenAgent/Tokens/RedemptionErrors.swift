internal import TokenModel

/// The meaning of a token endpoint's errors for a silent request.
extension TokenError {
    /// Whether the next refresh token may be tried: the error refuses the refresh token and not the request.
    var allowsNextRefreshToken: Bool {
        guard details.oauthError != nil else { return false }
        switch code {
        case .protectionPolicyRequired, .invalidScope, .invalidClient, .serverError: return false
        default: return true
        }
    }

    /// Whether the token endpoint could not be reached or was not able to answer.
    var isOutage: Bool {
        switch code {
        case .networkUnavailable, .timedOut, .serverError: true
        case .unhandledHTTPResponse: (details.httpStatus ?? 0) >= 500
        default: false
        }
    }
}

extension Result<TokenResult, TokenError> {
    /// The fallback if the redemption has failed and the fallback is still valid, or during an outage within its extended
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
