internal import PosixFiles
internal import TokenModel

extension StoreEngine {
    /// Everything in the database and the log that looks like an envelope.
    func envelopes(_ log: WriteAheadLog, all: Bool) throws(TokenError) -> [Envelope] {
        StoreImage(database: try paths.read(paths.current), log: log, all: all).envelopes()
    }

    /// The authentic records of the files: those that SQLite sees or, if they are later, those with the commits that a
    /// damaged log hides. If neither set is complete, the latest version of each record.
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

    /// Continues with the records found, in a new database. The old one is moved to quarantine as soon as the disk can be
    /// written.
    func repair(
        _ found: StoreFindings, _ derived: StoreKeys.Derived, _ reason: String
    ) throws(TokenError) -> [StoredRecord] {
        report.notices.append("\(paths.database) was damaged (\(reason)): \(found.outcome)")
        ledger = found.ledger
        // If the database is closed before it is moved, SQLite must keep its log.
        database?.connection.keepLog(true)
        pending = .rebuild(found.records.values.map(\.sealed).sorted { $0.sequence < $1.sequence })
        // If this fails, the records are served all the same and written with the next commit.
        _ = try? writableDatabase(derived)
        return found.stored
    }

    /// Starts an empty store with a new key, and moves the existing files to quarantine.
    ///
    /// - Parameters:
    ///   - defect: what is wrong with the existing files; nil if there are none.
    ///   - isAsked: whether the user has asked for a new store. A required source that needs the user waits for that.
    func startEmpty(_ defect: StoreDefect?, isAsked: Bool = false) throws(TokenError) -> [StoredRecord] {
        try refuseUncounted(defect.map { "cannot be opened (\($0.reason))" } ?? "is missing")
        let source = ring.defaultSource
        if !isAsked, ring.settings.required != nil, source == .passphrase || source == .secretService {
            throw waitUntilAsked(defect, source)
        }
        let isMissing = defect == nil && ring.hasSettledKeyFile
        let fresh = StoreKeys.random()
        let isKeyDamaged = if case .damaged? = try? ring.keyFile.read() { true } else { false }
        // A damaged key file is moved before a new one is written.
        let newWrapping = isKeyDamaged ? nil : try ring.wrapping(of: source)
        if let defect {
            try setAside(defect, isKeyDamaged: isKeyDamaged, for: source)
        } else {
            try removeLeftovers(isMissing: isMissing, isKeyDamaged: isKeyDamaged)
        }
        database = nil
        let key = if let newWrapping { newWrapping } else { try ring.wrapping(of: source) }
        wrapped = try WrappedKey(fresh, generation: 1, with: key)
        use(key)
        keys = fresh
        ledger = StoreLedger()
        pending = .rebuild([])
        report.isNew = true
        _ = try? writableDatabase(fresh.derived())
        return []
    }

    /// Moves a store that cannot be opened into quarantine, and notes that for the user.
    ///
    /// - Parameter source: that of the new store's key.
    private func setAside(_ defect: StoreDefect, isKeyDamaged: Bool, for source: KeySource) throws(TokenError) {
        let name = try paths.quarantine(isKeyDamaged ? [ring.keyFile.path] : [], now: options.now())
        let remedy =
            defect.neededKey.map { "to use the old one again, stop the agent, and put the store and \($0) back" }
            ?? "to change that, run: ssoctl key set"
        report.notices.append(
            "the store cannot be opened (\(defect.reason)); it is kept as \(name). A new one was created, and its key comes from "
                + "\(ring.place(of: source)); \(remedy)")
    }

    /// Removes what may be left of a store that has no records.
    ///
    /// - Parameter isMissing: whether there was one that had some, which the user has to know.
    private func removeLeftovers(isMissing: Bool, isKeyDamaged: Bool) throws(TokenError) {
        // Files in quarantine may need it: the agent may have been killed after it had moved them, and before it moved the key.
        let kept = isKeyDamaged ? try paths.quarantine(file: ring.keyFile.path, now: options.now()) : nil
        if isMissing {
            let key = kept.map { "is damaged, and is kept as \($0)" } ?? "is there"
            report.notices.append(
                "\(paths.database) is missing, although there was a store (\(ring.keyFile.path) \(key)); a new one was "
                    + "created, and accounts have to sign in again")
        }
        // No record has ever been written to it.
        PrivateFiles.store.remove(paths.database)
    }

    private func waitUntilAsked(_ defect: StoreDefect?, _ source: KeySource) -> TokenError {
        uncreated = Uncreated(defect: defect)
        let problem = defect.map { "the store in \(paths.directory) cannot be opened (\($0.reason))" }
        let error = TokenError(
            .storeUnavailable,
            "\(problem ?? "there is no store in \(paths.directory)"), and the agent was started with --require-key-source "
                + "\(source.name); to create a new one", .purpose("ssoctl key set \(source.name)"))
        report.phase = .locked(error)
        report.keySource = source
        report.keyPlace = ring.place(of: source)
        return error
    }

    /// Does the work that is pending before the next write.
    func finishPending(_ derived: StoreKeys.Derived) throws(TokenError) {
        guard let pending, let wrapped else { return }
        switch pending {
        case .seal(let unsealed, let plan):
            database = try unsealed.seal(plan, try ledger.state.sealed(derived), wrapped)
            unsealed.connection.keepLog(false)
            truncateLog()
        case .rebuild(let records):
            try replace(with: records, try ledger.state.sealed(derived), wrapped)
            self.pending = nil
            database = nil
            report.quarantined = paths.quarantined
            database = try StoreDatabase(try connect())
            // The new database has no log.
            settle()
        case .truncateLog: truncateLog()
        }
    }

    /// Truncates the log after a removal, unless records wait to be written: these are written to a new file, or truncate the log as well.
    func truncateLogAfterRemoval() {
        guard keys != nil, pending?.records == nil, !isReplacing else { return }
        truncateLog()
        // The log had the room that was reserved for the responses of redemptions in progress.
        try? database?.reserveRoom()
    }

    /// Truncates the log; if that fails, or the database is not open, the next commit tries again.
    func truncateLog() {
        guard let database else { return pending = .truncateLog }
        do throws(TokenError) {
            try database.connection.truncateLog()
            pending = nil
            settle()
        } catch {
            pending = .truncateLog
        }
    }

    /// Replaces the database by a new one, and moves the old one to quarantine.
    private func replace(with records: [SealedRecord], _ state: Envelope, _ key: WrappedKey) throws(TokenError) {
        // A replacement that an earlier run began is finished first. One that this run began has these records already.
        _ = try paths.finishReplacing(now: options.now())
        if isReplacing {
            isReplacing = false
            return
        }
        try build(records, state, key)
        // If that cannot be found out, it is built again.
        defer { isReplacing = (try? paths.isReplacing) ?? false }
        try PrivateFiles.store.move(paths.draft, to: paths.replacement)
        _ = try paths.finishReplacing(now: options.now())
    }

    /// Writes a complete new database, and closes it.
    private func build(_ records: [SealedRecord], _ state: Envelope, _ key: WrappedKey) throws(TokenError) {
        for path in [paths.draft + "-wal", paths.draft + "-journal"] { PrivateFiles.store.remove(path) }
        try PrivateFiles.store.makeEmpty(paths.draft)
        let draft = try StoreDatabase.create(try StoreDatabase.connect(paths.draft, vfs: options.vfs))
        try draft.transaction { () throws(TokenError) in try draft.fill(records, state, key) }
        try draft.connection.truncateLog()
    }
}

extension StoreFindings {
    /// The decoded records, in the order in which they were written.
    var stored: [StoredRecord] {
        records.values.sorted { $0.sealed.sequence < $1.sealed.sequence }.compactMap(\.opened.record)
    }
}
