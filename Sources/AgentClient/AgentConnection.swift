internal import AgentSocket
internal import Synchronization
internal import TokenModel
internal import TokenWire

/// The connection to the agent: callers write, one thread reads, however many calls are in flight.
///
/// A call that is alone first reads for itself, for a moment: a hit comes back sooner than a thread can be woken to fetch
/// it. What takes longer, and everything while several calls are in flight, is the thread's. It exists only while there
/// is a connection. A connection that breaks is reopened once for the calls that wait on it, if sending them twice does
/// no harm.
final class AgentConnection: Sendable {
    /// What a call ends with.
    typealias Outcome = Result<ReplyFrame, TokenError>

    private let path: String
    private let appName: String
    let state = Mutex(ConnectionState())
    /// Held by whoever reads. The thread takes it away before it closes the socket, so that nobody reads from a reused number.
    let stream = Mutex<ReplyStream?>(nil)

    init(path: String, appName: String) {
        self.path = path
        self.appName = appName
    }

    /// A number for a call, good for `send` and `abandon`.
    func reserveID() -> UInt64 { state.withLock { $0.reserveID() } }

    /// Sends a request; `deliver` is called exactly once, from the reading thread or from this one, and must not block.
    func send<Request: WireRequest>(
        _ request: Request, id: UInt64, deadline: MonotonicTime,
        deliver: @escaping @Sendable (Result<Request.Reply, TokenError>) -> Void
    ) {
        let frame: [UInt8]
        do throws(TokenError) {
            frame = try RequestFrame.encode(request, id: id)
        } catch {
            abandon(id)
            return deliver(.failure(error))
        }
        let call = PendingCall(frame: frame, deadline: deadline, isRepeatable: request.isRepeatable) { outcome in
            deliver(outcome.flatMap { reply in Result { () throws(TokenError) in try reply.reply(to: Request.self) } })
        }
        switch state.withLock({ $0.add(call, id: id) }) {
        case .cancelled: deliver(.failure(TokenError(.cancelled, "the call was cancelled")))
        case .closed: deliver(.failure(TokenError(.agentUnavailable, "this AgentClient was closed")))
        case .sent: break
        case .leads: lead()
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
        for call in state.withLock({ $0.close() }) {
            call.deliver(.failure(TokenError(.agentUnavailable, "this AgentClient was closed")))
        }
    }

    private func startThread() {
        BackgroundThread.start {
            var reader = ConnectionReader(connection: self, path: self.path, appName: self.appName)
            reader.run()
        }
    }

    /// Reads on the caller's thread. It may be one of Swift's pool, so it waits no longer than a hit takes.
    private func lead() {
        let isIntact = receive(within: 1)
        state.withLock { $0.finishLeading(isIntact: isIntact) }
    }

    /// Reads once, after waiting at most `milliseconds`, and ends the calls whose replies have come.
    ///
    /// - Returns: false when the stream is over or makes no sense any more.
    func receive(within milliseconds: Int32) -> Bool {
        do throws(TokenError) {
            let replies = try stream.withLock { stream throws(TokenError) in
                stream?.isReadable(within: milliseconds) == true ? try stream?.read() : nil
            }
            for reply in replies ?? [] {
                state.withLock { $0.take(reply.id) }?.deliver(.success(reply))
            }
            return true
        } catch {
            return false
        }
    }
}
