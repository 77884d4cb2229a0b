internal import Crypto
internal import CryptoExtras
internal import Foundation

@testable internal import EntraEmulator

/// Verifies tokens as a resource does, with the published keys.
enum JWTVerifier {
    struct Refused: Error {}

    private struct KeySet: Decodable {
        struct Key: Decodable {
            let kid, kty, alg, n, e: String
        }

        let keys: [Key]
    }

    private struct Header: Decodable {
        let kid, alg, typ: String
    }

    static func claims(of token: String, keys: String) throws -> [String: JSON] {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { throw Refused() }
        let header = try JSONDecoder().decode(Header.self, from: decodeBase64URL(parts[0]))
        let keys = try JSONDecoder().decode(KeySet.self, from: Data(keys.utf8)).keys
        guard header.alg == "RS256", header.typ == "JWT",
            let key = keys.first(where: { $0.kid == header.kid && $0.kty == "RSA" && $0.alg == "RS256" })
        else { throw Refused() }
        let publicKey = try _RSA.Signing.PublicKey(n: decodeBase64URL(key.n), e: decodeBase64URL(key.e))
        let isValid = publicKey.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: decodeBase64URL(parts[2])),
            for: SHA256.hash(data: Data("\(parts[0]).\(parts[1])".utf8)), padding: .insecurePKCS1v1_5)
        guard isValid else { throw Refused() }
        return try JSONDecoder().decode([String: JSON].self, from: decodeBase64URL(parts[1]))
    }
}
