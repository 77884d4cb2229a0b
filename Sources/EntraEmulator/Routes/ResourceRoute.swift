internal import Foundation
internal import NIOHTTP1

/// `GET /oidc/userinfo` (OpenID Connect Core section 5.3) and `GET /v1.0/me`: the resources of Microsoft Graph that the emulator has.
///
/// They evaluate access continuously: the token of an app with the capability `cp1` is refused with a claims challenge as soon as it is
/// revoked, or its user is disabled.
struct ResourceRoute: Sendable {
    let state: EmulatorState
    let key: SigningKey
    let trace: RequestTrace

    func respond(to request: EmulatorRequest) throws -> Response {
        let claims: [String: JSON]
        do throws(TokenRefusal) {
            claims = try acceptedClaims(request)
        } catch {
            return try error.response(at: request.baseURL, trace: trace)
        }
        return try .json(request.address.endpoint == .graph ? me(claims, request) : userInfo(claims))
    }

    private func userInfo(_ claims: [String: JSON]) -> JSON {
        var members = claims.filter { ["sub", "name", "email"].contains($0.key) }
        members["preferred_username"] = claims["preferred_username"] ?? claims["unique_name"]
        return .object(members)
    }

    private func me(_ claims: [String: JSON], _ request: EmulatorRequest) -> JSON {
        var members: [String: JSON] = ["@odata.context": "\(request.baseURL)/v1.0/$metadata#users/$entity"]
        members["id"] = claims["oid"]
        members["displayName"] = claims["name"]
        members["userPrincipalName"] = claims["preferred_username"] ?? claims["unique_name"]
        return .object(members)
    }

    /// The claims of the request's access token, if it is valid here.
    private func acceptedClaims(_ request: EmulatorRequest) throws(TokenRefusal) -> [String: JSON] {
        // The scheme counts in any case (RFC 9110 section 11.1).
        guard let header = request.headers.first(name: "Authorization"), header.prefix(7).lowercased() == "bearer "
        else { throw .invalid("There is no access token.") }
        guard let claims = key.verify(String(header.dropFirst(7))), case .number(let expiresOn) = claims["exp"],
            case .string(let tokenID) = claims["uti"]
        else { throw .invalid("The access token is not valid.") }
        let (now, isGraph) = (state.now, request.address.endpoint == .graph)
        guard Int(now.timeIntervalSince1970) < expiresOn else { throw .invalid("The access token has expired.") }
        guard !isGraph || Self.isGraph(claims["aud"]) else {
            throw .invalid("The access token is for another audience.")
        }
        let isCapable = ClaimsRequest.isCapable(Self.texts(claims["xms_cc"]))
        let (token, isDisabled, context) = state.update { contents in
            let token = contents.ledger.accessTokens[tokenID]
            let user = contents.ledger.users.first { user in token.map { user.matches($0.username) } ?? false }
            return (token, user?.isDisabled ?? false, contents.settings.requiredContext)
        }
        guard let token else { throw .invalid("The access token is not known.") }
        if let revokedOn = token.revokedOn ?? (isCapable && isDisabled ? now : nil) {
            throw isCapable ? .revoked(on: revokedOn) : .invalid("The access token was revoked.")
        }
        if let context, !Self.texts(claims["acrs"]).contains(context) {
            throw isCapable ? .insufficient(context) : .forbidden
        }
        return claims
    }

    /// Whether an audience is Microsoft Graph, by its URL or its ID.
    private static func isGraph(_ audience: JSON?) -> Bool {
        guard case .string(let audience) = audience else { return false }
        return [ScopeRules.graph, "\(ScopeRules.graph)/", TokenRefusal.graphID].contains(audience)
    }

    private static func texts(_ claim: JSON?) -> [String] {
        guard case .array(let values) = claim else { return [] }
        return values.compactMap { value -> String? in
            guard case .string(let text) = value else { return nil }
            return text
        }
    }
}

/// The refusal of an access token, as Microsoft Graph answers it.
private struct TokenRefusal: Error {
    static let graphID = "00000003-0000-0000-c000-000000000000"

    var status = HTTPResponseStatus.unauthorized
    var code = "InvalidAuthenticationToken"
    var message: String
    /// The claims request by which the app gets a token that is accepted; nil if the refusal is not a claims challenge.
    var claims: String?

    static func invalid(_ message: String) -> Self { Self(message: message) }

    /// The app needs a token that was issued after the revocation.
    static func revoked(on time: Date) -> Self {
        Self(
            message: "Continuous access evaluation resulted in challenge with result: InteractionRequired and code: "
                + "TokenIssuedBeforeRevocationTimestamp",
            claims: ClaimsRequest.challenge("nbf", "\(Int(time.timeIntervalSince1970))"))
    }

    /// The user has to satisfy an authentication context.
    static func insufficient(_ context: String) -> Self {
        Self(
            message: "The access token does not satisfy the required authentication context.",
            claims: ClaimsRequest.challenge("acrs", context))
    }

    /// The resource requires an authentication context, and the app does not handle challenges.
    static let forbidden = Self(
        status: .forbidden, code: "accessDenied", message: "The app has to have the capability cp1 for this resource.")

    func response(at baseURL: String, trace: RequestTrace) throws -> Response {
        let body: JSON = [
            "error": [
                "code": .string(code), "message": .string(message),
                "innerError": [
                    "date": .string(trace.timestamp), "request-id": .string(trace.traceID),
                    "client-request-id": .string(trace.correlationID),
                ],
            ]
        ]
        var response = try Response.json(body, status: status)
        if status == .unauthorized { response.headers.add(name: "WWW-Authenticate", value: challenge(at: baseURL)) }
        return response
    }

    /// The challenge (RFC 6750 section 3).
    private func challenge(at baseURL: String) -> String {
        let error = claims == nil ? "invalid_token" : "insufficient_claims"
        var challenge =
            #"Bearer realm="", authorization_uri="\#(baseURL)/common/oauth2/authorize", client_id="\#(Self.graphID)", "#
            + #"error="\#(error)", error_description="\#(message)""#
        if let claims { challenge += #", claims="\#(Data(claims.utf8).base64EncodedString())""# }
        return challenge.withoutControlCharacters
    }
}
