internal import Crypto
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A wrapping key as a line of text, with a checksum, so that a damaged line is told from a good one.
struct KeyText {
    private static let name = "sso-agent-key-1"

    /// The line's bytes, to be wiped when they are written.
    static func bytes(of key: SymmetricKey) -> [UInt8] {
        var plain = key.withUnsafeBytes { Data($0) }
        defer { plain.wipe() }
        var text = plain.base64EncodedData()
        defer { text.wipe() }
        let end = Array(" \(checksum(plain))".utf8)
        return [UInt8](unsafeUninitializedCapacity: name.utf8.count + 1 + text.count + end.count) { room, count in
            func add(_ part: some Sequence<UInt8>) {
                for byte in part {
                    room.initializeElement(at: count, to: byte)
                    count += 1
                }
            }
            add("\(name) ".utf8)
            add(text)
            add(end)
        }
    }

    /// The key of the first line that is whole.
    static func key(in text: [UInt8]) -> SymmetricKey? {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard words.count == 3, words[0].elementsEqual(name.utf8) else { continue }
            var word = Data(words[1])
            defer { word.wipe() }
            guard var bytes = Data(base64Encoded: word) else { continue }
            defer { bytes.wipe() }
            guard bytes.count == 32, words[2].elementsEqual(checksum(bytes).utf8) else { continue }
            // 32 bytes leave two bits of the last letter unused; a line that has them set has been damaged as well.
            var canonical = bytes.base64EncodedData()
            defer { canonical.wipe() }
            guard canonical == word else { continue }
            return SymmetricKey(data: bytes)
        }
        return nil
    }

    private static func checksum(_ bytes: Data) -> String {
        SHA256.hash(data: bytes).prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
