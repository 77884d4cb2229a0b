internal import PosixFiles
internal import TokenModel

/// The database of the store, its key, and the ledger of its records.
///
/// Not safe to share between threads: `Store` uses it on its queue only.
final class StoreEngine {
    let paths: StorePaths
    let options: StoreOptions
    var ring: KeyRing
    var report = StoreReport()

    /// The open database; nil while it cannot be opened for writing.
    var database: StoreDatabase?
    var keys: StoreKeys?
    var wrapped: WrappedKey?
    /// The key that `wrapped` is encrypted with, if its source is one in which the agent stores keys.
    var wrapping: KeyRing.Wrapping?
    /// The changes at the key sources that wait until the log is empty.
    var settlement: Settlement?
    /// The change of the key that waits for the keyring; nil if none does, or the store was locked or loaded since.
    var keyringChange: KeyringChange?
    /// The reason why there is no store yet; nil if there is one.
    var uncreated: Uncreated?
    var ledger = StoreLedger()
    /// The mark of a counter that this process has made, which is perhaps not on the disk yet.
    var newMark: RollbackMark?
    /// The work that has to be done before the next write.
    var pending: Pending?
    /// Whether a replacement of the database with the pending records has been built, and has not taken its place yet.
    var isReplacing = false
    /// The time of the last attempt to change the key with a wrong passphrase.
    var lastWrongPassphrase: Int64?
    /// The time after a wrong passphrase in which no other one is checked.
    static let secondsBetweenPassphrases: Int64 = 5
    /// Whether the store was locked, so that only `load` may read the key again.
    var isLocked = false
    /// The requests for single accounts that are answered while the records are read.
    let earlyReads = EarlyReads()
    private let fileLock: FileLock
    /// Whether the folder or the database was not in its place at the last look.
    private var isDisplaced = false

    enum Pending {
        /// Write these records to a new database, and move the old one to quarantine.
        case rebuild([SealedRecord])
        /// Seal the records of a store of version 1 in place.
        case seal(UnsealedDatabase, StoreLedger.Plan)
        /// Truncate the write-ahead log, which holds records or keys that were removed. Writes do not wait for it.
        case truncateLog

        /// The records that are not written yet; nil if all are.
        var records: [SealedRecord]? {
            switch self {
            case .rebuild(let records): records
            case .seal(_, let plan): plan.inserted
            case .truncateLog: nil
            }
        }
    }

    /// A store that is created only when the user asks for it, since the required source needs the user.
    struct Uncreated {
        /// The defect of the existing files; nil if there are none.
        let defect: StoreDefect?
    }

    /// Locks the directory; nothing is read yet.
    init(_ directory: String, _ options: StoreOptions) throws(TokenError) {
        paths = StorePaths(directory)
        self.options = options
        ring = KeyRing(directory: paths.directory, settings: options.keys)
        fileLock = try paths.lock()
        for path in [paths.database, paths.log, ring.keyFile.path] { try PrivateFiles.store.restrictToOwner(path) }
        // The draft of the key file has the key in use, too.
        for path in [ring.keyFile.path, ring.keyringMark.path] { PrivateFiles.store.removeDraft(of: path) }
        report.quarantined = paths.quarantined
    }

    /// Whether the path leads to the locked folder. Another agent may use one that has taken its place, and a process that has restricted
    /// its files may open none in it.
    var isFolderInPlace: Bool { fileLock.file.isAt(paths.directory) }

    /// Looks whether the folder and the database are in their places. While they are not, as after a file system was mounted over them, the
    /// report has the error.
    ///
    /// - Returns: the error if they were in their places at the last look.
    func checkPlace() -> TokenError? {
        let error = isFolderInPlace ? database?.displacement : TokenError.displaced(paths.directory)
        let wasDisplaced = isDisplaced
        isDisplaced = error != nil
        if error != nil || wasDisplaced { report.writeError = error }
        return wasDisplaced ? nil : error
    }

    /// Makes all of the changes durable, or none.
    func apply(_ changes: some Sequence<StoreChange>) throws(TokenError) {
        let derived = try derivedKeys()
        try repairing(derived) { () throws(TokenError) in try write(changes, derived) }
        count(changes)
    }

    private func write(_ changes: some Sequence<StoreChange>, _ derived: StoreKeys.Derived) throws(TokenError) {
        let database = try writableDatabase(derived)
        let plan = try ledger.plan(changes, derived)
        guard !plan.isEmpty else { return }
        do throws(TokenError) {
            // The refresh token of a note is sent once the note is durable, and what replaces it has to be written then.
            try database.apply(
                plan, try plan.after.sealed(derived), upTo: options.sizeLimit,
                reservesRoom: changes.contains(where: \.beginsRedemption))
            ledger.apply(plan)
            report.writeError = nil
            report.size = database.size
        } catch {
            // The numbers may have reached the disk: they are not given out again.
            ledger.markUsed(upTo: plan.after.counter)
            if error.code != .cacheBadFormat { report.writeError = error }
            throw error
        }
    }

    /// Makes all of the batches durable, or nothing, with one of them in memory at a time.
    func apply(batches batch: (Int) throws(TokenError) -> [StoreChange]?) throws(TokenError) {
        let derived = try derivedKeys()
        try repairing(derived) { () throws(TokenError) in
            try write(batches: batch, to: try writableDatabase(derived), derived)
        }
    }

    private func write(
        batches batch: (Int) throws(TokenError) -> [StoreChange]?, to database: StoreDatabase,
        _ derived: StoreKeys.Derived
    ) throws(TokenError) {
        var after = ledger
        // Whether an error comes from the disk, and not from `batch` or the sealing.
        var isDiskError = true
        do throws(TokenError) {
            try database.transaction { () throws(TokenError) in
                var number = 0
                while true {
                    isDiskError = false
                    guard let changes = try batch(number) else { break }
                    let plan = try after.plan(changes, derived)
                    isDiskError = true
                    after.apply(plan)
                    try database.write(plan)
                    try database.requireRoom(for: plan, upTo: options.sizeLimit)
                    number += 1
                }
                let state = try after.state.sealed(derived)
                isDiskError = true
                try database.write(state)
            }
            ledger = after
            report.writeError = nil
            report.size = database.size
        } catch {
            // The numbers may have reached the disk: they are not given out again.
            ledger.markUsed(upTo: after.state.counter)
            if isDiskError, error.code != .cacheBadFormat { report.writeError = error }
            throw error
        }
    }

    /// The derived keys; a store that has not been loaded is loaded first.
    func derivedKeys() throws(TokenError) -> StoreKeys.Derived {
        if keys == nil, !isLocked { let _: [StoredRecord] = try load() }
        guard let keys else { throw lockedError }
        return keys.derived()
    }

    /// The database, open for writing, after any pending work is done.
    func writableDatabase(_ derived: StoreKeys.Derived) throws(TokenError) -> StoreDatabase {
        do throws(TokenError) {
            try finishPending(derived)
            try leaveLostLog()
            if let database { return database }
            _ = try paths.finishReplacing(now: options.now())
            let reopened = try StoreDatabase(try connect())
            guard let state = try reopened.state(derived), state.hasSameRecords(as: ledger.state) else {
                throw TokenError(
                    .storeUnavailable, "\(paths.database) was changed by another program; restart the agent")
            }
            database = reopened
            report.writeError = nil
            return reopened
        } catch {
            report.writeError = error
            throw error
        }
    }

    /// Closes a database whose log was removed, as with `rm`. What the log has is written into the database before: it may be the only copy.
    private func leaveLostLog() throws(TokenError) {
        guard let database, database.hasLostLog else { return }
        try database.connection.truncateLog()
        self.database = nil
    }

    func connect() throws(TokenError) -> SQLiteConnection {
        try paths.quarantineJournal(now: options.now())
        let connection = try StoreDatabase.connect(paths.database, vfs: options.vfs)
        try StoreSchema.require(StoreSchema.sealed, of: connection)
        try connection.execute(StoreDatabase.settings)
        return connection
    }

    var lockedError: TokenError {
        if case .locked(let error) = report.phase { return error }
        return TokenError(.storeUnavailable, "the store has not been loaded")
    }

    /// Does the work, and does it again after a repair if the database turns out to be damaged.
    func repairing<Value>(
        _ derived: StoreKeys.Derived, _ work: () throws(TokenError) -> Value
    ) throws(TokenError) -> Value {
        do throws(TokenError) {
            return try work()
        } catch {
            guard error.code == .cacheBadFormat else { throw error }
            try repairInUse(derived, error)
            return try work()
        }
    }

    /// Repairs a database that was damaged while it was in use. The ledger lists the records that it had.
    ///
    /// Records that wait to be written are in memory. The files may not have them: those of version 1 have none that are sealed.
    func repairInUse(_ derived: StoreKeys.Derived, _ error: TokenError) throws(TokenError) {
        if let pending, let records = pending.records {
            if case .seal = pending {
                report.notices.append(
                    "\(paths.database) was damaged (\(error.message)); its quarantined copy is not sealed")
            }
            self.pending = .rebuild(records)
            return
        }
        let log = WriteAheadLog(try paths.read(paths.log))
        let everywhere = try envelopes(log, all: false) + (try envelopes(log, all: true))
        let found = StoreFindings(everywhere, derived, asOf: ledger)
        _ = try repair(found, derived, error.message)
        if !found.isComplete { report.losses += 1 }
    }
}
