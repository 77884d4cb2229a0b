internal import NIOCore

/// The open connections, so that they can be counted, made room among, and ended. Lives on their event loop.
final class SessionRegistry {
    private var sessions: [ObjectIdentifier: AgentSession] = [:]
    private var drained: EventLoopPromise<Void>?
    private var lastID: UInt64 = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// A name for a session, good for no other.
    func newID() -> SessionID {
        lastID += 1
        return SessionID(number: lastID)
    }

    /// Past the limit, the connection that has been idle longest makes room: its app reconnects when it wants something.
    func opened(_ session: AgentSession) {
        sessions[ObjectIdentifier(session)] = session
        guard sessions.count > limit else { return }
        let idle = sessions.values.filter { $0.isIdle && $0 !== session }
        idle.min { $0.lastHeard < $1.lastHeard }?.end()
    }

    func closed(_ session: AgentSession) {
        sessions[ObjectIdentifier(session)] = nil
        if sessions.isEmpty { drained?.succeed() }
    }

    /// Ends every session after its replies in hand; the future completes when all are gone.
    func end(on loop: any EventLoop) -> EventLoopFuture<Void> {
        guard !sessions.isEmpty else { return loop.makeSucceededVoidFuture() }
        let promise = loop.makePromise(of: Void.self)
        drained = promise
        for session in sessions.values { session.end() }
        return promise.futureResult
    }
}
