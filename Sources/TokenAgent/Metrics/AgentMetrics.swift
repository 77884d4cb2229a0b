internal import NIOCore
internal import Synchronization
internal import TokenModel
internal import TokenStore
internal import TokenWire

/// The counters and histograms of the agent. May be used on any thread.
///
/// A counter's labels are cases of enums and names of requests, never what a peer has sent: the memory is bounded, and no label names a
/// person, an app or a file.
final class AgentMetrics: Sendable {
    /// The outcome of a request.
    enum Outcome: Hashable {
        /// A silent request that was answered with a token from the cache.
        case hit
        /// A silent request that was answered with a token that a redemption has brought.
        case renewed
        /// A success of any other request.
        case answered
        case failed(TokenError.Code)

        var name: String {
            switch self {
            case .hit: "hit"
            case .renewed: "renewed"
            case .answered: "ok"
            case .failed(.unrecognized): "other"
            case .failed(let code): code.name
            }
        }
    }

    /// The reasons for which a connection is refused.
    enum Refusal: String {
        /// The peer is another user's process.
        case user
        /// The process of the peer has ended, or could not be identified in time for its limits.
        case process
        /// A published socket has ended meanwhile.
        case socket
    }

    /// What is counted.
    enum Event: Hashable {
        /// The number is 0 for a frame that is no request of this version.
        case request(number: UInt32, Outcome)
        case throttled
        case sharedRedemption
        case tokenRequest(GrantKind, TokenError.Code?)
        /// A device code with which the user has not signed in yet.
        case pendingDeviceCode
        case accepted
        case refused(Refusal)
        case closed
        case written
        case committed(isSuccess: Bool)
        case scraped(isAllowed: Bool)

        var name: MetricName {
            switch self {
            case .request: .requests
            case .throttled: .throttled
            case .sharedRedemption: .sharedRedemptions
            case .tokenRequest, .pendingDeviceCode: .tokenRequests
            case .accepted: .connectionsAccepted
            case .refused: .connectionsRefused
            case .closed: .connectionsClosed
            case .written: .storeWrites
            case .committed: .storeCommits
            case .scraped: .scrapes
            }
        }

        var labels: [String: String] {
            switch self {
            case .request(let number, let outcome):
                ["request": RequestFrame.name(of: number), "outcome": outcome.name]
            case .tokenRequest(let grant, let code):
                ["grant": grant.rawValue, "outcome": code.map { Outcome.failed($0).name } ?? "ok"]
            case .pendingDeviceCode: ["grant": GrantKind.deviceCode.rawValue, "outcome": "pending"]
            case .refused(let reason): ["reason": reason.rawValue]
            case .committed(let isSuccess): ["outcome": isSuccess ? "ok" : "failed"]
            case .scraped(let isAllowed): ["outcome": isAllowed ? "ok" : "denied"]
            case .throttled, .sharedRedemption, .accepted, .closed, .written: [:]
            }
        }
    }

    /// The hits that were answered with a kept reply. A counter of its own, since it may cost a few instructions only.
    private let repeatedHits = Atomic<Int64>(0)
    /// The times of some of these hits.
    private let hitTime = DurationHistogram(bounds: AgentMetrics.hitBounds)
    private let openConnections = Atomic<Int64>(0)
    private let counts = Mutex<[Event: Int64]>([:])
    /// The durations of requests to token endpoints.
    private let tokenRequestTimes = Mutex<[GrantKind: DurationHistogram]>([:])
    private let commitTime = DurationHistogram()
    let loopDelay = DurationHistogram()

    func count(_ event: Event, times: Int64 = 1) { counts.withLock { $0[event, default: 0] += times } }

    /// Counts a hit that was answered with a kept reply.
    func countRepeatedHit() { repeatedHits.add(1, ordering: .relaxed) }

    /// Records the time of the repeated hit that was counted last, if it is one of those that are measured.
    ///
    /// Used on the event loop only. To read the clock for each hit would cost more than to count it.
    ///
    /// - Parameter start: the time at which the bytes of the request were read.
    func answeredRepeatedHit(readAt start: NIODeadline) {
        guard repeatedHits.load(ordering: .relaxed) & (Self.hitsPerMeasurement - 1) == 0 else { return }
        hitTime.add(microseconds: (NIODeadline.now() - start).nanoseconds / 1000)
    }

    /// Counts a reply.
    func replied<Reply>(to number: UInt32, _ outcome: Result<Reply, TokenError>) {
        let isSilent = number == AcquireTokenSilent.number
        switch outcome {
        case .success(let reply):
            let token = isSilent ? reply as? TokenResult : nil
            count(.request(number: number, token.map { $0.isFromCache ? .hit : .renewed } ?? .answered))
        case .failure(let error):
            count(.request(number: number, .failed(error.code)))
            if isSilent, error.details.isThrottled { count(.throttled) }
        }
    }

    func connectionOpened() {
        openConnections.add(1, ordering: .relaxed)
        count(.accepted)
    }

    func connectionClosed() { openConnections.subtract(1, ordering: .relaxed) }

    /// Records a request to a token endpoint.
    func redeemed(_ grant: GrantKind, _ error: TokenError?, in duration: Duration) {
        if let error, error.isPendingDeviceCode { return count(.pendingDeviceCode) }
        count(.tokenRequest(grant, error?.code))
        let histogram = tokenRequestTimes.withLock { times in
            let histogram = times[grant] ?? DurationHistogram()
            times[grant] = histogram
            return histogram
        }
        histogram.add(duration)
    }

    /// Records a transaction of the store.
    func committed(_ commit: StoreCommit) {
        count(.written, times: Int64(commit.requests))
        count(.committed(isSuccess: commit.isSuccess))
        commitTime.add(commit.duration)
    }

    /// The measurements so far, but for the gauges that only the actor of `CacheOwner` knows; those with the most series last.
    var snapshot: [AgentMetric] {
        var counts = counts.withLock(\.self)
        let hits = repeatedHits.load(ordering: .relaxed)
        if hits > 0 { counts[.request(number: AcquireTokenSilent.number, .hit), default: 0] += hits }
        let counters = counts.map { event, count in
            AgentMetric(event.name.rawValue, .counter, labels: event.labels, value: count)
        }
        let times = tokenRequestTimes.withLock(\.self).compactMap { grant, histogram in
            histogram.metric(.tokenRequestTime, labels: ["grant": grant.rawValue])
        }
        let connections = AgentMetric(
            MetricName.connections.rawValue, .gauge, value: openConnections.load(ordering: .relaxed))
        let histograms = [
            hitTime.metric(.hitTime), commitTime.metric(.storeCommitTime), loopDelay.metric(.loopDelay),
        ]
        return [connections] + histograms.compactMap(\.self) + times + counters
    }

    /// The number of repeated hits of which one is measured; a power of 2.
    private static let hitsPerMeasurement: Int64 = 64
    /// The upper bounds of the buckets for hits in microseconds: from a hit alone to one that has waited for the turns of others.
    private static let hitBounds: [Int64] = [
        5, 10, 20, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000,
    ]
}

/// The kinds of grants, as labels.
enum GrantKind: String {
    case refreshToken = "refresh_token"
    case authorizationCode = "authorization_code"
    case deviceCode = "device_code"
    case assertion
}

extension TokenError {
    /// Whether the user has not signed in yet with a device code (RFC 8628 section 3.5).
    fileprivate var isPendingDeviceCode: Bool {
        ["authorization_pending", "slow_down"].contains(details.oauthError)
    }
}
