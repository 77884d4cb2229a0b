internal import NIOCore

/// The open connections of a server: enforces their limit and ends them when the server stops. Used on their event loop only.
final class SessionRegistry {
    private var sessions: [ObjectIdentifier: AgentSession] = [:]
    private var drained: EventLoopPromise<Void>?
    private var lastID: UInt64 = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns an ID that no other session has had.
    ///
    /// - Parameter processID: the process at the other end; nil if it is not known.
    func newID(processID: Int32?) -> SessionID {
        lastID += 1
        return SessionID(number: lastID, processID: processID)
    }

    /// Registers a session. Past the limit, the connection that has been idle longest is closed; its app reconnects on demand.
    func opened(_ session: AgentSession) {
        sessions[ObjectIdentifier(session)] = session
        guard sessions.count > limit else { return }
        let idle = sessions.values.filter { $0.isIdle && $0 !== session }
        idle.min { $0.lastReceived < $1.lastReceived }?.end()
    }

    /// Removes a session whose connection is closed.
    func closed(_ session: AgentSession) {
        sessions[ObjectIdentifier(session)] = nil
        if sessions.isEmpty { drained?.succeed() }
    }

    /// Ends every session after the replies in progress. The future completes when all connections are closed.
    func end(on loop: any EventLoop) -> EventLoopFuture<Void> {
        guard !sessions.isEmpty else { return loop.makeSucceededVoidFuture() }
        let promise = loop.makePromise(of: Void.self)
        drained = promise
        for session in sessions.values { session.end() }
        return promise.futureResult
    }
}

/// Identifies a connection, and the process at its other end; never reused while the agent runs.
struct SessionID: Hashable, Sendable {
    var number: UInt64
    /// The process at the time of the connection; nil if it is not known.
    var processID: Int32?

    /// Whether two connections count as those of one process. A connection whose process is not known counts for itself.
    func isOfSamePeer(as other: SessionID) -> Bool {
        self == other || (processID != nil && processID == other.processID)
    }
}
