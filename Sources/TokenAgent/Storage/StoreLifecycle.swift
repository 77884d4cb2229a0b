internal import Logging
internal import NIOCore
internal import Synchronization
internal import TokenCache
internal import TokenModel
internal import TokenStore

/// The state of the store: loads it into memory, unlocks it, and changes the source of its key.
///
/// Used on the actor of `CacheOwner` only.
final class StoreLifecycle {
    /// The state of loading the store.
    private enum State {
        case notBegun
        case loading(EventLoopFuture<Result<Void, TokenError>>)
        case loaded
        /// The user has locked the store; only an `Unlock` opens it.
        case locked
        /// Loading failed at this time; requests that need the cache fail with the error.
        case failed(TokenError, at: Int64)
    }

    /// The operations of which only one may run at a time: locking the store, and loading it.
    private enum Transition { case lockOrLoad }

    let store: any CacheStore
    private let memory: CacheMemory
    private let answers: AnswerChanges
    private let notes: RedemptionNotes
    private let log: StoreLog
    private let commits: CommitQueue
    private let reader: TokenReader
    private let tokensInUse: KeyedLock<Secret>
    private let throttle: ThrottleTable
    private let tasks: TaskTracker
    private let loop: any EventLoop
    private let now: @Sendable () -> Int64
    private let logger: Logger
    private let early: EarlyAnswers
    /// An unlock that comes while the store is being locked waits, and then has to have the passphrase.
    private let transitions = KeyedLock<Transition>()
    private var state = State.notBegun {
        // Ends the results that apps keep as soon as their requests would be refused, before the cache is emptied.
        didSet { if !isLoaded { answers.end(.all) } }
    }

    /// Whether the user has locked the store, and no load has succeeded since.
    private var isLockedByUser = false
    /// Whether the place of the store is being looked at; the disk may not answer.
    private var isCheckingPlace = false
    /// The number of loads that are in progress or wait for an earlier one.
    private var pendingLoads = 0
    /// The time limit of a keyring since the first of them began; nil if there are none.
    private var keyringLimit: KeyringLimit?

    init(_ core: AgentCore, store: any CacheStore) {
        self.store = store
        memory = core.memory
        answers = core.answers
        notes = core.notes
        log = core.log
        commits = core.commits
        reader = core.reader
        tokensInUse = core.tokensInUse
        throttle = core.throttle
        tasks = core.tasks
        loop = core.loop
        now = core.now
        logger = core.logger
        early = EarlyAnswers(store: store, now: core.now)
    }

    /// The error of the last load; nil if the store is loaded or being loaded.
    var failure: TokenError? {
        switch state {
        case .failed(let error, _): error
        case .locked: .storeWasLocked
        case .notBegun, .loading, .loaded: nil
        }
    }

    /// Whether the store is being loaded.
    var isLoading: Bool { if case .loading = state { true } else { false } }

    /// Whether requests are answered from the cache: the store is loaded, and is not being locked.
    var isLoaded: Bool { if case .loaded = state { true } else { false } }

    /// Loads the store into memory. A call during a load waits for that load, unless it has a passphrase: passphrases are tried
    /// in the order of the calls, until one opens the store.
    ///
    /// - Parameter unlocks: whether the load also opens a store that the user has locked, as one with a passphrase does.
    @discardableResult
    func load(passphrase: Secret? = nil, unlocks: Bool = false) -> EventLoopFuture<Result<Void, TokenError>> {
        let earlier: EventLoopFuture<Result<Void, TokenError>>?
        switch state {
        case .loading(let loading):
            guard passphrase != nil else { return loading }
            earlier = loading
        case .loaded: return loop.makeSucceededFuture(.success(()))
        case .notBegun, .failed, .locked:
            earlier = nil
            keyringLimit?.loadEnded()
            keyringLimit = KeyringLimit(loop, tasks)
        }
        pendingLoads += 1
        let loading = tasks.start { () async throws(TokenError) in
            _ = try? await earlier?.get()
            try await self.loadNow(passphrase, unlocks: unlocks || passphrase != nil)
        }
        state = .loading(loading)
        return loading
    }

    /// The load that a request for the cache has to wait for; nil if the cache is loaded.
    ///
    /// A failed load is tried again, unless the user has to unlock the store. The wait ends with an error if a keyring does not answer.
    func untilLoaded() -> EventLoopFuture<Result<Void, TokenError>>? {
        switch state {
        case .loaded: nil
        case .loading(let loading): withKeyringTimeout(loading)
        case .notBegun: withKeyringTimeout(load())
        case .locked: loop.makeSucceededFuture(.failure(.storeWasLocked))
        case .failed(let error, let time):
            if isWorthRetrying, abs(now() - time) >= Self.secondsBetweenLoads {
                withKeyringTimeout(load())
            } else {
                loop.makeSucceededFuture(.failure(error))
            }
        }
    }

    /// The load that a request has to wait for, as `untilLoaded()` returns it. A silent request need not wait if the records of its account
    /// answer it.
    func untilLoaded(for request: some AgentRequest) -> EventLoopFuture<Result<Void, TokenError>>? {
        guard case .loading(let loading) = state, !isLockedByUser, let silent = request as? AcquireTokenSilent else {
            return untilLoaded()
        }
        let request = silent.withoutReservedScopes
        if early.hit(request) != nil { return nil }
        guard !isKeyringOverdue, early.beginReading(for: request) else { return withKeyringTimeout(loading) }
        let read = tasks.start { () async throws(TokenError) in
            await self.early.read(for: request)
            if self.early.hit(request) == nil { try await loading.outcome() }
        }
        return withKeyringTimeout(read)
    }

    /// The wait of a request for the cache, or an error if the keyring has not returned the store's key in time: it asks its user for a
    /// password, or does not answer at all. The load continues.
    private func withKeyringTimeout(
        _ wait: EventLoopFuture<Result<Void, TokenError>>
    ) -> EventLoopFuture<Result<Void, TokenError>> {
        guard !isKeyringOverdue else { return loop.makeSucceededFuture(.failure(.keyringUnavailable)) }
        guard let keyringLimit else { return wait }
        let (store, promise) = (store, loop.makePromise(of: Result<Void, TokenError>.self))
        keyringLimit.end.whenSuccess { isOver in
            if isOver, store.isAskingKeyring { promise.succeed(.failure(.keyringUnavailable)) }
        }
        wait.whenComplete { promise.completeWith($0) }
        return promise.futureResult
    }

    private var isKeyringOverdue: Bool { keyringLimit?.isOver == true && store.isAskingKeyring }

    /// The answer to a silent request that need not wait for the load; nil if the store is not being loaded.
    func earlyAnswer(to request: AcquireTokenSilent) -> Result<TokenResult, TokenError>? {
        guard case .loading = state else { return nil }
        // The token may have expired since `untilLoaded(for:)` found it.
        return early.hit(request).map(Result.success)
            ?? .failure(TokenError(.storeUnavailable, "\(TokenError.storeIsBeingOpened.message); try again"))
    }

    /// The load that a request for the status of the store waits for, with a time-out, since a keyring may ask the user for a
    /// password; nil if no load is in progress.
    func untilLoadedOrTimeout() -> EventLoopFuture<Void>? {
        guard case .loading(let loading) = state else { return nil }
        return tasks.limited(loading.map { _ in }, to: Self.statusTimeout, otherwise: ())
    }

    /// The source of the store's key, and whether the store is open.
    var keyStatus: KeyStatus {
        let report = store.report
        let problem: TokenError? =
            switch report.phase {
            // From the beginning of a lock, which waits for responses, requests are refused.
            case .open: isLockedByUser ? .storeWasLocked : nil
            case .loading: .storeIsBeingOpened
            case .locked(let error): error
            }
        return KeyStatus(
            source: report.keySource, place: report.keyPlace, isOpen: problem == nil,
            problem: problem?.message, nextCommand: problem?.details.nextCommand)
    }

    /// The status of the key after a request that has changed nothing.
    private var unchangedStatus: KeyStatus {
        var status = keyStatus
        status.isUnchanged = true
        return status
    }

    /// Forgets the store's key and every token, until `unlock`.
    ///
    /// Responses of token endpoints that are on their way are saved first, since they may have replaced refresh tokens.
    ///
    /// - Parameter cancel: ends what waits for the user or for other requests, and what reads the cache on other threads.
    func lock(_ cancel: () async -> Void) async throws(TokenError) -> KeyStatus {
        if case .loading(let load) = state { _ = try? await load.outcome() }
        return try await transitions.exclusive(.lockOrLoad) { () async throws(TokenError) in try await lockNow(cancel) }
    }

    private func lockNow(_ cancel: () async -> Void) async throws(TokenError) -> KeyStatus {
        let wasLoaded = isLoaded
        let wasLocked = if case .locked = state { true } else { false }
        // From now on no request begins a load, and only an unlock opens the store.
        (state, isLockedByUser) = (.locked, true)
        guard wasLoaded else {
            await waitForResponses()
            try? await commits.exclusively {}
            becameLocked()
            memory.events.storeChanged(to: .locked)
            return wasLocked ? unchangedStatus : keyStatus
        }
        commits.beginClosing(.storeWasLocked)
        await cancel()
        await waitForResponses()
        do throws(TokenError) {
            try await commits.close(.storeWasLocked) { () async throws(TokenError) in
                try await store.lock()
                becameLocked()
                memory.removeEverything()
                reader.removeAll()
                notes.load([])
                throttle.removeAll()
            }
        } catch {
            (state, isLockedByUser) = (.loaded, false)
            throw error
        }
        memory.events.storeChanged(to: .locked)
        logger.notice("the store is locked")
        return keyStatus
    }

    /// Records that the store is locked. An unlock that has waited begins now.
    private func becameLocked() {
        isLockedByUser = true
        if case .loading = state { return }
        state = .locked
    }

    /// Waits until no refresh token is being redeemed, and the responses have been saved.
    func waitForResponses() async {
        while let token = tokensInUse.heldKeys.first { await tokensInUse.waitUntilReleased(token) }
    }

    /// Opens a locked store.
    func unlock(_ request: Unlock) async throws(TokenError) -> KeyStatus {
        if isLoaded { return unchangedStatus }
        try await load(passphrase: request.passphrase, unlocks: true).outcome()
        return keyStatus
    }

    /// Changes the source of the store's key.
    func setKey(_ request: SetKey) async throws(TokenError) -> KeyStatus {
        try request.validate()
        // Every record is read and sealed again, which may find damage.
        defer { commits.reportDamage() }
        try await store.changeKeySource(
            to: request.source, passphrase: request.passphrase, currentPassphrase: request.currentPassphrase)
        // A required source may have kept the store from being created until now.
        if case .failed = state { try await load().outcome() }
        logger.notice("the store's key has a new source", metadata: ["source": "\(request.source.name)"])
        return keyStatus
    }

    /// The error that would keep the store from being opened at the next start; nil if there is none, or if the store is not
    /// loaded.
    func keyProblem() async -> TokenError? {
        guard case .loaded = state else { return nil }
        return await store.keyProblem()
    }

    /// Begins to look whether the store is where it was opened, and logs it if it is not: while nothing is written, nothing else tells.
    func checkPlace() {
        guard case .loaded = state, !isCheckingPlace else { return }
        isCheckingPlace = true
        tasks.start { () async throws(TokenError) in
            if let error = await self.store.checkPlace() { self.log.reportFailure(error) }
            self.isCheckingPlace = false
        }
    }

    private func loadNow(_ passphrase: Secret?, unlocks: Bool) async throws(TokenError) {
        defer {
            pendingLoads -= 1
            if pendingLoads == 0 {
                keyringLimit?.loadEnded()
                keyringLimit = nil
            }
            early.removeAll()
        }
        try await transitions.exclusive(.lockOrLoad) { () async throws(TokenError) in
            if case .loaded = state { return }
            // The user may have locked the store while this load waited.
            guard unlocks || !isLockedByUser else { throw .storeWasLocked }
            try await openStore(passphrase)
        }
    }

    private func openStore(_ passphrase: Secret?) async throws(TokenError) {
        do throws(TokenError) {
            let loaded = try await store.load(passphrase: passphrase)
            let repairs = await Self.repairs(of: loaded)
            memory.replace(with: loaded.cache)
            reader.removeAll()
            notes.load(loaded.interrupted)
            commits.storeWasLoaded()
            (state, isLockedByUser) = (.loaded, false)
            memory.events.storeChanged(to: .open)
            log.reportOpened(loaded)
            await write(repairs)
            ReleasedMemory.returnToSystem()
        } catch {
            await store.forgetPassphrase()
            var error = error
            if isWorthRetrying, !error.namesRemedy { error.append("; the agent tries again with the next request") }
            // Only the caller who has entered a wrong passphrase is told that it is wrong.
            var problemOfOthers: TokenError?
            if passphrase != nil, case .locked(let problem) = store.report.phase { problemOfOthers = problem }
            if pendingLoads == 1 {
                state = isLockedByUser ? .locked : .failed(problemOfOthers ?? error, at: now())
                memory.events.storeChanged(to: isLockedByUser || store.awaitsPassphrase ? .locked : .unavailable)
            }
            log.reportNotices()
            log.reportLocked(error)
            throw error
        }
    }

    /// Encodes the records that this version stores differently from the version that wrote them, off the event loop.
    @concurrent
    private static func repairs(of loaded: LoadedCache) async -> StoreUpgrade { loaded.upgrade() }

    /// Writes these records.
    ///
    /// The write is queued before any request can change the cache, so that it undoes no later change. A failed write is
    /// repeated later.
    private func write(_ repairs: StoreUpgrade) async {
        guard !repairs.changes.isEmpty else { return }
        logger.notice("records of an earlier version are rewritten", metadata: ["count": "\(repairs.changes.count)"])
        await commits.write(repairs)
    }

    /// Whether another attempt may succeed without the user. A keyring and a passphrase need the user.
    private var isWorthRetrying: Bool {
        guard !isLockedByUser else { return false }
        guard case .locked = store.report.phase else { return true }
        return store.report.keySource != .passphrase && store.report.keySource != .secretService
    }

    /// The time-out of status requests while the store is being loaded; most stores are loaded sooner.
    private static let statusTimeout = TimeAmount.milliseconds(500)
    /// The minimum time between attempts to load a store that cannot be loaded.
    private static let secondsBetweenLoads: Int64 = 5
}

/// The time in which a user unlocks a keyring that asks for its password at once, with one timer for all requests that wait. The clock of
/// the system is not used: it may be set meanwhile, as after a start.
private final class KeyringLimit: Sendable {
    private let hasPassed = Atomic(false)
    private let promise: EventLoopPromise<Bool>
    private let timer: Timers.Timer

    init(_ loop: any EventLoop, _ tasks: TaskTracker) {
        let promise = loop.makePromise(of: Bool.self)
        self.promise = promise
        timer = tasks.schedule(after: .seconds(30)) { promise.succeed(true) }
        end.whenSuccess { if $0 { self.hasPassed.store(true, ordering: .relaxed) } }
    }

    /// Whether the time has passed.
    var isOver: Bool { hasPassed.load(ordering: .relaxed) }

    /// Completes when the time has passed, with true, or when the load has ended, with false.
    var end: EventLoopFuture<Bool> { promise.futureResult }

    func loadEnded() {
        timer.cancel()
        promise.succeed(false)
    }
}
