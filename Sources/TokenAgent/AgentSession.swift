internal import AgentSocket
internal import Logging
internal import NIOCore
internal import TokenModel
internal import TokenWire

/// One connection: bytes to requests, replies to bytes. It knows its peer since it was accepted.
///
/// Lives on the event loop that owns the cache, so that a hit is decoded, decided and answered in one turn.
final class AgentSession: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let id: SessionID
    private let router: RequestRouter
    private let log: RequestLog
    private let registry: SessionRegistry
    private let timers: Timers
    private var decoder = FrameDecoder(limit: WireLimits.requestFrame)
    private var inFlight = 0
    private var isEnding = false
    private var halfFrame: Timers.Timer?
    private var context: ChannelHandlerContext?
    /// When the peer last said something, by the loop's clock.
    private(set) var lastHeard = NIODeadline.now()

    init(router: RequestRouter, log: RequestLog, registry: SessionRegistry, timers: Timers) {
        self.id = registry.newID()
        self.router = router
        self.log = log
        self.registry = registry
        self.timers = timers
    }

    /// Whether nothing is owed to the peer.
    var isIdle: Bool { inFlight == 0 }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        registry.opened(self)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        halfFrame?.cancel()
        router.ended(id)
        registry.closed(self)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding else { return }
        lastHeard = .now()
        unwrapInboundIn(data).withUnsafeReadableBytes { decoder.append($0) }
        do throws(TokenError) {
            while !isEnding, let frame = try decoder.next() { serve(Request(decoding: frame), context) }
        } catch {
            refuse(error, context)
        }
        watchHalfFrame(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
    }

    /// A peer that does not read its replies, or has asked for too much at once, is not read from either.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        throttle(context)
    }

    /// A peer that will ask no more is still owed what it has asked.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { end() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Finishes the replies in hand, then closes.
    func end() {
        isEnding = true
        guard inFlight == 0 else { return }
        // What was answered in this turn of the loop is not on its way yet.
        context?.flush()
        context?.close(promise: nil)
    }

    private func serve(_ request: Request, _ context: ChannelHandlerContext) {
        switch router.reply(to: request.body, from: id) {
        case .now(let outcome): write(outcome, to: request, context)
        case .later(let future):
            inFlight += 1
            throttle(context)
            future.assumeIsolated().whenSuccess { outcome in
                self.inFlight -= 1
                guard let context = self.context else { return }
                self.write(outcome, to: request, context)
                context.flush()
                self.throttle(context)
                if self.isEnding, self.inFlight == 0 { context.close(promise: nil) }
            }
        }
    }

    private func write(_ outcome: Result<Reply.Body, TokenError>, to request: Request, _ context: ChannelHandlerContext)
    {
        let body: Reply.Body =
            switch outcome {
            case .success(let body): body
            case .failure(let error): .failure(error)
            }
        log.replied(to: request, with: body)
        let frame = Reply(id: request.id, body).frame()
        context.write(wrapOutboundOut(context.channel.allocator.buffer(bytes: frame)), promise: nil)
    }

    /// A broken frame: nothing after it can be trusted, so its reply is the last one.
    private func refuse(_ error: TokenError, _ context: ChannelHandlerContext) {
        isEnding = true
        let frame = Reply(id: 0, .failure(error)).frame()
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: frame)), promise: nil)
        if inFlight == 0 { context.close(promise: nil) }
    }

    /// A peer that stops in the middle of a frame does not keep its connection for ever.
    private func watchHalfFrame(_ context: ChannelHandlerContext) {
        guard decoder.isInsideFrame else {
            halfFrame?.cancel()
            halfFrame = nil
            return
        }
        guard halfFrame == nil else { return }
        let channel = context.channel
        halfFrame = timers.schedule(context.eventLoop, Self.halfFramePatience) { channel.close(promise: nil) }
    }

    private func throttle(_ context: ChannelHandlerContext) {
        let reads = inFlight < Self.maximumInFlight && context.channel.isWritable
        guard let options = context.channel.syncOptions, let isReading = try? options.getOption(.autoRead),
            isReading != reads
        else { return }
        try? options.setOption(.autoRead, value: reads)
        if reads { context.read() }
    }

    /// More than any app waits for at once; the rest of its requests wait in the socket.
    private static let maximumInFlight = 1024
    private static let halfFramePatience = TimeAmount.seconds(30)
}
