// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names, and the values that repeat them, are ADAL's.

/// The domain of errors of the library itself; the code is an `ADErrorCode`.
public let ADAuthenticationErrorDomain: String = "ADAuthenticationErrorDomain"

/// The domain of errors of a broker app. Inert: there is none here, so that no error has it.
public let ADBrokerResponseErrorDomain: String = "ADBrokerResponseErrorDomain"

/// The domain of errors of a keychain; the code is an `OSStatus`. No error has it here: the agent keeps the tokens.
public let ADKeychainErrorDomain: String = "ADKeychainErrorDomain"

/// The domain of HTTP responses that are not token responses; the code is the HTTP status.
public let ADHTTPErrorCodeDomain: String = "ADHTTPErrorCodeDomain"

/// The domain of OAuth errors (RFC 6749 section 5.2); the code is an `ADErrorCode`.
public let ADOAuthServerErrorDomain: String = "ADOAuthServerErrorDomain"

/// The `userInfo` key of an HTTP response's header fields, a `[String: String]`.
public let ADHTTPHeadersKey: String = "ADHTTPHeadersKey"

/// The `userInfo` key of the `suberror` of an Entra error response, a `String`.
public let ADSuberrorKey: String = "ADSuberrorKey"

/// The `userInfo` key of a broker app's version. Inert: there is no broker app here, so that no error has it.
public let ADBrokerVersionKey: String = "ADBrokerVersionKey"

/// The `userInfo` key of the name of the person whom the error is about, a `String`.
public let ADUserIdKey: String = "ADUserIdKey"
