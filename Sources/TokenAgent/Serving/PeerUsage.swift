internal import NIOCore

/// The connections of a peer, and what the peer uses of its limits at the moment. Used on the event loop only.
final class PeerUsage {
    let limits: PeerLimits
    private(set) var sessions: [ObjectIdentifier: AgentSession] = [:]
    private var requests = 0
    private var requestBytes = 0
    private var replyBytes = 0
    private var hasClosed = false
    /// The peer's place among those that wait for the event loop.
    let turns = PeerTurns()

    init(limits: PeerLimits) {
        self.limits = limits
    }

    /// Whether another request may be handled.
    var admitsRequests: Bool { requests < limits.requests && requestBytes < limits.requestBytes }

    /// Whether another reply may be written.
    var admitsReplies: Bool { replyBytes < limits.replyBytes }

    /// Whether a new connection has to close another one.
    var hasTooManyConnections: Bool { sessions.count > limits.connections }

    /// The connection that has been idle longest, apart from the new one; nil if none is idle.
    func longestIdle(besides new: AgentSession) -> AgentSession? {
        sessions.values.filter { $0.isIdle && $0 !== new }.min { $0.lastReceived < $1.lastReceived }
    }

    func add(_ session: AgentSession) { sessions[ObjectIdentifier(session)] = session }

    /// - Returns: whether it was one of the peer's connections.
    func remove(_ session: AgentSession) -> Bool { sessions.removeValue(forKey: ObjectIdentifier(session)) != nil }

    /// Records that a connection is closed because of the limit.
    ///
    /// - Returns: whether it is the first one.
    func noteClosing() -> Bool {
        defer { hasClosed = true }
        return !hasClosed
    }

    func began(requestOf bytes: Int) {
        requests += 1
        requestBytes += bytes
    }

    func ended(requests count: Int = 1, of bytes: Int) {
        changeLimits {
            requests -= count
            requestBytes -= bytes
        }
    }

    func holds(replyBytes count: Int) { replyBytes += count }

    func released(replyBytes count: Int) { changeLimits { replyBytes -= count } }

    /// Releases some of what the peer uses. Its connections continue if that is what they wait for.
    private func changeLimits(_ release: () -> Void) {
        let wasBlocked = !admitsRequests || !admitsReplies
        release()
        guard wasBlocked, admitsRequests, admitsReplies else { return }
        for session in sessions.values { session.resume() }
    }
}
