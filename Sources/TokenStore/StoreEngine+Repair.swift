internal import PosixFiles
internal import TokenModel

extension StoreEngine {
    /// Everything in the files that looks like an envelope.
    func envelopes(_ log: WriteAheadLog, all: Bool) throws(TokenError) -> [Envelope] {
        StoreImage(database: try PrivateFiles.store.read(paths.current) ?? [], log: log, all: all).envelopes()
    }

    /// What is genuine in the files: as SQLite sees them, or with the commits that it does not see; where neither is
    /// complete, the later of what is in either.
    func findings(_ log: WriteAheadLog, _ derived: StoreKeys.Derived) throws(TokenError) -> StoreFindings {
        let visible = try envelopes(log, all: false)
        var seen = StoreFindings(visible, derived)
        guard log.hidesCommits else { return seen }
        let hidden = try envelopes(log, all: true)
        let all = StoreFindings(hidden, derived)
        guard all.ledger.state.counter > seen.ledger.state.counter else {
            seen.isLatest = all.state != nil
            return seen
        }
        if all.isComplete { return all }
        return all.completed(from: seen, derived) ?? StoreFindings(visible + hidden, derived)
    }

    /// Goes on with what was found, in a new file; the old one goes into quarantine as soon as the disk allows.
    func repair(
        _ found: StoreFindings, _ derived: StoreKeys.Derived, _ reason: String
    ) throws(TokenError) -> [StoredRecord] {
        report.notices.append("\(paths.database) was damaged (\(reason)): \(found.outcome)")
        ledger = found.ledger
        // Should it be closed before it has been put aside, its log is to stay.
        database?.connection.keepLog(true)
        pending = .rebuild(found.records.values.map(\.sealed).sorted { $0.sequence < $1.sequence })
        // What cannot be written now is served all the same, and written with the next commit.
        _ = try? writable(derived)
        return found.stored
    }

    /// Begins with nothing, a new key included; what was there goes into quarantine.
    func startAnew(_ reason: String?) throws(TokenError) -> [StoredRecord] {
        if let reason {
            let isKeyDamaged = if case .damaged? = try? ring.keyFile.read() { true } else { false }
            let name = try paths.quarantine(isKeyDamaged ? [ring.keyFile.path] : [], now: options.now())
            report.notices.append(
                "the store cannot be opened (\(reason)); it is kept as \(name). A new one was begun, and its key comes from "
                    + "\(ring.place(of: ring.usualSource)); to change that, run: ssoctl key set")
        } else {
            // Nothing has ever been written to it.
            PrivateFiles.store.remove(paths.database)
        }
        database = nil
        let fresh = StoreKeys.random()
        wrapped = try ring.wrap(fresh, with: ring.usualSource, generation: 1)
        keys = fresh
        ledger = StoreLedger()
        pending = .rebuild([])
        _ = try? writable(fresh.derived())
        return []
    }

    /// Does what has to be done before anything can be written.
    func finishPending(_ derived: StoreKeys.Derived) throws(TokenError) {
        guard let pending, let wrapped else { return }
        switch pending {
        case .seal(let unsealed, let plan):
            database = try unsealed.seal(plan, try ledger.state.sealed(derived), wrapped)
            unsealed.connection.keepLog(false)
            cutLog()
        case .rebuild(let records):
            try replace(with: records, try ledger.state.sealed(derived), wrapped)
            self.pending = nil
            database = nil
            report.quarantined = paths.quarantined
            database = try StoreDatabase(try connect())
        case .cutLog: cutLog()
        }
    }

    /// Leaves nothing in the log; where the disk does not allow that now, the next commit tries again.
    private func cutLog() {
        do throws(TokenError) {
            try database?.connection.cutLog()
            pending = nil
        } catch {
            pending = .cutLog
        }
    }

    /// Puts a new file in the database's place, and what is there in quarantine.
    private func replace(with records: [SealedRecord], _ state: Envelope, _ key: WrappedKey) throws(TokenError) {
        // What an earlier run began comes first; what this one began holds these records already.
        _ = try paths.finishReplacing(now: options.now())
        if isReplacing {
            isReplacing = false
            return
        }
        try build(records, state, key)
        defer { isReplacing = paths.isReplacing }
        try PrivateFiles.store.move(paths.draft, to: paths.replacement)
        _ = try paths.finishReplacing(now: options.now())
    }

    /// Makes a whole new file, and closes it.
    private func build(
        _ records: [SealedRecord], _ state: Envelope, _ key: WrappedKey
    ) throws(TokenError) {
        for path in [paths.draft + "-wal", paths.draft + "-journal"] { PrivateFiles.store.remove(path) }
        try PrivateFiles.store.makeEmpty(paths.draft)
        let draft = try StoreDatabase.create(try StoreDatabase.connect(paths.draft, vfs: options.vfs))
        try draft.transaction { () throws(TokenError) in try draft.fill(records, state, key) }
        try draft.connection.cutLog()
    }

    /// Wraps the store's key with another source's.
    func changeKeySource(to source: KeySource, passphrase: Secret?) throws(TokenError) {
        guard let keys, let old = wrapped else { throw lockedError }
        try refuseToTakeBack(old.source, for: source)
        let database = try writable(keys.derived())
        var next = ring
        next.settings.passphrase = passphrase
        let key = try next.wrap(keys, with: source, generation: old.generation + 1, after: old.source)
        try database.rewrap(key)
        // From here on it is so, whatever else fails.
        wrapped = key
        report.keySource = source
        report.keyPlace = ring.place(of: source)
        cutLog()
        guard old.source != source, (try? ring.retire(old.source)) == nil else { return }
        report.notices.append("\(ring.place(of: old.source)) still holds the key that is used no more; take it out")
    }

    /// A file in quarantine may open with nothing but the key that the old source has.
    private func refuseToTakeBack(_ old: KeySource, for new: KeySource) throws(TokenError) {
        guard old != new, old == .file || old == .secretService, let file = paths.quarantined.first else { return }
        throw TokenError(
            .storeUnavailable,
            "\(paths.directory)/\(file) was put aside and opens only with the key from \(ring.place(of: old)); delete it, "
                + "or move it elsewhere with that key, then run this again")
    }
}

extension StoreFindings {
    /// The records, in the order in which they were written.
    var stored: [StoredRecord] {
        records.values.sorted { $0.sealed.sequence < $1.sealed.sequence }.compactMap(\.opened.record)
    }
}
