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
    func newID() -> SessionID {
        lastID += 1
        return SessionID(number: lastID)
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

/// Identifies a connection; never reused while the agent runs.
struct SessionID: Hashable, Sendable {
    var number: UInt64
}
