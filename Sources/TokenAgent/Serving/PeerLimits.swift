package import NIOCore

/// The limits of what one peer uses of the agent at a time. What exceeds them waits, without delaying other peers.
package struct PeerLimits: Sendable {
    /// The number of open connections. Past it, a new connection closes the peer's one that has been idle longest.
    package var connections = 256
    /// The number of requests in progress: those that wait for the network, the disk, the user or the load of the store, and those
    /// whose replies are not written yet.
    package var requests = 1024
    /// The length of the frames of these requests, in bytes.
    package var requestBytes = 4 << 20
    /// The length of replies that the peer does not read, in bytes; the socket's buffer does not count.
    package var replyBytes = 1 << 20
    /// The time for which the agent works for the peer before it looks at the other connections. A request that is being handled is
    /// not interrupted.
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
