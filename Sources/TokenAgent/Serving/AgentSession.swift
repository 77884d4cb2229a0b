internal import AccessPolicy
internal import Logging
internal import NIOCore
internal import TokenModel
internal import TokenWire

/// The channel handler of one connection: decodes frames into requests, and writes the frames of their replies.
///
/// It runs on the event loop of `CacheOwner`, so that a cache hit is decoded, decided and answered in one turn of the loop.
final class AgentSession: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let id: SessionID
    private let owner: CacheOwner
    private let caller: Caller
    private let registry: SessionRegistry
    private let timers: Timers
    private var decoder = FrameDecoder(limit: WireLimits.requestFrame)
    private var inFlight = 0
    private var isEnding = false
    /// Whether the agent reads nothing, because of the requests in progress or of replies that the peer does not read.
    private var isThrottled = false
    /// Closes the connection if a frame remains incomplete; nil between frames.
    private var frameTimeout: Timers.Timer?
    private var context: ChannelHandlerContext?
    /// The time at which the peer last sent bytes.
    private(set) var lastReceived = NIODeadline.now()

    init(owner: CacheOwner, caller: Caller, registry: SessionRegistry, timers: Timers) {
        self.id = registry.newID(processID: caller.identity.processID)
        self.owner = owner
        self.caller = caller
        self.registry = registry
        self.timers = timers
    }

    /// Whether no request waits for its reply.
    var isIdle: Bool { inFlight == 0 }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        registry.opened(self)
        let id = id
        owner.assumeIsolated { $0.sessionBegan(id) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        stopFrameTimeout()
        let id = id
        owner.assumeIsolated { $0.sessionEnded(id) }
        registry.closed(self)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding else { return }
        lastReceived = .now()
        unwrapInboundIn(data).withUnsafeReadableBytes { decoder.append($0) }
        do throws(TokenError) {
            while !isEnding, let frame = try decoder.next() {
                stopFrameTimeout()
                serve(frame, context)
            }
        } catch {
            refuse(error, context)
        }
        startFrameTimeout(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
    }

    /// Applies back-pressure: nothing is read from a peer that does not read its replies.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        throttle(context)
    }

    /// A peer that has closed its sending side still gets the replies to its requests.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { end() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Reads no more requests, and closes the connection when all replies have been written.
    func end() {
        isEnding = true
        guard inFlight == 0 else { return }
        // Replies written in this turn of the loop have not been flushed yet.
        context?.flush()
        context?.close(promise: nil)
    }

    /// Answers a request frame; malformed frames and unknown requests get a failure as their reply.
    private func serve(_ bytes: ArraySlice<UInt8>, _ context: ChannelHandlerContext) {
        let frame: RequestFrame
        do throws(TokenError) {
            frame = try RequestFrame(decoding: bytes)
        } catch {
            return write(.failure(error), id: 0, context)
        }
        switch answer(frame) {
        case .now(let outcome): write(outcome, id: frame.id, context)
        case .later(let future):
            inFlight += 1
            throttle(context)
            let id = frame.id
            future.assumeIsolated().whenSuccess { outcome in
                self.inFlight -= 1
                guard let context = self.context else { return }
                self.write(outcome, id: id, context)
                context.flush()
                self.throttle(context)
                if self.isEnding, self.inFlight == 0 { context.close(promise: nil) }
            }
        }
    }

    private func answer(_ frame: RequestFrame) -> Answer<[UInt8]> {
        guard let handler = RequestHandlers.handler(of: frame.number) else { return .now(.failure(Self.unknown)) }
        let (id, caller) = (id, caller)
        return owner.assumeIsolated { handler.reply(frame, id, caller, $0) }
    }

    private func write(_ outcome: Result<[UInt8], TokenError>, id: UInt64, _ context: ChannelHandlerContext) {
        let frame: [UInt8]
        switch outcome {
        case .success(let reply): frame = reply
        case .failure(let error):
            caller.log.refused(error, id: id)
            frame = ReplyFrame.encode(error, id: id)
        }
        context.write(wrapOutboundOut(context.channel.allocator.buffer(bytes: frame)), promise: nil)
    }

    /// Answers a malformed frame and closes the connection: the start of the next frame is unknown.
    private func refuse(_ error: TokenError, _ context: ChannelHandlerContext) {
        isEnding = true
        let frame = ReplyFrame.encode(error, id: 0)
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: frame)), promise: nil)
        if inFlight == 0 { context.close(promise: nil) }
    }

    /// Starts the time-out of an incomplete frame, unless it runs already. It does not run while the agent reads nothing.
    private func startFrameTimeout(_ context: ChannelHandlerContext) {
        guard decoder.isInsideFrame, !isThrottled, frameTimeout == nil else { return }
        let channel = context.channel
        frameTimeout = timers.schedule(context.eventLoop, Self.frameTimeLimit) { channel.close(promise: nil) }
    }

    private func stopFrameTimeout() {
        frameTimeout?.cancel()
        frameTimeout = nil
    }

    /// Stops reading while too many requests are in progress or the peer does not read its replies, and resumes afterwards.
    private func throttle(_ context: ChannelHandlerContext) {
        let reads = inFlight < Self.maximumInFlight && context.channel.isWritable
        guard reads == isThrottled, let options = context.channel.syncOptions else { return }
        try? options.setOption(.autoRead, value: reads)
        isThrottled = !reads
        if reads {
            startFrameTimeout(context)
            context.read()
        } else {
            stopFrameTimeout()
        }
    }

    private static let unknown = TokenError(
        .unsupportedProtocolVersion, "this agent does not know that request; update it")

    /// The maximum number of requests in progress on a connection; further requests wait in the socket's buffer.
    private static let maximumInFlight = 1024
    private static let frameTimeLimit = TimeAmount.seconds(30)
}
