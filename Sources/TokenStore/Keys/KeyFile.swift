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
///
/// While the key is being changed, the file has the new and the old one, and a line that marks it as unsettled.
struct KeyFile {
    static let name = "cache.key"
    let path: String
    private static let mark = "sso-agent-unsettled"

    init(in directory: String) { path = "\(directory)/\(Self.name)" }

    enum Contents {
        /// One key or, after an interrupted change, the new and the old one. `isSettled` is false from before a store is
        /// sealed until its log has nothing older any more.
        case keys([SymmetricKey], isSettled: Bool)
        case damaged
        case missing
    }

    func read() throws(TokenError) -> Contents {
        guard var bytes = try PrivateFiles.store.read(path, limit: 4096) else { return .missing }
        defer { bytes.wipe() }
        let keys = KeyText.keys(in: bytes)
        guard !keys.isEmpty else { return .damaged }
        let isMarked = bytes.split(separator: UInt8(ascii: "\n")).contains { $0.elementsEqual(Self.mark.utf8) }
        return .keys(keys, isSettled: !isMarked && keys.count == 1)
    }

    /// Replaces the file by one with `keys`.
    func write(_ keys: [SymmetricKey], isSettled: Bool) throws(TokenError) {
        var text: [UInt8] = []
        // An array that grows would leave copies of the keys in memory.
        text.reserveCapacity(256 * (keys.count + 1))
        defer { text.wipe() }
        for key in keys {
            var line = KeyText.bytes(of: key)
            defer { line.wipe() }
            // An empty line separates the copies, so that no byte belongs to both.
            if !text.isEmpty { text += "\n".utf8 }
            text += line
            text += "\n\n".utf8
            text += line
            text += "\n".utf8
        }
        if !isSettled { text += "\(Self.mark)\n".utf8 }
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
