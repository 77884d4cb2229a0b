internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import JWTKit

/// The RSA key that signs tokens (RS256), and its public half as a JSON Web Key.
struct SigningKey: Sendable {
    let keyID: String
    let keys: JWTKeyCollection
    let publicKey: JSON

    /// Made once for a process: making one takes longer than a test should.
    private static let material = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    /// The same claims always give the same text.
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    init() async throws {
        let key = try Self.material.get()
        let primitives = try key.publicKey.getKeyPrimitives()
        keyID = base64URL(SHA256.hash(data: primitives.modulus).prefix(20))
        keys = await JWTKeyCollection().add(
            rsa: try Insecure.RSA.PrivateKey(backing: key), digestAlgorithm: .sha256,
            kid: JWKIdentifier(string: keyID),
            serializer: DefaultJWTSerializer(jsonEncoder: Self.encoder))
        publicKey = [
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(keyID), "x5t": .string(keyID),
            "n": .string(base64URL(primitives.modulus)), "e": .string(base64URL(primitives.publicExponent)),
        ]
    }

    func sign(_ claims: JSON) async throws -> String {
        try await keys.sign(
            TokenClaims(claims: claims), kid: JWKIdentifier(string: keyID), header: ["x5t": .string(keyID)])
    }

    /// The claims of a token that this key signed; its times are not looked at.
    func verify(_ token: String) async throws -> [String: JSON] {
        guard case .object(let claims) = try await keys.verify(token, as: TokenClaims.self).claims else { return [:] }
        return claims
    }
}
