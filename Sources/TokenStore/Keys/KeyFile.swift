internal import Crypto
internal import PosixFiles
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The wrapping key in a file of mode 0600 beside the database. The file has the key twice, so that a damaged byte does not
/// lose it.
struct KeyFile {
    static let name = "cache.key"
    let path: String

    init(in directory: String) { path = "\(directory)/\(Self.name)" }

    enum Contents {
        case key(SymmetricKey)
        case damaged
        case missing
    }

    func read() throws(TokenError) -> Contents {
        guard var bytes = try PrivateFiles.store.read(path, limit: 4096) else { return .missing }
        defer { bytes.wipe() }
        return KeyText.key(in: bytes).map(Contents.key) ?? .damaged
    }

    /// Replaces the file by one with `key`.
    func write(_ key: SymmetricKey) throws(TokenError) {
        var line = KeyText.bytes(of: key)
        defer { line.wipe() }
        // An empty line separates the two copies, so that no byte belongs to both.
        var text: [UInt8] = []
        text.reserveCapacity(2 * line.count + 3)
        defer { text.wipe() }
        text += line
        text += "\n\n".utf8
        text += line
        text += "\n".utf8
        try PrivateFiles.store.replace(path, with: text)
    }
}

/// The format of a wrapping key: a line of text with a checksum, which shows whether it is damaged.
struct KeyText {
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

    /// The key of the first undamaged line; nil if there is none.
    static func key(in text: [UInt8]) -> SymmetricKey? {
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
            return SymmetricKey(data: bytes)
        }
        return nil
    }

    private static func checksum(_ bytes: Data) -> String {
        SHA256.hash(data: bytes).prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
