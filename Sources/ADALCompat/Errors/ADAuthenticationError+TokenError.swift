internal import Foundation
package import TokenModel

/// The edge between the agent's errors and ADAL's: one row for each code.
extension ADAuthenticationError {
    /// Domain and code of an error of the agent, before its details are looked at.
    ///
    /// docs/adal.md lists the rows that ADAL itself had no answer for, and why they are as they are.
    package static func domainAndCode(of code: TokenError.Code) -> (domain: String, code: Int) {
        switch code {
        case .invalidDeveloperParameter, .accountRequired: library(.ERROR_DEVELOPER_INVALID_ARGUMENT)
        case .authorityValidation: library(.ERROR_DEVELOPER_AUTHORITY_VALIDATION)
        case .accountNotFound: library(.ERROR_SERVER_USER_INPUT_NEEDED)
        case .workplaceJoinRequired: library(.ERROR_SERVER_WPJ_REQUIRED)
        case .mismatchedAccount: library(.ERROR_SERVER_WRONG_USER)
        case .ambiguousAccount: library(.ERROR_CACHE_MULTIPLE_USERS)
        case .cacheBadFormat: library(.ERROR_CACHE_BAD_FORMAT)
        case .interactionInProgress: library(.ERROR_UI_MULTLIPLE_INTERACTIVE_REQUESTS)
        case .userCanceled, .sessionCanceled, .cancelled: library(.ERROR_UI_USER_CANCEL)
        case .interactionRequired: server(.ERROR_SERVER_USER_INPUT_NEEDED)
        case .refreshTokenRejected: server(.ERROR_SERVER_REFRESH_TOKEN_REJECTED)
        case .serverOAuth, .invalidRequest, .invalidClient, .invalidGrant, .invalidScope, .unauthorizedClient,
            .declinedScopes, .serverError, .invalidState:
            server(.ERROR_SERVER_OAUTH)
        case .accessDenied, .authorizationFailed: server(.ERROR_SERVER_AUTHORIZATION_CODE)
        case .serverInvalidResponse: server(.ERROR_SERVER_INVALID_RESPONSE)
        case .protectionPolicyRequired: server(.ERROR_SERVER_PROTECTION_POLICY_REQUIRED)
        case .unhandledHTTPResponse: (ADHTTPErrorCodeDomain, ADErrorCode.ERROR_UNEXPECTED.rawValue)
        case .networkUnavailable: (NSURLErrorDomain, NSURLErrorNotConnectedToInternet)
        case .internalError, .unsupportedFunctionality, .malformedMessage, .frameTooLarge, .unsupportedProtocolVersion,
            .agentUnavailable, .peerNotAuthorized, .timedOut, .storeUnavailable, .unrecognized:
            library(.ERROR_UNEXPECTED)
        }
    }

    /// The error as an interactive request reports it.
    package convenience init(_ error: TokenError) {
        var (domain, code) = Self.domainAndCode(of: error.code)
        if let status = error.unreadStatus { (domain, code) = (ADHTTPErrorCodeDomain, status) }
        if error.isOfAuthorizationEndpoint { (domain, code) = Self.server(.ERROR_SERVER_AUTHORIZATION_CODE) }
        if error.code == .networkUnavailable { code = error.details.networkErrorCode.map(Int.init) ?? code }
        let isUnmapped = domain == ADAuthenticationErrorDomain && code == ADErrorCode.ERROR_UNEXPECTED.rawValue
        self.init(error, domain: domain, code: code, underlying: isUnmapped ? error : nil)
    }

    /// The error as a silent request reports it.
    ///
    /// Whatever the server said to a refresh means "show the sign-in page" (200), with what it said underneath (203);
    /// only a protection policy, which the page does not help with, is reported as it is.
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
            "the person has to sign in: call acquireToken (\(error.message))", userInfo: userInfo)
    }

    /// The error as a request with a refresh token of the app's own reports it: whatever the server said, it was refused (203).
    package static func refreshing(_ error: TokenError) -> ADAuthenticationError {
        guard error.code != .protectionPolicyRequired, error.details.oauthError != nil, error.unreadStatus == nil else {
            return ADAuthenticationError(error)
        }
        let rejected = server(.ERROR_SERVER_REFRESH_TOKEN_REJECTED)
        return ADAuthenticationError(error, domain: rejected.domain, code: rejected.code, underlying: nil)
    }

    private convenience init(_ error: TokenError, domain: String, code: Int, underlying: TokenError?) {
        let details = error.details
        var userInfo: [String: Any] = [:]
        if !details.httpHeaders.isEmpty { userInfo[ADHTTPHeadersKey] = details.httpHeaders }
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
    /// The status of a response whose body ADAL does not read: it reads those of 200, 400 and 401.
    fileprivate var unreadStatus: Int? {
        guard code == .unhandledHTTPResponse || code == .serverError, let status = details.httpStatus else {
            return nil
        }
        return code == .serverError && [200, 400, 401].contains(status) ? nil : Int(status)
    }

    /// Whether the page said no, and not the token endpoint, whose answers have a status.
    fileprivate var isOfAuthorizationEndpoint: Bool {
        details.oauthError != nil && details.httpStatus == nil && code != .protectionPolicyRequired
    }

    /// Whether a silent request that ends so leaves only the sign-in page.
    fileprivate var needsInteraction: Bool {
        switch code {
        case .interactionRequired, .accountNotFound, .refreshTokenRejected, .invalidGrant: true
        default: details.oauthError != nil && unreadStatus == nil
        }
    }
}
