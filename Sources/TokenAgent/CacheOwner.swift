internal import Logging
internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

/// The only owner of the cache, and the agent's only mutable state.
///
/// An actor pinned to the event loop that serves the sessions: they enter it with `assumeIsolated`, so that a hit is
/// answered in place, at the price of a function call, and the compiler still checks the isolation.
/// After an `await`, everything may have changed: look again.
actor CacheOwner {
    nonisolated let loop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    let options: AgentOptions
    let store: TokenStore
    let endpoint: TokenEndpoint
    let startedAt: Int64
    /// Empty until the store has been loaded.
    var cache = CredentialCache() { didSet { cacheChanges += 1 } }
    /// How often it has changed: what was worked out from a copy beside the event loop may be out of date.
    private(set) var cacheChanges = 0
    /// How far that has come.
    var opening = Opening.begun
    /// Redemptions under way, which everyone who asks for the same shares.
    var redemptions: [RedemptionKey: EventLoopFuture<Result<TokenResult, TokenError>>] = [:]
    /// Refresh tokens on their way to the token endpoint: a rotating one sent twice at once is a lost session.
    var refreshTokensInUse: [Secret: EventLoopFuture<Void>] = [:]
    /// What the token endpoint lately refused.
    var throttled = ThrottleTable()
    /// Sign-ins that wait for a person.
    var interactions: [String: Interaction] = [:]
    /// What was found out about authorities, and what is being found out.
    var findings = AuthorityFindings()
    /// Caches of other libraries on their way in or out, a part at a time.
    var transfers: Transfers
    /// What has to be written alone, an import for one: commits wait for its end.
    var importing: EventLoopFuture<Void>?
    /// How many commits are being written, and who waits until none is.
    var commitsUnderWay = 0
    private var quiet: EventLoopPromise<Void>?
    /// How many tasks `later` has started and not yet finished, and who waits for the last.
    private var underWay = 0
    private var idle: EventLoopPromise<Void>?
    /// Accounts whose records are being written: the next change of one is worked out when the last is done.
    var saving: [SavingKey: EventLoopFuture<Void>] = [:]
    /// Sharing groups that something is being removed from: changes of their accounts wait.
    var removing: [SharingGroup: EventLoopFuture<Void>] = [:]
    /// Changes that are true in memory and could not be written yet; the next commit tries them again.
    var unsaved = UnsavedChanges()
    var retry: Timers.Timer?
    /// How many of the store's losses have been made up for.
    var lossesMadeUpFor = 0
    /// How many of the store's notices have been logged.
    var loggedNotices = 0
    /// Refresh tokens that were on their way to the token endpoint when the agent last stopped.
    var interrupted: Set<RecordKey> = []

    init(loop: any EventLoop, options: AgentOptions, store: TokenStore, endpoint: TokenEndpoint) {
        self.loop = loop
        self.options = options
        self.store = store
        self.endpoint = endpoint
        self.startedAt = options.now()
        transfers = Transfers(importLimit: options.importLimit)
    }

    /// An access token without bothering anyone. Entered with `assumeIsolated` from the session's handler; never waits.
    func acquireTokenSilent(_ request: AcquireTokenSilent) -> Answer<TokenResult> {
        let request = request.withoutReservedScopes
        if let refusal = refusal(of: request.parameters) { return .now(.failure(refusal)) }
        switch cache.decide(request, now: options.now()) {
        case .use(let result): return .now(.success(result))
        case .redeem(let plan): return .later(redemption(of: plan, for: request))
        case .interactionRequired(let why): return .now(.failure(TokenError(.interactionRequired, why)))
        case .ambiguousAccount: return .now(.failure(Self.ambiguous))
        }
    }

    func listAccounts(_ request: ListAccounts) -> Answer<ListAccounts.Reply> {
        .now(.success(cache.accounts(request)))
    }

    func listCredentials(_ request: ListCredentials) -> Answer<ListCredentials.Reply> {
        .now(.success(cache.credentials(request, localScheme: options.allowsLoopbackHTTP ? "http" : "https")))
    }

    func hello(_ request: Hello) -> Answer<Hello.Reply> {
        guard request.protocolVersion >= 1 else {
            return .now(.failure(TokenError(.unsupportedProtocolVersion, "this agent speaks version 1 and later")))
        }
        options.logger.debug("hello", metadata: ["app": "\(RequestLog.safe(request.appName))"])
        return .now(.success(Self.greeting))
    }

    /// Runs `work` beside the event loop's other work, and answers when it is done.
    ///
    /// Unstructured on purpose: an app that hangs up must not fail the others that wait for the same, nor lose a refresh
    /// token that is being rotated. This is the only place that starts a task.
    func later<Value: Sendable>(
        _ work: @escaping @Sendable (isolated CacheOwner) async throws(TokenError) -> Value
    ) -> EventLoopFuture<Result<Value, TokenError>> {
        let promise = loop.makePromise(of: Result<Value, TokenError>.self)
        underWay += 1
        Task {
            defer { workEnded() }
            let outcome: Result<Value, TokenError>
            do throws(TokenError) {
                outcome = .success(try await work(self))
            } catch {
                outcome = .failure(error)
            }
            promise.succeed(outcome)
        }
        return promise.futureResult
    }

    /// Gives up every sign-in; the future completes when nothing is under way any more.
    func windDown() -> EventLoopFuture<Void> {
        for id in interactions.keys { end(id, Interaction.cancelled) }
        transfers.forgetAll()
        retry?.cancel()
        if !unsaved.isEmpty { _ = later { owner async throws(TokenError) in await owner.saveUnsaved() } }
        guard underWay > 0 else { return loop.makeSucceededVoidFuture() }
        let promise = idle ?? loop.makePromise(of: Void.self)
        idle = promise
        return promise.futureResult
    }

    /// Returns when no commit is being written.
    func quiescence() async {
        while commitsUnderWay > 0 {
            let promise = quiet ?? loop.makePromise(of: Void.self)
            quiet = promise
            _ = try? await promise.futureResult.get()
        }
    }

    func commitEnded() {
        commitsUnderWay -= 1
        guard commitsUnderWay == 0, let promise = quiet else { return }
        quiet = nil
        promise.succeed()
    }

    /// Does `work` after a while, unless what is returned is cancelled.
    func after(
        _ delay: TimeAmount, _ work: @escaping @Sendable (isolated CacheOwner) -> Void
    ) -> Timers.Timer {
        options.timers.schedule(loop, delay) { self.assumeIsolated(work) }
    }

    private func workEnded() {
        underWay -= 1
        if underWay == 0 { idle?.succeed() }
    }

    private static let ambiguous = TokenError(
        .ambiguousAccount, "several accounts are signed in; name one by its home account ID or username")
}

extension AcquireTokenSilent {
    /// The agent adds the reserved scopes itself; an app that names them means the same without.
    fileprivate var withoutReservedScopes: AcquireTokenSilent {
        guard parameters.scopes.intersects(.reserved) else { return self }
        var request = self
        request.parameters.scopes = parameters.scopes.subtracting(.reserved)
        return request
    }
}
