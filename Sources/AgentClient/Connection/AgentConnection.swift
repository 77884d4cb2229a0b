internal import AgentSocket
internal import CAgentSystem
internal import Synchronization
internal import TokenModel
internal import TokenWire

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The connection to the agent, which all calls of a client share.
///
/// Callers write their requests themselves; one thread reads the replies of all calls. It runs only while there is a
/// connection. The caller of the only call in flight first reads for itself, for at most a millisecond: a cache hit
/// arrives sooner than a thread can be woken. If the connection breaks, it is opened again once for the calls in flight
/// that may be sent twice.
final class AgentConnection: Sendable {
    /// The result of a call: the frame of its reply, or an error.
    typealias Outcome = Result<ReplyFrame, TokenError>

    private let path: String
    private let appName: String
    /// Nil if no results are kept.
    let results: KeptResults?
    let state = Mutex(ConnectionState())
    /// The reading side of the socket, locked by its reader. Set to nil before the socket is closed, so that no
    /// caller reads from a file descriptor that has been reused.
    let stream = Mutex<ReplyStream?>(nil)

    init(path: String, appName: String, results: KeptResults?) {
        self.path = path
        self.appName = appName
        self.results = results
    }

    /// Returns a number for a call, to be passed to `send` or `abandon`.
    func reserveID() -> UInt64 { state.withLock { $0.reserveID() } }

    /// Sends a request. `deliver` is called exactly once, from the reading thread or from the calling thread, and must
    /// not block.
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
        case .callerReads: readAsCaller()
        case .needsThread: startThread()
        }
    }

    /// Ends a call with `cancelled` (-53007). Its reply is dropped if it still arrives.
    func abandon(_ id: UInt64) {
        guard let call = state.withLock({ $0.abandon(id) }) else { return }
        call.deliver(.failure(TokenError(.cancelled, "the call was cancelled")))
    }

    /// Closes the connection. Calls in flight and later calls end with `agentUnavailable` (-53004).
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

    /// Reads on the calling thread, which may belong to Swift's cooperative pool, and so waits no longer than a cache
    /// hit takes.
    private func readAsCaller() {
        let isStreamIntact = receive(within: 1)
        state.withLock { $0.callerFinishedReading(isStreamIntact: isStreamIntact) }
    }

    /// Waits at most `milliseconds`, reads once, and ends the calls whose replies have arrived.
    ///
    /// - Returns: false if the stream has ended or cannot be decoded.
    func receive(within milliseconds: Int32) -> Bool {
        do throws(TokenError) {
            let replies = try stream.withLock { stream throws(TokenError) in
                stream?.isReadable(within: milliseconds) == true ? try stream?.read() : nil
            }
            for reply in replies ?? [] {
                state.withLock { $0.removeCall(reply.id) }?.deliver(.success(reply))
            }
            return true
        } catch {
            return false
        }
    }
}

/// The reading side of a connection, which decodes the replies in the bytes received.
struct ReplyStream {
    private let socket: Int32
    private let results: KeptResults?
    private var decoder = FrameDecoder(limit: WireLimits.replyFrame)
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    /// The reason why the stream cannot be decoded any further, kept until the replies before it have been delivered.
    private var failure: TokenError?

    /// - Parameter results: use the page that the agent sends; nil if it is not wanted.
    init(socket: Int32, results: KeptResults? = nil) {
        self.socket = socket
        self.results = results
    }

    /// Waits at most `milliseconds` for something to read; returns whether there is.
    func isReadable(within milliseconds: Int32) -> Bool {
        var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, milliseconds) > 0
    }

    /// Reads what has arrived, without waiting, and returns the replies that are complete.
    ///
    /// - Throws: `agentUnavailable` (-53004) at the end of the stream, another code if the stream cannot be decoded.
    mutating func read() throws(TokenError) -> [ReplyFrame] {
        if let failure { throw failure }
        var page: Int32 = -1
        let count = buffer.withUnsafeMutableBytes {
            agent_receive_with_descriptor(socket, $0.baseAddress, $0.count, &page, 0)
        }
        if page >= 0 { if let results { results.attach(descriptor: page) } else { close(page) } }
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
            // Makes the socket readable, so that it is read again and the failure is thrown then.
            shutdown(socket, Int32(SHUT_RDWR))
        }
        return replies
    }

    /// Overwrites the buffer, through which access tokens have passed.
    mutating func wipe() { buffer.withUnsafeMutableBytes { wipeMemory($0) } }
}
