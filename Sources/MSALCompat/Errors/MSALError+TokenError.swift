internal import Foundation
internal import TokenModel

/// The one table from the agent's codes to MSAL's.
///
/// Decided before the agent is asked, so not in this table: a silent request without an account is -50002; a reserved
/// scope, an authority of another class than the application's, or a blank client ID is -50000 with -42000; a
/// redirect URI without a scheme is -50000 with -42011 (see `AppSettings`). A lookup that finds no account fails with
/// `AccountLookupError`, which is not an MSAL error.
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
            .timedOut, .cancelled, .storeUnavailable, .accountNotFound:
            .wrapped(.internalErrorUnexpected)
        case .unrecognized(let number): MSALErrorMapping(appleOnly: number) ?? .wrapped(.internalErrorUnexpected)
        }
    }

    /// The agent's own conditions, for which MSAL has no number: the `TokenError` itself is the underlying error.
    var isAgentOnly: Bool {
        switch self {
        case .unrecognized(let number): MSALErrorMapping(appleOnly: number) == nil
        default: (-53999 ... -53000).contains(number)
        }
    }
}

extension MSALError {
    /// The error that an app sees.
    ///
    /// - Parameter kind: of the authority that was asked, which the URL in a partial result need not tell.
    static func error(for error: TokenError, kind: Authority.Kind? = nil) -> NSError {
        // Entra's "reset the password first" has its own code, except where the way to it is to sign in anyway.
        if error.details.stsErrorCodes.contains(50142), error.code != .interactionRequired {
            return self.error(.own(.serverInvalidRequestResetPasswordRequired), for: error, kind)
        }
        return self.error(error.code.msalMapping, for: error, kind)
    }

    /// The error that the async form of a call throws: `CancellationError` when the call ended because its task was cancelled,
    /// which is no defect, else as `error(for:kind:)`.
    static func asyncError(for error: TokenError, kind: Authority.Kind? = nil) -> any Error {
        error.code == .cancelled && Task.isCancelled ? CancellationError() : self.error(for: error, kind: kind)
    }

    /// An error decided by this module, without asking the agent.
    static func error(_ code: MSALInternalError, _ message: String) -> NSError {
        error(.wrapped(code), for: TokenError(.invalidDeveloperParameter, message), nil)
    }

    private static func error(
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
