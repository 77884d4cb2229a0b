internal import Crypto
internal import TokenModel

/// The wrapping key in a file of mode 0600 beside the store. It holds the key twice: one flipped bit loses nothing.
struct KeyFile {
    static let name = "cache.key"
    let path: String

    init(in directory: String) { path = "\(directory)/\(Self.name)" }

    var exists: Bool { StoreFiles.size(of: path) != nil }

    enum Contents {
        case key(SymmetricKey)
        case damaged
        case missing
    }

    func read() throws(TokenError) -> Contents {
        guard let bytes = try StoreFiles.read(path, limit: 4096) else { return .missing }
        return KeyText.key(in: bytes).map(Contents.key) ?? .damaged
    }

    /// Writes a key, all at once.
    func write(_ key: SymmetricKey) throws(TokenError) {
        // With an empty line between, so that no one byte belongs to both.
        let line = KeyText.line(key) + "\n"
        try StoreFiles.write(Array((line + "\n" + line).utf8), to: path)
    }
}
