internal import CAgentSystem
internal import PosixFiles
internal import Synchronization
internal import TokenModel
internal import TokenWire

/// The connection to the agent, which all calls of a client share.
///
/// A caller writes its request itself, unless the app has closed the descriptor. The only call in flight also reads its reply itself, for as
/// long as a cache hit takes: that is one write and one read on the caller's thread. Of all other calls one thread reads the replies; it runs
/// only while there is a connection. If the connection breaks, it is opened again once for the calls in flight that may be sent twice.
final class AgentConnection: Sendable {
    /// The result of a call: the frame of its reply, or an error.
    typealias Outcome = Result<ReplyFrame, TokenError>

    private let path: String
    private let appName: String
    private let starter: Starter
    private let restartsAgent: Bool
    /// The results that are kept while this connection has a generation page; nil if none are kept.
    let results: KeptResults?
    private let lastID = Atomic<UInt64>(0)
    private let silentRequests = SilentRequestFrames()
    let state = Mutex(ConnectionState())
    /// The reading side of the socket, locked by its reader. Set to nil before the socket is closed, so that no
    /// caller reads from a file descriptor that has been reused.
    let stream = Mutex<ReplyStream?>(nil)

    /// Starts the agent if there is none. It blocks, and calls its parameter again and again meanwhile.
    typealias Starter = @Sendable (_ whileWaiting: @escaping () -> Void) -> AgentStarter.Outcome

    /// - Parameters:
    ///   - restartsAgent: whether an agent that has stopped after its first reply is started again.
    ///   - starter: nil starts the user's agent.
    init(path: String, appName: String, results: KeptResults?, restartsAgent: Bool = true, starter: Starter? = nil) {
        self.path = path
        self.appName = appName
        self.results = results
        self.restartsAgent = restartsAgent
        self.starter = starter ?? { AgentStarter(path: path, whileWaiting: $0).start() }
        // Begins to watch for `fork`, so that a copy of this process is recognised.
        _ = Self.isCopiedProcess
    }

    /// Starts the agent. Blocks the calling thread; calls end at their deadlines meanwhile.
    ///
    /// - Returns: nil if this connection may not start an agent that has stopped.
    func startAgent() -> AgentStarter.Outcome? {
        guard restartsAgent || !hasReceivedReply else { return nil }
        return starter(endLateCalls)
    }

    /// The result of `exchange`.
    enum Exchange {
        case replied(ReplyFrame)
        /// There is no reply yet. The caller has to pass the call to `wait`, since no thread reads replies until then.
        case unfinished(StartedCall)
    }

    /// Sends a request and reads its reply on the calling thread, if there is a connection and no other call is in
    /// flight. The thread, which may belong to Swift's cooperative pool or be the main thread, is blocked for the socket's time-out at most:
    /// a millisecond, which the kernel rounds up to its tick, 1 to 10 ms.
    ///
    /// - Throws: as `begin`.
    func exchange<Request: WireRequest>(_ request: Request) throws(TokenError) -> Exchange {
        finish(try begin(request))
    }

    /// Sends a request whose reply the calling thread will read, if there is a connection and no other call is in flight. The caller has
    /// to pass the call to `finish` or to `drop` soon: until then no thread reads the replies to other calls.
    ///
    /// - Throws: `frameTooLarge` (-53002) if the request cannot be encoded, and `agentUnavailable` (-53004) in a copy
    ///   of a process.
    func begin<Request: WireRequest>(_ request: Request) throws(TokenError) -> StartedCall {
        guard !Self.isCopiedProcess else { throw Self.copied }
        let id = newID()
        let frame = try frame(of: request, id: id)
        let connection = state.withLock { $0.sendAlone(frame, id: id) }
        return StartedCall(id: id, frame: frame, isRepeatable: request.isRepeatable, connection: connection)
    }

    /// Reads the reply to a call on the calling thread, if the call has been sent.
    func finish(_ started: StartedCall) -> Exchange {
        var call = started
        guard let connection = call.connection else {
            state.withLock { $0.reserve(call.id) }
            return .unfinished(call)
        }
        var reply: ReplyFrame?
        call.isStreamIntact = receive(waits: true) { received in
            if received.id == call.id { reply = received } else { deliver(received) }
        }
        if let reply {
            state.withLock { $0.callerFinishedReading(on: connection) }
            return .replied(reply)
        }
        // The caller counts as the reader of the connection until it calls `wait`, so that the reply cannot be missed
        // in between.
        state.withLock { $0.reserve(call.id) }
        return .unfinished(call)
    }

    /// Ends a call whose reply is of no use any more, and that has not been passed to `finish`.
    func drop(_ call: StartedCall) {
        // A call that is not reserved counts as abandoned.
        wait(for: call, deadline: .distantFuture) { _ in }
    }

    /// Whether this process is a copy of one that has made a connection. The sockets and the reading thread belong to
    /// the original process. In the copy, locks may be held for ever, and Swift's locks trap if they are contended.
    private static var isCopiedProcess: Bool { agent_is_copied_process() != 0 }

    static var errorOfCopiedProcess: TokenError? { isCopiedProcess ? copied : nil }

    private static let copied = TokenError(
        .agentUnavailable,
        "this process is a copy (fork) of one that has used the agent; programs that it starts (exec) can use it")

    private func frame<Request: WireRequest>(of request: Request, id: UInt64) throws(TokenError) -> [UInt8] {
        guard let silent = request as? AcquireTokenSilent else { return try RequestFrame.encode(request, id: id) }
        return try silentRequests.frame(of: silent, id: id)
    }

    /// Passes a call to the reading thread, which waits for its reply. `deliver` is called exactly once, from the reading thread or from the
    /// calling thread, and must not block.
    ///
    /// - Parameter lateReply: called, as `deliver` is, with a reply that comes after the call was abandoned or its deadline has passed.
    func wait(
        for call: StartedCall, deadline: MonotonicTime, lateReply: PendingCall.LateReply? = nil,
        deliver: @escaping @Sendable (Outcome) -> Void
    ) {
        let pending = PendingCall(
            frame: call.frame, deadline: deadline, isRepeatable: call.isRepeatable,
            timesSent: call.connection == nil ? 0 : 1, lateReply: lateReply, deliver: deliver)
        let added = state.withLock { state in
            guard let connection = call.connection else { return state.add(pending, id: call.id) }
            return state.adopt(pending, id: call.id, sentOn: connection, isStreamIntact: call.isStreamIntact)
        }
        switch added {
        case .cancelled(let reply):
            deliver(.failure(Self.cancelled))
            if let reply { lateReply?(reply) }
        case .closed: deliver(.failure(TokenError(.agentUnavailable, "this AgentClient was closed")))
        case .replied(let reply): deliver(.success(reply))
        case .lost: deliver(.failure(Self.gone))
        case .sent: break
        case .needsThread: startThread()
        }
    }

    /// Whether the agent has replied to anything; the reply to `hello` counts.
    var hasReceivedReply: Bool { state.withLock(\.hasReceivedReply) }

    /// The number of connections so far, and so the number of the last one.
    var number: UInt64 { state.withLock(\.connections) }

    /// Returns a number for a request.
    func newID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

    /// Ends a call with `cancelled` (-53007). Its reply is dropped if it still arrives, unless the call has a
    /// `lateReply`.
    func abandon(_ id: UInt64) {
        guard let call = state.withLock({ $0.abandon(id) }) else { return }
        call.deliver(.failure(Self.cancelled))
    }

    /// Closes the connection. Calls in flight and later calls end with `agentUnavailable` (-53004).
    func close() {
        guard !Self.isCopiedProcess else { return }
        for call in state.withLock({ $0.close() }) {
            call.deliver(.failure(TokenError(.agentUnavailable, "this AgentClient was closed")))
        }
    }

    private func startThread() {
        let isStarted = BackgroundThread.start {
            ConnectionReader(connection: self, path: self.path, appName: self.appName).run()
        }
        if !isStarted { endCalls(with: ThreadRoom.exhausted) }
    }

    /// Ends the calls that wait for a connection, since none can be made.
    func endCalls(with error: TokenError) {
        for call in state.withLock({ $0.connectingFailed() }) { call.deliver(.failure(error)) }
    }

    /// Reads once, and passes on the replies that have arrived.
    ///
    /// - Parameter waits: whether to wait for a reply, at most for the socket's time-out.
    /// - Returns: false if the stream has ended or cannot be decoded.
    func receive(waits: Bool, _ body: (ReplyFrame) -> Void) -> Bool {
        do throws(TokenError) {
            let replies = try stream.withLock { stream throws(TokenError) in try stream?.read(waits: waits) }
            for reply in replies ?? [] { body(reply) }
            return true
        } catch {
            return false
        }
    }

    /// Ends the call that a reply belongs to. It is dropped if there is none.
    func deliver(_ reply: ReplyFrame) {
        state.withLock { $0.removeCall(repliedBy: reply) }?.deliver(.success(reply))
    }

    /// Ends the calls whose deadline has passed. Called by the reading thread, also while there is no connection.
    func endLateCalls() {
        for call in state.withLock({ $0.expire(at: .now) }) { call.deliver(.failure(Self.late)) }
    }

    static let late = TokenError(.timedOut, "the agent did not answer in time")
    static let gone = TokenError(
        .agentUnavailable, "the agent closed the connection before it replied; try again", .or("ssoctl doctor"))
    static let lostSignIn = TokenError(
        .agentUnavailable, "the connection to the agent has closed, and the sign-in has ended with it; try again",
        .or("ssoctl doctor"))
    static let lostKeyChange = TokenError(
        .agentUnavailable, "the agent closed the connection before it replied; the key may have changed",
        .run("ssoctl key"))
    static let stopped = TokenError(
        .agentUnavailable, "the agent is stopping, and has ended the request; try again")
    static let cancelled = TokenError(.cancelled, "the call was cancelled")
}

/// A call that its caller has begun and that has no reply yet.
struct StartedCall: Sendable {
    let id: UInt64
    let frame: [UInt8]
    let isRepeatable: Bool
    /// The number of the connection on which the call was sent, and whose reader its caller is; nil if it has not been sent.
    var connection: UInt64?
    /// Whether replies can still be read from that connection.
    var isStreamIntact = true
}
