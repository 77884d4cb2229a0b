internal import Dispatch
internal import Synchronization
package import TokenModel

/// The cache's memory on disk: what `commit` has returned for is durable, so that a restart loses nothing.
///
/// Safe to use from any thread. Nothing waits for the disk but the store's own queue and, at start, `open` and `load`.
package final class TokenStore: Sendable {
    /// The database file.
    package let path: String

    // Not private, so that a test can hold it while commits gather.
    let queue = DispatchQueue(label: "sso-agent.store", qos: .userInitiated)
    // Touched on `queue` only, so the lock is never waited for: it is how the compiler checks the isolation.
    private let database: Mutex<StoreDatabase?>
    private let waiting = Mutex<[Commit]>([])

    private struct Commit: Sendable {
        var changes: [StoreChange]
        var done: CheckedContinuation<Result<Void, TokenError>, Never>
    }

    private init(path: String, database: sending StoreDatabase) {
        self.path = path
        self.database = Mutex(database)
    }

    /// Opens the store in `directory`, making what is missing: the directory for its owner only, parents as usual.
    ///
    /// - Throws: `storeUnavailable` (-53008) when the directory is not private, the file cannot be written or another
    ///   process has it open; `cacheBadFormat` (-51201) when the file is damaged, something else, or of a newer
    ///   version: it is then left as it was.
    package static func open(directory: String) throws(TokenError) -> TokenStore {
        try StoreFiles.prepareDirectory(directory)
        let path = directory.hasSuffix("/") ? directory + StoreFiles.name : "\(directory)/\(StoreFiles.name)"
        try StoreFiles.prepareFile(path)
        return TokenStore(path: path, database: try StoreDatabase(path: path))
    }

    /// Every record, after the commits made so far; in the order of group, kind and key.
    ///
    /// Blocks on the disk: for the start of the agent.
    ///
    /// - Throws: `storeUnavailable` (-53008), `cacheBadFormat` (-51201).
    package func load() throws(TokenError) -> [StoredRecord] {
        try queue.sync {
            withDatabase { database throws(TokenError) in try database.records() }
        }.get()
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

    /// Finishes the commits under way and closes the file; later calls fail with `storeUnavailable` (-53008).
    package func close() async {
        await withCheckedContinuation { done in
            queue.async {
                self.database.withLock { $0 = nil }
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
        withDatabase { database throws(TokenError) in
            try database.apply(commits.lazy.flatMap(\.changes))
        }
    }

    private func withDatabase<Value: Sendable>(
        _ body: @Sendable (StoreDatabase) throws(TokenError) -> Value
    ) -> Result<Value, TokenError> {
        dispatchPrecondition(condition: .onQueue(queue))
        return database.withLock { database in
            guard let database else { return .failure(TokenError(.storeUnavailable, "the store is closed")) }
            return Result { () throws(TokenError) in try body(database) }
        }
    }
}

extension TokenStore {
    /// Bounds the file, in pages of 4 KiB, and returns the bound: how tests make a disk full, and free again.
    @discardableResult
    func limitPages(to pages: Int) throws(TokenError) -> Int {
        try queue.sync {
            withDatabase { database throws(TokenError) in try database.limitPages(to: pages) }
        }.get()
    }
}
