internal import Crypto
internal import Foundation

/// A short name for a secret, for counts and logs: the start of its SHA-256 in hexadecimal digits.
package enum Fingerprint {
    package static func of(_ secret: String) -> String {
        SHA256.hash(data: Data(secret.utf8)).prefix(6)
            .map { String(Int($0) + 0x100, radix: 16).suffix(2) }.joined()
    }
}
