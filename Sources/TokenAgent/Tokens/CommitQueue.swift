internal import NIOCore
internal import TokenCache
internal import TokenModel
internal import TokenStore

/// The order in which changes become durable and visible.
///
/// - Two changes of one account do not overlap: the second is worked out from what the first has left.
/// - A removal overlaps no change of its sharing group: what was being saved is removed as well.
/// - An import overlaps no other commit.
/// - Changes that could not be written stay true in memory. They are written again before the next commit, or after a few
///   seconds; never after a newer value of the same record.
///
/// Used on the actor of `CacheOwner` only.
final class CommitQueue {
    /// What a change may have to itself. Taken in this order, so that no two changes wait for each other.
    private enum Scope: Hashable {
        case group(SharingGroup)
        case account(SharingGroup, AccountKey)
        case store
    }

    private let memory: CacheMemory
    private let notes: RedemptionNotes
    private let target: any CommitTarget
    private let tasks: TaskTracker
    private let log: StoreLog
    private let scopes = KeyedLock<Scope>()
    private var unsaved = UnsavedChanges()
    private var retry: Timers.Timer?
    /// How many of the store's losses have been written again.
    private var rewrittenLosses = 0

    init(
        memory: CacheMemory, notes: RedemptionNotes, target: any CommitTarget, tasks: TaskTracker, log: StoreLog
    ) {
        self.memory = memory
        self.notes = notes
        self.target = target
        self.tasks = tasks
        self.log = log
    }

    /// Whether changes wait to be written.
    var hasUnsavedChanges: Bool { !unsaved.isEmpty }

    /// Makes changes durable, then visible: no app hears of what a crash could undo.
    ///
    /// - Throws: `storeUnavailable` if they could not be written. They are visible all the same, since the token endpoint has
    ///   issued what it issued, and are written again later.
    func commit(_ changes: [CacheChange], in group: SharingGroup) async throws(TokenError) {
        try await scopes.shared(.store) { () async throws(TokenError) in
            try await write(Commit(changes: changes), in: group)
        }
    }

    /// Works out changes of an account and commits them, while nothing else changes the account.
    ///
    /// - Parameter change: what to commit, and the value to return; called when it is this change's turn.
    func commit<Value>(
        changing account: AccountKey, in group: SharingGroup, _ change: () async throws(TokenError) -> (Commit, Value)
    ) async throws(TokenError) -> Value {
        try await scopes.shared(.group(group)) { () async throws(TokenError) in
            try await scopes.exclusive(.account(group, account)) { () async throws(TokenError) in
                try await scopes.shared(.store) { () async throws(TokenError) in
                    let (commit, value) = try await change()
                    try await write(commit, in: group)
                    return value
                }
            }
        }
    }

    /// Commits a removal that is visible already. Tokens whose saving began before the removal have arrived when it is its
    /// turn: they are removed as well, even where nothing can be written.
    ///
    /// - Parameter late: what the removal finds in the cache at its turn.
    func commit(
        removal: [CacheChange], in group: SharingGroup, late: (CredentialCache) -> [CacheChange]
    ) async throws(TokenError) {
        try await scopes.exclusive(.group(group)) { () async throws(TokenError) in
            try await scopes.shared(.store) { () async throws(TokenError) in
                let late = late(memory.cache)
                memory.apply(late, in: group)
                try await write(Commit(changes: removal + late), in: group)
            }
        }
    }

    /// Writes steps that change nothing in memory: notes, and what is learnt about clouds.
    ///
    /// - Parameter isRetried: whether to write them again later if they cannot be written now.
    func write(_ steps: [StoreChange], isRetried: Bool = true) async throws(TokenError) {
        try await scopes.shared(.store) { () async throws(TokenError) in
            try await flush(with: steps, isRetried: isRetried)
        }
    }

    /// Runs `work` while no other change is written. Everything that could not be written before is written first, so that it
    /// does not follow what `work` writes.
    func exclusively<Value>(_ work: () async throws(TokenError) -> Value) async throws(TokenError) -> Value {
        try await scopes.exclusive(.store) { () async throws(TokenError) in
            while !unsaved.isEmpty { try await flush(with: []) }
            return try await work()
        }
    }

    /// Makes steps durable that were worked out within `exclusively`, some at a time: as bytes, all of them would take much
    /// memory. They are not written again later: an import that failed can be repeated by whoever asked for it.
    ///
    /// - Parameters:
    ///   - batch: the steps of a number, from 0 on; nil after the last.
    ///   - keys: the records that the steps write or delete.
    func writeExclusively(
        _ batch: @escaping @Sendable (Int) throws(TokenError) -> [StoreChange]?, of keys: () -> [RecordKey]
    ) async throws(TokenError) {
        defer { log.reportNotices() }
        try await target.commit(batches: batch)
        if !unsaved.isEmpty { unsaved.supersede(keys: keys()) }
    }

    /// Tries once more to write what could not be written.
    func writeUnsavedChanges() async {
        guard !unsaved.isEmpty else { return }
        try? await write([])
    }

    /// Ends the retries: the agent is stopping.
    func stopRetrying() { retry?.cancel() }

    private func write(_ commit: Commit, in group: SharingGroup) async throws(TokenError) {
        var steps: [StoreChange] = []
        for change in commit.changes { steps.append(try change.stored(in: group)) }
        let tokens = steps.compactMap(\.refreshToken) + (commit.settled.map { [$0] } ?? [])
        steps += notes.deletions(of: tokens)
        guard !steps.isEmpty else { return }
        defer {
            memory.apply(commit.changes, in: group)
            notes.settle(tokens)
        }
        try await flush(with: steps)
    }

    /// Writes earlier failed changes and then `steps`, in one commit.
    private func flush(with steps: [StoreChange], isRetried: Bool = true) async throws(TokenError) {
        // Earlier failed changes are written first, to keep the order of changes to one record. They are removed from the
        // list, so that a concurrent commit does not write them again.
        let earlier = unsaved.take()
        defer { log.reportNotices() }
        do throws(TokenError) {
            try await target.commit(earlier + steps)
            unsaved.supersede(earlier + steps)
        } catch {
            unsaved.failed(isRetried ? earlier + steps : earlier)
            log.reportFailure(error)
            retryLater()
            throw error
        }
        rewriteAfterLoss()
    }

    private func retryLater(isolation: isolated (any Actor)? = #isolation) {
        guard retry == nil, !unsaved.isEmpty else { return }
        retry = tasks.schedule(after: Self.retryInterval) {
            self.retry = nil
            self.tasks.start(isolation: isolation) { () async throws(TokenError) in await self.writeUnsavedChanges() }
        }
    }

    /// Writes everything again if the store has lost records while it was in use: memory still has them.
    private func rewriteAfterLoss(isolation: isolated (any Actor)? = #isolation) {
        let losses = target.report.losses
        guard losses > rewrittenLosses else { return }
        rewrittenLosses = losses
        log.reportLoss()
        tasks.start { () async throws(TokenError) in
            try await self.exclusively { () async throws(TokenError) in
                try await self.flush(with: try await Self.everything(in: self.memory.cache))
            }
        }
    }

    /// Beside the event loop, since a cache may be large.
    @concurrent
    private static func everything(in cache: CredentialCache) async throws(TokenError) -> [StoreChange] {
        try cache.everything()
    }

    private static let retryInterval = TimeAmount.seconds(5)
}

extension CommitQueue {
    /// Changes that become durable and visible together.
    struct Commit {
        var changes: [CacheChange]
        /// A refresh token whose redemption these changes answer.
        var settled: RecordKey?
    }
}

extension StoreChange {
    /// The refresh token that the change replaces or removes.
    fileprivate var refreshToken: RecordKey? {
        switch self {
        case .put(let record) where record.key.kind == .refreshToken: record.key
        case .delete(let key) where key.kind == .refreshToken: key
        default: nil
        }
    }
}
