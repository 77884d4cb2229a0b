internal import Crypto
internal import PosixFiles
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The way from the key sources to the store's key.
struct KeyRing {
    let directory: String
    var settings: KeySettings

    enum Outcome {
        case open(StoreKeys, WrappedKey)
        /// The source cannot be asked now; it may be later.
        case locked(TokenError, KeySource)
        /// There is a key, or none any more, and it is not the one that this store was sealed with.
        case wrong(String)
    }

    /// Tries the wrapped keys, the latest first.
    func open(_ wrapped: [WrappedKey]) -> Outcome {
        var locked: (TokenError, KeySource)?
        var reason = "no wrapped key could be found in it"
        for key in wrapped.sorted(by: { $0.generation > $1.generation }) {
            do throws(TokenError) {
                switch try existing(key.source, key.scrypt) {
                case .key(let wrapping):
                    if let keys = key.open(with: wrapping) { return .open(keys, key) }
                    reason = "the key (\(key.source.name)) is not the one that it was sealed with"
                    // Somebody mistyped: no reason to give up the store.
                    if key.source == .passphrase { locked = locked ?? (Self.wrongPassphrase, key.source) }
                case .damaged: reason = "the key file \(keyFile.path) is damaged"
                case .missing where key.source == .secretService: throw secretTool.unavailable
                case .missing: reason = "the key file \(keyFile.path) is missing"
                }
            } catch {
                locked = locked ?? (error, key.source)
            }
        }
        return locked.map { .locked($0.0, $0.1) } ?? .wrong(reason)
    }

    /// A new wrapping of `keys`, with what the source has or, where it has none, what it is now given.
    ///
    /// - Parameter old: the source that has wrapped them so far.
    func wrap(
        _ keys: StoreKeys, with source: KeySource, generation: Int64, after old: KeySource? = nil
    ) throws(TokenError) -> WrappedKey {
        let scrypt = source == .passphrase ? Scrypt.fresh() : nil
        let wrapping: SymmetricKey
        if case .key(let key) = try existing(source, scrypt) {
            wrapping = key
        } else if source == .secretService, old == source {
            // A keyring that does not answer may hold the very key that is in use: it must not get another in its place.
            throw secretTool.unavailable
        } else {
            wrapping = SymmetricKey(size: .bits256)
            if source == .file { try keyFile.write(wrapping) } else { try secretTool.write(wrapping) }
        }
        return try WrappedKey(keys, generation: generation, source: source, scrypt: scrypt, with: wrapping)
    }

    /// Where a new store's key goes: the credential, where the service manager gives one, else the file.
    var usualSource: KeySource {
        guard let path = credentialPath, FileManager.default.fileExists(atPath: path) else { return .file }
        return .credential
    }

    /// Takes back what a source was given, once it is no longer the one in use.
    func retire(_ source: KeySource) throws(TokenError) {
        switch source {
        case .file: PrivateFiles.store.remove(keyFile.path)
        case .secretService: try secretTool.clear()
        case .credential, .passphrase: break
        }
    }

    /// Where the source keeps its key, for people.
    func place(of source: KeySource) -> String {
        switch source {
        case .file: keyFile.path
        case .credential: credentialPath ?? "$CREDENTIALS_DIRECTORY/\(Self.credentialName)"
        case .secretService: "the Secret Service (\(settings.secretTool))"
        case .passphrase: "nowhere: it is asked for after each start"
        }
    }

    var keyFile: KeyFile { KeyFile(in: directory) }

    private var secretTool: SecretTool { SecretTool(program: settings.secretTool, store: directory) }

    private var credentialPath: String? { settings.credentialsDirectory.map { "\($0)/\(Self.credentialName)" } }

    /// The source's key.
    ///
    /// - Throws: `storeUnavailable` when the source cannot be asked.
    private func existing(_ source: KeySource, _ scrypt: Scrypt?) throws(TokenError) -> KeyFile.Contents {
        switch source {
        case .file: return try keyFile.read()
        case .credential: return .key(try credential())
        case .secretService: return try secretTool.read().map(KeyFile.Contents.key) ?? .missing
        case .passphrase:
            guard let passphrase = settings.passphrase, let scrypt else {
                throw TokenError(.storeUnavailable, "the store is locked with a passphrase; run: ssoctl unlock")
            }
            return .key(try scrypt.key(from: passphrase))
        }
    }

    /// The credential's bytes, whatever they are, made into a key.
    private func credential() throws(TokenError) -> SymmetricKey {
        guard let path = credentialPath else {
            throw TokenError(
                .storeUnavailable,
                "the store's key is a credential of the service manager's, and $CREDENTIALS_DIRECTORY is not set; "
                    + "start the agent as the service that has it")
        }
        guard var bytes = try PrivateFiles.store.read(path, limit: 1 << 20), bytes.count >= 16 else {
            throw TokenError(
                .storeUnavailable, "the store's key is missing: \(path) has to hold 16 bytes or more, at random")
        }
        defer { bytes.wipe() }
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: bytes), info: Data("sso-agent credential".utf8), outputByteCount: 32)
    }

    static let credentialName = "sso-agent.key"
    private static let wrongPassphrase = TokenError(
        .storeUnavailable, "this is not the passphrase that the store is locked with; run: ssoctl unlock")
}
