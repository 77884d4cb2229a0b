internal import PosixFiles
internal import TokenModel

extension StoreEngine {
    /// What lies on the disk.
    private enum Disk {
        case nothing
        /// What was found earlier and cannot be written yet. Nothing has been added to it since.
        case pending([StoredRecord])
        /// Opened earlier: SQLite knows better than the file what has been committed.
        case open(StoreDatabase)
        case sealed(StoreDatabase)
        case unsealed(UnsealedDatabase)
        case damaged(String)
        /// It may be whole, but only reading works.
        case unwritable(TokenError)
    }

    /// Finds the key, and every record. What is damaged goes into quarantine; the rest is served.
    ///
    /// - Throws: `storeUnavailable` (-53008) when the key or the file cannot be had now; then nothing has been changed.
    func load<Receiver: RecordReceiver>() throws(TokenError) -> Receiver {
        let stuck = replacementError()
        // A replacement has no log yet.
        let log = WriteAheadLog(paths.isReplacing ? [] : try PrivateFiles.store.read(paths.log) ?? [])
        let loaded: Receiver =
            switch try examine(log, stuck) {
            case .nothing: Receiver(try startAnew(nil))
            case .pending(let records): Receiver(records)
            case .open(let database): try loadSealed(database, log, hidden: false)
            case .sealed(let database): try loadSealed(database, log, hidden: log.hidesCommits)
            case .unsealed(let database): Receiver(try loadUnsealed(database, log))
            case .damaged(let reason): Receiver(try loadDamaged(log, reason))
            case .unwritable(let error): Receiver(try loadUnwritable(log, error))
            }
        report.phase = .open
        report.keySource = wrapped?.source
        report.keyPlace = wrapped.map { ring.place(of: $0.source) } ?? ""
        report.quarantined = paths.quarantined
        ring.settings.passphrase = nil
        return loaded
    }

    /// Finishes a replacement that was begun; the error says why it cannot be done now.
    private func replacementError() -> TokenError? {
        do throws(TokenError) {
            _ = try paths.finishReplacing(now: options.now())
            return nil
        } catch {
            return error
        }
    }

    private func examine(_ log: WriteAheadLog, _ stuck: TokenError?) throws(TokenError) -> Disk {
        if let pending, let derived = keys?.derived(), (try? writable(derived)) == nil, let records = pending.records {
            return .pending(records.compactMap { $0.open(derived)?.record })
        }
        if let stuck { return .unwritable(stuck) }
        if let database { return .open(database) }
        guard let size = PrivateFiles.store.size(of: paths.database) else {
            return log.bytes.isEmpty ? .nothing : .damaged("the database is missing")
        }
        // SQLite would throw away the log of an empty database.
        if size == 0 { return .damaged("the database has been emptied") }
        // Nor would it make much of less than a page.
        guard size >= 4096 else { return .damaged("it is damaged or not a database") }
        do throws(TokenError) {
            // Until it is known to be whole, its log is not for SQLite to tidy away.
            let connection = try StoreDatabase.connect(paths.database, vfs: options.vfs, keepsLog: true)
            return try disk(connection, isNew: size == 4096 && log.bytes.isEmpty)
        } catch {
            return error.code == .cacheBadFormat ? .damaged(error.message) : .unwritable(error)
        }
    }

    private func disk(_ connection: SQLiteConnection, isNew: Bool) throws(TokenError) -> Disk {
        let version = try connection.integer("PRAGMA user_version")
        let application = try connection.integer("PRAGMA application_id")
        let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
        if version == 0, application == 0, tables == 0 {
            return isNew ? .nothing : .damaged("it is empty, or its log is damaged")
        }
        guard application == StoreDatabase.applicationID else { return .damaged("it is another program's database") }
        switch version {
        case UnsealedDatabase.version: return .unsealed(UnsealedDatabase(connection: connection))
        case StoreDatabase.version:
            try connection.execute(StoreDatabase.settings)
            database = try StoreDatabase(connection)
            return database.map(Disk.sealed) ?? .nothing
        default:
            return .damaged(
                "it is of format \(version), and this sso-agent knows \(StoreDatabase.version) and earlier; "
                    + "update sso-agent and put the file back")
        }
    }

    private func loadSealed<Receiver: RecordReceiver>(
        _ database: StoreDatabase, _ log: WriteAheadLog, hidden mayBeHidden: Bool
    ) throws(TokenError) -> Receiver {
        var wrapped = (try? database.wrappedKeys()) ?? []
        if wrapped.isEmpty { wrapped = try envelopes(log, all: true).wrappedKeys }
        if let reason = try unlock(wrapped) { return Receiver(try startAnew(reason)) }
        guard let derived = keys?.derived() else { throw lockedError }
        let found: StoreContents<Receiver> = try StoreContents(database, derived)
        var hidden = false
        if mayBeHidden, let state = found.state {
            let all = StoreFindings(try envelopes(log, all: true), derived)
            // Where its state cannot be read any more, a commit was there.
            hidden = all.state == nil || all.ledger.state.counter > state.counter
        }
        if let state = found.state, found.isWhole, !hidden {
            ledger = found.ledger
            ledger.skip(to: state.counter)
            database.connection.keepLog(false)
            return found.received
        }
        let reason =
            hidden
            ? "its log is damaged, or was cut off in the middle"
            : "records are damaged, or have been set back or taken out"
        return Receiver(try repair(try findings(log, derived), derived, reason))
    }

    private func loadUnsealed(
        _ unsealed: UnsealedDatabase, _ log: WriteAheadLog
    ) throws(TokenError) -> [StoredRecord] {
        let (records, isReadable) = try unsealed.records()
        let isWhole = isReadable && !log.hidesCommits
        let fresh = StoreKeys.random()
        let derived = fresh.derived()
        wrapped = try ring.wrap(fresh, with: ring.usualSource, generation: 1)
        keys = fresh
        let plan = try ledger.plan(records.lazy.map(StoreChange.put), derived)
        ledger.made(plan)
        pending = isWhole ? .seal(unsealed, plan) : .rebuild(plan.inserted)
        if !isWhole { report.notices.append("\(paths.database) was damaged; its quarantined copy is not sealed") }
        _ = try? writable(derived)
        return records
    }

    private func loadDamaged(_ log: WriteAheadLog, _ reason: String) throws(TokenError) -> [StoredRecord] {
        if let problem = try unlock(try envelopes(log, all: true).wrappedKeys) {
            return try startAnew("\(reason); \(problem)")
        }
        guard let derived = keys?.derived() else { throw lockedError }
        return try repair(try findings(log, derived), derived, reason)
    }

    /// Reads what SQLite will not: a file that may be whole, on a disk that takes no writing.
    private func loadUnwritable(_ log: WriteAheadLog, _ error: TokenError) throws(TokenError) -> [StoredRecord] {
        guard try unlock(try envelopes(log, all: false).wrappedKeys) == nil, let derived = keys?.derived() else {
            throw error
        }
        report.unwritable = error
        let seen = StoreFindings(try envelopes(log, all: false), derived)
        let found = try findings(log, derived)
        guard found.isComplete, found.ledger.state.counter == seen.ledger.state.counter else {
            return try repair(found, derived, "and cannot be written: \(error.message)")
        }
        ledger = found.ledger
        return found.stored
    }

    /// Finds the key.
    ///
    /// - Returns: why none of the wrapped keys can ever be opened; nil when one was.
    private func unlock(_ wrapped: [WrappedKey]) throws(TokenError) -> String? {
        if keys != nil { return nil }
        switch ring.open(wrapped) {
        case .open(let keys, let key):
            (self.keys, self.wrapped) = (keys, key)
            return nil
        case .wrong(let reason): return reason
        case .locked(let error, let source):
            report.phase = .locked(error)
            report.keySource = source
            report.keyPlace = ring.place(of: source)
            throw error
        }
    }
}
