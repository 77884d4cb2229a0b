internal import Crypto
package import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The SHA-256 hash of a long text or of a secret, in hexadecimal digits.
package enum Fingerprint {
    static func of(_ text: String) -> String { digits(SHA256.hash(data: Data(text.utf8))) }

    package static func of(_ secret: Secret) -> String {
        secret.withBytes { bytes in
            var hash = SHA256()
            hash.update(bufferPointer: bytes)
            return digits(hash.finalize())
        }
    }

    private static func digits(_ hash: SHA256.Digest) -> String {
        hash.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0\(digits)" : digits
        }.joined()
    }
}
