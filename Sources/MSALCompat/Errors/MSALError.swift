// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals
// The value of each `userInfo` key is its own name. The original's header does not declare nullability, so that Swift imports
// the keys as `String!`; app code that unwraps them compiles only if they have that type here.

/// The code of an error in `MSALErrorDomain`.
///
/// Compare with the raw value: `error.domain == MSALErrorDomain && error.code ==
/// MSALError.interactionRequired.rawValue`.
@nonexhaustive(warn) public enum MSALError: Int, Sendable {
    /// An error without a code of its own; `MSALInternalErrorCodeKey` has its internal code.
    case `internal` = -50000
    /// The device has to be registered first; not raised here.
    case workplaceJoinRequired = -50001
    /// Only a sign-in can help.
    case interactionRequired = -50002
    /// Fewer scopes were granted than requested; see `MSALGrantedScopesKey` and `MSALDeclinedScopesKey`.
    case serverDeclinedScopes = -50003
    /// An app protection policy has to be applied first.
    case serverProtectionPoliciesRequired = -50004
    /// The user or the app cancelled the sign-in.
    case userCanceled = -50005
    /// The token endpoint failed. The code is `internal`, with this as its internal code.
    case serverError = -50006
    /// The sign-in page requires another registration of the device. The code is `internal`, with this as its internal code.
    case insufficientDeviceStrength = -50007
    /// The code is `internal`, with this as its internal code; not raised here.
    case mdmEnrollmentCompletedNeedsRetry = -50008
    /// The password has to be reset first (Entra error 50142).
    case serverInvalidRequestResetPasswordRequired = -50142
}

/// The domain of the errors of this module; the code is an `MSALError`.
public let MSALErrorDomain: String! = "MSALErrorDomain"

/// A `String`: the `error` of the OAuth error response (RFC 6749 section 5.2).
public let MSALOAuthErrorKey: String! = "MSALOAuthErrorKey"

/// A `String`: Entra's `suberror`.
public let MSALOAuthSubErrorKey: String! = "MSALOAuthSubErrorKey"

/// A `String`: the meaning of the `suberror`. Never set, because Entra sends none.
public let MSALOAuthSubErrorDescriptionKey: String! = "MSALOAuthSubErrorDescriptionKey"

/// A `String`: the description for users and logs, whose wording may change.
public let MSALErrorDescriptionKey: String! = "MSALErrorDescriptionKey"

/// An `[NSNumber]`: Entra's `error_codes`, such as 50142.
public let MSALSTSErrorCodesKey: String! = "MSALSTSErrorCodesKey"

/// An `NSNumber`, if the code is `MSALError.internal`: the raw value of an `MSALInternalError`, or of
/// `MSALError.serverError` (-50006) or `MSALError.insufficientDeviceStrength` (-50007).
public let MSALInternalErrorCodeKey: String! = "MSALInternalErrorCodeKey"

/// A `[String: String]`: the header fields of an HTTP response that was neither a token response nor an OAuth error, and
/// `Retry-After` while the agent repeats the error of a server that is overloaded.
public let MSALHTTPHeadersKey: String! = "MSALHTTPHeadersKey"

/// A `String`: the correlation ID, a UUID that app, agent and token endpoint log.
public let MSALCorrelationIDKey: String! = "MSALCorrelationIDKey"

/// A `String`: the status of an HTTP response that was neither a token response nor an OAuth error, such as `"429"`.
public let MSALHTTPResponseCodeKey: String! = "MSALHTTPResponseCodeKey"

/// A `[String]`: the scopes that were requested and not granted.
public let MSALDeclinedScopesKey: String! = "MSALDeclinedScopesKey"

/// A `String`: the username of the account.
public let MSALDisplayableUserIdKey: String! = "MSALDisplayableUserIdKey"

/// A `[String]`: the scopes that were granted although others were declined.
public let MSALGrantedScopesKey: String! = "MSALGrantedScopesKey"

/// An `MSALResult`: the result for the scopes that were granted, or for another account than the one requested.
public let MSALInvalidResultKey: String! = "MSALInvalidResultKey"

/// A `String`: the version of Apple's broker. Inert: never set.
public let MSALBrokerVersionKey: String! = "MSALBrokerVersionKey"

/// A `String`: the identifier of the account.
public let MSALHomeAccountIdKey: String! = "MSALHomeAccountIdKey"

/// An `NSNumber` 1: the request was throttled, and the token endpoint was not asked again.
public let MSALThrottlingCacheHitKey: String! = "MSALThrottlingCacheHitKey"
