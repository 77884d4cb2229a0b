// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals
// The keys of `userInfo` in errors of `MSALErrorDomain`. Each value is its own name. The original's header says nothing of
// nullability, so that Swift imports them as `String!`; app code that unwraps them compiles only if they are that here.

/// The code of an error in `MSALErrorDomain`.
///
/// Compare with the raw value: `error.domain == MSALErrorDomain && error.code ==
/// MSALError.interactionRequired.rawValue`.
@nonexhaustive(warn) public enum MSALError: Int, Sendable {
    /// Anything without a code of its own; `MSALInternalErrorCodeKey` says what.
    case `internal` = -50000
    /// The device has to be registered first.
    case workplaceJoinRequired = -50001
    /// Only an interactive request can help.
    case interactionRequired = -50002
    /// Fewer scopes were granted than asked for; see `MSALGrantedScopesKey` and `MSALDeclinedScopesKey`.
    case serverDeclinedScopes = -50003
    /// An app protection policy has to be applied first.
    case serverProtectionPoliciesRequired = -50004
    /// The person, or the app, gave up the sign-in.
    case userCanceled = -50005
    /// The token endpoint failed; comes as `internal` with this as its internal code.
    case serverError = -50006
    /// Comes as `internal` with this as its internal code; not raised here.
    case insufficientDeviceStrength = -50007
    /// Comes as `internal` with this as its internal code; not raised here.
    case mdmEnrollmentCompletedNeedsRetry = -50008
    /// The password has to be reset first (Entra error 50142).
    case serverInvalidRequestResetPasswordRequired = -50142
}

/// The domain of the errors that this module makes; see `MSALError`.
public let MSALErrorDomain: String! = "MSALErrorDomain"

/// A `String`: the `error` of the OAuth error response (RFC 6749 section 5.2).
public let MSALOAuthErrorKey: String! = "MSALOAuthErrorKey"

/// A `String`: Entra's `suberror`.
public let MSALOAuthSubErrorKey: String! = "MSALOAuthSubErrorKey"

/// A `String`: what the `suberror` means. Not filled here; Entra sends none.
public let MSALOAuthSubErrorDescriptionKey: String! = "MSALOAuthSubErrorDescriptionKey"

/// A `String` for people and logs; may change.
public let MSALErrorDescriptionKey: String! = "MSALErrorDescriptionKey"

/// An `[NSNumber]`: Entra's `error_codes`, such as 50142.
public let MSALSTSErrorCodesKey: String! = "MSALSTSErrorCodesKey"

/// An `NSNumber`: the raw value of an `MSALInternalError`, when the code is `MSALError.internal`.
public let MSALInternalErrorCodeKey: String! = "MSALInternalErrorCodeKey"

/// A `[String: String]`: the header fields of an HTTP response that was not a token response.
public let MSALHTTPHeadersKey: String! = "MSALHTTPHeadersKey"

/// A `String`: the UUID that the logs of app, agent and token endpoint share.
public let MSALCorrelationIDKey: String! = "MSALCorrelationIDKey"

/// A `String`: the status of an HTTP response that was not a token response, such as `"429"`.
public let MSALHTTPResponseCodeKey: String! = "MSALHTTPResponseCodeKey"

/// A `[String]`: the scopes asked for and not granted.
public let MSALDeclinedScopesKey: String! = "MSALDeclinedScopesKey"

/// A `String`: the account's name as people know it.
public let MSALDisplayableUserIdKey: String! = "MSALDisplayableUserIdKey"

/// A `[String]`: the scopes granted when others were declined.
public let MSALGrantedScopesKey: String! = "MSALGrantedScopesKey"

/// An `MSALResult`: what was granted when scopes were declined, or what another account got than the one asked for.
public let MSALInvalidResultKey: String! = "MSALInvalidResultKey"

/// A `String`: the version of Apple's broker. Inert: never filled.
public let MSALBrokerVersionKey: String! = "MSALBrokerVersionKey"

/// A `String`: the identifier of the account concerned.
public let MSALHomeAccountIdKey: String! = "MSALHomeAccountIdKey"

/// An `NSNumber` 1: the answer came from a throttling record, the token endpoint was not asked again.
public let MSALThrottlingCacheHitKey: String! = "MSALThrottlingCacheHitKey"
