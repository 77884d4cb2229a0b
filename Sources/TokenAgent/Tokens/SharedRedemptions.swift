internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

/// The redemptions in progress: equal requests share one, and no peer uses up the connections for those of others.
///
/// An error that would repeat is returned again for a limited time, without a redemption (`ThrottleTable`).
///
/// Used on the actor of `CacheOwner` only.
final class SharedRedemptions {
    typealias Redemption = EventLoopFuture<Result<TokenResult, TokenError>>

    private let commits: CommitQueue
    private let throttle: ThrottleTable
    private let tasks: TaskTracker
    private let loop: any EventLoop
    private let now: @Sendable () -> Int64
    private let metrics: AgentMetrics
    /// The redemptions of each peer at other providers than Microsoft's clouds.
    private lazy var otherProviders = ConcurrencyLimit<PeerKey>(places: Self.otherConnections)
    /// The redemptions in progress, which concurrent requests share, each with the peers in whose turns and shares it may begin.
    private var inProgress: [RedemptionKey: (redemption: Redemption, peers: SharedRequest<PeerKey>)] = [:] {
        didSet { commits.redemptions = inProgress.count }
    }

    init(_ core: AgentCore) {
        commits = core.commits
        throttle = core.throttle
        tasks = core.tasks
        loop = core.loop
        now = core.now
        metrics = core.metrics
    }

    /// The number of redemptions in progress.
    var count: Int { inProgress.count }

    /// The redemption in progress for an equal request; begins one if there is none, unless the last one has failed with an error that is
    /// returned again.
    ///
    /// - Parameters:
    ///   - peer: the peer that asks.
    ///   - redeem: redeems a refresh token of the plan, in the turn of any of the peers that share the redemption.
    func shared(
        _ plan: RedemptionPlan, _ parameters: TokenParameters, of peer: PeerKey,
        _ redeem: @escaping (_ peers: SharedRequest<PeerKey>) async throws(TokenError) -> TokenResult
    ) -> Redemption {
        guard let key = RedemptionKey(plan, parameters) else {
            return loop.makeSucceededFuture(.failure(Self.nothingToRedeem))
        }
        if let (redemption, peers) = inProgress[key] {
            metrics.count(.sharedRedemption)
            peers.add(peer)
            return redemption
        }
        // MSAL throttles requests, ADAL does not.
        let isThrottled = parameters.version == .v2
        if isThrottled, let error = throttle.error(for: key, at: now()) {
            return loop.makeSucceededFuture(.failure(error))
        }
        let peers = SharedRequest(peer)
        let redemption = tasks.start { () async throws(TokenError) in
            defer { self.inProgress[key] = nil }
            do throws(TokenError) {
                return try await self.inShare(of: peers, at: plan.authority) { () async throws(TokenError) in
                    try await redeem(peers)
                }
            } catch {
                guard isThrottled else { throw error }
                throw self.throttle.record(error, for: key, at: self.now())
            }
        }
        inProgress[key] = (redemption, peers)
        return redemption
    }

    /// The outcome of a redemption, or an error after a time limit: it may wait for its turn behind others that get no answer.
    func limited(_ redemption: Redemption) -> Redemption {
        let promise = loop.makePromise(of: Result<TokenResult, TokenError>.self)
        let timer = tasks.schedule(after: Self.longestWait) { promise.succeed(.failure(Self.unanswered)) }
        redemption.whenComplete { outcome in
            timer.cancel()
            promise.completeWith(outcome)
        }
        return promise.futureResult
    }

    /// Runs a redemption when the share of a peer allows it. Microsoft's clouds, which answer, have connections of their own. The other
    /// connections are for hosts that apps name: without shares, apps whose hosts answer slowly or never could use up all of them.
    func inShare<Value>(
        of peers: SharedRequest<PeerKey>, at authority: Authority, _ work: () async throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        if CloudDirectory.isBuiltIn(authority.environment) { return try await work() }
        return try await otherProviders.run(for: peers, work)
    }

    /// The number of redemptions at other hosts than Microsoft's, one for each connection. A peer alone has half of them, as many as there
    /// are connections to one host.
    static var otherConnections: Int { TokenEndpointClient.otherConnections }

    private static let unanswered = TokenError(.timedOut, "the token could not be renewed in time")

    /// The time for which a request with a valid token waits for a new one, as long as for one response of the token endpoint.
    private static let longestWait = TimeAmount.seconds(30)

    private static let nothingToRedeem = TokenError(
        .interactionRequired, "there is no refresh token to redeem; sign in")
}
