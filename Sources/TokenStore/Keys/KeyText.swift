internal import Crypto

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The format of a wrapping key: a line of text with a checksum, which shows whether it is damaged.
enum KeyText {
    private static let name = "sso-agent-key-1"

    /// Encodes a key. The caller wipes the bytes.
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

    /// The different keys of the undamaged lines, in their order.
    static func keys(in text: [UInt8]) -> [SymmetricKey] {
        var keys: [SymmetricKey] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard words.count == 3, words[0].elementsEqual(name.utf8) else { continue }
            var word = Data(words[1])
            defer { word.wipe() }
            guard var bytes = Data(base64Encoded: word) else { continue }
            defer { bytes.wipe() }
            guard bytes.count == 32, words[2].elementsEqual(checksum(bytes).utf8) else { continue }
            // 32 bytes leave two bits of the last character unused; a line that has them set is damaged too.
            var canonical = bytes.base64EncodedData()
            defer { canonical.wipe() }
            guard canonical == word else { continue }
            let key = SymmetricKey(data: bytes)
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    private static func checksum(_ bytes: Data) -> String {
        SHA256.hash(data: bytes).prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
