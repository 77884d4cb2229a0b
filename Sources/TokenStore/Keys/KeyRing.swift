internal import Crypto
internal import PosixFiles
package import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Wraps and opens the store's key with the keys of the key sources.
struct KeyRing: Sendable {
    let directory: String
    var settings: KeySettings
    let keyring = KeyringActivity()

    /// The store's key and how it is wrapped.
    struct Opened {
        let keys: StoreKeys
        let wrapped: WrappedKey
        let wrapping: Wrapping
    }

    /// The key of a source.
    struct Wrapping {
        let source: KeySource
        let key: SymmetricKey
        /// The parameters of the passphrase's derivation; nil for other sources.
        var scrypt: Scrypt?
        /// Whether the source has this key only, and has it for a sealed store.
        var isSettled = true
        /// Whether the keyring has just saved this key, and no other one, so that `settle` need not save it again: KeePassXC asks its user
        /// before it replaces a key.
        var isOnlyOneSaved = false
    }

    enum Outcome {
        case open(Opened)
        /// The source cannot be read now, or is not the required one.
        case locked(TokenError, KeySource)
        /// The source has no key, or another one than the store was sealed with.
        case wrong(StoreDefect)
    }

    /// The maximum number of different wrapped keys that are tried. A store has two; a file that was made for it could have
    /// thousands, and each costs as much as a passphrase.
    private static let maximumTried = 16

    /// Opens one of the wrapped keys, the latest first.
    func open(_ wrapped: [WrappedKey]) -> Outcome {
        var locked: (TokenError, KeySource)?
        var defect = StoreDefect(reason: "no wrapped key could be found in it")
        var tried: [WrappedKey] = []
        for key in wrapped.sorted(by: { $0.generation > $1.generation })
        where tried.count < Self.maximumTried && !tried.contains(key) {
            tried.append(key)
            do throws(TokenError) {
                if let required = settings.required, required != key.source {
                    throw Self.notRequired(key.source, required)
                }
                switch try readKey(of: key.source, key.scrypt) {
                case .keys(let found, let isSettled):
                    for wrappingKey in found {
                        guard let keys = key.open(with: wrappingKey) else { continue }
                        let wrapping = Wrapping(
                            source: key.source, key: wrappingKey, scrypt: key.scrypt, isSettled: isSettled)
                        return .open(Opened(keys: keys, wrapped: key, wrapping: wrapping))
                    }
                    defect = StoreDefect(
                        reason: "the key (\(key.source.name)) is not the one that it was sealed with",
                        neededKey: "the key\(key.source == .file ? " file" : "") of that time")
                    // The user may have mistyped the passphrase: the store is not replaced.
                    if key.source == .passphrase { locked = locked ?? (Self.wrongPassphrase, key.source) }
                    // Another keyring, which is locked, may have the key.
                    if key.source == .secretService { locked = locked ?? (.wrongKeyInKeyring, key.source) }
                case .damaged:
                    defect = StoreDefect(
                        reason: "the key file \(keyFile.path) is damaged",
                        neededKey: "an undamaged copy of its key file")
                case .missing where key.source == .secretService: throw .keyringUnavailable
                case .missing:
                    defect = StoreDefect(reason: "the key file \(keyFile.path) is missing", neededKey: "its key file")
                }
            } catch {
                locked = locked ?? (error, key.source)
            }
        }
        return locked.map { .locked($0.0, $0.1) } ?? .wrong(defect)
    }

    /// The key of a source for a new store. A source without a key gets one, which is not settled yet.
    func wrapping(of source: KeySource) throws(TokenError) -> Wrapping {
        let scrypt = source == .passphrase ? Scrypt.random() : nil
        if case .keys(let keys, let isSettled) = try readKey(of: source, scrypt), let key = keys.first {
            return Wrapping(source: source, key: key, scrypt: scrypt, isSettled: isSettled)
        }
        return try newWrapping(of: source, beside: nil)
    }

    /// A new key of a source, for a store that is sealed already.
    ///
    /// - Parameters:
    ///   - old: the key in use, if it is stored. If it has the same source, the source has both until `settle`.
    ///   - scrypt: the parameters for a passphrase; nil for the usual ones.
    func wrapping(of source: KeySource, after old: Wrapping?, scrypt: Scrypt?) throws(TokenError) -> Wrapping {
        switch source {
        case .file, .secretService: return try newWrapping(of: source, beside: old)
        case .credential, .passphrase:
            let scrypt = source == .passphrase ? scrypt ?? Scrypt.random() : nil
            guard case .keys(let keys, _) = try readKey(of: source, scrypt), let key = keys.first else {
                throw TokenError(.storeUnavailable, "there is no key at \(place(of: source))")
            }
            return Wrapping(source: source, key: key, scrypt: scrypt)
        }
    }

    private func newWrapping(of source: KeySource, beside old: Wrapping?) throws(TokenError) -> Wrapping {
        if source == .secretService {
            return try keyring.exclusively { () throws(TokenError) in try newWrappingInKeyring(beside: old) }
        }
        let new = Wrapping(source: source, key: SymmetricKey(size: .bits256), isSettled: false)
        if source == .file { try keyFile.write([new.key] + storedKeys(of: old, in: source), isSettled: false) }
        return new
    }

    /// A new key of the keyring, which has both until `settle` if it also has the old one. Called on the keyring's queue.
    func newWrappingInKeyring(beside old: Wrapping?) throws(TokenError) -> Wrapping {
        var new = Wrapping(source: .secretService, key: SymmetricKey(size: .bits256), isSettled: false)
        let wasMarked = keyringMark.exists
        if old?.source == .secretService {
            // A keyring that does not answer may have the key that is in use, which must not be replaced.
            if try secretTool.read().isEmpty { throw .keyringRefusal }
        } else if !wasMarked, try secretTool.itemCount() > 0 {
            // It would be replaced.
            throw .keyOfAnotherStore(directory)
        }
        let keys = [new.key] + storedKeys(of: old, in: .secretService)
        try keyringMark.write()
        do throws(TokenError) {
            try secretTool.write(keys)
            // A later start could find another one.
            guard try secretTool.itemCount() <= 1 else { throw .severalKeysInKeyring }
            guard try secretTool.read() == keys else { throw .keyringLoss }
        } catch {
            // Nothing is sealed with a key that the keyring may have nevertheless. One that it has is deleted by the next start.
            if !wasMarked, (try? secretTool.itemCount()) != 1 { keyringMark.remove() }
            throw error
        }
        new.isOnlyOneSaved = keys.count == 1
        return new
    }

    private func storedKeys(of wrapping: Wrapping?, in source: KeySource) -> [SymmetricKey] {
        wrapping.map { $0.source == source ? [$0.key] : [] } ?? []
    }

    /// Makes `current` the only key of its source. In the keyring this only begins, and reports by itself if it fails.
    func settle(_ current: Wrapping) throws(TokenError) {
        switch current.source {
        case .file: try keyFile.write([current.key], isSettled: true)
        case .secretService:
            let (secretTool, keyringMark) = (secretTool, keyringMark)
            keyring.start(orReport: "\(place(of: .secretService)) still has the previous key, too") {
                () throws(TokenError) in
                if !current.isOnlyOneSaved { try secretTool.write([current.key]) }
                keyringMark.remove()
            }
        case .credential, .passphrase: break
        }
    }

    /// Marks the key of a source as one that the store may not need any more, before the key comes from another source.
    func unsettle(_ current: Wrapping) throws(TokenError) {
        switch current.source {
        case .file: try keyFile.write([current.key], isSettled: false)
        case .secretService: try keyringMark.write()
        case .credential, .passphrase: break
        }
    }

    /// Whether the source is a place in which the agent stores keys, and may have one. The keyring is not asked.
    ///
    /// - Parameter isInUse: whether the key of the store comes from the source.
    func mayHaveStoredKey(_ source: KeySource, isInUse: Bool) -> Bool {
        switch source {
        case .file: if case .keys? = try? keyFile.read() { true } else { false }
        case .secretService: isInUse || keyringMark.exists
        case .credential, .passphrase: false
        }
    }

    /// The source for a new store: the service manager's credential if there is one, else the key file.
    var defaultSource: KeySource {
        settings.required ?? (hasCredential ? .credential : .file)
    }

    private var hasCredential: Bool { credentialPath.map { FileManager.default.fileExists(atPath: $0) } ?? false }

    /// Deletes the key of a source that is not in use any more. The deletion of one in the keyring only begins, and reports by itself if it
    /// fails.
    func retire(_ source: KeySource) throws(TokenError) {
        switch source {
        case .file: try PrivateFiles.store.delete(keyFile.path)
        case .secretService:
            let (secretTool, keyringMark) = (secretTool, keyringMark)
            let problem = "\(place(of: source)) still has the previous key; unlock the keyring, and restart the agent"
            keyring.startDeletion(orReport: problem) { () throws(TokenError) in
                // An earlier use may have removed it.
                try? keyringMark.write()
                try secretTool.clear()
                keyringMark.remove()
            }
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

    // MARK: Downgrades

    /// The reason why a store that is not sealed is not accepted; nil if the user has asked for it, and nothing says that there was a sealed
    /// one before it. Whoever may write to the folder can remove `cache.key`, so that its absence proves nothing.
    var refusalOfUnsealed: String? {
        if let required = settings.required {
            return "it is not sealed, and the agent was started with --require-key-source \(required.name)"
        }
        if hasCredential { return "it is not sealed, and there is a credential; to seal it, start once without" }
        if hasSettledKeyFile { return "it is not sealed, and \(keyFile.path) belongs to a sealed store" }
        if settings.acceptsUnsealed { return nil }
        return "it is not sealed, so that anyone who may write to \(directory) can have made it; "
            + "docs/store.md says how to use it"
    }

    /// Whether the key file belongs to a sealed store, which is or was there.
    var hasSettledKeyFile: Bool {
        switch try? keyFile.read() {
        case .keys(_, let isSettled): isSettled
        case .damaged: true
        case .missing, nil: false
        }
    }

    /// The sources whose key may have been written for a change that was interrupted, or was to be deleted after one.
    var unsettledSources: [KeySource] {
        var sources: [KeySource] = keyringMark.exists ? [.secretService] : []
        if case .keys(_, let isSettled)? = try? keyFile.read(), !isSettled { sources.append(.file) }
        return sources
    }

    private static func notRequired(_ source: KeySource, _ required: KeySource) -> TokenError {
        TokenError(
            .storeUnavailable,
            "the store's key comes from another source (\(source.name)) than the agent requires (\(required.name)); "
                + "if that is intended, start it once without --require-key-source",
            .and("ssoctl key set \(required.name)"))
    }

    /// The error for a change to a source that is not the required one; nil if it is allowed.
    func refusal(of source: KeySource) -> TokenError? {
        guard let required = settings.required, required != source else { return nil }
        return TokenError(
            .storeUnavailable, "the agent was started with --require-key-source \(required.name), and takes no other")
    }

    // MARK: Reading

    var keyFile: KeyFile { KeyFile(in: directory) }

    /// The mark of a keyring that may have a key that the store does not need.
    var keyringMark: KeyringMark { KeyringMark(in: directory) }

    private var secretTool: SecretTool {
        SecretTool(program: settings.secretTool, store: directory, helper: settings.helper, activity: keyring)
    }

    private var credentialPath: String? { settings.credentialsDirectory.map { "\($0)/\(Self.credentialName)" } }

    /// Reads the key of a source.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the source cannot be read now.
    private func readKey(of source: KeySource, _ scrypt: Scrypt?) throws(TokenError) -> KeyFile.Contents {
        switch source {
        case .file: return try keyFile.read()
        case .credential: return .keys([try credential()], isSettled: true)
        case .secretService:
            let keys = try keysInKeyring()
            return keys.isEmpty ? .missing : .keys(keys, isSettled: keys.count == 1)
        case .passphrase:
            guard let passphrase = settings.passphrase, let scrypt else {
                throw Self.missingPassphrase
            }
            return .keys([try scrypt.key(from: passphrase)], isSettled: true)
        }
    }

    private func keysInKeyring() throws(TokenError) -> [SymmetricKey] {
        try keyring.exclusively { () throws(TokenError) in try secretTool.read() }
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
    static let missingPassphrase = TokenError(
        .storeUnavailable, "the store is locked with a passphrase", .run("ssoctl unlock"), reason: .locked)
    static let wrongPassphrase = TokenError(
        .storeUnavailable,
        "this is not the passphrase that the store is locked with; “ssoctl unlock --help” says what to do if it is forgotten",
        .run("ssoctl unlock"), reason: .locked)
}

/// The settings of the key sources.
package struct KeySettings: Sendable {
    /// `$CREDENTIALS_DIRECTORY`, in which a service manager stores secrets; nil if it is not set.
    package var credentialsDirectory: String?
    /// The path or name of the program that accesses the Secret Service.
    package var secretTool: String
    /// The process that runs the program; nil if the agent runs it itself.
    package var helper: KeyringHelper?
    /// The passphrase, if the user has entered it.
    package var passphrase: Secret?
    /// The only source that is accepted; nil if any is.
    package var required: KeySource?
    /// Whether a store that is not sealed is sealed and used; otherwise it is moved to quarantine.
    package var acceptsUnsealed: Bool

    package init(
        credentialsDirectory: String? = nil, secretTool: String = "secret-tool", passphrase: Secret? = nil,
        required: KeySource? = nil, acceptsUnsealed: Bool = false
    ) {
        self.credentialsDirectory = credentialsDirectory
        self.secretTool = secretTool
        self.passphrase = passphrase
        self.required = required
        self.acceptsUnsealed = acceptsUnsealed
    }
}

/// The defect of the files of a store that cannot be opened.
struct StoreDefect: Sendable {
    /// In words that can follow “the store cannot be opened”.
    var reason: String
    /// The key with which the store can be opened, in words for a remedy; nil if no key helps.
    var neededKey: String?
}
