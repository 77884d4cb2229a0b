package import NIOCore

/// The connections of a peer, and what the peer uses of its limits at the moment. Used on the event loop only.
final class PeerUsage {
    let limits: PeerLimits
    /// The number of connections, also of those that are being opened or closed.
    var members = 0
    /// The open connections.
    private(set) var connections: [ObjectIdentifier: PeerConnection] = [:]
    private var requests = 0
    private var requestBytes = 0
    private var replyBytes = 0
    private var hasClosed = false
    /// The peer's place among those that wait for the event loop.
    let turns = PeerTurns()

    init(limits: PeerLimits) {
        self.limits = limits
    }

    /// Whether requests are in progress, also those whose connection has closed.
    var hasRequests: Bool { requests > 0 }

    /// Whether another request may be handled.
    var admitsRequests: Bool { requests < limits.requests && requestBytes < limits.requestBytes }

    /// Whether another reply may be written.
    var admitsReplies: Bool { replyBytes < limits.replyBytes }

    /// Whether a new connection has to close another one.
    var hasTooManyConnections: Bool { connections.count > limits.connections }

    /// The connection that has been idle longest, apart from the new one; nil if none is idle.
    func longestIdle(besides new: PeerConnection) -> PeerConnection? {
        // Requests that wait for events may never end, nor may what waits for nothing else.
        let continues = admitsRequests || connections.values.contains(where: \.hasRequests)
        return connections.values
            .filter { $0 !== new && !$0.hasRequests && !(continues && $0.hasWaitingFrame) }
            .min { $0.lastReceived < $1.lastReceived }
    }

    func add(_ connection: PeerConnection) { connections[ObjectIdentifier(connection)] = connection }

    /// - Returns: whether it was one of the peer's connections.
    func remove(_ connection: PeerConnection) -> Bool {
        connections.removeValue(forKey: ObjectIdentifier(connection)) != nil
    }

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
    ///
    /// Either limit is enough: a connection with a reply to write waits for that of replies only, also if it is this reply whose request
    /// keeps others waiting.
    private func changeLimits(_ release: () -> Void) {
        let (admittedRequests, admittedReplies) = (admitsRequests, admitsReplies)
        release()
        guard !admittedRequests && admitsRequests || !admittedReplies && admitsReplies else { return }
        for connection in connections.values { connection.resume() }
    }
}

/// The limits of what one peer uses of the agent at a time. What exceeds them waits, without delaying other peers.
package struct PeerLimits: Sendable {
    /// The number of open connections. Past it, a new connection closes the peer's one that has been idle longest.
    package var connections = 256
    /// The number of requests in progress: those that wait for the network, the disk, the user or the load of the store, and those
    /// whose replies are not written yet.
    package var requests = 1024
    /// The length of the frames of these requests, in bytes. One whose outcome may be long counts for more: `RequestHandler.allowance`.
    package var requestBytes = 4 << 20
    /// The length of what a connection has sent before it closed its sending side and is not handled yet, in bytes. Past it, the connection
    /// is closed. While a peer may send more, less is read: up to two frames of the longest length. A socket of Linux holds 208 KiB by
    /// default, or a little more, since the system counts before it adds: whoever has a usual socket stays below the limit.
    package var waitingBytes = 384 << 10
    /// The length of replies that the peer does not read, in bytes; the socket's buffer does not count.
    package var replyBytes = 1 << 20
    /// The time for which the agent works for the peer before it looks at the other connections; a quarter of it once a request had to be
    /// worked out. A request that is being handled is not interrupted.
    package var turn = TimeAmount.microseconds(100)

    package init() {}

    /// The limits of a user of a published socket, with all of the user's processes.
    var published: PeerLimits {
        var limits = self
        limits.connections = min(connections, 64)
        limits.requests = min(requests, 256)
        limits.requestBytes = min(requestBytes, 1 << 20)
        return limits
    }
}
