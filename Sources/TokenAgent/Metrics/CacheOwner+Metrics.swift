internal import AccessPolicy
internal import TokenCache
internal import TokenModel

/// The agent's measurements, for `get_status` and the metrics socket.
extension CacheOwner {
    /// The measurements for a peer at the metrics socket; nil if the policy does not let it ask for the agent's status.
    func metrics(for peer: PeerIdentity) -> [AgentMetric]? {
        let isAllowed = policy.decision(on: Self.metricsRequest, from: peer) == .allow
        core.metrics.count(.scraped(isAllowed: isAllowed))
        return isAllowed ? metrics : nil
    }

    /// A request at the metrics socket as the access policy sees it.
    static var metricsRequest: PolicyRequest {
        let request = GetStatus(includesMetrics: true)
        return PolicyRequest(name: "get_status", subject: request.subject, purpose: request.purpose)
    }

    /// Every measurement. Takes as long whatever number of accounts the cache has.
    var metrics: [AgentMetric] {
        let cache = core.memory.cache
        let gauges: [(MetricName, Int64)] = [
            (.uptime, diagnosis.uptime), (.redemptionsInProgress, Int64(redeemer.redemptions.count)),
            (.signInsInProgress, Int64(signIns.count)),
            (.publishedSockets, Int64(sockets.paths.count)), (.keptReplies, Int64(core.replies.count)),
            (.keptReplyBytes, Int64(core.replies.size)), (.subscriptions, Int64(core.events.count)),
            (.watchers, Int64(core.events.waitingCount)), (.accounts, Int64(cache.accountCount)),
            (.credentials, Int64(cache.credentialCount)), (.storeLoaded, lifecycle.isLoaded ? 1 : 0),
            (.unsavedChanges, core.commits.hasUnsavedChanges ? 1 : 0),
        ]
        let info = AgentMetric(
            MetricName.info.rawValue, .gauge, labels: ["version": ProductVersion.text], value: 1)
        return [info] + gauges.map { AgentMetric($0.rawValue, $0.kind, value: $1) } + core.metrics.snapshot
    }
}
