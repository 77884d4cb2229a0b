internal import Crypto
internal import PosixFiles
internal import TokenModel

/// The wrapping key in a file of mode 0600 beside the store. It holds the key twice: one flipped bit loses nothing.
struct KeyFile {
    static let name = "cache.key"
    let path: String

    init(in directory: String) { path = "\(directory)/\(Self.name)" }

    var exists: Bool { PrivateFiles.store.size(of: path) != nil }

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

    /// Writes a key, all at once.
    func write(_ key: SymmetricKey) throws(TokenError) {
        var line = KeyText.bytes(of: key)
        defer { line.wipe() }
        // With an empty line between, so that no one byte belongs to both.
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
