internal import TokenModel

/// The change of the store's key.
///
/// A change makes a new data key and seals every record under it, so that a copy of the folder and its key from before the change
/// opens nothing that is written after it. It is one transaction. The key of the old source is deleted when the log is empty: until
/// then a damaged log could bring the old records back, which need it.
extension StoreEngine {
    /// The work at the key sources that waits until the log is empty.
    struct Settlement {
        /// The key that becomes the only one of its source; nil if there is none.
        var current: KeyRing.Wrapping?
        /// The sources whose keys are deleted.
        var retired: [KeySource] = []
    }

    /// Reads the key from its source again, if that needs no user, and returns the error that the next start would have. A database that
    /// has been removed or replaced is an error for any source.
    ///
    /// A database that could not be opened for writing is tried again first: what has kept it from that may have been mended, and a store
    /// without changes would be reported as unwritable until the next one.
    func keyProblem() -> TokenError? {
        guard let keys, let wrapped else { return nil }
        if report.writeError != nil, database == nil { _ = try? writableDatabase(keys.derived()) }
        // The key that is there now belongs to the files that are there, and not to those in use.
        if let displacement = database?.displacement { return displacement }
        guard wrapped.source == .file || wrapped.source == .credential else { return nil }
        switch ring.open([wrapped]) {
        case .open: return nil
        case .locked(let error, _): return error
        case .wrong(let defect):
            return TokenError(.storeUnavailable, "\(defect.reason); the store cannot be opened without it")
        }
    }

    /// Forgets the key, the passphrase and the ledger, and closes the database. `load` opens them again.
    func lock() throws(TokenError) {
        guard keys != nil else { return }
        guard pending?.records == nil, !isReplacing else {
            throw report.writeError
                ?? TokenError(.storeUnavailable, "the store has records that are not written to \(paths.directory) yet")
        }
        // A database without a name is gone when it is closed, and memory has the last copy of what was in it.
        if let displacement = database?.displacement { throw displacement }
        keyringChange = nil
        // Keys of an earlier change that are not needed any more are deleted first.
        if settlement != nil { truncateLog() }
        (keys, wrapping, database, pending, ledger) = (nil, nil, nil, nil, StoreLedger())
        ring.settings.passphrase = nil
        isLocked = true
        report.phase = .locked(.storeWasLocked)
    }

    /// A change of the key that waits for the keyring; an object, which is no other such change.
    final class KeyringChange: Sendable {
        private let ring: KeyRing
        private let old: KeyRing.Wrapping?

        fileprivate init(_ ring: KeyRing, _ old: KeyRing.Wrapping?) { (self.ring, self.old) = (ring, old) }

        /// Has the keyring save the new key. Called on the keyring's queue, after what has been asked of the keyring before the change.
        func makeWrapping() throws(TokenError) -> KeyRing.Wrapping { try ring.newWrappingInKeyring(beside: old) }
    }

    /// Changes the key for a caller, who has to know the passphrase if the store is sealed with one.
    ///
    /// - Returns: nil if the key has been changed; otherwise what the keyring has to do first, while the store goes on. `finishChange` does
    ///   the rest.
    func changeKeySource(
        to source: KeySource, passphrase: Secret?, currentPassphrase: Secret?
    ) throws(TokenError) -> KeyringChange? {
        // The keyring would replace the key of one of them by that of the other.
        guard keyringChange == nil else { throw .keyIsBeingChanged(source) }
        if keys != nil, let wrapped { try requirePassphrase(of: wrapped, currentPassphrase) }
        guard source == .secretService, keys != nil else {
            try changeKeySource(to: source, passphrase: passphrase)
            return nil
        }
        if let refusal = ring.refusal(of: source) { throw refusal }
        try prepareChange(to: source)
        let change = KeyringChange(ring, wrapping)
        keyringChange = change
        return change
    }

    /// Seals the store under a new key, and wraps that with the one that the keyring has saved.
    ///
    /// - Parameter made: what `makeWrapping` has returned.
    func finishChange(
        _ change: KeyringChange, _ made: Result<KeyRing.Wrapping, TokenError>
    ) throws(TokenError) {
        // The next load after a lock deletes the new key in the keyring, and may have done so.
        guard keyringChange === change else { throw .lockedDuringChange }
        keyringChange = nil
        let new = try made.get()
        do throws(TokenError) {
            try prepareChange()
        } catch {
            keepKey(insteadOf: .secretService)
            throw error
        }
        try sealAgain(with: new)
    }

    /// Seals the store under a new key, and wraps that with the key of a source, also if it is the present one. Creates the store if
    /// a required source has kept it from being created.
    ///
    /// - Parameter scrypt: the parameters for a passphrase; nil for the usual ones.
    func changeKeySource(to source: KeySource, passphrase: Secret?, scrypt: Scrypt? = nil) throws(TokenError) {
        if let refusal = ring.refusal(of: source) { throw refusal }
        if keys == nil, try createIfMissing(with: source, passphrase) { return }
        try prepareChange(to: source)
        var next = ring
        next.settings.passphrase = passphrase
        try sealAgain(with: try next.wrapping(of: source, after: wrapping, scrypt: scrypt))
    }

    /// Checks that the key can be changed, and ends earlier changes.
    ///
    /// - Parameter source: the source that is to get the new key; nil if it has got it already.
    private func prepareChange(to source: KeySource? = nil) throws(TokenError) {
        guard let keys, let old = wrapped else { throw lockedError }
        try requireRetirable([old.source, source].compactMap(\.self))
        // An earlier change that has failed may be in the log, complete. It must not come back after this one.
        let database = try writableDatabase(keys.derived())
        // A new key would take the place of the only one that opens what is there now, such as a backup.
        if let displacement = database.displacement { throw displacement }
        try database.connection.truncateLog()
        settle()
    }

    /// Seals the store under a new key, and wraps that with the new key of a source.
    private func sealAgain(with newWrapping: KeyRing.Wrapping) throws(TokenError) {
        guard let keys, let old = wrapped else { throw lockedError }
        let (source, before, fresh) = (newWrapping.source, keys.derived(), StoreKeys.random())
        let key = try WrappedKey(fresh, generation: old.generation + 1, with: newWrapping)
        do throws(TokenError) {
            // If the agent is killed after the commit, the next start deletes the key of the old source.
            if source != old.source, let wrapping { try ring.unsettle(wrapping) }
            let derived = fresh.derived()
            ledger = try repairing(before) { () throws(TokenError) in
                try sealAgain(in: try writableDatabase(before), from: before, to: derived, key)
            }
        } catch {
            keepKey(insteadOf: source)
            throw error
        }
        // The change is durable from here on, even if the rest fails.
        (self.keys, wrapped) = (fresh, key)
        use(newWrapping)
        report.keySource = source
        report.keyPlace = ring.place(of: source)
        if source != old.source { settlement = Settlement(current: settlement?.current, retired: [old.source]) }
        truncateLog()
        countChange()
    }

    /// Has the new key of a change that has failed deleted. The commit may have reached the disk nevertheless: the source has both keys until
    /// the log is empty.
    private func keepKey(insteadOf source: KeySource) {
        pending = pending ?? .truncateLog
        settlement = Settlement(current: wrapping, retired: source == wrapped?.source ? [] : [source])
    }

    /// Refuses to change the key of a store that is sealed with a passphrase for a caller that does not know it.
    ///
    /// After a wrong passphrase, the next attempts fail without a check, which would keep commits waiting.
    private func requirePassphrase(of key: WrappedKey, _ passphrase: Secret?) throws(TokenError) {
        guard key.source == .passphrase, let scrypt = key.scrypt else { return }
        guard let passphrase, !passphrase.isEmpty else {
            throw TokenError(
                .requestDenied, "the store is sealed with a passphrase; its key is changed only with that passphrase",
                reason: .request)
        }
        let now = options.now()
        if let last = lastWrongPassphrase, abs(now - last) < Self.secondsBetweenPassphrases {
            throw TokenError(
                .requestDenied,
                "the last passphrase was wrong; try again in \(Self.secondsBetweenPassphrases) seconds",
                reason: .request)
        }
        guard key.open(with: try scrypt.key(from: passphrase)) != nil else {
            lastWrongPassphrase = now
            throw TokenError(
                .requestDenied, "this is not the passphrase that the store is sealed with", reason: .request)
        }
        lastWrongPassphrase = nil
    }

    /// Seals every record under other keys in one transaction, and returns the new ledger.
    private func sealAgain(
        in database: StoreDatabase, from old: StoreKeys.Derived, to new: StoreKeys.Derived, _ key: WrappedKey
    ) throws(TokenError) -> StoreLedger {
        let last = ledger.state.counter
        var after = StoreLedger()
        after.continueNumbering(from: ledger.state)
        do throws(TokenError) {
            try database.transaction { () throws(TokenError) in
                var done: Int64 = 0
                while true {
                    let batch = try database.batch(after: done, upTo: last, limit: Self.batch)
                    guard !batch.isEmpty else { break }
                    let records = batch.compactMap(\.self)
                    var added: [SealedRecord] = []
                    for result in Self.resealed(records, behind: after.state.counter, from: old, to: new) {
                        guard let (record, group) = try result.get() else { break }
                        after.add(record, in: group, SetDigest(record.id, record.sequence, new), new)
                        added.append(record)
                    }
                    guard added.count == batch.count, let reached = records.last?.sequence else {
                        throw TokenError(.cacheBadFormat, "\(paths.database) has records that are damaged")
                    }
                    try database.replace(records, with: added)
                    done = reached
                }
                guard after.state.count == ledger.state.count else {
                    throw TokenError(.cacheBadFormat, "\(paths.database) has other records than were written")
                }
                try database.fill([], try after.state.sealed(new), key)
            }
        } catch {
            // The numbers may have reached the disk: they are not given out again.
            ledger.markUsed(upTo: after.state.counter)
            if error.code != .cacheBadFormat { report.writeError = error }
            throw error
        }
        report.writeError = nil
        return after
    }

    /// The records with another key, numbered from the number behind `last`; nil for one that is damaged.
    private static func resealed(
        _ records: [SealedRecord], behind last: Int64, from old: StoreKeys.Derived, to new: StoreKeys.Derived
    ) -> [Result<(record: SealedRecord, group: String)?, TokenError>] {
        Array(records.indices).concurrentMap { index in
            Result { () throws(TokenError) in
                try records[index].resealed(as: last + 1 + Int64(index), from: old, to: new)
            }
        }
    }

    /// Deletes the keys that are not needed any more. Called when the log is empty: commits in it may need them.
    func settle() {
        guard let settlement else { return }
        self.settlement = nil
        if let current = settlement.current, (try? ring.settle(current)) == nil {
            addNotice("\(ring.place(of: current.source)) still has the previous key, too")
        }
        for source in settlement.retired where (try? ring.retire(source)) == nil {
            addNotice("\(ring.place(of: source)) still has the previous key; remove it")
        }
    }

    /// Reports once what every load may find.
    func addNotice(_ notice: String) {
        if !report.notices.contains(notice) { report.notices.append(notice) }
    }

    /// Uses a key that has opened or created the store. If its source has another one, or the store is not known to be sealed, that
    /// is settled when the log is empty.
    func use(_ wrapping: KeyRing.Wrapping) {
        let isStored = wrapping.source == .file || wrapping.source == .secretService
        self.wrapping = isStored ? wrapping : nil
        // A later change saves another one beside it.
        self.wrapping?.isOnlyOneSaved = false
        // A change to this source has failed, and has reached the disk nevertheless: the store needs the key that was to be deleted.
        if settlement?.retired.contains(where: { $0 == wrapping.source }) == true { settlement = nil }
        if !wrapping.isSettled { settlement = Settlement(current: wrapping, retired: settlement?.retired ?? []) }
    }

    /// Creates the store, if there is none because the required source needs the user. Returns false if there is one.
    private func createIfMissing(with source: KeySource, _ passphrase: Secret?) throws(TokenError) -> Bool {
        guard uncreated != nil else { return false }
        // The files may be others than at the last attempt.
        uncreated = nil
        let found: [StoredRecord]? = try? load()
        guard found == nil, let uncreated else { return false }
        ring.settings.passphrase = passphrase
        defer { ring.settings.passphrase = nil }
        _ = try startEmpty(uncreated.defect, isAsked: true)
        self.uncreated = nil
        try refuseEarlierCopy()
        report.phase = .open
        report.keySource = source
        report.keyPlace = ring.place(of: source)
        report.quarantined = paths.quarantined
        return true
    }

    /// Refuses to replace a key that a quarantined file may need.
    private func requireRetirable(_ sources: [KeySource]) throws(TokenError) {
        guard let file = try paths.findQuarantined().first else { return }
        for source in sources where ring.mayHaveStoredKey(source, isInUse: wrapped?.source == source) {
            var error = TokenError(
                .storeUnavailable,
                "\(paths.directory)/\(file) is in quarantine and may need the key from \(ring.place(of: source)); "
                    + "delete it, or move it elsewhere together with that key, then run this again")
            error.details.saysRemedyInWords = true
            throw error
        }
    }

    /// The number of records in memory at a time.
    private static var batch: Int { 1024 }
}
