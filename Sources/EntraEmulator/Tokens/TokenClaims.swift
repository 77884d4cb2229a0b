internal import JWTKit

/// The claims of a token as one JSON object.
struct TokenClaims: JWTPayload {
    var claims: JSON

    init(claims: JSON) {
        self.claims = claims
    }

    init(from decoder: any Decoder) throws {
        claims = try JSON(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        try claims.encode(to: encoder)
    }

    /// The one reader, ``UserInfoRoute``, compares the times with the emulator's clock.
    func verify(using algorithm: some JWTAlgorithm) async throws {}
}
