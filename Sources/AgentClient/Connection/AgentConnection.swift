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

/// The reading side of a connection: bytes in, replies out.
struct ReplyStream {
    private let socket: Int32
    private var decoder = FrameDecoder(limit: WireLimits.replyFrame)
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    /// Why the stream made no sense any more, after replies that did: they are delivered first.
    private var failure: TokenError?

    init(socket: Int32) { self.socket = socket }

    /// Whether there is something to read within `milliseconds`.
    func isReadable(within milliseconds: Int32) -> Bool {
        var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, milliseconds) > 0
    }

    /// The replies that are whole with the bytes that are there, none if there are none yet.
    ///
    /// - Throws: `agentUnavailable` (-53004) at the end of the stream, another code when it makes no sense.
    mutating func read() throws(TokenError) -> [ReplyFrame] {
        if let failure { throw failure }
        let count = buffer.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
        guard count > 0 else {
            if count < 0, errno == EAGAIN || errno == EINTR { return [] }
            throw TokenError(.agentUnavailable, "the agent closed the connection")
        }
        buffer.withUnsafeBytes { decoder.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        var replies: [ReplyFrame] = []
        do throws(TokenError) {
            while let frame = try decoder.next() { replies.append(try ReplyFrame(decoding: frame)) }
        } catch {
            guard !replies.isEmpty else { throw error }
            failure = error
            // Readable from now on, so that the next read comes and finds the failure.
            shutdown(socket, Int32(SHUT_RDWR))
        }
        return replies
    }

    /// Tokens have passed through it.
    mutating func wipe() { buffer.withUnsafeMutableBytes { wipeMemory($0) } }
}
