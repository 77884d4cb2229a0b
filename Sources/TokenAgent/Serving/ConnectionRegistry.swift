internal import AccessPolicy
internal import Logging
internal import NIOCore

/// The open connections of a server and their peers: enforces the limits of connections, and ends the connections when the server
/// stops. Used on their event loop only.
final class ConnectionRegistry {
    /// The turns of the peers at the event loop.
    let turns: TurnQueue
    private let wakeup: LoopWakeup
    /// What each peer uses of its limits.
    private var peers: [PeerKey: PeerUsage] = [:]
    private var count = 0
    /// The connections whose peers are being identified, the oldest first.
    private var unidentified: [PeerKey: [Identification]] = [:]
    private var unidentifiedCount = 0
    private var drained: EventLoopPromise<Void>?
    private var lastID: UInt64 = 0
    let metrics: AgentMetrics
    private let limit: Int
    private let peerLimits: PeerLimits
    private let logger: Logger
    /// Limits the messages about processes with too many connections, each of which may close all of them and begin again.
    private let messageLimit: MessageLimit

    init(_ options: AgentOptions, _ loop: any EventLoop, _ metrics: AgentMetrics) {
        self.metrics = metrics
        limit = options.connectionLimit
        peerLimits = options.peerLimits
        logger = options.logger
        messageLimit = MessageLimit(logger: options.logger, now: options.now)
        let wakeup = LoopWakeup(on: loop)
        turns = TurnQueue(turn: peerLimits.turn) {
            wakeup.post()
        } atEndOfIteration: { work in
            loop.assumeIsolated().execute(work)
        }
        self.wakeup = wakeup
        wakeup.setHandler { [turns] in turns.takeTurn() }
    }

    /// Returns an ID that no other connection has had.
    ///
    /// - Parameters:
    ///   - peer: the process at the other end.
    ///   - publication: the published socket; nil for the agent's own socket.
    func newID(_ peer: PeerIdentity, at publication: Publication?) -> ConnectionID {
        lastID += 1
        return ConnectionID(
            number: lastID, processID: peer.processID, sandbox: peer.sandbox.map { SandboxedApp(id: $0.app) },
            publication: publication.map { PublicationUser(socket: $0.id, userID: peer.userID) })
    }

    /// What the peer of a connection uses, together with its other connections. The connection joins in the same turn of the event loop.
    func usage(of id: ConnectionID) -> PeerUsage {
        peers[id.peer] ?? PeerUsage(limits: id.publication == nil ? peerLimits : peerLimits.published)
    }

    /// Keeps what a peer uses until the connection leaves. Before the connection is opened, all others of the peer may be closed.
    func joined(_ usage: PeerUsage, _ id: ConnectionID) {
        peers[id.peer] = usage
        usage.members += 1
    }

    /// Removes a peer when the last of its connections leaves, unless it has requests in progress.
    ///
    /// - Returns: whether it was the last one.
    func left(_ usage: PeerUsage, _ id: ConnectionID) -> Bool {
        usage.members -= 1
        removeUnused(usage, id)
        return usage.members == 0
    }

    /// Ends a request whose connection has closed. It counts until then: a peer could otherwise begin any number of requests by closing
    /// its connections.
    func ended(_ request: WaitingRequests.Request, of usage: PeerUsage, _ id: ConnectionID) {
        usage.ended(of: request.length)
        removeUnused(usage, id)
    }

    private func removeUnused(_ usage: PeerUsage, _ id: ConnectionID) {
        if usage.members == 0, !usage.hasRequests { peers[id.peer] = nil }
    }

    /// Counts a connection whose peer is being identified against the limits of its process, until `end(_:)` is called.
    ///
    /// Past a limit, the connection that has waited longest is closed: of the same peer, or of the peer with most such
    /// connections. A process that connects faster than it is identified therefore gets its latest connections.
    func begin(_ identification: Identification) {
        let peer = identification.peer
        unidentified[peer, default: []].append(identification)
        unidentifiedCount += 1
        let limits = peer.isPublished ? peerLimits.published : peerLimits
        var crowded: PeerKey?
        if let waiting = unidentified[peer], waiting.count > limits.connections {
            crowded = peer
        } else if unidentifiedCount > limit {
            crowded = unidentified.max { $0.value.count < $1.value.count }?.key
        }
        guard let crowded, let oldest = unidentified[crowded]?.first else { return }
        end(oldest)
        oldest.abandon()
    }

    /// Ends the wait of a connection; has no effect if it has ended.
    func end(_ identification: Identification) {
        let peer = identification.peer
        guard let index = unidentified[peer]?.firstIndex(where: { $0 === identification }) else { return }
        unidentified[peer]?.remove(at: index)
        if unidentified[peer]?.isEmpty == true { unidentified[peer] = nil }
        unidentifiedCount -= 1
    }

    /// Registers a connection.
    ///
    /// Past a limit, the connection that has been idle longest is closed: of the same peer, or of the peer with most
    /// connections. Its app reconnects on demand. If none of them is idle, the new one is closed.
    func opened(_ connection: PeerConnection, of usage: PeerUsage, _ id: ConnectionID) {
        usage.add(connection)
        metrics.connectionOpened()
        count += 1
        var crowded: PeerUsage?
        if usage.hasTooManyConnections {
            crowded = usage
        } else if count > limit {
            crowded = peers.values.max { $0.connections.count < $1.connections.count }
        }
        guard let crowded else { return }
        if let processID = id.processID, crowded === usage, usage.noteClosing(), messageLimit.admitsMessage() {
            logger.warning("an app has too many connections", metadata: ["pid": "\(processID)"])
        }
        metrics.count(.closed)
        (crowded.longestIdle(besides: connection) ?? connection).close()
    }

    /// Removes a connection that is closed.
    func closed(_ connection: PeerConnection, of usage: PeerUsage) {
        guard usage.remove(connection) else { return }
        metrics.connectionClosed()
        count -= 1
        if count == 0 { drained?.succeed() }
    }

    /// The number of connections of a published socket.
    func connectionCount(ofSocket socket: UInt64) -> Int {
        connections(ofSocket: socket).count
    }

    /// Closes the connections of a published socket; replies that have not been sent are lost.
    func closeConnections(ofSocket socket: UInt64) {
        for connection in connections(ofSocket: socket) { connection.close() }
    }

    private func connections(ofSocket socket: UInt64) -> [PeerConnection] {
        peers.filter { $0.key.socket == socket }.flatMap { $0.value.connections.values }
    }

    /// Ends every connection after the replies in progress. The future completes when all connections are closed.
    func end(on loop: any EventLoop) -> EventLoopFuture<Void> {
        guard count > 0 else { return loop.makeSucceededVoidFuture() }
        let promise = loop.makePromise(of: Void.self)
        drained = promise
        for usage in peers.values {
            for connection in usage.connections.values { connection.end() }
        }
        return promise.futureResult
    }

    /// Gives no further turns, also not to connections that have not ended in time.
    func endTurns() { wakeup.end() }
}

/// Identifies a connection, and the process at its other end; never reused while the agent runs.
struct ConnectionID: Hashable, Sendable {
    var number: UInt64
    /// The process at the time of the connection; nil if it is not known.
    var processID: Int32?
    /// The app of a process in a sandbox; nil for any other process.
    var sandbox: SandboxedApp?
    /// The published socket and its user; nil for the agent's own socket.
    var publication: PublicationUser?

    /// The peer that the connection belongs to.
    var peer: PeerKey {
        publication.map(PeerKey.published) ?? sandbox.map(PeerKey.sandbox) ?? processID.map(PeerKey.process)
            ?? .connection(number)
    }

    /// Whether two connections are those of one peer. A connection whose process is not known counts for itself.
    func isOfSamePeer(as other: ConnectionID) -> Bool { peer == other.peer }
}
