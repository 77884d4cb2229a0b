internal import Dispatch
internal import PosixFiles
internal import Synchronization
package import TokenModel

/// The cache's memory on disk: what `commit` has returned for is durable, so that a restart loses nothing.
///
/// Safe to use from any thread. Nothing waits for the disk but the store's own queue and, at start, `load`.
package final class Store: Sendable {
    /// The directory it is in.
    package let directory: String

    // Not private, so that a test can hold it while commits gather.
    let queue = DispatchQueue(label: "sso-agent.store", qos: .userInitiated)
    // Touched on `queue` only, so the lock is never waited for: it is how the compiler checks the isolation.
    private let engine: Mutex<StoreEngine?>
    private let waiting = Mutex<[Commit]>([])
    private let lastReport: Mutex<StoreReport>

    private struct Commit: Sendable {
        var changes: [StoreChange]
        var done: CheckedContinuation<Result<Void, TokenError>, Never>
    }

    private init(directory: String, engine: sending StoreEngine) {
        self.directory = directory
        lastReport = Mutex(engine.report)
        self.engine = Mutex(engine)
    }

    /// Takes the store in `directory` for this process, making what is missing: the directory for its owner only, parents
    /// as usual. What is in it is for `load` to find out.
    ///
    /// - Throws: `storeUnavailable` (-53008) when the directory is not private, cannot be made, or is in use.
    package static func open(directory: String, _ options: StoreOptions) throws(TokenError) -> Store {
        try StorePaths(directory).prepare()
        let engine = try StoreEngine(directory, options)
        return Store(directory: engine.paths.directory, engine: engine)
    }

    /// Finds the key and reads every record; commits wait meanwhile. Afterwards `report` says what was damaged.
    ///
    /// - Parameters:
    ///   - passphrase: opens a store that is locked with one.
    ///   - receiver: what becomes of the records, beside the caller's other work.
    /// - Throws: `storeUnavailable` (-53008) when the key or the file cannot be had now; calling it again tries again.
    package func load<Receiver: RecordReceiver>(
        passphrase: Secret? = nil, into receiver: Receiver.Type
    ) async throws(TokenError) -> Receiver {
        try await onQueue { engine throws(TokenError) -> Receiver in
            if let passphrase { engine.ring.settings.passphrase = passphrase }
            return try engine.load()
        }
    }

    /// The same for a caller that may block.
    package func load() throws(TokenError) -> [StoredRecord] {
        try queue.sync {
            withEngine { engine throws(TokenError) in try engine.load() }
        }.get()
    }

    /// How the store was after the last thing it did.
    package var report: StoreReport { lastReport.withLock(\.self) }

    /// The damaged files that were put aside and are still there, by name.
    package var quarantined: [String] { StorePaths(directory).quarantined }

    /// Wraps the store's key with that of another source.
    ///
    /// - Parameter passphrase: for `.passphrase`.
    /// - Throws: `storeUnavailable` (-53008) when the source has no key, or nothing can be written.
    package func changeKeySource(to source: KeySource, passphrase: Secret?) async throws(TokenError) {
        try await onQueue { engine throws(TokenError) in
            try engine.changeKeySource(to: source, passphrase: passphrase)
        }
    }

    /// Makes all of `changes` durable, or none; returns when they have reached the disk.
    ///
    /// Commits are made in the order of the calls. Those that wait while the disk is busy share one transaction, so
    /// that a burst of them costs one flush. A failure leaves the store as it was, ready for the next commit.
    ///
    /// - Throws: `storeUnavailable` (-53008), with what to do; `cacheBadFormat` (-51201) when the file is damaged.
    package func commit(_ changes: [StoreChange]) async throws(TokenError) {
        let result = await withCheckedContinuation { done in
            let isFirst = waiting.withLock { commits in
                commits.append(Commit(changes: changes, done: done))
                return commits.count == 1
            }
            if isFirst { queue.async { self.writeWaiting() } }
        }
        try result.get()
    }

    /// Makes all of a long commit durable, or nothing; its steps are asked for batch by batch, by number, and are not kept.
    ///
    /// - Parameter batch: nil after the last. Called on the store's queue, and from the beginning again where the file has
    ///   turned out to be damaged and has been repaired.
    /// - Throws: as `commit(_:)` does, and what `batch` throws.
    package func commit(
        batches batch: @escaping @Sendable (Int) throws(TokenError) -> [StoreChange]?
    ) async throws(TokenError) {
        try await onQueue { engine throws(TokenError) in try engine.apply(batches: batch) }
    }

    /// Finishes the commits under way and closes the file; later calls fail with `storeUnavailable` (-53008).
    package func close() async {
        await withCheckedContinuation { done in
            queue.async {
                self.engine.withLock { $0 = nil }
                done.resume()
            }
        }
    }

    private func writeWaiting() {
        let commits = waiting.withLock { commits in
            defer { commits = [] }
            return commits
        }
        let shared = write(commits)
        for commit in commits {
            // One commit that cannot be made must not fail the others: after a failure each is tried by itself.
            if case .failure = shared, commits.count > 1 {
                commit.done.resume(returning: write([commit]))
            } else {
                commit.done.resume(returning: shared)
            }
        }
    }

    private func write(_ commits: [Commit]) -> Result<Void, TokenError> {
        withEngine { engine throws(TokenError) in
            try engine.apply(commits.lazy.flatMap(\.changes))
        }
    }

    /// Does `body` when what was asked of the store before is done.
    func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable (StoreEngine) throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        try await withCheckedContinuation { done in
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
