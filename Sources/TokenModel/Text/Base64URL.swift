#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Base64 with the URL-safe alphabet and without padding (RFC 4648 section 5), as in JWTs and `client_info`.
package enum Base64URL {
    package static func decode(_ text: some StringProtocol) -> Data? {
        // Bytes are faster than characters: an app decodes an ID token with every result.
        var standard = Data(
            text.utf8.prefix { $0 != UInt8(ascii: "=") }.map { byte in
                switch byte {
                case UInt8(ascii: "-"): UInt8(ascii: "+")
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: byte
                }
            })
        standard.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - standard.count % 4) % 4))
        return Data(base64Encoded: standard)
    }

    package static func encode(_ data: Data) -> String {
        String(data.base64EncodedString().prefix { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    /// Encodes a secret, without a copy that is not wiped.
    package static func encode(_ secret: Secret) -> Secret {
        var text: [UInt8] = []
        text.reserveCapacity(secret.count / 3 * 4 + 4)
        defer { text.wipe() }
        secret.withBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let group = bytes[start..<min(start + 3, bytes.count)]
                let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
                for index in 0...group.count { text.append(alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)]) }
            }
        }
        return Secret(bytes: text)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
