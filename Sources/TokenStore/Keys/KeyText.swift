internal import Crypto
internal import Foundation
internal import TokenModel

/// A wrapping key as a line of text, with a checksum, so that a damaged line is told from a good one.
struct KeyText {
    private static let name = "sso-agent-key-1"

    static func line(_ key: SymmetricKey) -> String {
        let bytes = key.withUnsafeBytes { Data($0) }
        return "\(name) \(bytes.base64EncodedString()) \(checksum(bytes))"
    }

    /// The key of the first line that is whole.
    static func key(in text: [UInt8]) -> SymmetricKey? {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count == 3, words[0] == name, let bytes = Data(base64Encoded: String(words[1])),
                bytes.count == 32, words[2] == checksum(bytes)
            else { continue }
            return SymmetricKey(data: bytes)
        }
        return nil
    }

    private static func checksum(_ bytes: Data) -> String {
        SHA256.hash(data: bytes).prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
