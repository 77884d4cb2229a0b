package import Foundation

/// Base64 with the URL-safe alphabet and no padding (RFC 4648 section 5), as JWTs and `client_info` use it.
package enum Base64URL {
    package static func decode(_ text: some StringProtocol) -> Data? {
        // Bytes, not characters: an app reads an ID token with every result.
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
}
