internal import PosixFiles
internal import TokenModel

/// The store's workings: the file, its key, and what is in it.
///
/// Not safe to share between threads: `Store` keeps it on its queue.
final class StoreEngine {
    let paths: StorePaths
    let options: StoreOptions
    var ring: KeyRing
    var report = StoreReport()

    /// Nil while the file cannot be opened for writing.
    var database: StoreDatabase?
    var keys: StoreKeys?
    var wrapped: WrappedKey?
    var ledger = StoreLedger()
    /// What is still to be done before anything can be written.
    var pending: Pending?
    /// Whether a replacement is on its way that was built for what is pending.
    var isReplacing = false
    private let lock: FileLock

    enum Pending {
        /// These records, in a new file; the old one goes into quarantine.
        case rebuild([SealedRecord])
        /// Sealing a store of version 1 in its place.
        case seal(UnsealedDatabase, StoreLedger.Plan)
        /// Taking out of the log what may not stay on the disk. Nothing waits for it.
        case cutLog

        /// What is to be written; nil where it has been.
        var records: [SealedRecord]? {
            switch self {
            case .rebuild(let records): records
            case .seal(_, let plan): plan.inserted
            case .cutLog: nil
            }
        }
    }

    /// Takes the directory; nothing is read yet.
    init(_ directory: String, _ options: StoreOptions) throws(TokenError) {
        paths = StorePaths(directory)
        self.options = options
        ring = KeyRing(directory: paths.directory, settings: options.keys)
        lock = try paths.lock()
        for path in [paths.database, paths.log, ring.keyFile.path] { try PrivateFiles.store.restrictToOwner(path) }
        report.quarantined = paths.quarantined
    }

    /// Makes all of `changes` durable, or none.
    func apply(_ changes: some Sequence<StoreChange>) throws(TokenError) {
        let derived = try unlocked()
        let database = try writable(derived)
        let plan = try ledger.plan(changes, derived)
        guard !plan.isEmpty else { return }
        do throws(TokenError) {
            try database.apply(plan, try plan.after.sealed(derived))
            ledger.made(plan)
            report.unwritable = nil
        } catch {
            // The numbers may have reached the disk: they are not given out again.
            ledger.skip(to: plan.after.counter)
            guard error.code == .cacheBadFormat else {
                report.unwritable = error
                throw error
            }
            try mend(derived, error)
            try retry(changes, derived)
        }
    }

    /// Makes all of the batches durable, or nothing, without having more than one of them in memory.
    func apply(batches batch: (Int) throws(TokenError) -> [StoreChange]?) throws(TokenError) {
        let derived = try unlocked()
        do throws(TokenError) {
            try write(batches: batch, to: try writable(derived), derived)
        } catch {
            guard error.code == .cacheBadFormat else { throw error }
            try mend(derived, error)
            try write(batches: batch, to: try writable(derived), derived)
        }
    }

    private func write(
        batches batch: (Int) throws(TokenError) -> [StoreChange]?, to database: StoreDatabase,
        _ derived: StoreKeys.Derived
    ) throws(TokenError) {
        var after = ledger
        // What the steps themselves lack says nothing about the disk.
        var isDisks = true
        do throws(TokenError) {
            try database.transaction { () throws(TokenError) in
                var number = 0
                while true {
                    isDisks = false
                    guard let changes = try batch(number) else { break }
                    let plan = try after.plan(changes, derived)
                    isDisks = true
                    after.made(plan)
                    try database.write(plan)
                    number += 1
                }
                let state = try after.state.sealed(derived)
                isDisks = true
                try database.write(state)
            }
            ledger = after
            report.unwritable = nil
        } catch {
            // The numbers may have reached the disk: they are not given out again.
            ledger.skip(to: after.state.counter)
            if isDisks, error.code != .cacheBadFormat { report.unwritable = error }
            throw error
        }
    }

    /// The keys to write with; a store that nobody has loaded is loaded first.
    func unlocked() throws(TokenError) -> StoreKeys.Derived {
        if keys == nil { let _: [StoredRecord] = try load() }
        guard let keys else { throw lockedError }
        return keys.derived()
    }

    /// The database, after whatever stood in the way of writing is done.
    func writable(_ derived: StoreKeys.Derived) throws(TokenError) -> StoreDatabase {
        do throws(TokenError) {
            try finishPending(derived)
            if let database { return database }
            _ = try paths.finishReplacing(now: options.now())
            let reopened = try StoreDatabase(try connect())
            guard try reopened.state(derived) == ledger.state else {
                throw TokenError(.storeUnavailable, "\(paths.database) was changed by somebody else; restart the agent")
            }
            database = reopened
            report.unwritable = nil
            return reopened
        } catch {
            report.unwritable = error
            throw error
        }
    }

    func connect() throws(TokenError) -> SQLiteConnection {
        let connection = try StoreDatabase.connect(paths.database, vfs: options.vfs)
        try connection.execute(StoreDatabase.settings)
        return connection
    }

    var lockedError: TokenError {
        if case .locked(let error) = report.phase { return error }
        return TokenError(.storeUnavailable, "the store has not been loaded")
    }

    /// The database has turned out to be damaged while it was in use: what was in it is known.
    private func mend(_ derived: StoreKeys.Derived, _ error: TokenError) throws(TokenError) {
        let log = WriteAheadLog(try PrivateFiles.store.read(paths.log) ?? [])
        let everywhere = try envelopes(log, all: false) + (try envelopes(log, all: true))
        let found = StoreFindings(everywhere, derived, asOf: ledger)
        _ = try repair(found, derived, error.message)
        if !found.isComplete { report.losses += 1 }
    }

    private func retry(_ changes: some Sequence<StoreChange>, _ derived: StoreKeys.Derived) throws(TokenError) {
        let database = try writable(derived)
        let plan = try ledger.plan(changes, derived)
        do throws(TokenError) {
            try database.apply(plan, try plan.after.sealed(derived))
            ledger.made(plan)
        } catch {
            ledger.skip(to: plan.after.counter)
            throw error
        }
    }
}
