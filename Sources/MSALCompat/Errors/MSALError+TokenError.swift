internal import CompatSupport
internal import Foundation
internal import TokenModel

/// How a `TokenError` is reported to the app.
enum MSALErrorMapping: Equatable {
    /// With a code of its own: one of -50001 to -50005 and -50142.
    case own(MSALError)
    /// As -50000, with this number under `MSALInternalErrorCodeKey`.
    case wrapped(Int)
    /// In `NSURLErrorDomain`, with the network's error code.
    case network

    /// As -50000, with an internal code.
    static func wrapped(_ code: MSALInternalError) -> Self { .wrapped(code.rawValue) }
}

/// Maps the codes of the agent to those of MSAL: one table for all codes.
///
/// Not in this table are errors that are found before the agent is asked (see `AppSettings`): a silent request without
/// an account is -50002; a reserved scope, an authority of another kind than the application's, or a blank client ID is
/// -50000 with -42000; a redirect URI without a scheme is -50000 with -42011. A lookup that finds no account fails with
/// `LookupError`, which is not an MSAL error.
extension TokenError.Code {
    var msalMapping: MSALErrorMapping {
        switch self {
        case .interactionRequired: .own(.interactionRequired)
        case .workplaceJoinRequired: .own(.workplaceJoinRequired)
        case .declinedScopes: .own(.serverDeclinedScopes)
        case .protectionPolicyRequired: .own(.serverProtectionPoliciesRequired)
        case .accessDenied, .userCanceled, .sessionCanceled: .own(.userCanceled)
        case .invalidDeveloperParameter: .wrapped(.internalErrorInvalidParameter)
        case .accountRequired: .wrapped(.internalErrorAccountRequired)
        case .mismatchedAccount: .wrapped(.internalErrorMismatchedUser)
        case .ambiguousAccount: .wrapped(.internalErrorAmbiguousAccount)
        case .serverOAuth, .authorizationFailed: .wrapped(.internalErrorAuthorizationFailed)
        case .serverInvalidResponse: .wrapped(.internalErrorInvalidResponse)
        case .invalidRequest: .wrapped(.internalErrorInvalidRequest)
        case .invalidClient: .wrapped(.internalErrorInvalidClient)
        case .invalidGrant: .wrapped(.internalErrorInvalidGrant)
        case .invalidScope: .wrapped(.internalErrorInvalidScope)
        case .unauthorizedClient: .wrapped(.internalErrorUnauthorizedClient)
        case .serverError: .wrapped(MSALError.serverError.rawValue)
        case .invalidState: .wrapped(.internalErrorInvalidState)
        case .unhandledHTTPResponse: .wrapped(.internalErrorUnhandledResponse)
        case .authorityValidation: .wrapped(.internalErrorFailedAuthorityValidation)
        case .interactionInProgress: .wrapped(.internalErrorInteractiveSessionAlreadyRunning)
        case .networkUnavailable: .network
        case .internalError, .unsupportedFunctionality, .cacheBadFormat, .refreshTokenRejected,
            .malformedMessage, .frameTooLarge, .unsupportedProtocolVersion, .agentUnavailable, .peerNotAuthorized,
            .timedOut, .cancelled, .storeUnavailable, .accountNotFound, .requestDenied:
            .wrapped(.internalErrorUnexpected)
        case .unrecognized(let number): MSALErrorMapping(appleOnly: number) ?? .wrapped(.internalErrorUnexpected)
        }
    }

    /// Whether the condition exists in the agent only, so that MSAL has no number for it: the `TokenError` itself
    /// becomes the underlying error.
    var isAgentOnly: Bool {
        switch self {
        case .unrecognized(let number): MSALErrorMapping(appleOnly: number) == nil
        default: (-53999 ... -53000).contains(number)
        }
    }
}

extension MSALError {
    /// Creates the error that the app gets.
    ///
    /// - Parameters:
    ///   - kind: the kind of the authority that was asked, which cannot always be derived from the URL in a partial result.
    ///   - isOfSignIn: whether the call was a sign-in. MSAL then reports the server's error itself, and not as the underlying error of a
    ///     required interaction.
    static func error(for error: TokenError, kind: Authority.Kind? = nil, isOfSignIn: Bool = false) -> NSError {
        let reported = self.error(error.msalMapping, for: error, kind)
        guard isOfSignIn, error.code == .interactionRequired else { return reported }
        var userInfo = reported.userInfo
        userInfo[NSUnderlyingErrorKey] = nil
        return NSError(domain: reported.domain, code: reported.code, userInfo: userInfo)
    }

    /// Creates the error that the async form of a call throws: that of Swift's cancellation if the call ended because its task was
    /// cancelled, which apps can cast to `CancellationError`, else as `error(for:kind:isOfSignIn:)`.
    ///
    /// Always an `NSError`, as in the original: an app that catches nothing else would crash on Linux (see `BridgedErrors`).
    static func asyncError(
        for error: TokenError, kind: Authority.Kind? = nil, isOfSignIn: Bool = false
    ) -> NSError {
        guard error.code != .cancelled || !Task.isCancelled else { return CancellationError() as NSError }
        return self.error(for: error, kind: kind, isOfSignIn: isOfSignIn)
    }

    /// Creates an error that this module found, without asking the agent.
    static func error(_ code: MSALInternalError, _ message: String) -> NSError {
        error(.wrapped(code), for: TokenError(.invalidDeveloperParameter, message), nil)
    }

    /// Adds the correlation ID of the request to an error.
    static func error(_ error: NSError, of correlationID: CorrelationID) -> NSError {
        var userInfo = error.userInfo
        userInfo[MSALCorrelationIDKey] = correlationID.uuid.uuidString
        return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
    }

    fileprivate static func error(
        _ mapping: MSALErrorMapping, for error: TokenError, _ kind: Authority.Kind?
    ) -> NSError {
        var userInfo = error.msalUserInfo(kind)
        switch mapping {
        case .own(let code):
            return NSError(domain: MSALErrorDomain, code: code.rawValue, userInfo: userInfo)
        case .wrapped(let code):
            userInfo[MSALInternalErrorCodeKey] = NSNumber(value: code)
            return NSError(domain: MSALErrorDomain, code: MSALError.internal.rawValue, userInfo: userInfo)
        case .network:
            let code = error.details.networkErrorCode.map(Int.init) ?? NSURLErrorNotConnectedToInternet
            return NSError(domain: NSURLErrorDomain, code: code, userInfo: userInfo)
        }
    }
}

extension TokenError {
    /// How the error is reported: as its code is, except for the OAuth errors for which MSAL reads more than their name.
    fileprivate var msalMapping: MSALErrorMapping {
        // Errors of the token endpoint have an HTTP status.
        let isOfPage = details.oauthError != nil && details.httpStatus == nil
        switch code {
        // Entra's "the password has to be reset" (50142) has a code of its own, if the token endpoint gives it for an invalid request.
        case .invalidRequest where details.httpStatus != nil && details.stsErrorCodes.contains(50142):
            return .own(.serverInvalidRequestResetPasswordRequired)
        case .invalidGrant where isOfPage && hasSubError("insufficient_device_strength"):
            return .wrapped(MSALError.insufficientDeviceStrength.rawValue)
        // A transfer of an account to this device has expired.
        case .invalidGrant where isOfPage && hasSubError("transfer_token_expired"): return .own(.userCanceled)
        case .serverOAuth where hasFailedTransfer, .authorizationFailed where hasFailedTransfer:
            return .own(.userCanceled)
        // Of the page, MSAL reads the name of the error only.
        case .protectionPolicyRequired where isOfPage: return .wrapped(.internalErrorUnauthorizedClient)
        // It knows server_error, and no name for a server that is busy.
        case .serverError where isOfPage && details.oauthError?.lowercased() == "temporarily_unavailable":
            return .wrapped(.internalErrorAuthorizationFailed)
        default: return code.msalMapping
        }
    }

    private func hasSubError(_ name: String) -> Bool { details.subError?.lowercased() == name }

    private var hasFailedTransfer: Bool { details.oauthError?.lowercased() == "tokentransferfailedotc" }

    /// The details of the error under the keys of MSAL; a key is missing if its value is not known.
    ///
    /// - Parameter now: the present time, in seconds since 1970.
    func msalUserInfo(_ kind: Authority.Kind?, now: Int64 = Int64(Date.now.timeIntervalSince1970)) -> [String: Any] {
        let description = details.errorDescription ?? message
        var info: [String: Any] = [MSALErrorDescriptionKey: description, NSLocalizedDescriptionKey: description]
        info[MSALOAuthErrorKey] = details.oauthError
        info[MSALOAuthSubErrorKey] = details.subError
        // The HTTP status is not reported with an OAuth error.
        if code == .unhandledHTTPResponse { info[MSALHTTPResponseCodeKey] = details.httpStatus.map(String.init) }
        info[MSALCorrelationIDKey] = details.correlationID?.uuid.uuidString
        info[MSALDisplayableUserIdKey] = details.username
        info[MSALHomeAccountIdKey] = details.homeAccountID?.text
        info[NSUnderlyingErrorKey] = underlyingError
        if !details.stsErrorCodes.isEmpty {
            info[MSALSTSErrorCodesKey] = details.stsErrorCodes.map { NSNumber(value: $0) }
        }
        let headers = headersWithRetryTime(at: now)
        if !headers.isEmpty { info[MSALHTTPHeadersKey] = headers }
        if details.isThrottled { info[MSALThrottlingCacheHitKey] = NSNumber(value: 1) }
        if code == .declinedScopes {
            info[MSALGrantedScopesKey] = details.grantedScopes
            info[MSALDeclinedScopesKey] = details.declinedScopes
        }
        info[MSALInvalidResultKey] = details.partialResult.flatMap { try? MSALResult($0, kind: kind) }
        return info
    }

    /// The header fields of the response. If the agent repeats the failure, or the response had no `Retry-After`, that field has the seconds
    /// until the identity provider is asked again, where MSAL's apps look for them.
    private func headersWithRetryTime(at now: Int64) -> [String: String] {
        var headers = HeaderFields.canonical(details.httpHeaders)
        guard reason == .throttled, let end = details.throttledUntil,
            details.isThrottled || headers["Retry-After"] == nil
        else { return headers }
        headers["Retry-After"] = String(end > now ? end - now : 0)
        return headers
    }

    /// The underlying error: the OAuth error of the server, an HTTP status of 403 or 404, or this error itself if MSAL
    /// has no number for it.
    private var underlyingError: (any Error)? {
        if code.isAgentOnly, code != .networkUnavailable { return self }
        if code == .interactionRequired, let oauthError = details.oauthError {
            let code = Code(oauthError: oauthError)
            let cause = TokenError(code == .interactionRequired ? .serverOAuth : code, message, details: details)
            // In MSAL this error has the code of the required interaction itself; login_required and consent_required have none.
            guard oauthError.lowercased() == "interaction_required" else { return MSALError.error(for: cause) }
            return MSALError.error(.own(.interactionRequired), for: cause, nil)
        }
        if code == .unhandledHTTPResponse, let status = details.httpStatus, status == 403 || status == 404 {
            return MSALError.error(.internalErrorUnexpectedHttpResponse, "HTTP status \(status)")
        }
        return nil
    }
}

/// Maps the numbers that Microsoft's libraries use on Apple's devices only: redirect schemes, app extensions, the
/// broker, device registration.
///
/// The agent sends none of them today. If a later agent does, apps get the code that MSAL reports.
extension MSALErrorMapping {
    /// Returns nil for a number that MSAL does not map either.
    init?(appleOnly number: Int32) {
        switch number {
        case -50142: self = .own(.serverInvalidRequestResetPasswordRequired)
        case -51116: self = .wrapped(.internalErrorNonHttpsRedirect)
        case -51118: self = .wrapped(.internalErrorRedirectSchemeNotRegistered)
        case -51119: self = .wrapped(.internalErrorInvalidRedirectURI)
        case -51501: self = .wrapped(.internalErrorUnexpectedHttpResponse)
        case -51720: self = .wrapped(.internalErrorNoViewController)
        case -51730: self = .wrapped(.internalErrorAttemptToOpenURLFromExtension)
        case -51731: self = .wrapped(.internalErrorUINotSupportedInExtension)
        case -51732: self = .wrapped(MSALError.insufficientDeviceStrength.rawValue)
        case -51733: self = .wrapped(MSALError.mdmEnrollmentCompletedNeedsRetry.rawValue)
        case -51734: self = .wrapped(.internalErrorInvalidASWebAuthenticationURL)
        // The numbers of the broker and of device registration have a constant distance to those of MSAL, with a few exceptions.
        case -51809 ... -51800, -51814 ... -51811: self = .wrapped(Int(number) + 9100)
        case -51832 ... -51817: self = .wrapped(Int(number) + 9102)
        case -51833: self = .wrapped(.errorJITTroubleshootingRequired)
        case -51834: self = .wrapped(.errorJITTroubleshootingCreateController)
        case -51835: self = .wrapped(.errorJITTroubleshootingResultUnknown)
        case -51836: self = .wrapped(.errorJITTroubleshootingAcquireToken)
        case -51843 ... -51837: self = .wrapped(Int(number) + 9101)
        case -51844: self = .wrapped(.errorPSSOBiometricsNotEnrolled)
        case -51845: self = .wrapped(.errorPSSOBiometricsNotAvailable)
        default: return nil
        }
    }
}

/// The errors of a lookup that finds nothing, of an account or of a claim. They are not of `MSALErrorDomain`, as in the original.
enum LookupError {
    /// There is no such thing. Domain and code are those that Swift uses for an Objective-C method that returns nil
    /// without an error.
    static func notFound(_ description: String) -> NSError {
        NSError(
            domain: "Foundation._GenericObjCError", code: 0, userInfo: [NSLocalizedDescriptionKey: description])
    }

    /// The username is blank. MSAL passes on this error of its inner library.
    static var blankUsername: NSError {
        NSError(
            domain: "MSIDErrorDomain", code: -51111,
            userInfo: [NSLocalizedDescriptionKey: "the username is blank"])
    }
}
