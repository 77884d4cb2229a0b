internal import PosixFiles
internal import TokenModel

extension StoreEngine {
    /// Reads the key from its source again, if that needs no user, and returns the error that the next start would have.
    func keyProblem() -> TokenError? {
        guard keys != nil, let wrapped, wrapped.source == .file || wrapped.source == .credential else { return nil }
        switch ring.open([wrapped]) {
        case .open: return nil
        case .locked(let error, _): return error
        case .wrong(let reason):
            return TokenError(.storeUnavailable, "\(reason); the store cannot be opened without it")
        }
    }

    /// Wraps the store's key with the key of another source.
    func changeKeySource(
        to source: KeySource, passphrase: Secret?, currentPassphrase: Secret?
    ) throws(TokenError) {
        guard let keys, let old = wrapped else { throw lockedError }
        try requirePassphrase(of: old, currentPassphrase)
        try requireRetirable(old.source, for: source)
        let database = try writableDatabase(keys.derived())
        var next = ring
        next.settings.passphrase = passphrase
        let key = try next.wrap(keys, with: source, generation: old.generation + 1, after: old.source)
        try database.rewrap(key)
        // The change is durable from here on, even if the rest fails.
        wrapped = key
        report.keySource = source
        report.keyPlace = ring.place(of: source)
        truncateLog()
        guard old.source != source, (try? ring.retire(old.source)) == nil else { return }
        report.notices.append("\(ring.place(of: old.source)) still has the previous key; remove it")
    }

    /// Refuses to change the key of a store that is sealed with a passphrase for a caller that does not know it.
    ///
    /// After a wrong passphrase, the next attempts fail without a check, which would keep commits waiting.
    private func requirePassphrase(of key: WrappedKey, _ passphrase: Secret?) throws(TokenError) {
        guard key.source == .passphrase, let scrypt = key.scrypt else { return }
        guard let passphrase, !passphrase.isEmpty else {
            throw TokenError(
                .requestDenied, "the store is sealed with a passphrase; its key is changed only with that passphrase")
        }
        let now = options.now()
        if let last = lastWrongPassphrase, abs(now - last) < Self.secondsBetweenPassphrases {
            throw TokenError(
                .requestDenied,
                "the last passphrase was wrong; try again in \(Self.secondsBetweenPassphrases) seconds")
        }
        guard key.open(with: try scrypt.key(from: passphrase)) != nil else {
            lastWrongPassphrase = now
            throw TokenError(.requestDenied, "this is not the passphrase that the store is sealed with")
        }
        lastWrongPassphrase = nil
    }

    /// Refuses to retire a source whose key a quarantined file may need.
    private func requireRetirable(_ old: KeySource, for new: KeySource) throws(TokenError) {
        guard old != new, old == .file || old == .secretService, let file = paths.quarantined.first else { return }
        throw TokenError(
            .storeUnavailable,
            "\(paths.directory)/\(file) is in quarantine and can be opened only with the key from \(ring.place(of: old)); "
                + "delete it, or move it elsewhere together with that key, then run this again")
    }
}
