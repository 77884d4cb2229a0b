internal import NIOCore
internal import TokenCache
internal import TokenModel
internal import TokenStore

/// Orders the changes of the cache, and makes each of them durable and then visible.
///
/// - Two changes of one account do not overlap: the second is computed from the result of the first. A change that moves records from one
///   account to another is a change of both.
/// - A removal (`Removals`) overlaps no change of an account of its sharing group: it also removes what was being saved. Nor does it overlap
///   another removal of the group. The store is not locked before a removal that has begun has been committed.
/// - An import overlaps no other commit.
/// - Changes that could not be written stay visible in memory. They are written again before the next commit, or after a few
///   seconds; never after a newer value of the same record. While there is room only for commits without them, they are tried every few
///   seconds.
/// - If the store has lost records, whichever operation finds that, everything in memory is written again.
///
/// A commit passes `commit` (waits for its turn), `write` (adds the deletions of redemption notes) and `flush` (writes earlier
/// failed changes, then its own); then `CacheMemory.apply` makes it visible, unless it is a removal, which is visible already. An import
/// passes `exclusively` and `writeExclusively`; then `CacheMemory.replace` makes it visible.
///
/// Used on the actor of `CacheOwner` only.
final class CommitQueue {
    /// What a change locks, in this order, and several accounts in the order of their keys, so that two changes never wait for each other.
    private enum LockKey: Hashable {
        /// Shared by the removals, which are visible before they are committed.
        case removals
        /// Held by one removal of a sharing group at a time until all of it is visible and it waits for the group, so that removals are
        /// committed in order: a later one may find nothing because an earlier one has removed it. Released before the group is locked.
        case removal(SharingGroup)
        case group(SharingGroup)
        case account(SharingGroup, AccountKey)
        case store
    }

    private let memory: CacheMemory
    private let notes: RedemptionNotes
    private let store: any RecordStore
    private let tasks: TaskTracker
    private let log: StoreLog
    private lazy var locks = KeyedLock<LockKey>()
    private var unsaved = UnsavedChanges()
    private var retry: Timers.Timer?
    /// Whether a commit has been made without the earlier failed changes, which wait for `retry`: they may be all records of an upgrade,
    /// which takes seconds to seal.
    private var defersEarlierChanges = false
    /// The error of changes that begin while the store is being locked or is locked, and of redemptions when the agent stops; nil if it is
    /// open.
    private(set) var refusal: TokenError?
    /// Whether the store is locked, so that changes that began earlier fail as well.
    private var isClosed = false
    /// The error of changes while the store is locked, whose records are not in memory; nil while it is open, also if `refusal` is not.
    var lockRefusal: TokenError? { isClosed ? refusal : nil }
    /// The number of the store's losses that have been logged.
    private var loggedLosses = 0
    /// The number of reads during which the store has found a loss.
    private var lossesDuringReads = 0
    /// The value of `losses` for which the last task was started that writes everything again.
    private var startedLosses = 0
    /// The value of `losses` after which everything has been written again.
    private var rewrittenLosses = 0
    /// The number of operations in progress that read records from the store.
    private var reads = 0
    /// The number of redemptions in progress, each of which commits a note and then its tokens.
    var redemptions = 0

    init(memory: CacheMemory, notes: RedemptionNotes, store: any RecordStore, tasks: TaskTracker, log: StoreLog) {
        self.memory = memory
        self.notes = notes
        self.store = store
        self.tasks = tasks
        self.log = log
    }

    /// Whether there are changes that could not be written yet, or lost records that have not been written again yet.
    var hasUnsavedChanges: Bool { !unsaved.isEmpty || hasLosses }

    /// The size of the store after the last commit, in bytes.
    var storeSize: Int { store.report.size }

    /// The size of the changes that could not be written yet, in bytes, without that of an upgrade of the store.
    var unsavedSize: Int { unsaved.sizeOfAdditions }

    /// Whether the store has lost records, and what is in memory has not been written again since.
    var hasLosses: Bool { losses > rewrittenLosses }

    /// A number that grows whenever everything in memory has to be written again.
    private var losses: Int { store.report.losses + lossesDuringReads }

    /// Whether the store has everything that is in memory, apart from the commits in progress, and no loss is known: every earlier commit has
    /// succeeded, lost records have been written again, and no read of records, which may find a loss, is in progress.
    var isComplete: Bool { !hasUnsavedChanges && reads == 0 }

    /// Whether `isComplete`, and no commit is in progress.
    var isIdle: Bool { isComplete && locks.heldKeys.isEmpty }

    /// Computes changes of accounts and makes them durable, then visible, while no other change of one of these accounts is in progress.
    ///
    /// - Parameter change: computes the commit and the value to return; called when it is this change's turn.
    /// - Throws: what `change` throws; `storeUnavailable` if the changes could not be written. They become visible nevertheless, since a
    ///   token endpoint does not take back what it has issued, and are written again later.
    func commit<Value>(
        changing accounts: Set<AccountKey>, in group: SharingGroup,
        _ change: () async throws(TokenError) -> (CacheCommit, Value)
    ) async throws(TokenError) -> Value {
        let keys = accounts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return try await locks.shared(.group(group)) { () async throws(TokenError) in
            try await locking(keys[...], in: group) { () async throws(TokenError) in
                try await locks.shared(.store) { () async throws(TokenError) in
                    let (commit, value) = try await change()
                    try await write(commit, in: group)
                    return value
                }
            }
        }
    }

    /// Runs `work` while no other change of one of these accounts is in progress.
    ///
    /// - Parameter accounts: the accounts in the order of their keys.
    private func locking<Value>(
        _ accounts: ArraySlice<AccountKey>, in group: SharingGroup, _ work: () async throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        guard let account = accounts.first else { return try await work() }
        return try await locks.exclusive(.account(group, account)) { () async throws(TokenError) in
            try await locking(accounts.dropFirst(), in: group, work)
        }
    }

    /// Commits a removal that is visible already, with what has been removed again by its turn: tokens whose commit began before it.
    /// Returns when earlier removals of the sharing group are durable as well.
    ///
    /// - Parameter complete: makes the rest of a divided removal visible. Neither the store is locked nor a later removal of the sharing
    ///   group is committed meanwhile; other changes are. It does not wait for earlier commits, which a disk may not end.
    func commit(_ removal: PendingRemoval, completing complete: () async -> Void) async throws(TokenError) {
        try await locks.shared(.removals) { () async throws(TokenError) in
            await locks.exclusive(.removal(removal.group)) { () async in await complete() }
            // Locked in the same turn of the event loop, in which the next removal cannot come before.
            try await locks.exclusive(.group(removal.group)) { () async throws(TokenError) in
                try await locks.shared(.store) { () async throws(TokenError) in
                    try await write(CacheCommit(changes: removal.changes, areVisible: true), in: removal.group)
                }
                // Waits for commits in progress, of which one may be writing an earlier removal again.
                if hasUnsavedRemovals(in: removal.group) { try await exclusively {} }
            }
        }
    }

    /// Whether a commit of a change of an account, a removal or an import is in progress that may bring records of a sharing group.
    func isChanging(_ group: SharingGroup) -> Bool { locks.isHeld(.group(group)) || locks.isHeldExclusively(.store) }

    /// Whether a removal of a sharing group could not be written yet.
    func hasUnsavedRemovals(in group: SharingGroup) -> Bool {
        unsaved.areBeingWritten || unsaved.hasRemovals(in: group)
    }

    /// Writes changes of the store that do not change the cache in memory: redemption notes and learnt clouds.
    ///
    /// - Parameter isRetried: whether to write them again later if they cannot be written now.
    func write(_ steps: [StoreChange], isRetried: Bool = true) async throws(TokenError) {
        try await locks.shared(.store) { () async throws(TokenError) in
            try await flush(with: steps, isRetried: isRetried)
        }
    }

    /// Writes the records of an earlier version as this one stores them, now or later.
    func write(_ upgrade: StoreUpgrade) async {
        unsaved.append(upgrade)
        try? await write([])
    }

    /// Runs `work` while no other commit is in progress. Lost records and earlier failed changes are written first, so that they do not
    /// overwrite what `work` writes.
    func exclusively<Value>(_ work: () async throws(TokenError) -> Value) async throws(TokenError) -> Value {
        try await locks.exclusive(.store) { () async throws(TokenError) in
            // Writing may find another loss.
            while hasUnsavedChanges { if hasLosses { try await rewriteAfterLoss() } else { try await flush(with: []) } }
            return try await work()
        }
    }

    /// Calls `work` once when the commits in progress have ended, before later ones.
    ///
    /// - Parameter work: its argument is `isComplete`.
    func betweenCommits(_ work: @escaping (_ isComplete: Bool) -> Void) {
        tasks.start { () async throws(TokenError) in
            do throws(TokenError) {
                try await self.exclusively { work(self.isComplete) }
            } catch {
                work(false)
            }
        }
    }

    /// Runs `work`, which reads records from the store. No token leaves memory meanwhile, except for those of an import. If records are
    /// found to be lost meanwhile, everything in memory is written again afterwards, with what has been read.
    func reading<Value>(_ work: () async throws(TokenError) -> Value) async throws(TokenError) -> Value {
        reads += 1
        let losses = store.report.losses
        defer {
            reads -= 1
            // What was read may have been lost since, and was not in memory if that has been written again already.
            if store.report.losses > losses { lossesDuringReads += 1 }
            reportDamage()
        }
        return try await work()
    }

    /// Makes the changes of an import durable, within `exclusively`. They are encoded in batches, since the encoded import may
    /// be large. They are not written again later: a failed import can be repeated.
    ///
    /// - Parameter batch: the changes of a batch, numbered from 0; nil after the last one.
    func writeExclusively(
        _ batch: @escaping @Sendable (Int) throws(TokenError) -> [StoreChange]?
    ) async throws(TokenError) {
        defer { reportDamage() }
        try await store.commit(batches: batch)
    }

    /// Refuses to begin changes from now on. Those in progress may be committed.
    func beginClosing(_ refusal: TokenError) { self.refusal = refusal }

    /// Runs `lock` when every change in progress and every earlier failed change has been written; changes fail from then on.
    ///
    /// - Throws: `storeUnavailable` (-53008) if earlier failed changes cannot be written, and what `lock` throws. Changes are
    ///   possible again then.
    func close(_ refusal: TokenError, _ lock: () async throws(TokenError) -> Void) async throws(TokenError) {
        do throws(TokenError) {
            try await locks.exclusive(.removals) { () async throws(TokenError) in
                try await exclusively { () async throws(TokenError) in
                    try await lock()
                    (self.refusal, isClosed) = (refusal, true)
                }
            }
        } catch {
            open()
            throw error
        }
    }

    /// Makes changes possible again.
    func open() { (refusal, isClosed) = (nil, false) }

    /// Makes changes possible, since memory has what the store has.
    func storeWasLoaded() {
        open()
        rewrittenLosses = losses
    }

    /// Tries again to write earlier failed changes, and lost records.
    func writeUnsavedChanges() async {
        if hasLosses {
            try? await exclusively {}
        } else if !unsaved.isEmpty {
            try? await write([])
        }
    }

    /// Cancels the retry, when the agent stops.
    func stopRetrying() { retry?.cancel() }

    private func write(_ commit: CacheCommit, in group: SharingGroup) async throws(TokenError) {
        // Tokens that are not written must not stay in memory.
        if let lockRefusal { throw lockRefusal }
        // A record without its token would replace the one that has it.
        guard !commit.changes.contains(where: \.savesUnread) else {
            throw TokenError(.internalError, "a token that is in the store only cannot be written")
        }
        var steps = commit.changes.map { $0.stored(in: group) }
        // It would fail each time it is written, and with it what is written together with it.
        guard !steps.contains(where: \.isTooLong) else {
            throw TokenError(.storeUnavailable, "a record is longer than the store allows; nothing was saved")
        }
        let tokens = steps.compactMap(\.refreshToken) + (commit.settled.map { [$0] } ?? [])
        steps += notes.deletions(of: tokens)
        guard !steps.isEmpty else { return }
        defer {
            if !commit.areVisible { memory.apply(commit.changes, in: group) }
            notes.settle(tokens)
        }
        do throws(TokenError) {
            try await flush(with: steps)
        } catch {
            throw error.changingCache(!commit.changes.isEmpty)
        }
    }

    /// Writes earlier failed changes and then `steps`, in one commit of the store.
    private func flush(with steps: [StoreChange], isRetried: Bool = true) async throws(TokenError) {
        if let lockRefusal { throw lockRefusal }
        let steps = steps + unsaved.formerDeletions(of: steps)
        // Earlier failed changes are written first, to keep the order of changes to one record.
        let (attempt, earlier) = unsaved.beginWriting()
        defer { reportDamage() }
        if defersEarlierChanges, !earlier.isEmpty {
            defersEarlierChanges = false
            if await write(steps, without: earlier, of: attempt) { return }
        }
        do throws(TokenError) {
            let written = earlier + steps
            try await store.commit(written, gatheringFor: gatheringTime)
            unsaved.endWriting(attempt)
            unsaved.supersede(written)
            await store.emptyLog(after: written)
        } catch {
            if await write(steps, without: earlier, of: attempt) { return }
            unsaved.failWriting(attempt)
            if isRetried { unsaved.append(steps) }
            log.reportFailure(error)
            if memory.events.storeState == .open { memory.events.storeChanged(to: .unwritable) }
            retryLater()
            throw error
        }
        if memory.events.storeState == .unwritable, unsaved.isEmpty { memory.events.storeChanged(to: .open) }
    }

    /// Writes changes without earlier ones, for which the store may have no room: what one app adds must not keep out what others renew.
    ///
    /// - Returns: whether that has been done; the earlier ones are written again later.
    private func write(_ steps: [StoreChange], without earlier: [StoreChange], of attempt: Int?) async -> Bool {
        // A group that is deleted later would lose what has been written meanwhile.
        guard !steps.isEmpty, !earlier.isEmpty, !earlier.contains(where: \.isOfGroup),
            (try? await store.commit(steps, gatheringFor: .zero)) != nil
        else { return false }
        unsaved.supersede(steps)
        unsaved.failWriting(attempt)
        defersEarlierChanges = true
        retryLater()
        await store.emptyLog(after: steps)
        return true
    }

    /// How long a commit waits for those of other redemptions: a disk that flushes faster than their responses arrive would otherwise
    /// flush once for each. It is short beside the time of a redemption, and nothing if there is only one.
    private var gatheringTime: Duration {
        redemptions < 2 ? .zero : min(Self.gatheringTimeOfRedemption * redemptions, Self.longestGatheringTime)
    }

    private func retryLater() {
        guard retry == nil, hasUnsavedChanges else { return }
        retry = tasks.schedule(after: Self.retryDelay) {
            self.retry = nil
            self.defersEarlierChanges = false
            self.tasks.start { () async throws(TokenError) in await self.writeUnsavedChanges() }
        }
    }

    /// Logs the damage that the store has found since the last call. If records have been lost, starts to write everything in memory
    /// again. Called after each operation that may find damage, in the same turn of the event loop.
    func reportDamage() {
        log.reportNotices()
        if store.report.losses > loggedLosses {
            loggedLosses = store.report.losses
            log.reportLoss()
        }
        guard losses > startedLosses else { return }
        startedLosses = losses
        tasks.start { () async throws(TokenError) in try await self.exclusively {} }
    }

    /// Writes the whole cache again, within `exclusively`. If that fails, it is tried again later, with the cache of that time.
    private func rewriteAfterLoss() async throws(TokenError) {
        let losses = losses
        try await flush(with: await Self.everything(in: memory.cache), isRetried: false)
        rewrittenLosses = losses
    }

    /// Encodes the whole cache, off the event loop.
    @concurrent
    private static func everything(in cache: CredentialCache) async -> [StoreChange] { cache.everything() }

    private static let gatheringTimeOfRedemption = Duration.microseconds(330)
    private static let longestGatheringTime = Duration.milliseconds(30)

    /// The time after which failed changes are written again, unless another commit does it before.
    private static let retryDelay = TimeAmount.seconds(5)
}

extension CommitQueue {
    /// Changes that become durable and visible together.
    struct CacheCommit {
        var changes: [CacheChange]
        /// Whether memory has the changes already.
        var areVisible = false
        /// The refresh token whose redemption these changes complete: its note is deleted.
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
