/// The error of a failed request, and the only error that the public functions of `AgentClient` and `TokenModel` throw.
///
/// `code` is stable. `message` is for users and logs; it may change and never contains a secret.
public struct TokenError: Error, Sendable, Equatable {
    /// The kind of failure.
    public var code: Code
    /// A description for a user or a log, with what to do if there is a remedy. A command that helps is at its end; see `statement`.
    public var message: String
    /// Further details, for the `userInfo` of the compatibility libraries' errors.
    public var details: Details

    /// Creates an error.
    public init(_ code: Code, _ message: String, details: Details = Details()) {
        self.code = code
        self.message = message
        self.details = details
    }

    /// Further details of a failure; each is absent unless it applies.
    public struct Details: Sendable, Equatable {
        /// The `error` of an OAuth error response (RFC 6749 section 5.2).
        public var oauthError: String?
        /// The `suberror` of an Entra error response.
        public var subError: String?
        /// The `error_description` of an OAuth error response.
        public var errorDescription: String?
        /// The `error_codes` of an Entra error response.
        public var stsErrorCodes: [Int32] = []
        /// The HTTP status of the response with the error; nil without one, as for an error of the sign-in page, which is part of a URL.
        public var httpStatus: Int32?
        /// The header fields of a response that is `unhandledHTTPResponse`, by name as received.
        public var httpHeaders: [String: String] = [:]
        /// The `NSURLErrorDomain` code of a network failure, such as -1009.
        public var networkErrorCode: Int32?
        /// The correlation ID with which the identity provider was to be asked: that of an earlier or equal request, if the failure is
        /// repeated or shared.
        public var correlationID: CorrelationID?
        /// The scopes granted, if fewer than requested; without the reserved ones.
        public var grantedScopes: [String] = []
        /// The scopes requested and not granted.
        public var declinedScopes: [String] = []
        /// The identifier of the account that the error is about.
        public var homeAccountID: HomeAccountID?
        /// The username of the account that the error is about.
        public var username: String?
        /// Whether the request was throttled: answered without a request to the token endpoint.
        public var isThrottled = false
        /// The result for the scopes that were granted (`declinedScopes`), or of the other account that has signed in
        /// (`mismatchedAccount`).
        public var partialResult: TokenResult?
        /// The time until which the agent repeats this failure instead of asking the token endpoint, in seconds since 1970; nil if the next
        /// request is sent. A sign-in ends it, unless the reason is `throttled`.
        public var throttledUntil: Int64?
        /// The command line that helps; nil if none is known to, or the agent is another user's.
        public var nextCommand: String?
        /// Whether the request has changed the cache nevertheless: tokens are saved, or a refresh token was removed or replaced. An archive
        /// that an app keeps is then out of date.
        package var hasChangedCache = false
        /// The part of the request that did not fit, if more is known than the code says; see `TokenError.reason`.
        package var reason: Reason?
        /// Whether the message says what helps, and no command is more help than that. It is not sent.
        package var saysRemedyInWords = false

        /// Creates empty details.
        public init() {}
    }
}

extension TokenError: CustomStringConvertible {
    /// The code's name and number, then the message.
    public var description: String { "\(code.name) (\(code.number)): \(message)" }

    /// The text of `message`. Foundation's property of this name, which an `any Error` has, knows the type of the error only: print
    /// such an error, or cast it.
    public var localizedDescription: String { message }
}

extension TokenError {
    /// The kind of a failure, with a stable number.
    ///
    /// The numbers -511xx to -518xx, and -514102, are those of Microsoft's published libraries, so that each compatibility library
    /// maps them by one table; -530xx are the agent's own. A number that this version does not know is kept in `unrecognized`.
    @nonexhaustive public enum Code: Sendable, Hashable {
        /// -51100: a defect in this package; or a token response without a token, or without the account at Microsoft's clouds, as in
        /// Microsoft's libraries. `reason` is then `provider`.
        case internalError
        /// -51112: the app passed something that cannot work.
        case invalidDeveloperParameter
        /// -51113: a silent request named no account. Not sent by this version of the agent.
        case accountRequired
        /// -51114: the authority or the request is of a kind that is not supported.
        case unsupportedFunctionality
        /// -51115: the user has to sign in interactively.
        case interactionRequired
        /// -51117: another account signed in than the requested one.
        case mismatchedAccount
        /// -51200: several accounts match.
        case ambiguousAccount
        /// -51201: a cache, or the store, cannot be read.
        case cacheBadFormat
        /// -51400: an OAuth error with no code of its own.
        case serverOAuth
        /// -51401: the response of an identity provider is not valid, or not for the app or its request.
        case serverInvalidResponse
        /// -514102: the refresh token was rejected. Not sent by this version of the agent.
        case refreshTokenRejected
        /// -51410: OAuth `invalid_request`.
        case invalidRequest
        /// -51411: OAuth `invalid_client`.
        case invalidClient
        /// -51412: OAuth `invalid_grant`.
        case invalidGrant
        /// -51413: OAuth `invalid_scope`.
        case invalidScope
        /// -51414: OAuth `unauthorized_client`.
        case unauthorizedClient
        /// -51415: fewer scopes were granted than requested.
        case declinedScopes
        /// -51416: OAuth `access_denied`; the user has declined.
        case accessDenied
        /// -51417: OAuth `server_error` or `temporarily_unavailable`.
        case serverError
        /// -51420: the `state` of the authorization response is not that of the request.
        case invalidState
        /// -51430: an app protection policy must be applied first.
        case protectionPolicyRequired
        /// -51440: the authorization endpoint returned an error or, to a v1 request, neither an error nor a code; no browser could be
        /// started, or the browser has failed; or the agent cannot listen for the redirect.
        case authorizationFailed
        /// -51500: an HTTP status that is not a token response.
        case unhandledHTTPResponse
        /// -51600: the authority could not be validated.
        case authorityValidation
        /// -51700: the user cancelled the sign-in. `ssoctl` reports it; this version of the agent does not send it.
        case userCanceled
        /// -51701: a sign-in was cancelled or is not known, an import or export is not known or was not continued in time, or its
        /// connection has closed.
        case sessionCanceled
        /// -51710: another sign-in is in progress, or too many sign-ins, or imports and exports, are.
        case interactionInProgress
        /// -51810: the device has to be registered first. Not sent by this version of the agent.
        case workplaceJoinRequired
        /// -53001: the bytes are not a message of the protocol, or a value is missing or beyond its limit.
        case malformedMessage
        /// -53002: a frame, or all imports together, are longer than the limit.
        case frameTooLarge
        /// -53003: the agent does not know the request or the protocol version.
        case unsupportedProtocolVersion
        /// -53004: no agent is running, or it has stopped before it replied.
        case agentUnavailable
        /// -53005: another user's process listens on the socket.
        case peerNotAuthorized
        /// -53006: no reply or response arrived in time, or the user has not finished a sign-in in time.
        case timedOut
        /// -53007: the caller has cancelled the call. An agent that stops sends it too; `AgentClient` then throws `agentUnavailable`.
        case cancelled
        /// -53008: the agent's store is locked, cannot be read or written, or has no room.
        case storeUnavailable
        /// -53009: the network could not be reached; `details.networkErrorCode` says how.
        case networkUnavailable
        /// -53010: the named account does not exist. No token request fails with it.
        case accountNotFound
        /// -53011: the access policy or a limit refuses the request, or nobody has confirmed it.
        case requestDenied
        /// The number of a code that only a newer agent knows.
        case unrecognized(Int32)
    }
}

extension TokenError.Code {
    /// The codes with their number on the wire and their name in JSON output.
    package static let table: [(code: Self, number: Int32, name: String)] = [
        (.internalError, -51100, "internalError"),
        (.invalidDeveloperParameter, -51112, "invalidDeveloperParameter"),
        (.accountRequired, -51113, "accountRequired"),
        (.unsupportedFunctionality, -51114, "unsupportedFunctionality"),
        (.interactionRequired, -51115, "interactionRequired"),
        (.mismatchedAccount, -51117, "mismatchedAccount"),
        (.ambiguousAccount, -51200, "ambiguousAccount"),
        (.cacheBadFormat, -51201, "cacheBadFormat"),
        (.serverOAuth, -51400, "serverOAuth"),
        (.serverInvalidResponse, -51401, "serverInvalidResponse"),
        (.refreshTokenRejected, -514102, "refreshTokenRejected"),
        (.invalidRequest, -51410, "invalidRequest"),
        (.invalidClient, -51411, "invalidClient"),
        (.invalidGrant, -51412, "invalidGrant"),
        (.invalidScope, -51413, "invalidScope"),
        (.unauthorizedClient, -51414, "unauthorizedClient"),
        (.declinedScopes, -51415, "declinedScopes"),
        (.accessDenied, -51416, "accessDenied"),
        (.serverError, -51417, "serverError"),
        (.invalidState, -51420, "invalidState"),
        (.protectionPolicyRequired, -51430, "protectionPolicyRequired"),
        (.authorizationFailed, -51440, "authorizationFailed"),
        (.unhandledHTTPResponse, -51500, "unhandledHTTPResponse"),
        (.authorityValidation, -51600, "authorityValidation"),
        (.userCanceled, -51700, "userCanceled"),
        (.sessionCanceled, -51701, "sessionCanceled"),
        (.interactionInProgress, -51710, "interactionInProgress"),
        (.workplaceJoinRequired, -51810, "workplaceJoinRequired"),
        (.malformedMessage, -53001, "malformedMessage"),
        (.frameTooLarge, -53002, "frameTooLarge"),
        (.unsupportedProtocolVersion, -53003, "unsupportedProtocolVersion"),
        (.agentUnavailable, -53004, "agentUnavailable"),
        (.peerNotAuthorized, -53005, "peerNotAuthorized"),
        (.timedOut, -53006, "timedOut"),
        (.cancelled, -53007, "cancelled"),
        (.storeUnavailable, -53008, "storeUnavailable"),
        (.networkUnavailable, -53009, "networkUnavailable"),
        (.accountNotFound, -53010, "accountNotFound"),
        (.requestDenied, -53011, "requestDenied"),
    ]

    private static let numbers = Dictionary(uniqueKeysWithValues: table.map { ($0.code, ($0.number, $0.name)) })
    private static let codes = Dictionary(uniqueKeysWithValues: table.map { ($0.number, $0.code) })

    /// The code with a number; `unrecognized` if this version knows none.
    public init(number: Int32) {
        self = Self.codes[number] ?? .unrecognized(number)
    }

    /// The code for an OAuth `error` (RFC 6749 sections 4.1.2.1 and 5.2, OpenID Connect Core 1.0 section 3.1.2.6), regardless of
    /// case; `serverOAuth` if it has none of its own.
    ///
    /// - Parameter subError: Entra's `suberror`.
    package init(oauthError: String, subError: String? = nil) {
        self =
            switch oauthError.lowercased() {
            case "invalid_request": .invalidRequest
            case "invalid_client": .invalidClient
            case "invalid_grant": .invalidGrant
            case "invalid_scope": .invalidScope
            case "unauthorized_client" where subError == "protection_policy_required": .protectionPolicyRequired
            case "unauthorized_client": .unauthorizedClient
            case "access_denied", "authorization_declined": .accessDenied
            case "server_error", "temporarily_unavailable": .serverError
            case "interaction_required", "login_required", "consent_required": .interactionRequired
            default: .serverOAuth
            }
    }

    /// The number, the same on the wire, in JSON output and in Microsoft's libraries.
    public var number: Int32 {
        if case .unrecognized(let number) = self { return number }
        return Self.numbers[self]?.0 ?? -51100
    }

    /// The code's name in JSON output, in lower camel case.
    public var name: String {
        Self.numbers[self]?.1 ?? "unrecognized"
    }
}

extension TokenError {
    /// The error with the correlation ID of its request, unless it has that of another one, which it repeats or shares.
    package func answering(_ correlationID: CorrelationID?) -> TokenError {
        var error = self
        error.details.correlationID = details.correlationID ?? correlationID
        return error
    }
}

extension TokenError.Details {
    /// What a token endpoint has rejected for good.
    package enum Rejection: Sendable {
        /// The refresh token (`bad_token`). Other refusals of it may be temporary.
        case refreshToken
        /// The user's account, which was deleted (`user_account_deleted`).
        case account
    }

    /// What the token endpoint has rejected for good; nil if that is nothing.
    package var rejection: Rejection? {
        switch (oauthError, subError) {
        case ("invalid_grant", "bad_token"): .refreshToken
        case ("invalid_grant", "user_account_deleted"): .account
        default: nil
        }
    }

    /// The value of a header field, whose name is compared regardless of case; nil without it.
    package func httpHeader(_ name: String) -> String? {
        httpHeaders.first { $0.key.lowercased() == name.lowercased() }?.value
    }

    /// The number of seconds in `Retry-After` (RFC 9110 section 10.2.3), the largest `Int64` if it is larger; nil without the field, and if
    /// it is anything else, such as a date or a negative number.
    package var secondsToWait: Int64? {
        let field = httpHeader("Retry-After")?.trimmedNonEmpty
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let field, field.utf8.allSatisfy({ digits.contains($0) }) else { return nil }
        return Int64(field) ?? .max
    }
}
