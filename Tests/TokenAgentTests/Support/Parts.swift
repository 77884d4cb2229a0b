internal import AgentTestSupport
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// The agent's parts on an event loop, with a scripted identity provider, a store that is scripted unless the test has another one, and a
/// clock and timers that the test advances.
actor Parts {
    nonisolated let loop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    nonisolated let store = ScriptedStore()
    nonisolated let provider = ScriptedProvider()
    nonisolated let clock = TestClock(1_800_000_000)
    nonisolated let timers = TestTimers()
    let core: AgentCore
    let redeemer: RefreshTokenRedeemer
    let silentRequests: SilentRequests
    let signIns: SignInSessions
    let signOutPages: SignOutPages
    let lifecycle: StoreLifecycle

    init(on target: (any CacheStore)? = nil) {
        let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let (clock, store) = (clock, store)
        let target = target ?? store
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let core = AgentCore(
            loop: loop, timers: timers.timers, store: target, service: provider,
            now: { clock.now }, logger: logger)
        self.loop = loop
        redeemer = RefreshTokenRedeemer(core)
        silentRequests = SilentRequests(core, redeemer)
        signIns = SignInSessions(core, userID: geteuid(), browserTimeout: .seconds(60))
        signOutPages = SignOutPages(core)
        lifecycle = StoreLifecycle(core, store: target)
        self.core = core
    }

    /// Starts work on the actor. Work that is started later begins later.
    func start<Value: Sendable>(
        _ work: @escaping @Sendable (isolated Parts) async throws(TokenError) -> Value
    ) -> Pending<Value> {
        Pending(core.tasks.start { () async throws(TokenError) in try await work(self) })
    }

    /// Runs the event loop until all remaining work waits for the store, the provider or a timer.
    ///
    /// A task may end on a thread of the pool, which gets no time for a while on a busy machine: an empty task goes the same way.
    nonisolated func settle() async throws {
        for _ in 0..<200 {
            try await loop.submit {}.get()
            try await start { _ in }.value()
        }
    }

    /// Loads the store, as a start does, or as the user does who unlocks it.
    func loadStore(unlocks: Bool = false) -> Pending<Void> { Pending(lifecycle.load(unlocks: unlocks)) }

    /// Locks the store, as the user does.
    func lock() -> Pending<KeyStatus> {
        start { parts async throws(TokenError) in try await parts.lifecycle.lock {} }
    }

    /// Begins no further redemption, as an agent that stops.
    func refuseRedemptions() { core.commits.beginClosing(TokenError(.cancelled, "the agent is stopping")) }

    /// Returns when no task is running.
    func waitUntilIdle() async throws { try await core.tasks.whenIdle().get() }

    // MARK: Requests

    /// Saves the tokens of a sign-in.
    func signIn(_ user: String, _ token: String, _ parameters: TokenParameters = .sample()) -> Pending<TokenResult> {
        start { parts async throws(TokenError) in
            try await parts.core.saver.save(
                .sample(user, token), from: .signIn, parameters, at: parameters.authority)
        }
    }

    /// Sends a silent request, as `CacheOwner` handles it.
    ///
    /// - Parameter number: that of the connection.
    func acquire(
        _ request: AcquireTokenSilent, of peer: Int32 = 1, on number: UInt64 = 1
    ) -> Pending<TokenResult> {
        switch silentRequests.answer(request, from: ConnectionID(number: number, processID: peer)) {
        case .now(let outcome): Pending(loop.makeSucceededFuture(outcome))
        case .repeatable(let result, _): Pending(loop.makeSucceededFuture(.success(result)))
        case .later(let future): Pending(future)
        }
    }

    /// Sends a grant of an app, as `CacheOwner` handles it.
    ///
    /// - Parameter number: that of the connection.
    func redeem(_ request: RedeemGrant, of peer: Int32 = 1, on number: UInt64 = 1) -> Pending<TokenResult> {
        Pending(redeemer.redeem(request, from: ConnectionID(number: number, processID: peer)))
    }

    /// Ends a connection, as `CacheOwner` handles it.
    func endConnection(of peer: Int32 = 1, _ number: UInt64 = 1) {
        redeemer.redemptions.abandon(for: ConnectionID(number: number, processID: peer))
    }

    /// Sends a silent request, and makes another refresh token visible in the same turn, as a redemption that ends then.
    func acquire(
        _ request: AcquireTokenSilent, beforeReplacingTheTokenBy secret: String
    ) throws -> Pending<TokenResult> {
        let pending = acquire(request)
        let group = request.parameters.sharingGroup
        let tokens = core.memory.cache.everything().compactMap { change -> RefreshTokenRecord? in
            guard case .put(let stored) = change, case .refreshToken(let token) = CacheRecord(stored) else {
                return nil
            }
            return token
        }
        var token = try #require(tokens.first)
        token.secret = Secret(secret)
        core.memory.apply([.save(.refreshToken(token))], in: group)
        return pending
    }

    /// Signs alice in with the refresh token `rt-1` and asks for a token that only a redemption can bring.
    ///
    /// - Returns: the request, and its redemption as the token endpoint has received it.
    func beginRedemption() async throws -> (request: Pending<TokenResult>, redemption: ScriptedProvider.Redemption) {
        try await signIn("alice", "1").value()
        let request = acquire(.sample("alice"))
        return (request, await provider.redemptions.next())
    }

    /// Sets the state after a start with a note for every refresh token in the store.
    func interruptEveryRedemption() throws {
        let tokens = core.memory.cache.everything().compactMap { change in
            switch change {
            case .put(let stored) where stored.key.kind == .refreshToken: stored.key
            default: nil
            }
        }
        core.notes.load(Set(tokens))
    }

    /// Removes the tokens of a user's accounts from memory.
    func pack(_ user: String) throws {
        let accounts = core.memory.cache.partition(.standard).accounts(with: .sample(user))
        try #require(!accounts.isEmpty)
        for account in accounts { core.memory.pack(account, in: .standard) }
    }

    /// Signs a user out, by default of every app.
    ///
    /// - Returns: whether there was anything to remove.
    func signOut(
        _ user: String, extent: RemoveAccount.Extent = .account, of clientID: ClientID = .sample
    ) -> Pending<Bool> {
        let request = RemoveAccount(clientID: clientID, account: .sample(user), extent: extent)
        let begun = core.removals.begin(removing: request)
        return start { parts async throws(TokenError) in
            guard let begun else { return false }
            return try await parts.core.removals.finish(begun)
        }
    }

    /// Looks for the pages that end the sessions of a username in a browser.
    func findSignOutPages(named username: String) -> Pending<[String]> {
        let request = RemoveAccount(
            clientID: .sample, account: AccountReference(username: username), extent: .account, wantsSignOutPages: true)
        return Pending(signOutPages.find(for: request))
    }

    // MARK: State

    var hasUnsavedChanges: Bool { core.commits.hasUnsavedChanges }

    /// The secrets of the refresh tokens in memory, in alphabetical order.
    func refreshTokens(_ parameters: TokenParameters = .sample()) throws -> [String] {
        core.memory.cache.everything().compactMap { change in
            guard case .put(let stored) = change, stored.key.group == parameters.sharingGroup.name,
                case .refreshToken(let token) = CacheRecord(stored)
            else { return nil }
            return token.secret.reveal()
        }.sorted()
    }
}

/// The result of started work.
struct Pending<Value: Sendable>: Sendable {
    private let future: EventLoopFuture<Result<Value, TokenError>>
    private let done: Mailbox<Void>

    init(_ future: EventLoopFuture<Result<Value, TokenError>>) {
        let done = Mailbox<Void>()
        future.whenComplete { _ in done.put(()) }
        self.future = future
        self.done = done
    }

    var isDone: Bool { done.count > 0 }

    /// Waits for the result.
    @discardableResult
    func value() async throws -> Value { try await future.get().get() }

    /// Waits for the result; nil if it is a success.
    func error() async throws -> TokenError? {
        guard case .failure(let error) = try await future.get() else { return nil }
        return error
    }
}
