package import Dispatch
internal import PosixFiles
internal import Synchronization
package import TokenModel

/// The records of the cache on disk: what `commit` has returned for is durable.
///
/// Safe to use from any thread. Only the store's own queue waits for the disk, and a caller of `readRecords(with:)`.
package final class Store: Sendable {
    /// The directory of the store.
    package let directory: String

    // Not private, so that a test can block it while commits wait.
    let queue = DispatchQueue(label: "sso-agent.store", qos: .userInitiated)
    // Used on `queue` only, so that the lock is never contended; with it, the compiler checks the isolation.
    private let engine: Mutex<StoreEngine?>
    private let waiting = Mutex(Waiting())
    private let lastReport: Mutex<StoreReport>
    // Not private, so that a test can wait until requests wait.
    let earlyReads: EarlyReads
    private let keyring: KeyringActivity
    private let keyringPlace: String

    /// The commits that have not begun, and whether the queue has been told to write them.
    private struct Waiting {
        var commits: [WaitingCommit] = []
        var isDue = false
        var isScheduled = false
    }

    private struct WaitingCommit: Sendable {
        var changes: [StoreChange]
        var done: CheckedContinuation<Result<Void, TokenError>, Never>
    }

    private let didCommit: (@Sendable (StoreCommit) -> Void)?
    private let timer: StoreOptions.Timer?

    private init(directory: String, engine: sending StoreEngine, _ options: StoreOptions) {
        self.directory = directory
        (didCommit, timer) = (options.didCommit, options.timer)
        lastReport = Mutex(engine.report)
        earlyReads = engine.earlyReads
        (keyring, keyringPlace) = (engine.ring.keyring, engine.ring.place(of: .secretService))
        self.engine = Mutex(engine)
        keyring.report { [weak self] problem in self?.addNotice(problem) }
    }

    private func addNotice(_ notice: String) {
        queue.async { _ = self.withEngine { engine throws(TokenError) in engine.addNotice(notice) } }
    }

    /// Makes the directory of a store if it does not exist. `open` does the same; a process that restricts its files does it before.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the directory is not private or cannot be made.
    package static func prepare(directory: String) throws(TokenError) { try StorePaths(directory).prepare() }

    /// Opens the store in `directory` for this process alone, and makes the directory with mode 0700 if it does not exist.
    /// The records are read by `load`.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the directory is not private, cannot be made, or is in use.
    package static func open(directory: String, _ options: StoreOptions) throws(TokenError) -> Store {
        try StorePaths(directory).prepare()
        let engine = try StoreEngine(directory, options)
        return Store(directory: engine.paths.directory, engine: engine, options)
    }

    /// Finds the key and reads every record; commits wait meanwhile. `report` then describes any damage.
    ///
    /// - Parameters:
    ///   - passphrase: the passphrase that the user has entered, if the key's source is one.
    ///   - receiver: decodes and collects the records.
    /// - Throws: `storeUnavailable` (-53008) if the key or the file cannot be read now; another call tries again.
    package func load<Receiver: RecordReceiver>(
        passphrase: Secret? = nil, into receiver: Receiver.Type
    ) async throws(TokenError) -> Receiver {
        earlyReads.begin()
        defer { earlyReads.end() }
        return try await onQueue { engine throws(TokenError) -> Receiver in
            if let passphrase { engine.ring.settings.passphrase = passphrase }
            return try engine.load()
        }
    }

    /// Returns the records of an account, before `load` has read all: those that belong to it, and those that every
    /// account needs. Some records of other accounts may be among them.
    ///
    /// Each of them is authentic. Whether a record was replaced by an earlier version, removed or restored is known
    /// when `load` returns.
    ///
    /// - Returns: nil if no `load` is in progress, or the records cannot be read before it ends.
    package func recordsWhileLoading(of account: String, in group: String) async -> [StoredRecord]? {
        await earlyReads.records(of: account, in: group)
    }

    /// Returns the records with these keys that the store has, after the earlier operations; commits that gather are written first. The
    /// receiver of `load` has left them out.
    ///
    /// A file that turns out to be damaged is repaired. Records that are lost are not returned, and `report.losses` counts the loss: also
    /// records with other keys may be lost.
    ///
    /// - Throws: `storeUnavailable` (-53008) if they cannot be read now.
    package func records(with keys: [RecordKey]) async throws(TokenError) -> [StoredRecord] {
        try await onQueue { engine throws(TokenError) in try engine.records(with: keys) }
    }

    /// Returns the records as above, and blocks the calling thread meanwhile.
    package func readRecords(with keys: [RecordKey]) throws(TokenError) -> [StoredRecord] {
        expediteWaiting()
        return try queue.sync { withEngine { engine throws(TokenError) in try engine.records(with: keys) } }.get()
    }

    /// The state of the store after its last operation.
    package var report: StoreReport { lastReport.withLock(\.self) }

    /// Whether the store waits for its key from the keyring, for a minute at most unless the keyring has something else to do first.
    package var isAskingKeyring: Bool { keyring.isAsked }

    /// The keyring that is being used and has not answered yet, in words; nil if none is. The store may be open meanwhile.
    package var unansweredKeyring: String? { keyring.isInUse ? keyringPlace : nil }

    /// Returns the names of the quarantined files: damaged ones that were moved aside and still exist. Reads the folder, and blocks the
    /// calling thread meanwhile.
    ///
    /// The folder is read only if there were any: only the store moves files there, and only the user removes them.
    package func findQuarantined() -> [String] {
        report.quarantined.isEmpty ? [] : StorePaths(directory).quarantined
    }

    /// Seals every record under a new key, and wraps that with the key of a source, which may be the present one. Commits wait
    /// meanwhile, but not for a keyring. A copy of the folder and its key from before opens nothing that is written after it.
    ///
    /// - Parameters:
    ///   - passphrase: the new passphrase, for the source `.passphrase`.
    ///   - currentPassphrase: the passphrase with which the store is sealed now, if it is.
    /// - Throws: `storeUnavailable` (-53008) if the source has no key or is not the required one, the disk cannot be written, or the store is
    ///   locked before the keyring answers; `requestDenied` (-53011) if the current passphrase is missing or wrong.
    package func changeKeySource(
        to source: KeySource, passphrase: Secret?, currentPassphrase: Secret? = nil
    ) async throws(TokenError) {
        expediteWaiting()
        let usesKeyring = source == .secretService || report.keySource == .secretService
        try await withCheckedContinuation { (done: CheckedContinuation<Result<Void, TokenError>, Never>) in
            queue.async {
                let begun = self.withEngine { engine throws(TokenError) in
                    try engine.changeKeySource(
                        to: source, passphrase: passphrase, currentPassphrase: currentPassphrase)
                }
                switch begun {
                case .failure(let error): done.resume(returning: .failure(error))
                case .success(.none): done.resume(returning: .success(()))
                case .success(.some(let change)): self.finish(change) { done.resume(returning: $0) }
                }
            }
        }.get()
        if usesKeyring { await waitForKeyring() }
    }

    /// Finishes a change of the key when the keyring has the new one. Called on the store's queue, so that what is asked of the keyring later
    /// comes after the change.
    private func finish(
        _ change: StoreEngine.KeyringChange, _ done: @escaping @Sendable (Result<Void, TokenError>) -> Void
    ) {
        keyring.start {
            let made = Result { () throws(TokenError) in try change.makeWrapping() }
            self.queue.async {
                done(self.withEngine { engine throws(TokenError) in try engine.finishChange(change, made) })
            }
        }
    }

    /// Waits until the keyring has saved or deleted what it has been asked to, or has not done it in time. Commits go on meanwhile.
    func waitForKeyring() async {
        await keyring.waitForUses()
        // The report of a problem.
        await withCheckedContinuation { done in queue.async { done.resume() } }
    }

    /// Reads the key from its source again, and returns the error that the next start of the agent would have; nil if there is
    /// none, or if the source needs the user. Also returns the error of a database that has been removed or replaced, and tries again to
    /// open one that could not be written, so that the report is of now.
    package func keyProblem() async -> TokenError? {
        (try? await onQueue { engine throws(TokenError) in engine.keyProblem() }) ?? nil
    }

    /// Looks whether the folder and the database are where they were opened, so that the report says if they are not.
    ///
    /// - Returns: the error if they were there at the last look, and are not any more.
    package func checkPlace() async -> TokenError? {
        (try? await onQueue { engine throws(TokenError) in engine.checkPlace() }) ?? nil
    }

    /// Forgets the key and closes the file, after the earlier operations. Later ones fail with `storeUnavailable` (-53008) until
    /// `load`.
    ///
    /// - Throws: `storeUnavailable` (-53008) if there are records that could not be written yet, or the database has been removed or
    ///   replaced; the store stays open then.
    package func lock() async throws(TokenError) {
        try await onQueue { engine throws(TokenError) in try engine.lock() }
    }

    /// Forgets a passphrase that did not open the store.
    package func forgetPassphrase() async {
        try? await onQueue { engine throws(TokenError) in engine.forgetPassphrase() }
    }

    /// Makes all of `changes` durable, or none; returns when they have reached the disk.
    ///
    /// Commits are made in the order of the calls. Those that wait while the disk is busy share one transaction, so that
    /// many of them cost one flush. A failed commit changes nothing, and the next one is tried.
    ///
    /// - Parameter window: how long to wait for further commits, which share the flush. A call that does not wait ends the wait of
    ///   earlier ones, and so does any other operation.
    /// - Throws: `storeUnavailable` (-53008), with what to do; `cacheBadFormat` (-51201) if the file is damaged.
    package func commit(_ changes: [StoreChange], gatheringFor window: Duration = .zero) async throws(TokenError) {
        let result = await withCheckedContinuation { done in
            let isFirstToGather = waiting.withLock { waiting in
                waiting.commits.append(WaitingCommit(changes: changes, done: done))
                guard window > .zero, !waiting.isDue, !waiting.isScheduled else { return false }
                waiting.isScheduled = true
                return true
            }
            if isFirstToGather {
                writeWaiting(after: window)
            } else if window == .zero {
                expediteWaiting()
            }
        }
        try result.get()
    }

    private func writeWaiting(after window: Duration) {
        guard let timer else { return queue.asyncAfter(deadline: .now() + window.seconds) { self.writeWaiting() } }
        timer(window) { self.queue.async { self.writeWaiting() } }
    }

    /// Makes the waiting commits due: they are written after the operations that have begun.
    private func expediteWaiting() {
        let isNew = waiting.withLock { waiting in
            guard !waiting.isDue, !waiting.commits.isEmpty else { return false }
            waiting.isDue = true
            return true
        }
        if isNew { queue.async { self.writeWaiting() } }
    }

    /// Writes the write-ahead log into the database and empties it, after the earlier operations: until then, the log has records that were
    /// removed. If that fails, the next commit tries again.
    package func truncateLog() async {
        try? await onQueue { engine throws(TokenError) in engine.truncateLogAfterRemoval() }
    }

    /// Makes all of a long commit durable, or nothing. Its changes are requested batch by batch and are not kept in memory.
    ///
    /// - Parameter batch: returns the changes of the batch with a number, counted from 0; nil after the last. Called on the
    ///   store's queue, and again from 0 after a repair of the file.
    /// - Throws: as `commit(_:)` does, and what `batch` throws.
    package func commit(
        batches batch: @escaping @Sendable (Int) throws(TokenError) -> [StoreChange]?
    ) async throws(TokenError) {
        expediteWaiting()
        try await withCheckedContinuation { done in
            queue.async {
                let result = self.observing(1) {
                    self.withEngine { engine throws(TokenError) in try engine.apply(batches: batch) }
                }
                done.resume(returning: result)
            }
        }.get()
    }

    /// Finishes the commits in progress and closes the file; later calls fail with `storeUnavailable` (-53008).
    ///
    /// - Parameter end: the time at which the wait ends. A disk that answers later finishes the commits nevertheless.
    /// - Returns: whether the file has been closed by then.
    @discardableResult
    package func close(by end: DispatchTime = .distantFuture) async -> Bool {
        expediteWaiting()
        return await queue.run(until: end) { self.engine.withLock { $0 = nil } }
    }

    private func writeWaiting() {
        let commits = waiting.withLock { waiting in
            defer { waiting = Waiting() }
            return waiting.commits
        }
        // Another call may have written what has gathered.
        guard !commits.isEmpty else { return }
        let shared = write(commits)
        for commit in commits {
            // A commit that cannot be made must not fail the others: after a failure, each is tried by itself.
            if case .failure = shared, commits.count > 1 {
                commit.done.resume(returning: write([commit], isRetry: true))
            } else {
                commit.done.resume(returning: shared)
            }
        }
    }

    private func write(_ commits: [WaitingCommit], isRetry: Bool = false) -> Result<Void, TokenError> {
        observing(isRetry ? 0 : commits.count) {
            withEngine { engine throws(TokenError) in
                try engine.apply(commits.lazy.flatMap(\.changes))
            }
        }
    }

    /// Reports how long a transaction has taken.
    private func observing(_ commits: Int, _ work: () -> Result<Void, TokenError>) -> Result<Void, TokenError> {
        guard let didCommit else { return work() }
        let start = ContinuousClock.now
        let result = work()
        let isSuccess = if case .success = result { true } else { false }
        didCommit(StoreCommit(requests: commits, duration: .now - start, isSuccess: isSuccess))
        return result
    }

    /// Runs `body` on the store's queue, after the earlier operations.
    func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable (StoreEngine) throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        expediteWaiting()
        return try await withCheckedContinuation { done in
            queue.async { done.resume(returning: self.withEngine(body)) }
        }.get()
    }

    func withEngine<Value: Sendable>(
        _ body: @Sendable (StoreEngine) throws(TokenError) -> Value
    ) -> Result<Value, TokenError> {
        dispatchPrecondition(condition: .onQueue(queue))
        return engine.withLock { engine in
            guard let engine else { return .failure(TokenError(.storeUnavailable, "the store is closed")) }
            defer { lastReport.withLock { $0 = engine.report } }
            return Result { () throws(TokenError) in try body(engine) }
        }
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}

/// The settings of a store.
package struct StoreOptions: Sendable {
    package var keys: KeySettings
    /// The current time in seconds since 1970, for the names of quarantined files and the time between attempts of a passphrase.
    package var now: @Sendable () -> Int64
    /// The name of SQLite's VFS; nil for the system's. Tests use one that fails.
    package var vfs: String?
    /// Called on the store's queue after each transaction of changes; must not block.
    package var didCommit: (@Sendable (StoreCommit) -> Void)?
    /// Calls a function after a time.
    package typealias Timer = @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    /// The timer of the time for which commits gather; nil for the clock of the machine.
    package var timer: Timer?
    /// The size up to which the database grows, in bytes.
    package var sizeLimit = StoreLimits.size
    /// Counts openings and removals, so that an earlier copy of the store is refused; nil if none does.
    package var counter: RollbackCounter?

    package init(keys: KeySettings = KeySettings(), vfs: String? = nil, now: @escaping @Sendable () -> Int64) {
        self.keys = keys
        self.vfs = vfs
        self.now = now
    }
}

/// A transaction of the store, which has succeeded or failed.
package struct StoreCommit: Sendable {
    /// The number of calls of `commit` that share it; 0 if it tries one of them again, after a shared transaction has failed.
    package let requests: Int
    /// The time that the commit took, with the flush to the disk.
    package let duration: Duration
    package let isSuccess: Bool
}
