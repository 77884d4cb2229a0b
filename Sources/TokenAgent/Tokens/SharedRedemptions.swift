internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

/// The redemptions in progress: equal requests share one, and no peer uses up the connections for those of others. A redemption that has not
/// begun is abandoned when no request waits for its result any more.
///
/// An error that would repeat is returned again for a limited time, without a redemption (`ThrottleTable`).
///
/// Used on the actor of `CacheOwner` only.
final class SharedRedemptions {
    typealias Redemption = EventLoopFuture<Result<TokenResult, TokenError>>

    private let memory: CacheMemory
    private let commits: CommitQueue
    private let throttle: ThrottleTable
    private let tasks: TaskTracker
    private let loop: any EventLoop
    private let now: @Sendable () -> Int64
    private let metrics: AgentMetrics
    /// The redemptions of each peer at other hosts than Microsoft's, one for each connection. A peer alone has half of them, as many as
    /// there are connections to one host.
    private lazy var otherProviders = ConcurrencyLimit<PeerKey>(places: TokenEndpointClient.otherConnections)
    /// The redemptions in progress for which connections wait, and which concurrent requests share.
    private var inProgress: [RedemptionKey: InProgress] = [:]
    /// The number of redemptions in progress, also of those whose token is being sent although no connection waits any more.
    private(set) var count = 0 {
        didSet { commits.redemptions = count }
    }
    /// The redemptions for which each connection waits.
    private var awaited: [ConnectionID: Set<RedemptionKey>] = [:]
    /// The other requests of each connection: grants of apps, and those whose tokens are read before it is known whether one is redeemed.
    private var requests: [ConnectionID: [ObjectIdentifier: SharedRequest<PeerKey>]] = [:]

    private struct InProgress {
        let redemption: Redemption
        /// With the peers in whose turns and shares it may begin.
        let request: SharedRequest<PeerKey>
        /// The number of requests of each connection that wait.
        var waits: [ConnectionID: Int] = [:]
    }

    init(_ core: AgentCore) {
        memory = core.memory
        commits = core.commits
        throttle = core.throttle
        tasks = core.tasks
        loop = core.loop
        now = core.now
        metrics = core.metrics
    }

    /// The redemption in progress for an equal request; begins one if there is none, unless the last one has failed with an error that is
    /// returned again.
    ///
    /// - Parameters:
    ///   - connection: the connection that waits for the result.
    ///   - redeem: redeems a refresh token of the plan, in the turn of any of the peers that share the redemption.
    func shared(
        _ plan: RedemptionPlan, _ parameters: TokenParameters, for connection: ConnectionID,
        _ redeem: @escaping (_ request: SharedRequest<PeerKey>) async throws(TokenError) -> TokenResult
    ) -> Redemption {
        guard let key = RedemptionKey(plan, parameters) else {
            return loop.makeSucceededFuture(.failure(Self.nothingToRedeem))
        }
        if let shared = inProgress[key] {
            metrics.count(.sharedRedemption)
            shared.request.add(connection.peer)
            wait(connection, for: key)
            return shared.redemption
        }
        // MSAL throttles requests, ADAL does not.
        let isThrottled = parameters.version == .v2
        if isThrottled, let error = throttle.error(for: key, at: now()) {
            return loop.makeSucceededFuture(.failure(error))
        }
        let request = SharedRequest(connection.peer)
        count += 1
        let redemption = tasks.start { () async throws(TokenError) in
            defer { self.end(request, of: key) }
            do throws(TokenError) {
                return try await self.inShare(of: request, at: plan.authority) { () async throws(TokenError) in
                    try await redeem(request)
                }
            } catch {
                guard isThrottled, self.stillHolds(plan, in: parameters.sharingGroup) else { throw error }
                throw self.throttle.record(error, for: key, at: self.now())
            }
        }
        inProgress[key] = InProgress(redemption: redemption, request: request)
        wait(connection, for: key)
        return redemption
    }

    /// Whether an equal request has the refresh tokens of a plan. With others it is sent, whatever the last one has failed with: a response
    /// with fewer scopes than requested may have brought a new refresh token.
    private func stillHolds(_ plan: RedemptionPlan, in group: SharingGroup) -> Bool {
        plan.candidates.allSatisfy { token in
            guard let held = memory.cache.refreshToken(inPlaceOf: token, in: group) else { return false }
            return held.secret.isUnread || held.secret == token.secret
        }
    }

    private func wait(_ connection: ConnectionID, for key: RedemptionKey) {
        inProgress[key]?.waits[connection, default: 0] += 1
        awaited[connection, default: []].insert(key)
    }

    /// Forgets a redemption that has ended, unless it was abandoned and another one for an equal request has begun.
    private func end(_ request: SharedRequest<PeerKey>, of key: RedemptionKey) {
        count -= 1
        guard let shared = inProgress[key], shared.request === request else { return }
        inProgress[key] = nil
        for connection in shared.waits.keys { removeAwaited(key, of: connection) }
    }

    private func removeAwaited(_ key: RedemptionKey, of connection: ConnectionID) {
        awaited[connection]?.remove(key)
        if awaited[connection]?.isEmpty == true { awaited[connection] = nil }
    }

    /// Ends the wait of a request that has another answer. If no other request waits, the redemption is abandoned while it waits for its
    /// turn or its share, since it would count for no peer any more. One that has begun goes on, and later requests share it.
    ///
    /// - Parameter redemption: the one that `shared` has returned for the request.
    func stopWaiting(
        for redemption: Redemption, _ plan: RedemptionPlan, _ parameters: TokenParameters, on connection: ConnectionID
    ) {
        guard let key = RedemptionKey(plan, parameters), var shared = inProgress[key],
            shared.redemption === redemption, let count = shared.waits[connection]
        else { return }
        shared.waits[connection] = count > 1 ? count - 1 : nil
        inProgress[key] = shared
        if count == 1 { removeAwaited(key, of: connection) }
        if shared.request.isWaiting { abandonIfUnused(key) }
    }

    /// Starts work for a connection, with a request that is abandoned if the connection ends. That may be before the work begins: a
    /// connection that its app closes at once ends in the turn of the event loop in which its requests are read.
    func start<Value: Sendable>(
        for connection: ConnectionID,
        _ work: @escaping (_ request: SharedRequest<PeerKey>) async throws(TokenError) -> Value
    ) -> EventLoopFuture<Result<Value, TokenError>> {
        let request = SharedRequest(connection.peer)
        requests[connection, default: [:]][ObjectIdentifier(request)] = request
        return tasks.start { () async throws(TokenError) in
            defer {
                self.requests[connection]?[ObjectIdentifier(request)] = nil
                if self.requests[connection]?.isEmpty == true { self.requests[connection] = nil }
            }
            return try await work(request)
        }
    }

    /// Abandons the redemptions for which no connection waits any more, since this one has ended. They would delay others, and count for the
    /// connection's peer, until their turns have come. A refresh token that is being sent is not affected.
    func abandon(for connection: ConnectionID) {
        for request in (requests.removeValue(forKey: connection) ?? [:]).values { request.abandon() }
        for key in awaited.removeValue(forKey: connection) ?? [] {
            inProgress[key]?.waits[connection] = nil
            abandonIfUnused(key)
        }
    }

    private func abandonIfUnused(_ key: RedemptionKey) {
        guard let shared = inProgress[key], shared.waits.isEmpty else { return }
        // An equal request from now on begins another one.
        inProgress[key] = nil
        shared.request.abandon()
    }

    /// The outcome of a redemption, or an error after a time limit: it may get no answer, or wait for its turn behind others that get none.
    ///
    /// - Parameter isEarly: whether the cached token is valid for as long as the request asks for, and its issuer asks to renew it early.
    func limited(_ redemption: Redemption, isEarly: Bool) -> Redemption {
        tasks.limited(
            redemption, to: isEarly ? Self.earlyWait : Self.longestWait, otherwise: .failure(Self.unanswered))
    }

    /// Runs a redemption when the share of a peer allows it. Microsoft's clouds, which answer, have connections of their own. The other
    /// connections are for hosts that apps name: without shares, apps whose hosts answer slowly or never could use up all of them.
    ///
    /// - Throws: `cancelled` (-53007) if the request was abandoned before.
    func inShare<Value>(
        of request: SharedRequest<PeerKey>, at authority: Authority, _ work: () async throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        if CloudDirectory.isBuiltIn(authority.environment) { return try await work() }
        guard let value = try await otherProviders.run(for: request, work) else { throw Self.abandoned }
        return value
    }

    /// The error of a request that was abandoned, for which no connection waits.
    static let abandoned = TokenError(.cancelled, "the connection that has waited for the token was closed")

    private static let unanswered = TokenError(.timedOut, "the token could not be renewed in time")

    /// The time for which a request with a token that is about to expire waits for a new one, as long as for one response of the token
    /// endpoint.
    private static let longestWait = TimeAmount.seconds(30)
    /// The time for which a request waits for a token that is renewed early, which most responses do not take. While the provider does not
    /// respond, each request waits that long, and its cached token may be valid for hours. A later response is for the next request.
    private static let earlyWait = TimeAmount.seconds(2)

    private static let nothingToRedeem = TokenError(
        .interactionRequired, "there is no refresh token to redeem; sign in")
}
