// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the cases are the C enumeration's, as Swift imports them. The other constants' names, and the values that
// repeat them, are ADAL's.

/// The code of an `ADAuthenticationError` in `ADAuthenticationErrorDomain` and `ADOAuthServerErrorDomain`.
@nonexhaustive(warn) public enum ADErrorCode: Int, Sendable {
    /// No error.
    case ERROR_SUCCEEDED = 0
    /// An internal error, or a condition without a code of ADAL.
    case ERROR_UNEXPECTED = -1
    /// An argument of the app is not valid.
    case ERROR_DEVELOPER_INVALID_ARGUMENT = 100
    /// The validation of the authority failed.
    case ERROR_DEVELOPER_AUTHORITY_VALIDATION = 101
    /// User interaction is required: only `acquireToken` can help.
    case ERROR_SERVER_USER_INPUT_NEEDED = 200
    /// The device has to be registered first. Never raised here.
    case ERROR_SERVER_WPJ_REQUIRED = 201
    /// The server answered with an OAuth error, to a request other than a refresh.
    case ERROR_SERVER_OAUTH = 202
    /// The server answered a refresh with an OAuth error.
    case ERROR_SERVER_REFRESH_TOKEN_REJECTED = 203
    /// Another user signed in than the one requested.
    case ERROR_SERVER_WRONG_USER = 204
    /// The server redirected the browser to a page without TLS. Never raised here: the browser follows redirects itself.
    case ERROR_SERVER_NON_HTTPS_REDIRECT = 205
    /// The ID token cannot be read.
    case ERROR_SERVER_INVALID_ID_TOKEN = 206
    /// The response has no `WWW-Authenticate` header field.
    case ERROR_SERVER_MISSING_AUTHENTICATE_HEADER = 207
    /// The `WWW-Authenticate` header field cannot be read.
    case ERROR_SERVER_AUTHENTICATE_HEADER_BAD_FORMAT = 208
    /// The response's status is not 401.
    case ERROR_SERVER_UNAUTHORIZED_CODE_EXPECTED = 209
    /// The request is of a kind that is not supported. Never raised here.
    case ERROR_SERVER_UNSUPPORTED_REQUEST = 210
    /// The sign-in page returned no authorization code, or no browser could be used.
    case ERROR_SERVER_AUTHORIZATION_CODE = 211
    /// The server's response cannot be read.
    case ERROR_SERVER_INVALID_RESPONSE = 212
    /// An app protection policy has to be applied first.
    case ERROR_SERVER_PROTECTION_POLICY_REQUIRED = 213
    /// Several users match the request, which names none, or a name that they have in common.
    case ERROR_CACHE_MULTIPLE_USERS = 300
    /// The stored cache is of a later version. Never raised here: an archive of a later version is `ERROR_CACHE_BAD_FORMAT`.
    case ERROR_CACHE_VERSION_MISMATCH = 301
    /// The stored cache cannot be read.
    case ERROR_CACHE_BAD_FORMAT = 302
    /// The cache holds no refresh token. Never raised, as in the original.
    case ERROR_CACHE_NO_REFRESH_TOKEN = 303
    /// Another sign-in is in progress. The spelling is that of ADAL.
    case ERROR_UI_MULTLIPLE_INTERACTIVE_REQUESTS = 400
    /// There is no window to show the sign-in page in. Never raised here: the page opens in the system browser.
    case ERROR_UI_NO_MAIN_VIEW_CONTROLLER = 401
    /// An app extension cannot show the sign-in page. Never raised here.
    case ERROR_UI_NOT_SUPPORTED_IN_APP_EXTENSION = 402
    /// The sign-in was cancelled.
    case ERROR_UI_USER_CANCEL = 403
    /// The request has to be made on the main thread. Never raised here: the browser is a separate process.
    case ERROR_UI_NOT_ON_MAIN_THREAD = 404
    /// Broker: an unknown error. There is no broker app here, so that none of the codes of the broker is raised.
    case ERROR_TOKENBROKER_UNKNOWN = 500
    /// Broker: the redirect URI does not match the app.
    case ERROR_TOKENBROKER_INVALID_REDIRECT_URI = 501
    /// Broker: the hash of the response does not match.
    case ERROR_TOKENBROKER_RESPONSE_HASH_MISMATCH = 502
    /// Broker: the user returned to the app without a response.
    case ERROR_TOKENBROKER_RESPONSE_NOT_RECEIVED = 503
    /// Broker: no key could be created.
    case ERROR_TOKENBROKER_FAILED_TO_CREATE_KEY = 504
    /// Broker: the response cannot be decrypted.
    case ERROR_TOKENBROKER_DECRYPTION_FAILED = 505
    /// Broker: the URL is not a response.
    case ERROR_TOKENBROKER_NOT_A_BROKER_RESPONSE = 506
    /// Broker: no request waits for the response.
    case ERROR_TOKENBROKER_NO_RESUME_STATE = 507
    /// Broker: the saved state of the request cannot be read.
    case ERROR_TOKENBROKER_BAD_RESUME_STATE = 508
    /// Broker: the response belongs to another request.
    case ERROR_TOKENBROKER_MISMATCHED_RESUME_STATE = 509
    /// Broker: the response has no hash.
    case ERROR_TOKENBROKER_HASH_MISSING = 510
    /// Broker: an app extension cannot call it.
    case ERROR_TOKENBROKER_NOT_SUPPORTED_IN_EXTENSION = 511
}

/// The domain of errors of the library itself; the code is an `ADErrorCode`.
public let ADAuthenticationErrorDomain: String = "ADAuthenticationErrorDomain"

/// The domain of errors of a broker app. Inert: there is none here, and no error has this domain.
public let ADBrokerResponseErrorDomain: String = "ADBrokerResponseErrorDomain"

/// The domain of errors of a keychain; the code is an `OSStatus`. No error has this domain: the agent keeps the tokens.
public let ADKeychainErrorDomain: String = "ADKeychainErrorDomain"

/// The domain of HTTP responses that are not token responses; the code is the HTTP status.
public let ADHTTPErrorCodeDomain: String = "ADHTTPErrorCodeDomain"

/// The domain of OAuth errors (RFC 6749 section 5.2); the code is an `ADErrorCode`.
public let ADOAuthServerErrorDomain: String = "ADOAuthServerErrorDomain"

/// The `userInfo` key of an HTTP response's header fields, a `[String: String]`.
public let ADHTTPHeadersKey: String = "ADHTTPHeadersKey"

/// The `userInfo` key of the `suberror` of an Entra error response, a `String`.
public let ADSuberrorKey: String = "ADSuberrorKey"

/// The `userInfo` key of the version of a broker app. Inert: no error has it.
public let ADBrokerVersionKey: String = "ADBrokerVersionKey"

/// The `userInfo` key of the username that the error is about, a `String`.
public let ADUserIdKey: String = "ADUserIdKey"
