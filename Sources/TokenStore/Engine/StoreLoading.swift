internal import Dispatch
internal import PosixFiles
internal import Synchronization
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension StoreEngine {
    /// The state of the store's files.
    private enum Disk {
        case nothing
        /// Records that were recovered earlier and cannot be written yet.
        case pending([StoredRecord])
        /// The database was opened earlier, so that SQLite knows what has been committed.
        case open(StoreDatabase)
        case sealed(StoreDatabase)
        case unsealed(UnsealedDatabase)
        case damaged(String)
        /// The database may be whole, but cannot be written.
        case unwritable(TokenError)
    }

    /// Finds the key and reads every record. A damaged database is moved to quarantine, and what can be recovered is
    /// returned.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the key or the file cannot be read now; then nothing has been changed, and a key that was
    ///   found is forgotten: the next attempt has to find it again.
    func load<Receiver: RecordReceiver>() throws(TokenError) -> Receiver {
        let hadKeys = keys != nil
        // A load deletes what a change has left in the keyring.
        keyringChange = nil
        do throws(TokenError) {
            return try loadFiles()
        } catch {
            if !hadKeys, pending?.records == nil, !isReplacing {
                (keys, wrapped, wrapping, database, ledger) = (nil, nil, nil, nil, StoreLedger())
            }
            throw error
        }
    }

    /// Forgets a passphrase that did not open the store. Only the caller who has entered it is told that it is wrong.
    func forgetPassphrase() {
        ring.settings.passphrase = nil
        if case .locked(KeyRing.wrongPassphrase) = report.phase { report.phase = .locked(KeyRing.missingPassphrase) }
    }

    private func loadFiles<Receiver: RecordReceiver>() throws(TokenError) -> Receiver {
        try paths.requireReachable()
        guard isFolderInPlace else { throw .displaced(paths.directory) }
        let stuck = replacementError()
        if stuck == nil { try paths.finishQuarantine() }
        // The log belongs to the database that is to be replaced.
        let log = WriteAheadLog(try paths.isReplacing ? [] : paths.read(paths.log))
        let loaded: Receiver =
            switch try examine(log, stuck) {
            case .nothing: Receiver(try startEmpty(nil))
            case .unsealed where ring.refusalOfUnsealed != nil:
                Receiver(try startEmpty(ring.refusalOfUnsealed.map { StoreDefect(reason: $0) }))
            case .pending(let records): Receiver(records)
            case .open(let database): try loadSealed(database, log, hidden: false)
            case .sealed(let database): try loadSealed(database, log, hidden: log.hidesCommits)
            case .unsealed(let database): Receiver(try loadUnsealed(database, log))
            case .damaged(let reason): Receiver(try loadDamaged(log, reason))
            case .unwritable(let error): Receiver(try loadUnwritable(log, error))
            }
        try refuseEarlierCopy()
        report.phase = .open
        report.size = database?.size ?? 0
        isLocked = false
        report.keySource = wrapped?.source
        report.keyPlace = wrapped.map { ring.place(of: $0.source) } ?? ""
        report.quarantined = paths.quarantined
        noteReadableFiles()
        retireUnneededKeys()
        // A start after an interrupted change of the key; with the log, the key that is not needed goes.
        if settlement != nil, database != nil, pending == nil { truncateLog() }
        strengthenPassphrase()
        ring.settings.passphrase = nil
        return loaded
    }

    /// Reports that other users may read the files. Their mode is set to 0600 when they are made or found, which has no effect on a file
    /// system without modes.
    private func noteReadableFiles() {
        func isReadable(_ path: String) -> Bool { FileStatus(path)?.isAccessibleToOthers == true }
        guard isReadable(paths.directory),
            let path = [ring.keyFile.path, paths.database].first(where: isReadable)
        else { return }
        let notice =
            "other users may be able to read \(path): its mode cannot be set, as on a file system without modes; set SSO_AGENT_STATE_DIR to "
            + "a folder on another one"
        if !report.notices.contains(notice) { report.notices.append(notice) }
    }

    /// Marks keys for deletion that an interrupted change has left and that the store does not need. A quarantined file may need them.
    private func retireUnneededKeys() {
        guard let source = wrapped?.source, pending?.records == nil else { return }
        // The keyring has the key that has opened the store, and no other one.
        if source == .secretService, wrapping?.isSettled == true { ring.keyringMark.remove() }
        let unneeded = ring.unsettledSources.filter { $0 != source }
        guard !unneeded.isEmpty, (try? paths.findQuarantined().isEmpty) == true else { return }
        let others = (settlement?.retired ?? []).filter { other in !unneeded.contains { $0 == other } }
        settlement = Settlement(current: settlement?.current, retired: unneeded + others)
    }

    /// Replaces the key if it was derived from the passphrase in a way that is too cheap today. If that fails, the next load
    /// with the passphrase tries again.
    private func strengthenPassphrase() {
        guard let passphrase = ring.settings.passphrase, wrapped?.scrypt?.isOutdated == true else { return }
        try? changeKeySource(to: .passphrase, passphrase: passphrase)
    }

    /// Finishes a replacement that was begun earlier. Returns the error if that fails.
    private func replacementError() -> TokenError? {
        do throws(TokenError) {
            _ = try paths.finishReplacing(now: options.now())
            return nil
        } catch {
            return error
        }
    }

    private func examine(_ log: WriteAheadLog, _ stuck: TokenError?) throws(TokenError) -> Disk {
        if let pending, let derived = keys?.derived(), (try? writableDatabase(derived)) == nil,
            let records = pending.records
        {
            return .pending(records.compactMap { $0.open(derived)?.record })
        }
        if let stuck { return .unwritable(stuck) }
        if let database { return .open(database) }
        guard let size = try paths.size(of: paths.database) else {
            try paths.requireReachable()
            return log.bytes.isEmpty ? .nothing : .damaged("the database is missing")
        }
        if try paths.isTooLong { return .damaged("it is longer than \(StorePaths.sizeLimit >> 20) MiB") }
        // SQLite would delete the log of an empty database.
        if size == 0 { return .damaged("the database has been emptied") }
        // SQLite takes a file of less than a page for an empty database.
        guard size >= StoreDatabase.pageSize else { return .damaged("it is damaged or not a database") }
        do throws(TokenError) {
            try paths.quarantineJournal(now: options.now())
            // SQLite must not remove the log until the database is known to be whole.
            let connection = try StoreDatabase.connect(paths.database, vfs: options.vfs, keepsLog: true)
            return try disk(connection, isNew: size == StoreDatabase.pageSize && log.bytes.isEmpty)
        } catch {
            // As on another machine with the same home folder: the lock of the folder does not reach that on NFS. What is read without a
            // lock may be half of a change, which would be taken for damage, and a sign-out there would not be seen here.
            if error == .databaseInUse(paths.database) { throw error }
            return error.code == .cacheBadFormat ? .damaged(error.message) : .unwritable(error)
        }
    }

    private func disk(_ connection: SQLiteConnection, isNew: Bool) throws(TokenError) -> Disk {
        let version = try connection.integer("PRAGMA user_version")
        let application = try connection.integer("PRAGMA application_id")
        if version == 0, application == 0, try StoreSchema(connection).isEmpty {
            return isNew ? .nothing : .damaged("it is empty, or its log is damaged")
        }
        guard application == StoreDatabase.applicationID else { return .damaged("it is another program's database") }
        switch version {
        case UnsealedDatabase.version:
            try StoreSchema.require([.unsealed], of: connection)
            return .unsealed(UnsealedDatabase(connection: connection))
        case _ where StoreDatabase.readableVersions.contains(version):
            try StoreSchema.require(StoreSchema.sealed, of: connection)
            try connection.execute(StoreDatabase.settings)
            database = try StoreDatabase(connection)
            return database.map(Disk.sealed) ?? .nothing
        default:
            return .damaged(
                "it is of format \(version), and this sso-agent knows \(StoreDatabase.version) and earlier; "
                    + "update sso-agent, and sign in to accounts that are missing")
        }
    }

    private func loadSealed<Receiver: RecordReceiver>(
        _ database: StoreDatabase, _ log: WriteAheadLog, hidden mayBeHidden: Bool
    ) throws(TokenError) -> Receiver {
        let visible = (try? database.wrappedKeys()) ?? []
        let everywhere = visible.isEmpty || mayBeHidden ? try envelopes(log, all: true) : []
        let latest = everywhere.wrappedKeys.map(\.generation).max() ?? 0
        if mayBeHidden, keys == nil { useHiddenChange(everywhere, after: visible, in: database) }
        if let defect = try unlock(visible.isEmpty ? everywhere.wrappedKeys : visible) {
            return Receiver(try startEmpty(defect))
        }
        guard let derived = keys?.derived() else { throw lockedError }
        // An agent that was killed may have written a commit that has not reached the disk. What is answered from it must outlast a loss of
        // power. If that fails, the records are served all the same; the next commit finds that the disk cannot be written.
        if !log.bytes.isEmpty { try? database.connection.synchronizeLog() }
        // Records that a damaged log may have replaced, or of an earlier copy, are not served before that is known.
        let reads = mayBeHidden || options.counter != nil ? nil : earlyReads
        let found: StoreContents<Receiver> = try StoreContents(database, derived) { reads?.serve(database, derived) }
        var isHidden = false
        if mayBeHidden, let state = found.state {
            let all = StoreFindings(try envelopes(log, all: true), derived)
            // If the state cannot be read any more, a commit has been lost.
            isHidden = all.state == nil || all.ledger.state.counter > state.counter
            if let opened = self.wrapped?.generation, opened < latest { isHidden = true }
        }
        if let state = found.state, found.isWhole, !isHidden {
            ledger = found.ledger
            ledger.continueNumbering(from: state)
            database.connection.keepLog(false)
            return found.received
        }
        let reason =
            isHidden
            ? "its log is damaged, or was cut off in the middle"
            : "records are damaged, or have been set back or taken out"
        return Receiver(try repair(try findings(log, derived), derived, reason))
    }

    /// Uses the key of a change that a damaged log hides, if every record can be recovered with it, and nothing was committed after it.
    /// Otherwise the records of the database are used: those from before the change, or those after a change that had failed, of which
    /// the rest is in the log.
    func useHiddenChange(_ envelopes: [Envelope], after visible: [WrappedKey], in database: StoreDatabase) {
        let known = visible.map(\.generation).max() ?? 0
        let later = envelopes.wrappedKeys.filter { $0.generation > known }
        guard case .open(let opened) = ring.open(later) else { return }
        let found = StoreFindings(envelopes, opened.keys.derived())
        guard found.isComplete else { return }
        if case .open(let old) = ring.open(visible), let seen = try? database.state(old.keys.derived()),
            seen.counter >= found.state?.counter ?? 0
        {
            return
        }
        (keys, wrapped) = (opened.keys, opened.wrapped)
        use(opened.wrapping)
    }

    private func loadUnsealed(_ unsealed: UnsealedDatabase, _ log: WriteAheadLog) throws(TokenError) -> [StoredRecord] {
        try refuseUncounted()
        let (records, isReadable) = try unsealed.records()
        let isWhole = isReadable && !log.hidesCommits
        let fresh = StoreKeys.random()
        let derived = fresh.derived()
        let key = try ring.wrapping(of: ring.defaultSource)
        wrapped = try WrappedKey(fresh, generation: 1, with: key)
        use(key)
        keys = fresh
        let plan = try ledger.plan(records.lazy.map(StoreChange.put), derived)
        ledger.apply(plan)
        pending = isWhole ? .seal(unsealed, plan) : .rebuild(plan.inserted)
        report.notices.append(
            "\(paths.database) was not sealed, and was accepted because of --accept-unsealed-store; start without that option"
        )
        if !isWhole { report.notices.append("\(paths.database) was damaged; its quarantined copy is not sealed") }
        _ = try? writableDatabase(derived)
        return records
    }

    private func loadDamaged(_ log: WriteAheadLog, _ reason: String) throws(TokenError) -> [StoredRecord] {
        if var defect = try unlock(try envelopes(log, all: true).wrappedKeys) {
            defect.reason = "\(reason); \(defect.reason)"
            return try startEmpty(defect)
        }
        guard let derived = keys?.derived() else { throw lockedError }
        return try repair(try findings(log, derived), derived, reason)
    }

    /// Reads a database that SQLite cannot open, because the disk cannot be written.
    private func loadUnwritable(_ log: WriteAheadLog, _ error: TokenError) throws(TokenError) -> [StoredRecord] {
        guard try unlock(try envelopes(log, all: false).wrappedKeys) == nil, let derived = keys?.derived() else {
            throw error
        }
        report.writeError = error
        let seen = StoreFindings(try envelopes(log, all: false), derived)
        let found = try findings(log, derived)
        guard found.isComplete, found.ledger.state.counter == seen.ledger.state.counter else {
            return try repair(found, derived, "and cannot be written: \(error.message)")
        }
        ledger = found.ledger
        return found.stored
    }

    /// Opens one of the wrapped keys.
    ///
    /// - Returns: the reason why none of them can ever be opened; nil if one was opened.
    private func unlock(_ wrapped: [WrappedKey]) throws(TokenError) -> StoreDefect? {
        if keys != nil { return nil }
        switch ring.open(wrapped) {
        case .open(let opened):
            (keys, self.wrapped) = (opened.keys, opened.wrapped)
            use(opened.wrapping)
            return nil
        case .wrong(let defect): return defect
        case .locked(let error, let source):
            report.phase = .locked(error)
            report.keySource = source
            report.keyPlace = ring.place(of: source)
            throw error
        }
    }
}

/// The records of a sealed database, read through SQLite. They are opened on every processor and passed to the receiver
/// batch by batch, so that a large store is never in memory twice.
struct StoreContents<Receiver: RecordReceiver> {
    private(set) var received = Receiver()
    private(set) var ledger = StoreLedger()
    private(set) var state: SealedState?
    private var isReadable = true
    private var rows = 0

    /// Whether the records are exactly those of the last commit.
    var isWhole: Bool {
        isReadable && rows == ledger.state.count && state?.count == rows && state?.digest == ledger.state.digest
    }

    /// - Throws: `storeUnavailable` (-53008) if the disk cannot be read now. Damage is not an error: `isWhole` is false.
    ///
    /// - Parameter pause: called before the first record and between batches.
    init(_ database: StoreDatabase, _ keys: StoreKeys.Derived, _ pause: () -> Void) throws(TokenError) {
        do throws(TokenError) {
            state = try database.state(keys)
            pause()
            try database.forEachBatch(of: Self.batch) {
                add($0, keys)
                pause()
            }
        } catch {
            guard error.code == .cacheBadFormat else { throw error }
            isReadable = false
        }
    }

    private struct Read: Sendable {
        let sealed: SealedRecord
        let group: String
        let digest: SetDigest
        let item: Receiver.Item?
    }

    private mutating func add(_ batch: [SealedRecord?], _ keys: StoreKeys.Derived) {
        rows += batch.count
        let read = batch.concurrentMap({ Receiver.makeContext(canReadAgain: true) }) { sealed, context -> Read? in
            guard let sealed, let opened = sealed.open(keys) else { return nil }
            return Read(
                sealed: sealed, group: opened.group, digest: opened.digest,
                item: opened.record.map { Receiver.decode($0, context) })
        }
        for case let record? in read {
            ledger.add(record.sealed, in: record.group, record.digest, keys)
            if let item = record.item { received.add(item) }
        }
    }

    /// The number of records: enough for every processor, and about two megabytes.
    private static var batch: Int { 1024 }
}

extension Array where Element: Sendable {
    /// Maps the elements on every processor if there are enough of them.
    func concurrentMap<Value: Sendable>(_ transform: @escaping @Sendable (Element) -> Value) -> [Value] {
        concurrentMap({}, { element, _ in transform(element) })
    }

    /// Maps the elements as above, with a context of each thread.
    func concurrentMap<Context, Value: Sendable>(
        _ makeContext: @escaping @Sendable () -> Context,
        _ transform: @escaping @Sendable (Element, Context) -> Value
    ) -> [Value] {
        // Whoever has few elements need not ask for the number of processors, which takes several files.
        let pieces = count < 128 ? 1 : Swift.min(ProcessInfo.processInfo.activeProcessorCount, count / 64)
        guard pieces > 1 else {
            let context = makeContext()
            return map { transform($0, context) }
        }
        let done = Mutex([[Value]](repeating: [], count: pieces))
        let mapPiece: @Sendable (Int) -> Void = { piece in
            let context = makeContext()
            let range = (count * piece / pieces)..<(count * (piece + 1) / pieces)
            let values = self[range].map { transform($0, context) }
            done.withLock { $0[piece] = values }
        }
        // Serial queues have threads outside of libdispatch's pool (docs/decisions/0057-an-idle-agent-sleeps.md).
        let others = DispatchGroup()
        for piece in 1..<pieces {
            DispatchQueue(label: "sso-agent.records", qos: .userInitiated).async(group: others) { mapPiece(piece) }
        }
        mapPiece(0)
        others.wait()
        return done.withLock { $0.flatMap(\.self) }
    }
}
