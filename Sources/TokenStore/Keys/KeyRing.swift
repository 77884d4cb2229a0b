internal import Crypto
internal import PosixFiles
package import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Wraps and opens the store's key with the keys of the key sources.
struct KeyRing {
    let directory: String
    var settings: KeySettings

    enum Outcome {
        case open(StoreKeys, WrappedKey)
        /// The source cannot be read now.
        case locked(TokenError, KeySource)
        /// The source has no key, or another one than the store was sealed with.
        case wrong(String)
    }

    /// The maximum number of different wrapped keys that are tried. A store has two; a file that was made for it could have
    /// thousands, and each costs as much as a passphrase.
    private static let mostTried = 16

    /// Opens one of the wrapped keys, the latest first.
    func open(_ wrapped: [WrappedKey]) -> Outcome {
        var locked: (TokenError, KeySource)?
        var reason = "no wrapped key could be found in it"
        var tried: [WrappedKey] = []
        for key in wrapped.sorted(by: { $0.generation > $1.generation })
        where tried.count < Self.mostTried && !tried.contains(key) {
            tried.append(key)
            do throws(TokenError) {
                switch try readKey(of: key.source, key.scrypt) {
                case .key(let wrapping):
                    if let keys = key.open(with: wrapping) { return .open(keys, key) }
                    reason = "the key (\(key.source.name)) is not the one that it was sealed with"
                    // The user may have mistyped the passphrase: the store is not replaced.
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

    /// Wraps `keys` with the key of the source. A source without a key gets a new one.
    ///
    /// - Parameter old: the current source; nil for a new store.
    func wrap(
        _ keys: StoreKeys, with source: KeySource, generation: Int64, after old: KeySource? = nil
    ) throws(TokenError) -> WrappedKey {
        let scrypt = source == .passphrase ? Scrypt.random() : nil
        let wrapping: SymmetricKey
        if case .key(let key) = try readKey(of: source, scrypt) {
            wrapping = key
        } else if source == .secretService, old == source {
            // A keyring that does not answer may have the key that is in use, which must not be replaced.
            throw secretTool.unavailable
        } else {
            wrapping = SymmetricKey(size: .bits256)
            if source == .file { try keyFile.write(wrapping) } else { try secretTool.write(wrapping) }
        }
        return try WrappedKey(keys, generation: generation, source: source, scrypt: scrypt, with: wrapping)
    }

    /// The source for a new store: the service manager's credential if there is one, else the key file.
    var defaultSource: KeySource {
        guard let path = credentialPath, FileManager.default.fileExists(atPath: path) else { return .file }
        return .credential
    }

    /// Deletes the key of a source that is not in use any more.
    func retire(_ source: KeySource) throws(TokenError) {
        switch source {
        case .file: PrivateFiles.store.remove(keyFile.path)
        case .secretService: try secretTool.clear()
        case .credential, .passphrase: break
        }
    }

    /// The place of the source's key, in words.
    func place(of source: KeySource) -> String {
        switch source {
        case .file: keyFile.path
        case .credential: credentialPath ?? "$CREDENTIALS_DIRECTORY/\(Self.credentialName)"
        case .secretService: "the Secret Service (\(settings.secretTool))"
        case .passphrase: "not stored: the passphrase is asked for after each start"
        }
    }

    var keyFile: KeyFile { KeyFile(in: directory) }

    private var secretTool: SecretTool { SecretTool(program: settings.secretTool, store: directory) }

    private var credentialPath: String? { settings.credentialsDirectory.map { "\($0)/\(Self.credentialName)" } }

    /// Reads the key of a source.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the source cannot be read now.
    private func readKey(of source: KeySource, _ scrypt: Scrypt?) throws(TokenError) -> KeyFile.Contents {
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

    /// Derives a key from the bytes of the credential.
    private func credential() throws(TokenError) -> SymmetricKey {
        guard let path = credentialPath else {
            throw TokenError(
                .storeUnavailable,
                "the store's key is a credential of the service manager, and $CREDENTIALS_DIRECTORY is not set; "
                    + "start the agent as the service that has the credential")
        }
        guard var bytes = try PrivateFiles.store.read(path, limit: 1 << 20), bytes.count >= 16 else {
            throw TokenError(
                .storeUnavailable, "the store's key is missing: \(path) must have at least 16 random bytes")
        }
        defer { bytes.wipe() }
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: bytes), info: Data("sso-agent credential".utf8), outputByteCount: 32)
    }

    static let credentialName = "sso-agent.key"
    private static let wrongPassphrase = TokenError(
        .storeUnavailable, "this is not the passphrase that the store is locked with; run: ssoctl unlock")
}

/// The settings of the key sources.
package struct KeySettings: Sendable {
    /// `$CREDENTIALS_DIRECTORY`, in which a service manager stores secrets; nil if it is not set.
    package var credentialsDirectory: String?
    /// The path or name of the program that accesses the Secret Service.
    package var secretTool: String
    /// The passphrase, if the user has entered it.
    package var passphrase: Secret?

    package init(
        credentialsDirectory: String? = nil, secretTool: String = "secret-tool", passphrase: Secret? = nil
    ) {
        self.credentialsDirectory = credentialsDirectory
        self.secretTool = secretTool
        self.passphrase = passphrase
    }
}
