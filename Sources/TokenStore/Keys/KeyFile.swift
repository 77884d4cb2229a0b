internal import Crypto
internal import PosixFiles
internal import TokenModel

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

/// An empty file beside the database, while the keyring may have a key that the store does not need. The keyring is not asked for one: it
/// could ask its user for a password at each start.
struct KeyringMark {
    static let name = "cache.keyring"
    let path: String

    init(in directory: String) { path = "\(directory)/\(Self.name)" }

    var exists: Bool { PrivateFiles.store.exists(path) }

    /// Writes the file, before the keyring is changed.
    func write() throws(TokenError) { try PrivateFiles.store.replace(path, with: []) }

    /// Removes the file. If that fails, the next start finds that the keyring has no such key.
    func remove() { try? PrivateFiles.store.delete(path) }
}
