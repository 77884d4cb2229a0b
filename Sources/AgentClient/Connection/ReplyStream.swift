internal import CAgentSystem
internal import TokenModel
internal import TokenWire

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The reading side of a connection, which decodes the replies in the bytes received.
struct ReplyStream {
    private let socket: Int32
    private let results: KeptResults?
    private var decoder = FrameDecoder(limit: WireLimits.replyFrame)
    private var reader = TokenResultReader()
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    /// The reason why the stream cannot be decoded any further, kept until the replies before it have been delivered.
    private var failure: TokenError?

    /// - Parameter results: use the page that the agent sends; nil if it is not wanted.
    init(socket: Int32, results: KeptResults? = nil) {
        self.socket = socket
        self.results = results
    }

    /// Reads what has arrived, and returns the replies that are complete.
    ///
    /// - Parameter waits: whether to wait until something arrives, at most for the socket's time-out.
    /// - Throws: `agentUnavailable` (-53004) at the end of the stream, another code if the stream cannot be decoded.
    mutating func read(waits: Bool = false) throws(TokenError) -> [ReplyFrame] {
        if let failure { throw failure }
        let flags = waits ? 0 : Int32(MSG_DONTWAIT)
        var page: Int32 = -1
        let count = buffer.withUnsafeMutableBytes {
            agent_receive_with_descriptor(socket, $0.baseAddress, $0.count, &page, flags)
        }
        if page >= 0 { if let results { results.attach(descriptor: page) } else { close(page) } }
        guard count > 0 else {
            if count < 0, errno == EAGAIN || errno == EINTR { return [] }
            throw TokenError(.agentUnavailable, "the agent closed the connection")
        }
        if let reply = try onlyReply(count) { return [reply] }
        buffer.withUnsafeBytes { decoder.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        var replies: [ReplyFrame] = []
        do throws(TokenError) {
            while let frame = try decoder.next() { replies.append(try reply(in: frame)) }
        } catch {
            guard !replies.isEmpty else { throw error }
            failure = error
            // Makes the socket readable, so that it is read again and the failure is thrown then.
            shutdown(socket, Int32(SHUT_RDWR))
        }
        return replies
    }

    /// The reply whose frame is all that has been received, as that of a single call is; nil if there is more or less. Read where
    /// it is, without a copy.
    private mutating func onlyReply(_ count: Int) throws(TokenError) -> ReplyFrame? {
        guard !decoder.isInsideFrame else { return nil }
        var reply: Result<ReplyFrame, TokenError>?
        buffer.withUnsafeBytes { buffer in
            guard let frame = FrameDecoder.onlyFrame(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])) else {
                return
            }
            reply = Result { () throws(TokenError) in try ReplyFrame(decoding: frame, with: &reader) }
        }
        return try reply?.get()
    }

    private mutating func reply(in frame: ArraySlice<UInt8>) throws(TokenError) -> ReplyFrame {
        try frame.withUnsafeBytes { frame in
            Result { () throws(TokenError) in try ReplyFrame(decoding: frame, with: &reader) }
        }.get()
    }

    /// Overwrites the buffer, through which access tokens have passed.
    mutating func wipe() { buffer.wipe() }
}
