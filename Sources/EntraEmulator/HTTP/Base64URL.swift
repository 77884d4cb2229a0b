internal import Foundation

/// Base64 with the URL-safe alphabet and no padding (RFC 4648 section 5).
func base64URL(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString()
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}
