internal import JWTKit

@testable internal import EntraEmulator

/// Checks a token as a resource would: with the published keys and nothing else.
enum JWTVerifier {
    static func claims(of token: String, keys: String) async throws -> [String: JSON] {
        let keys = try await JWTKeyCollection().add(jwksJSON: keys)
        guard case .object(let claims) = try await keys.verify(token, as: TokenClaims.self).claims else { return [:] }
        return claims
    }
}
