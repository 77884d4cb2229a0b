internal import TokenModel
internal import TokenWire

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

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
