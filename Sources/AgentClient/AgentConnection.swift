internal import AgentSocket
internal import Synchronization
internal import TokenModel
internal import TokenWire

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The connection to the agent: callers write, one thread reads, however many calls are in flight.
///
/// The thread exists only while there is a connection. A connection that breaks is reopened once for the calls that
/// wait on it, if sending them twice does no harm.
final class AgentConnection: Sendable {
    /// What a call ends with.
    typealias Outcome = Result<Reply.Body, TokenError>

    private let path: String
    private let appName: String
    let state = Mutex(ConnectionState())

    init(path: String, appName: String) {
        self.path = path
        self.appName = appName
    }

    /// A number for a call, good for `send` and `abandon`.
    func reserveID() -> UInt64 { state.withLock { $0.reserveID() } }

    /// Sends a request; `deliver` is called exactly once, from the reading thread or from this one, and must not block.
    func send(
        id: UInt64, _ body: Request.Body, deadline: MonotonicTime, isRepeatable: Bool,
        deliver: @escaping @Sendable (Outcome) -> Void
    ) {
        let frame: [UInt8]
        do throws(TokenError) {
            frame = try Request(id: id, body).frame()
        } catch {
            return deliver(.failure(error))
        }
        let call = PendingCall(frame: frame, deadline: deadline, isRepeatable: isRepeatable, deliver: deliver)
        switch state.withLock({ $0.add(call, id: id) }) {
        case .cancelled: deliver(.failure(TokenError(.cancelled, "the call was cancelled")))
        case .closed: deliver(.failure(TokenError(.agentUnavailable, "this AgentClient was closed")))
        case .sent(let wake): if let wake { wakeReader(wake) }
        case .needsThread: startThread()
        }
    }

    /// Ends a call with `cancelled`; its reply, should it still come, is dropped.
    func abandon(_ id: UInt64) {
        guard let call = state.withLock({ $0.abandon(id) }) else { return }
        call.deliver(.failure(TokenError(.cancelled, "the call was cancelled")))
    }

    /// Ends the connection and every call on it; later calls fail.
    func close() {
        let (calls, wake) = state.withLock { $0.close() }
        if let wake { wakeReader(wake) }
        for call in calls { call.deliver(.failure(TokenError(.agentUnavailable, "this AgentClient was closed"))) }
    }

    private func startThread() {
        ReaderThread.start {
            var reader = ConnectionReader(connection: self, path: self.path, appName: self.appName)
            reader.run()
        }
    }

    private func wakeReader(_ descriptor: Int32) {
        var byte: UInt8 = 1
        _ = write(descriptor, &byte, 1)
    }
}
