internal import TokenCache
internal import TokenModel

/// The meaning of a token endpoint's errors for a silent request.
extension TokenError {
    /// Whether the next refresh token may be tried after this error. MSAL tries it unless the error refuses the request, ADAL after every
    /// OAuth error, which it reads from a response with the status 200, 400 or 401 only.
    func allowsNextRefreshToken(_ version: OAuthVersion) -> Bool {
        guard details.oauthError != nil else {
            // An OpenID provider may refuse the refresh token without an OAuth error.
            return version == .v2 && code == .interactionRequired && [400, 401].contains(details.httpStatus)
        }
        return version == .v1 ? details.httpStatus.map { [200, 400, 401].contains($0) } ?? true : !refusesRequest
    }

    /// Whether the error refuses the request, with whichever refresh token, and not the refresh token.
    var refusesRequest: Bool {
        switch code {
        case .protectionPolicyRequired, .invalidScope, .invalidClient, .serverError, .authorityValidation: true
        default: false
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

    /// The error of a redemption at an authority. An OpenID provider that refuses the scopes may mean that the user has not granted one of
    /// them yet (RFC 6749 section 5.2), which a sign-in changes. Microsoft's endpoints report that as `invalid_grant`.
    func ofRedemption(at authority: Authority) -> TokenError {
        guard code == .invalidScope, authority.kind == .openID else { return self }
        var error = TokenError(.interactionRequired, Refusal.scopes, details: details)
        error.details.reason = .scope
        return error
    }

    /// The error with the account it is about, so that the app can name the account to the user.
    func withAccount(_ account: AccountKey, cache: CredentialCache, in group: SharingGroup) -> TokenError {
        var error = self
        error.details.homeAccountID = account.homeAccountID ?? details.homeAccountID
        error.details.username = cache.username(of: account, in: group) ?? details.username
        return error
    }

    /// The error, which says that the request has changed the cache if it says so already or `hasChanged` is true.
    func changingCache(_ hasChanged: Bool) -> TokenError {
        var error = self
        error.details.hasChangedCache = hasChanged || details.hasChangedCache
        return error
    }
}

extension Result<TokenResult, TokenError> {
    /// The fallback if the redemption has failed and the fallback is still valid, or during an outage within its extended
    /// lifetime.
    func usingFallback(_ fallback: TokenResult?, at now: Int64) -> Self {
        guard case .failure(let error) = self, var fallback, error.code != .protectionPolicyRequired else {
            return self
        }
        fallback.hasChangedCache = error.details.hasChangedCache
        if fallback.expiresOn > now { return .success(fallback) }
        guard error.isOutage, fallback.extendedExpiresOn ?? 0 > now else { return self }
        fallback.isExtendedLifetime = true
        return .success(fallback)
    }
}

/// The refusal of a refresh token.
struct Refusal {
    let error: TokenError
    /// The message of the error that asks the user to sign in.
    let reason: String

    /// - Parameter wasInterrupted: whether the reply to an earlier redemption of the token was lost.
    init(_ error: TokenError, wasInterrupted: Bool) {
        self.error = error
        let refusal = ProviderRefusal(error.details)
        // A token that was used up is not valid any more. Any other reason of the provider's has nothing to do with the lost reply.
        let isOfToken = error.details.oauthError == "invalid_grant" && (refusal == nil || refusal == .endedSignIn)
        let isInterruption = wasInterrupted && isOfToken
        let isOfScopes = error.code == .interactionRequired && error.details.reason == .scope
        let other = isOfScopes ? Self.scopes : refusal?.explanation ?? Self.unexplained
        reason = isInterruption ? Self.interruption : other
    }

    /// Whether a sign-in is due for every request of the app. A provider that has to ask the user something for a claims request, as for an
    /// authentication context, may accept the refresh token for other requests.
    func isOfEveryRequest(_ parameters: TokenParameters) -> Bool {
        parameters.claims == nil || ProviderRefusal(error.details) != .question
    }

    static let unknown = "no refresh token is accepted any more; sign in again"
    /// Of a refusal whose reason is not known. The refresh token may be valid for other requests.
    static let unexplained = "the identity provider refuses the refresh token for this request; sign in again"
    static let scopes =
        "the sign-in has not granted all of the scopes, or the identity provider does not know one; sign in again with them"
    private static let interruption =
        "no answer came when this account's refresh token was redeemed, and it may have been used up; sign in again"
}
