internal import Foundation
internal import NIOHTTP1

/// An OAuth error response, with the members that the services send.
struct OAuthFailure: Error, Sendable, Equatable {
    var error: String
    var suberror: String?
    /// The `AADSTS` numbers; none if Entra does not send this error.
    var codes: [Int]
    var text: String
    var status: HTTPResponseStatus = .badRequest
    /// A claims request that the app must pass on in its next sign-in.
    var claims: String?
    /// Further members, sent unchanged, `null` included.
    var members: [String: JSON] = [:]

    init(
        _ error: String, _ code: Int?, _ text: String, suberror: String? = nil,
        status: HTTPResponseStatus = .badRequest
    ) {
        self.error = error
        self.suberror = suberror
        codes = code.map { [$0] } ?? []
        self.text = text
        self.status = status
    }

    /// The failure in an authorization response, for which `invalid_grant` is not defined (RFC 6749 section 4.1.2.1): the user may not sign
    /// in, and the number says why.
    var ofAuthorization: OAuthFailure {
        guard error == "invalid_grant" else { return self }
        var failure = self
        failure.error = "access_denied"
        return failure
    }

    /// `error_description` in the format of the services: number, text, and the identifiers of the request. The text of a fault may begin
    /// with the number.
    func description(trace: RequestTrace) -> String {
        let number = codes.first.map { "AADSTS\($0): " } ?? ""
        let numbered = text.hasPrefix(number) ? text : number + text
        return "\(numbered) Trace ID: \(trace.traceID) Correlation ID: \(trace.correlationID) "
            + "Timestamp: \(trace.timestamp)"
    }

    func response(trace: RequestTrace) throws -> Response {
        let body: JSON = [
            "error": .string(error),
            "suberror": JSON(suberror),
            "error_description": .string(description(trace: trace)),
            "error_codes": .array(codes.map(JSON.number)),
            "timestamp": .string(trace.timestamp),
            "trace_id": .string(trace.traceID),
            "correlation_id": .string(trace.correlationID),
            "claims": JSON(claims),
        ]
        return try .json(body.withoutNulls.merging(members), status: status)
    }
}

/// The identifiers and the time of a request, which the services repeat in each response.
struct RequestTrace: Sendable {
    var traceID: String
    var correlationID: String
    /// The time of the request, such as `2026-01-31 12:00:00Z`.
    var timestamp: String

    /// The header fields that carry the identifiers, in successful responses too.
    var headers: [(String, String)] {
        // The correlation ID is text from the request.
        [("x-ms-request-id", traceID), ("client-request-id", correlationID.withoutControlCharacters)]
    }

    init(traceID: String, correlationID: String?, now: Date) {
        self.traceID = traceID
        self.correlationID = correlationID ?? traceID
        timestamp = now.formatted(.iso8601.dateTimeSeparator(.space))
    }
}

/// The errors of Microsoft Entra that the emulator sends, with the `AADSTS` numbers of
/// <https://learn.microsoft.com/entra/identity-platform/reference-error-codes>.
extension OAuthFailure {
    static let notPosted = Self("invalid_request", 900561, "The endpoint only accepts POST requests.")
    static let severalResources = Self("invalid_request", 28000, "The scope contains more than one resource.")
    static let defaultWithOthers = Self(
        "invalid_scope", 70011, ".default scope can't be combined with resource-specific scopes.")
    static let unsupportedGrant = Self("unsupported_grant_type", 70003, "The app requested an unsupported grant type.")
    static let unsupportedResponseType = Self(
        "unsupported_response_type", 70005, "The emulator answers with response_type 'code' only.")
    static let unsupportedResponseMode = Self(
        "invalid_request", 70007,
        "The emulator answers in the response modes 'query', 'fragment' and 'form_post' only.")
    static let malformedRedirectURI = Self(
        "invalid_request", 90102, "'redirect_uri' value must be a valid absolute URI.")
    static let unsupportedPrompt = Self("invalid_request", 90023, "Unsupported 'prompt' value.")
    static let malformedChallenge = Self(
        "invalid_request", 501491, "The 'code_challenge' has to have 43 to 128 unreserved characters.")
    static let unsupportedChallengeMethod = Self(
        "invalid_request", nil, "The 'code_challenge_method' has to be 'S256' or 'plain'.")
    static let malformedClaims = Self("invalid_request", 90100, "The parameter 'claims' is not a JSON object.")
    static let invalidInstance = Self("invalid_instance", 50049, "Unknown or invalid instance.")

    static let pushedRequestsUnsupported = Self(
        "invalid_request", nil, "There is no pushed authorization request endpoint here.", status: .notFound)
    static let nestedRequest = Self("invalid_request", nil, "A pushed request may not have a 'request_uri'.")
    static let unknownPushedRequest = Self(
        "invalid_request_uri", nil, "The 'request_uri' is not known, has been used, or has expired.")
    static let pushedRequestRequired = Self("invalid_request", nil, "Authorization requests have to be pushed.")
    static let secretRequired = Self(
        "invalid_client", 7_000_218, "The request body must contain a client secret.", status: .unauthorized)

    static let interactionRequired = Self(
        "interaction_required", 16000, "Several user accounts are signed in; one has to be chosen.")
    static let loginRequired = Self(
        "login_required", 50058, "No user is signed in, and the request allows no sign-in page.")

    static let authorizationPending = Self(
        "authorization_pending", 70016, "OAuth 2.0 device flow error. Authorization is pending. Continue polling.")
    static let authorizationDeclined = Self("authorization_declined", 70018, "The user declined the device code.")
    static let expiredDeviceCode = Self("expired_token", 70020, "The device code has expired.")
    /// RFC 8628 section 3.5, as a provider of OpenID Connect answers.
    static let deviceAccessDenied = Self("access_denied", 70018, "The user declined the device code.")
    static let badDeviceCode = Self("bad_verification_code", 70018, "Bad verification code.")

    static let malformedGrant = invalidGrant(70000, "The provided value for the input parameter is not valid.")
    static let expiredGrant = invalidGrant(70008, "The provided authorization code or refresh token has expired.")
    static let wrongClient = invalidGrant(700007, "The grant was issued to another application.")
    static let wrongIssuer = invalidGrant(9_002_313, "The provided grant was issued by another authority.")
    static let wrongTenant = invalidGrant(
        700005, "Provided Authorization Code is intended to use against other tenant, thus rejected.")
    static let badAssertion = invalidGrant(50008, "The SAML token is invalid.")
    static let codeAlreadyRedeemed = invalidGrant(
        54005, "OAuth2 Authorization code was already redeemed, please retry with a new valid code.")
    static let wrongVerifier = invalidGrant(
        501481, "The Code_Verifier does not match the code_challenge supplied in the authorization request.")
    static let missingRedirectURI = invalidGrant(
        700009, "The redirect URI of the authorization request has to be sent with its code.")
    static let wrongRedirectURI = Self(
        "invalid_client", 500112,
        "The reply address does not match the reply address provided when requesting the authorization code.",
        status: .unauthorized)
    /// RFC 6749 section 5.2, as a provider of OpenID Connect answers.
    static let otherRedirectURI = invalidGrant(
        500112, "The redirect URI does not match that of the authorization request.")
    static let notInFamily = invalidGrant(
        700007, "The application is not a member of the family of the refresh token.", suberror: "client_mismatch")
    static let revokedToken = invalidGrant(
        50173, "The provided grant has expired due to it being revoked.", suberror: "bad_token")
    static let reusedToken = invalidGrant(
        70000, "The refresh token has already been redeemed.", suberror: "bad_token")
    static let wrongResource = invalidGrant(nil, "MSIS9611: The refresh token was issued for another resource.")
    static let disabledUser = invalidGrant(50057, "The user account is disabled.")
    static let userNotInTenant = invalidGrant(
        50020, "The user account does not exist in the tenant and cannot access the application.")

    /// - Parameter claims: the claims request for the sign-in.
    static func multiFactorRequired(claims: String?) -> Self {
        var failure = Self(
            "interaction_required", 50076, "The user must sign in with multi-factor authentication.",
            suberror: "basic_action")
        failure.claims = claims
        return failure
    }

    static func missingParameter(_ name: String) -> Self {
        Self("invalid_request", 900144, "The request body must contain the following parameter: '\(name)'.")
    }

    static func repeatedParameter(_ name: String) -> Self {
        Self(
            "invalid_request", 9_000_411,
            "The request is not properly formatted. The parameter '\(name)' is duplicated.")
    }

    static func unregisteredRedirectURI(_ uri: String, clientID: String) -> Self {
        Self(
            "invalid_request", 50011,
            "The redirect URI '\(uri)' in the request is none of those that are registered for the application "
                + "'\(clientID)'.")
    }

    private static func invalidGrant(_ code: Int?, _ text: String, suberror: String? = nil) -> Self {
        Self("invalid_grant", code, text, suberror: suberror)
    }
}
