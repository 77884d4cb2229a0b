internal import Crypto
internal import CryptoExtras
internal import Foundation

/// The RSA key that signs tokens (RS256, RFC 7518 section 3.3), and its public half as a JSON Web Key.
struct SigningKey: Sendable {
    let keyID: String
    let publicKey: JSON
    private let key: _RSA.Signing.PrivateKey

    /// The key, generated once per process, since generating one is slow.
    private static let material = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    init() throws {
        key = try Self.material.get()
        let primitives = try key.publicKey.getKeyPrimitives()
        keyID = base64URL(SHA256.hash(data: primitives.modulus).prefix(20))
        publicKey = [
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(keyID), "x5t": .string(keyID),
            "n": .string(base64URL(primitives.modulus)), "e": .string(base64URL(primitives.publicExponent)),
        ]
    }

    /// Signs claims as a JSON Web Signature in compact form (RFC 7515 section 7.1). Equal claims have equal signatures.
    func sign(_ claims: JSON) throws -> String {
        let header: JSON = ["alg": "RS256", "typ": "JWT", "kid": .string(keyID), "x5t": .string(keyID)]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let signed = try "\(base64URL(encoder.encode(header))).\(base64URL(encoder.encode(claims)))"
        let signature = try key.signature(for: SHA256.hash(data: Data(signed.utf8)), padding: .insecurePKCS1v1_5)
        return "\(signed).\(base64URL(signature.rawRepresentation))"
    }

    /// The claims of a token that this key has signed; nil for any other text. The times are not checked.
    func verify(_ token: String) -> [String: JSON]? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = data(base64URL: parts[2]), let claims = data(base64URL: parts[1]),
            key.publicKey.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature),
                for: SHA256.hash(data: Data("\(parts[0]).\(parts[1])".utf8)), padding: .insecurePKCS1v1_5)
        else { return nil }
        return try? JSONDecoder().decode([String: JSON].self, from: claims)
    }
}
