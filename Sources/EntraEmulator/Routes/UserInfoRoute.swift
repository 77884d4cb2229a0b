internal import Foundation
internal import NIOHTTP1

/// `GET /oidc/userinfo`: a resource that accepts valid access tokens (OpenID Connect Core section 5.3).
struct UserInfoRoute: Sendable {
    let state: EmulatorState
    let key: SigningKey

    func respond(to request: EmulatorRequest) throws -> Response {
        // The scheme counts in any case (RFC 9110 section 11.1).
        guard let header = request.headers.first(name: "Authorization"), header.prefix(7).lowercased() == "bearer ",
            let claims = key.verify(String(header.dropFirst(7))), isValid(claims)
        else {
            let challenge = #"Bearer error="invalid_token", error_description="The access token is not valid.""#
            return Response(status: .unauthorized, headers: ["WWW-Authenticate": challenge])
        }
        let body: JSON = [
            "sub": claims["sub"] ?? .null,
            "name": claims["name"] ?? .null,
            "preferred_username": claims["preferred_username"] ?? claims["unique_name"] ?? .null,
            "email": claims["email"] ?? .null,
        ]
        return try .json(body.withoutNulls)
    }

    private func isValid(_ claims: [String: JSON]) -> Bool {
        guard case .number(let expiresOn) = claims["exp"], case .string(let tokenID) = claims["uti"] else {
            return false
        }
        let isLive = state.update { $0.ledger.accessTokens[tokenID] != nil }
        return isLive && Int(state.now.timeIntervalSince1970) < expiresOn
    }
}
