extension TokenError {
    /// A stable number for a kind of failure.
    ///
    /// The numbers are those that Microsoft's published libraries share (-511xx to -518xx), so that each edge maps them by one
    /// table; -530xx are the agent's own. A number this version does not know stays what it is in `unrecognized`.
    @nonexhaustive public enum Code: Sendable, Hashable {
        /// -51100: a defect in this package.
        case internalError
        /// -51112: the app passed something that cannot work.
        case invalidDeveloperParameter
        /// -51113: a silent request named no account.
        case accountRequired
        /// -51114: the authority or the request is of a kind that is not supported.
        case unsupportedFunctionality
        /// -51115: only an interactive request can help.
        case interactionRequired
        /// -51117: another account signed in than the one asked for.
        case mismatchedAccount
        /// -51200: several accounts match.
        case ambiguousAccount
        /// -51201: a stored cache cannot be read.
        case cacheBadFormat
        /// -51400: an OAuth error with no code of its own.
        case serverOAuth
        /// -51401: the token endpoint's response makes no sense.
        case serverInvalidResponse
        /// -514102: the refresh token was rejected (ADAL only).
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
        /// -51415: fewer scopes were granted than asked for.
        case declinedScopes
        /// -51416: OAuth `access_denied`; the user said no.
        case accessDenied
        /// -51417: OAuth `server_error` or `temporarily_unavailable`.
        case serverError
        /// -51420: the answer's `state` is not the one sent.
        case invalidState
        /// -51430: an app protection policy must be applied first.
        case protectionPolicyRequired
        /// -51440: the authorization endpoint refused.
        case authorizationFailed
        /// -51500: an HTTP status that is not a token response.
        case unhandledHTTPResponse
        /// -51600: the authority is not known to be one.
        case authorityValidation
        /// -51700: the user gave up.
        case userCanceled
        /// -51701: the app cancelled the interactive request.
        case sessionCanceled
        /// -51710: an interactive request is already under way, or too many are.
        case interactionInProgress
        /// -51810: the device has to be registered first.
        case workplaceJoinRequired
        /// -53001: the bytes are not a message of the protocol.
        case malformedMessage
        /// -53002: a frame is longer than the limit.
        case frameTooLarge
        /// -53003: the agent does not know this request, or not this version of the protocol.
        case unsupportedProtocolVersion
        /// -53004: no agent answers.
        case agentUnavailable
        /// -53005: the agent does not serve this process.
        case peerNotAuthorized
        /// -53006: the deadline passed.
        case timedOut
        /// -53007: the caller cancelled.
        case cancelled
        /// -53008: the agent's store cannot be written.
        case storeUnavailable
        /// -53009: the network could not be reached; `details.networkErrorCode` says how.
        case networkUnavailable
        /// -53010: no such account.
        case accountNotFound
        /// A number from a newer agent.
        case unrecognized(Int32)
    }
}

extension TokenError.Code {
    /// One row for each code: the number on the wire and the name in JSON output.
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
    ]

    private static let numbers = Dictionary(uniqueKeysWithValues: table.map { ($0.code, ($0.number, $0.name)) })
    private static let codes = Dictionary(uniqueKeysWithValues: table.map { ($0.number, $0.code) })

    /// The code for a number; `unrecognized` when this version knows none.
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
