package import Foundation

/// Base64 with the URL-safe alphabet and no padding (RFC 4648 section 5), as JWTs and `client_info` use it.
package enum Base64URL {
    package static func decode(_ text: some StringProtocol) -> Data? {
        var standard = String(text.prefix { $0 != "=" }.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        standard += String(repeating: "=", count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: standard)
    }

    package static func encode(_ data: Data) -> String {
        String(data.base64EncodedString().prefix { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }
}
