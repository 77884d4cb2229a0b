// The keys of `userInfo` in errors of `MSALErrorDomain`. Each value is its own name.

/// The domain of the errors that this module makes; see `MSALError`.
public let MSALErrorDomain = "MSALErrorDomain"

/// A `String`: the `error` of the OAuth error response (RFC 6749 section 5.2).
public let MSALOAuthErrorKey = "MSALOAuthErrorKey"

/// A `String`: Entra's `suberror`.
public let MSALOAuthSubErrorKey = "MSALOAuthSubErrorKey"

/// A `String`: what the `suberror` means. Not filled here; Entra sends none.
public let MSALOAuthSubErrorDescriptionKey = "MSALOAuthSubErrorDescriptionKey"

/// A `String` for people and logs; may change.
public let MSALErrorDescriptionKey = "MSALErrorDescriptionKey"

/// An `[NSNumber]`: Entra's `error_codes`, such as 50142.
public let MSALSTSErrorCodesKey = "MSALSTSErrorCodesKey"

/// An `NSNumber`: the raw value of an `MSALInternalError`, when the code is `MSALError.internal`.
public let MSALInternalErrorCodeKey = "MSALInternalErrorCodeKey"

/// A `[String: String]`: the header fields of an HTTP response that was not a token response.
public let MSALHTTPHeadersKey = "MSALHTTPHeadersKey"

/// A `String`: the UUID that the logs of app, agent and token endpoint share.
public let MSALCorrelationIDKey = "MSALCorrelationIDKey"

/// A `String`: the status of an HTTP response that was not a token response, such as `"429"`.
public let MSALHTTPResponseCodeKey = "MSALHTTPResponseCodeKey"

/// A `[String]`: the scopes asked for and not granted.
public let MSALDeclinedScopesKey = "MSALDeclinedScopesKey"

/// A `String`: the account's name as people know it.
public let MSALDisplayableUserIdKey = "MSALDisplayableUserIdKey"

/// A `[String]`: the scopes granted when others were declined.
public let MSALGrantedScopesKey = "MSALGrantedScopesKey"

/// An `MSALResult`: what was granted when scopes were declined, or what another account got than the one asked for.
public let MSALInvalidResultKey = "MSALInvalidResultKey"

/// A `String`: the version of Apple's broker. Inert: never filled.
public let MSALBrokerVersionKey = "MSALBrokerVersionKey"

/// A `String`: the identifier of the account concerned.
public let MSALHomeAccountIdKey = "MSALHomeAccountIdKey"

/// An `NSNumber` 1: the answer came from a throttling record, the token endpoint was not asked again.
public let MSALThrottlingCacheHitKey = "MSALThrottlingCacheHitKey"
