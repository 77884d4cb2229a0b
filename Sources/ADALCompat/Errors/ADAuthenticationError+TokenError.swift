internal import CompatSupport
internal import Foundation
package import TokenModel

/// Maps the agent's errors to ADAL's: one table for all codes.
extension ADAuthenticationError {
    /// Returns domain and code for an error code of the agent, regardless of the error's details.
    ///
    /// docs/adal.md lists the rows for which ADAL has no equivalent, with reasons.
    package static func domainAndCode(of code: TokenError.Code) -> (domain: String, code: Int) {
        switch code {
        case .invalidDeveloperParameter, .accountRequired: library(.ERROR_DEVELOPER_INVALID_ARGUMENT)
        case .authorityValidation: library(.ERROR_DEVELOPER_AUTHORITY_VALIDATION)
        case .accountNotFound: library(.ERROR_SERVER_USER_INPUT_NEEDED)
        case .workplaceJoinRequired: library(.ERROR_SERVER_WPJ_REQUIRED)
        case .mismatchedAccount: library(.ERROR_SERVER_WRONG_USER)
        case .ambiguousAccount: library(.ERROR_CACHE_MULTIPLE_USERS)
        case .authorizationFailed: library(.ERROR_SERVER_AUTHORIZATION_CODE)
        case .cacheBadFormat: library(.ERROR_CACHE_BAD_FORMAT)
        case .interactionInProgress: library(.ERROR_UI_MULTLIPLE_INTERACTIVE_REQUESTS)
        case .userCanceled, .sessionCanceled, .cancelled: library(.ERROR_UI_USER_CANCEL)
        case .interactionRequired: server(.ERROR_SERVER_USER_INPUT_NEEDED)
        case .refreshTokenRejected: server(.ERROR_SERVER_REFRESH_TOKEN_REJECTED)
        case .serverOAuth, .invalidRequest, .invalidClient, .invalidGrant, .invalidScope, .unauthorizedClient,
            .declinedScopes, .serverError, .invalidState:
            server(.ERROR_SERVER_OAUTH)
        case .accessDenied: server(.ERROR_SERVER_AUTHORIZATION_CODE)
        case .serverInvalidResponse: server(.ERROR_SERVER_INVALID_RESPONSE)
        case .protectionPolicyRequired: server(.ERROR_SERVER_PROTECTION_POLICY_REQUIRED)
        case .unhandledHTTPResponse: (ADHTTPErrorCodeDomain, ADErrorCode.ERROR_UNEXPECTED.rawValue)
        case .networkUnavailable: (NSURLErrorDomain, NSURLErrorNotConnectedToInternet)
        case .internalError, .unsupportedFunctionality, .malformedMessage, .frameTooLarge, .unsupportedProtocolVersion,
            .agentUnavailable, .peerNotAuthorized, .timedOut, .storeUnavailable, .requestDenied, .unrecognized:
            library(.ERROR_UNEXPECTED)
        }
    }

    /// Creates the error that an interactive request reports.
    package convenience init(_ error: TokenError) {
        var (domain, code) = Self.refusal(error) ?? Self.domainAndCode(of: error.code)
        if error.code == .networkUnavailable { code = error.details.networkErrorCode.map(Int.init) ?? code }
        let isUnmapped = domain == ADAuthenticationErrorDomain && code == ADErrorCode.ERROR_UNEXPECTED.rawValue
        self.init(error, domain: domain, code: code, underlying: isUnmapped ? error : nil)
    }

    /// Returns the error that a silent request reports.
    ///
    /// An OAuth error of the token endpoint becomes "user interaction is required" (200), with the OAuth error (203) as
    /// the underlying error. Only a required protection policy, which a sign-in does not satisfy, is reported as such.
    package static func silent(_ error: TokenError) -> ADAuthenticationError {
        guard error.code != .protectionPolicyRequired, error.needsInteraction else {
            return ADAuthenticationError(error)
        }
        var userInfo: [String: Any] = [:]
        if error.details.oauthError != nil {
            let cause = refreshing(error)
            userInfo = cause.userInfo
            userInfo[NSUnderlyingErrorKey] = cause
        }
        return ADAuthenticationError(
            .ERROR_SERVER_USER_INPUT_NEEDED,
            "the user has to sign in: call acquireToken (\(error.message))", userInfo: userInfo)
    }

    /// Returns the error that a request with a refresh token of the app's reports: an OAuth error of any kind means
    /// that it was rejected (203).
    package static func refreshing(_ error: TokenError) -> ADAuthenticationError {
        guard error.code != .protectionPolicyRequired, !error.isOfInstanceDiscovery, error.details.oauthError != nil,
            error.unreadStatus == nil
        else { return ADAuthenticationError(error) }
        let rejected = server(.ERROR_SERVER_REFRESH_TOKEN_REJECTED)
        return ADAuthenticationError(error, domain: rejected.domain, code: rejected.code, underlying: nil)
    }

    /// Returns domain and code for an OAuth error of the sign-in page (211), of the redemption of a code or an assertion (202), or for the
    /// status of a response whose body is not read; nil for any other error, and for a tenant that does not exist.
    ///
    /// A protection policy (213) is met at the page with any OAuth error, and at the token endpoint with `unauthorized_client` only.
    private static func refusal(_ error: TokenError) -> (domain: String, code: Int)? {
        if let status = error.unreadStatus { return (ADHTTPErrorCodeDomain, status) }
        guard error.details.oauthError != nil else { return nil }
        if error.isOfAuthorizationEndpoint {
            let concernsPolicy = error.details.subError == "protection_policy_required"
            return server(concernsPolicy ? .ERROR_SERVER_PROTECTION_POLICY_REQUIRED : .ERROR_SERVER_AUTHORIZATION_CODE)
        }
        return switch error.code {
        case .authorityValidation, .protectionPolicyRequired: nil
        default: server(.ERROR_SERVER_OAUTH)
        }
    }

    private convenience init(_ error: TokenError, domain: String, code: Int, underlying: TokenError?) {
        let details = error.details
        var userInfo: [String: Any] = [:]
        if !details.httpHeaders.isEmpty { userInfo[ADHTTPHeadersKey] = HeaderFields.canonical(details.httpHeaders) }
        userInfo[ADSuberrorKey] = details.subError
        userInfo[ADUserIdKey] = details.username
        userInfo[NSUnderlyingErrorKey] = underlying
        self.init(
            domain: domain, code: code, protocolCode: details.oauthError,
            errorDetails: details.errorDescription ?? error.message, userInfo: userInfo)
    }

    private static func library(_ code: ADErrorCode) -> (domain: String, code: Int) {
        (ADAuthenticationErrorDomain, code.rawValue)
    }

    private static func server(_ code: ADErrorCode) -> (domain: String, code: Int) {
        (ADOAuthServerErrorDomain, code.rawValue)
    }
}

extension TokenError {
    /// The status of a response whose body ADAL does not read: any other than 200, 400 and 401.
    fileprivate var unreadStatus: Int? {
        guard code == .unhandledHTTPResponse || code == .serverError, let status = details.httpStatus else {
            return nil
        }
        return code == .serverError && [200, 400, 401].contains(status) ? nil : Int(status)
    }

    /// Whether the OAuth error comes from the sign-in page. Errors of the token endpoint have an HTTP status.
    fileprivate var isOfAuthorizationEndpoint: Bool { details.httpStatus == nil }

    /// Whether instance discovery does not know the authority (101). It precedes every other request, so that no token was refused.
    fileprivate var isOfInstanceDiscovery: Bool {
        code == .authorityValidation && details.oauthError == "invalid_instance"
    }

    /// Whether only a sign-in can help after a silent request that ended with this error.
    fileprivate var needsInteraction: Bool {
        switch code {
        case .interactionRequired, .accountNotFound, .refreshTokenRejected, .invalidGrant: true
        default: details.oauthError != nil && unreadStatus == nil && !isOfInstanceDiscovery
        }
    }
}
