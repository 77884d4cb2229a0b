internal import Dispatch
internal import Synchronization
internal import TokenCache
internal import TokenModel

@testable internal import TokenAgent
@testable internal import TokenStore

/// A store in memory whose commits and loads the test completes.
final class ScriptedStore: CacheStore {
    /// A commit that waits for its result.
    struct Commit: Sendable {
        let changes: [StoreChange]
        fileprivate let end: @Sendable (TokenError?) -> Void

        func succeed() { end(nil) }

        func fail() { end(ScriptedStore.diskFull) }
    }

    /// A read that blocks its thread.
    struct HeldRead: Sendable {
        fileprivate let semaphore = DispatchSemaphore(value: 0)

        func resume() { semaphore.signal() }
    }

    fileprivate struct State {
        var isHeld = false
        var holdsNextRead = false
        var failure: TokenError?
        var readFailure: TokenError?
        var reads = 0
        var readKeys: [RecordKey] = []
        var loading: Result<LoadedCache, TokenError>? = .success(LoadedCache())
        var early: CredentialCache?
        var holdsEarlyReads = false
        var earlyReads = 0
        var passphrases: [Secret?] = []
        var locks = 0
        var isAskingKeyring = false
        var windows: [Duration] = []
        var truncations = 0
        var listings = 0
        var records: [RecordKey: [UInt8]] = [:]
        var report = {
            var report = StoreReport()
            report.phase = .open
            report.keySource = .file
            return report
        }()
    }

    private let state = Mutex(State())
    /// The commits that began while the store was held, in order.
    let commits = Mailbox<Commit>()

    var report: StoreReport { state.withLock { $0.report } }
    func findQuarantined() -> [String] {
        state.withLock { state in
            state.listings += 1
            return state.report.quarantined
        }
    }

    /// How often the files in quarantine were listed.
    var listings: Int { state.withLock { $0.listings } }

    /// Makes commits wait in `commits`, or lets later ones succeed.
    func hold(_ isHeld: Bool = true) { state.withLock { $0.isHeld = isHeld } }

    /// Makes later commits fail, or succeed again.
    func fail(_ fails: Bool = true) { state.withLock { $0.failure = fails ? Self.diskFull : nil } }

    func updateReport(_ update: (inout StoreReport) -> Void) { state.withLock { update(&$0.report) } }

    func commit(_ changes: [StoreChange], gatheringFor window: Duration = .zero) async throws(TokenError) {
        let error = await withCheckedContinuation { (continuation: CheckedContinuation<TokenError?, Never>) in
            let end: @Sendable (TokenError?) -> Void = { error in
                if error == nil { self.state.withLock { $0.apply(changes) } }
                continuation.resume(returning: error)
            }
            let (isHeld, failure) = state.withLock { state in
                state.windows.append(window)
                return (state.isHeld, state.failure)
            }
            if isHeld { commits.put(Commit(changes: changes, end: end)) } else { end(failure) }
        }
        if let error { throw error }
    }

    func commit(
        batches batch: @escaping @Sendable (Int) throws(TokenError) -> [StoreChange]?
    ) async throws(TokenError) {
        var changes: [StoreChange] = []
        var number = 0
        while let batch = try batch(number) {
            changes += batch
            number += 1
        }
        try await commit(changes)
    }

    func truncateLog() async { state.withLock { $0.truncations += 1 } }

    /// The number of times that the log was emptied.
    var truncations: Int { state.withLock { $0.truncations } }

    func records(with keys: [RecordKey]) async throws(TokenError) -> [StoredRecord] { try read(keys) }

    func readRecords(with keys: [RecordKey]) throws(TokenError) -> [StoredRecord] {
        let isHeld = state.withLock { state in
            defer { state.holdsNextRead = false }
            return state.holdsNextRead
        }
        if isHeld {
            let read = HeldRead()
            heldReads.put(read)
            read.semaphore.wait()
        }
        return try read(keys)
    }

    /// Makes the next read of an import or an export wait in `heldReads`.
    func holdNextRead() { state.withLock { $0.holdsNextRead = true } }

    /// The reads that wait, and block their threads.
    let heldReads = Mailbox<HeldRead>()

    private func read(_ keys: [RecordKey]) throws(TokenError) -> [StoredRecord] {
        try state.withLock { state in
            state.reads += 1
            state.readKeys += keys
            return Result<[StoredRecord], TokenError> { () throws(TokenError) in
                if let failure = state.readFailure { throw failure }
                return keys.compactMap { key in state.records[key].map { StoredRecord(key: key, body: $0) } }
            }
        }.get()
    }

    /// Makes later reads of single records fail, or succeed again.
    func failReads(_ fails: Bool = true) {
        state.withLock { $0.readFailure = fails ? TokenError(.storeUnavailable, "the disk is gone") : nil }
    }

    /// The number of times that records were read by their keys.
    var reads: Int { state.withLock { $0.reads } }

    /// The keys of the records that were read, in order.
    var readKeys: [RecordKey] { state.withLock { $0.readKeys } }

    /// Every record, read without tokens, as after a start.
    var loadedWithoutTokens: LoadedCache {
        let records = state.withLock { $0.records }
        var loaded = LoadedCache()
        for (key, body) in records {
            loaded.add(
                LoadedCache.decode(StoredRecord(key: key, body: body), LoadedCache.makeContext(canReadAgain: true)))
        }
        loaded.finish()
        return loaded
    }

    /// Puts the content of another record in the place of a record's.
    func replace(_ key: RecordKey, with other: RecordKey) {
        state.withLock { $0.records[key] = $0.records[other] }
    }

    /// Loses the records whose keys begin with the identifier of a user.
    func loseRecords(naming user: String) {
        state.withLock { state in
            state.records = state.records.filter { !$0.key.key.hasPrefix(HomeAccountID.sample(user).text + "-") }
        }
    }

    /// Loses a record.
    func lose(_ key: RecordKey) { state.withLock { $0.records[key] = nil } }

    /// The keys of the stored records of a kind.
    func keys(of kind: RecordKind) -> [RecordKey] { state.withLock { $0.records.keys.filter { $0.kind == kind } } }

    var isAskingKeyring: Bool { state.withLock(\.isAskingKeyring) }

    /// Has the store wait for the keyring, or not any more.
    func askKeyring(_ asks: Bool = true) { state.withLock { $0.isAskingKeyring = asks } }

    var unansweredKeyring: String? { isAskingKeyring ? "the Secret Service" : nil }

    // MARK: Content

    /// How long each commit was to wait for others.
    var windows: [Duration] { state.withLock { $0.windows } }

    /// The secrets of the stored refresh tokens, in alphabetical order.
    var refreshTokens: [String] {
        state.withLock { state in
            state.records.compactMap { key, body in
                guard case .refreshToken(let token) = CacheRecord(StoredRecord(key: key, body: body)) else {
                    return nil
                }
                return token.secret.reveal()
            }.sorted()
        }
    }

    /// The number of stored redemption notes.
    var notes: Int { state.withLock { $0.records.keys.count { $0.kind == .redemption } } }

    /// The number of stored clouds.
    var clouds: Int { state.withLock { $0.records.keys.count { $0.kind == .cloud } } }

    // MARK: Loading

    /// The number of loads.
    var loads: Int { passphrases.count }

    /// The passphrases of the loads, in order.
    var passphrases: [Secret?] { state.withLock { $0.passphrases } }

    /// Sets the result of later loads; nil makes them wait in `heldLoads`.
    func answerLoads(with result: Result<LoadedCache, TokenError>?) { state.withLock { $0.loading = result } }

    /// The loads that wait for their result.
    let heldLoads = Mailbox<CheckedContinuation<Result<LoadedCache, TokenError>, Never>>()

    func load(passphrase: Secret?) async throws(TokenError) -> LoadedCache {
        let result = state.withLock { state in
            state.passphrases.append(passphrase)
            return state.loading
        }
        let loaded =
            if let result { try result.get() } else {
                try await withCheckedContinuation { heldLoads.put($0) }.get()
            }
        updateReport { $0.phase = .open }
        return loaded
    }

    /// The cache that is read while a load is held; nil if it cannot be read before the load ends.
    func answerEarlyReads(with cache: CredentialCache?) { state.withLock { $0.early = cache } }

    /// Makes later early reads wait in `heldEarlyReads`.
    func holdEarlyReads() { state.withLock { $0.holdsEarlyReads = true } }

    /// The early reads that wait for their result.
    let heldEarlyReads = Mailbox<CheckedContinuation<CredentialCache?, Never>>()

    func cacheWhileLoading(of account: HomeAccountID, in group: SharingGroup) async -> CredentialCache? {
        let (early, isHeld) = state.withLock { state in
            state.earlyReads += 1
            return (state.early, state.holdsEarlyReads)
        }
        return isHeld ? await withCheckedContinuation { heldEarlyReads.put($0) } : early
    }

    /// The number of accounts that were read while a load was held.
    var earlyReads: Int { state.withLock { $0.earlyReads } }

    func lock() async throws(TokenError) {
        state.withLock {
            $0.locks += 1
            $0.report.phase = .locked(Self.diskFull)
        }
    }

    /// The number of times that the store was locked.
    var locks: Int { state.withLock { $0.locks } }

    func forgetPassphrase() async {}
    func changeKeySource(
        to source: KeySource, passphrase: Secret?, currentPassphrase: Secret?
    ) async throws(TokenError) {}
    func keyProblem() async -> TokenError? { nil }

    func checkPlace() async -> TokenError? { nil }

    static let diskFull = TokenError(.storeUnavailable, "the disk is full")
}

extension ScriptedStore.State {
    fileprivate mutating func apply(_ changes: [StoreChange]) {
        for change in changes {
            switch change {
            case .put(let record): records[record.key] = record.body
            case .delete(let key): records[key] = nil
            case .deleteGroup(let group): records = records.filter { $0.key.group != group }
            }
        }
    }
}
