internal import Logging
internal import NIOCore
internal import TokenCache
internal import TokenModel
internal import TokenStore

/// The store from start-up on: loading it into memory, unlocking it, and where its key comes from.
///
/// Used on the actor of `CacheOwner` only.
final class StoreLifecycle {
    /// The state of loading the store.
    private enum State {
        case notBegun
        case loading(EventLoopFuture<Result<Void, TokenError>>)
        case loaded
        /// Nothing has been served from the cache since this time; the error says what to do.
        case failed(TokenError, at: Int64)
    }

    let store: any CacheStore
    private let memory: CacheMemory
    private let notes: RedemptionNotes
    private let log: StoreLog
    private let commits: CommitQueue
    private let tasks: TaskTracker
    private let timers: Timers
    private let loop: any EventLoop
    private let now: @Sendable () -> Int64
    private let logger: Logger
    private var state = State.notBegun
    /// Loads that have begun or wait for those before them.
    private var loadsUnderWay = 0

    init(_ core: AgentCore, store: any CacheStore, timers: Timers, logger: Logger) {
        self.store = store
        memory = core.memory
        notes = core.notes
        log = core.log
        commits = core.commits
        tasks = core.tasks
        loop = core.loop
        now = core.now
        self.timers = timers
        self.logger = logger
    }

    /// Why the store could not be loaded; nil if it is loaded or being loaded.
    var failure: TokenError? { if case .failed(let error, _) = state { error } else { nil } }

    /// Loads the store into memory. A second call joins the first, unless it brings a passphrase: those are tried in the order
    /// of their calls, until one opens the store.
    @discardableResult
    func load(
        passphrase: Secret? = nil, isolation: isolated (any Actor)? = #isolation
    ) -> EventLoopFuture<Result<Void, TokenError>> {
        var earlier: EventLoopFuture<Result<Void, TokenError>>?
        switch state {
        case .loading(let loading):
            guard passphrase != nil else { return loading }
            earlier = loading
        case .loaded: return loop.makeSucceededFuture(.success(()))
        case .notBegun, .failed: break
        }
        loadsUnderWay += 1
        let loading = tasks.start { [earlier] () async throws(TokenError) in
            _ = try? await earlier?.get()
            try await self.loadNow(passphrase)
        }
        state = .loading(loading)
        return loading
    }

    /// What a request that needs the cache waits for; nil if there is nothing to wait for.
    ///
    /// A load that failed is tried again, unless a person is needed to unlock the store.
    func untilLoaded(
        isolation: isolated (any Actor)? = #isolation
    ) -> EventLoopFuture<Result<Void, TokenError>>? {
        switch state {
        case .loaded: nil
        case .loading(let loading): loading
        case .notBegun:
            loop.makeSucceededFuture(.failure(TokenError(.storeUnavailable, "the agent is starting")))
        case .failed(let error, let time):
            if isWorthRetrying, abs(now() - time) >= Self.retryInterval {
                load()
            } else {
                loop.makeSucceededFuture(.failure(error))
            }
        }
    }

    /// What a request that describes the store waits for: the load, for half a second at most, since a keyring may wait for a
    /// person. Nil if there is nothing to wait for.
    func untilLoadedOrTimeout() -> EventLoopFuture<Void>? {
        guard case .loading(let loading) = state else { return nil }
        let promise = loop.makePromise(of: Void.self)
        // Longer than most stores take to load, and shorter than somebody who asks for the status minds.
        let timeout = timers.schedule(loop, .milliseconds(500)) { promise.succeed() }
        loading.whenComplete { _ in
            timeout.cancel()
            promise.succeed()
        }
        return promise.futureResult
    }

    /// Where the store's key comes from.
    var keyStatus: KeyStatus {
        let report = store.report
        let problem: String? =
            switch report.phase {
            case .open: nil
            case .loading: "the store is being opened"
            case .locked(let error): error.message
            }
        return KeyStatus(
            source: report.keySource, place: report.keyPlace, isOpen: report.phase == .open, problem: problem)
    }

    /// Opens a store that is not open.
    func unlock(_ request: Unlock) async throws(TokenError) -> KeyStatus {
        try await load(passphrase: request.passphrase).outcome()
        return keyStatus
    }

    /// Changes where the store's key comes from.
    func setKey(_ request: SetKey) async throws(TokenError) -> KeyStatus {
        if request.source == .passphrase, request.passphrase?.isEmpty ?? true {
            throw TokenError(.invalidDeveloperParameter, "the passphrase is empty")
        }
        try await store.changeKeySource(to: request.source, passphrase: request.passphrase)
        logger.notice("the store's key has a new source", metadata: ["source": "\(request.source.name)"])
        return keyStatus
    }

    /// Why the store could not be opened at the next start; nil if it could. Not asked during a load, which may wait for a
    /// keyring.
    func keyProblem() async -> TokenError? {
        guard case .loaded = state else { return nil }
        return await store.keyProblem()
    }

    private func loadNow(_ passphrase: Secret?) async throws(TokenError) {
        defer { loadsUnderWay -= 1 }
        if case .loaded = state { return }
        do throws(TokenError) {
            let loaded = try await store.load(passphrase: passphrase)
            memory.replace(with: loaded.cache)
            notes.load(loaded.interrupted)
            state = .loaded
            log.reportOpened(unknown: loaded.unknown, interrupted: loaded.interrupted.count)
            await write(repairsOf: loaded)
        } catch {
            await store.forgetPassphrase()
            var error = error
            if isWorthRetrying { error.message += "; the agent tries again with the next request" }
            if loadsUnderWay == 1 { state = .failed(error, at: now()) }
            log.reportNotices()
            log.reportLocked(error)
            throw error
        }
    }

    /// Writes what this version keeps otherwise than the one that stored it. Begun before any request changes the cache, so that
    /// it does not undo what one of them writes; tried again later if nothing can be written now.
    private func write(repairsOf loaded: LoadedCache) async {
        guard let repairs = try? loaded.repairs(), !repairs.isEmpty else { return }
        logger.notice("records of an earlier version are rewritten", metadata: ["count": "\(repairs.count)"])
        try? await commits.write(repairs)
    }

    /// Whether another attempt may succeed without a person: a keyring or a passphrase needs one.
    private var isWorthRetrying: Bool {
        guard case .locked = store.report.phase else { return true }
        return store.report.keySource != .passphrase && store.report.keySource != .secretService
    }

    /// Seconds between attempts to load a store that cannot be loaded.
    private static let retryInterval: Int64 = 5
}
