internal import Foundation
internal import TokenModel

extension TokenError {
    /// What is known about the failure, under MSAL's keys; keys of what is not known are absent.
    func msalUserInfo(_ kind: Authority.Kind?) -> [String: Any] {
        let description = details.errorDescription ?? message
        var info: [String: Any] = [MSALErrorDescriptionKey: description, NSLocalizedDescriptionKey: description]
        info[MSALOAuthErrorKey] = details.oauthError
        info[MSALOAuthSubErrorKey] = details.subError
        // An OAuth error speaks for itself, whatever status it came with.
        if code == .unhandledHTTPResponse { info[MSALHTTPResponseCodeKey] = details.httpStatus.map(String.init) }
        info[MSALCorrelationIDKey] = details.correlationID?.uuid.uuidString
        info[MSALDisplayableUserIdKey] = details.username
        info[MSALHomeAccountIdKey] = details.homeAccountID?.text
        info[NSUnderlyingErrorKey] = underlyingError
        if !details.stsErrorCodes.isEmpty {
            info[MSALSTSErrorCodesKey] = details.stsErrorCodes.map { NSNumber(value: $0) }
        }
        if !details.httpHeaders.isEmpty { info[MSALHTTPHeadersKey] = details.httpHeaders }
        if details.isThrottled { info[MSALThrottlingCacheHitKey] = NSNumber(value: 1) }
        if code == .declinedScopes {
            info[MSALGrantedScopesKey] = details.grantedScopes
            info[MSALDeclinedScopesKey] = details.declinedScopes
        }
        info[MSALInvalidResultKey] = details.partialResult.flatMap { try? MSALResult($0, kind: kind) }
        return info
    }

    /// What lies beneath: the server's own error, an HTTP status that says "not here", or this error itself where
    /// MSAL has no number for it.
    private var underlyingError: (any Error)? {
        if code.isAgentOnly, code != .networkUnavailable { return self }
        if code == .interactionRequired, let oauthError = details.oauthError {
            let cause = Code(oauthError: oauthError)
            // MSAL's internal errors have no code for a required interaction.
            return MSALError.error(
                for: TokenError(cause == .interactionRequired ? .serverOAuth : cause, message, details: details))
        }
        if code == .unhandledHTTPResponse, let status = details.httpStatus, status == 403 || status == 404 {
            return MSALError.error(.internalErrorUnexpectedHttpResponse, "HTTP status \(status)")
        }
        return nil
    }
}
