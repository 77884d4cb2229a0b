internal import Foundation
internal import TokenModel

/// The claims of a JWT as Foundation objects.
enum JWTPayload {
    /// The members of the payload; nil when the token has none. The header's members are not claims and stay out.
    static func claims(of token: String) -> [String: Any]? {
        guard let payload = IDTokenClaims.payload(ofJWT: token) else { return nil }
        return (try? JSONSerialization.jsonObject(with: payload)) as? [String: Any]
    }
}
