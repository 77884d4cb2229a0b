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

    /// Forgets the key, the passphrase and the ledger, and closes the database. `load` opens them again.
    func lock() throws(TokenError) {
        guard keys != nil else { return }
        guard pending?.records == nil, !isReplacing else {
            throw report.writeError
                ?? TokenError(.storeUnavailable, "the store has records that are not written to \(paths.directory) yet")
        }
        (keys, database, pending, ledger) = (nil, nil, nil, StoreLedger())
        ring.settings.passphrase = nil
        isLocked = true
        report.phase = .locked(TokenError(.storeUnavailable, "the store was locked; run: ssoctl unlock"))
    }

    /// Wraps the store's key with the key of another source.
    func changeKeySource(to source: KeySource, passphrase: Secret?) throws(TokenError) {
        guard let keys, let old = wrapped else { throw lockedError }
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

    /// Refuses to retire a source whose key a quarantined file may need.
    private func requireRetirable(_ old: KeySource, for new: KeySource) throws(TokenError) {
        guard old != new, old == .file || old == .secretService, let file = paths.quarantined.first else { return }
        throw TokenError(
            .storeUnavailable,
            "\(paths.directory)/\(file) is in quarantine and can be opened only with the key from \(ring.place(of: old)); "
                + "delete it, or move it elsewhere together with that key, then run this again")
    }
}
