internal import AccessPolicy
internal import NIOCore
internal import TokenModel
internal import TokenWire

/// The channel handler of one connection: decodes frames into requests, and writes the frames of their replies
/// (`PeerConnection+Replies.swift`).
///
/// It runs on the event loop of `CacheOwner`, so that a cache hit whose token is in memory is decoded, decided and
/// answered in one turn of the loop. Requests wait if the peer sends them faster than it reads replies, or faster than
/// its share of the loop's time allows: see `TurnQueue` and `PeerLimits`.
final class PeerConnection: ChannelInboundHandler, PeerWork {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let id: ConnectionID
    private let owner: CacheOwner
    private let peer: ConnectedPeer
    private let last: LastHit
    private let registry: ConnectionRegistry
    private let timers: Timers
    let usage: PeerUsage
    private var decoder = FrameDecoder(limit: WireLimits.requestFrame)
    private var waiting = WaitingRequests()
    /// The bytes of replies that did not fit into the socket's buffer.
    var unsent = 0
    /// The bytes written since the connection last checked whether the socket has taken everything.
    var unchecked = 0
    private var isWorking = false
    private var isEnding = false
    /// Whether the peer has closed its sending side.
    private var isInputClosed = false
    private var isReading = true
    /// Closes the connection if a frame remains incomplete; nil between frames.
    private var frameTimeout: Timers.Timer?
    private(set) var context: ChannelHandlerContext?
    /// The connection's descriptor until `channelInactive`; kept here, since SwiftNIO's access to it costs more than a
    /// hit. SwiftNIO closes it, fails pending writes, and calls `channelInactive`, all in one turn of the loop. So the
    /// callbacks of these failures must not send.
    private(set) var socket: NIOBSDSocket.Handle?
    /// The time at which bytes of the peer were last read.
    private(set) var lastReceived = NIODeadline.now()

    init(owner: CacheOwner, peer: ConnectedPeer, registry: ConnectionRegistry, timers: Timers) {
        self.id = registry.newID(peer.identity, at: peer.publication)
        self.owner = owner
        self.peer = peer
        last = LastHit(of: peer)
        self.registry = registry
        self.timers = timers
        usage = registry.usage(of: id)
    }

    /// Whether a request is in progress, apart from those that wait for events, which the app can get later as well.
    ///
    /// What waits until the peer reads its replies does not count, here and for `hasWaitingFrame`: a peer that reads none could keep
    /// its connections for ever.
    var hasRequests: Bool { waiting.inProgress > 0 || waiting.hasOutcome && canReply }

    /// Whether a complete request waits for its turn, or for the end of others of the peer.
    var hasWaitingFrame: Bool { !isEnding && decoder.hasFrame && canReply }

    func handlerAdded(context: ChannelHandlerContext) { registry.joined(usage, id) }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        let operations = context.pipeline.syncOperations
        socket = try? operations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
        let id = id
        owner.assumeIsolated { $0.signIns.connectionOpened(id) }
        context.fireChannelActive()
        registry.opened(self, of: usage, id)
        // A socket that was withdrawn since the peer was identified has closed its other connections already.
        closeIfWithdrawn(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        (self.context, socket, decoder) = (nil, nil, FrameDecoder(limit: WireLimits.requestFrame))
        stopFrameTimeout()
        owner.assumeIsolated { [id] in $0.connectionEnded(id) }
        registry.closed(self, of: usage)
        let over = waiting.removeOutcomes()
        usage.ended(requests: over.count, of: over.bytes)
        peer.confirmer.withdrawQuestions(of: peer.connection)
        usage.released(replyBytes: unsent)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if registry.left(usage, id) { owner.assumeIsolated { [id] in $0.core.replies.disown(id.peer) } }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding else { return }
        lastReceived = .now()
        unwrapInboundIn(data).withUnsafeReadableBytes { decoder.append($0) }
        // When a peer closes its sending side, SwiftNIO reads everything that is there, also while the connection wants nothing read.
        guard decoder.waitingBytes <= usage.limits.waitingBytes else { return close() }
        registry.turns.run(self, of: usage.turns, at: lastReceived)
        // The peer's turn may come later. Until then, only this check stops the reading of what the peer sends.
        if isReading, isFull { setReading(false, context) }
    }

    /// A peer that has closed its sending side still gets the replies to its requests.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            isInputClosed = true
            finishWatching()
            closeIfDone(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Handles no more requests, and closes the connection when the replies to those in progress have been sent.
    func end() {
        isEnding = true
        finishWatching()
        if let context { closeIfDone(context) }
    }

    /// Closes the connection; replies that have not been sent are lost.
    func close() { context?.close(promise: nil) }

    // MARK: Turns

    var hasWork: Bool {
        (waiting.hasOutcome || !isEnding && decoder.hasFrame && usage.admitsRequests) && canReply
    }

    func work(in turn: inout PeerTurn) {
        guard let context else { return }
        isWorking = true
        for _ in 0..<Self.requestsPerTurn {
            guard handleNext(context, &turn), hasWork, !turn.isOver(at: .now()) else { break }
        }
        isWorking = false
        send(context)
    }

    /// Continues when a limit is not reached any more.
    func resume() {
        guard let context else { return }
        updateReading(context)
        if hasWork { registry.turns.add(self, of: usage.turns) }
    }

    /// Whether replies can be written. The requests of a peer that does not read its replies wait.
    private var canReply: Bool {
        guard unsent == 0, usage.admitsReplies, let context else { return false }
        return context.channel.isWritable
    }

    /// Handles a request whose wait is over, or else the next frame.
    ///
    /// - Returns: false if there is nothing to handle, or a limit is reached.
    private func handleNext(_ context: ChannelHandlerContext, _ turn: inout PeerTurn) -> Bool {
        guard canReply, !closeIfWithdrawn(context) else { return false }
        if waiting.hasOutcome, let next = waiting.removeFirst() {
            turn.shorten()
            usage.ended(requests: 1, of: next.length)
            switch next.outcome {
            case .reply(let encode): write(encode(), context)
            case .waited(let frame, _, .failure(let error)): serve(frame, next.length, .failed(error), context)
            case .waited(let frame, let progress, .success): serve(frame, next.length, progress, context)
            }
            return true
        }
        guard !isEnding, usage.admitsRequests else { return false }
        do throws(TokenError) {
            guard let bytes = try decoder.next() else { return false }
            stopFrameTimeout()
            if repeatReply(to: bytes, context) { return true }
            turn.shorten()
            serve(bytes, context)
        } catch {
            // The start of the next frame is unknown.
            isEnding = true
            refuse(error, id: 0, context)
            finishWatching()
        }
        return true
    }

    /// Closes the connection if its published socket has been withdrawn, and returns whether it has.
    @discardableResult private func closeIfWithdrawn(_ context: ChannelHandlerContext) -> Bool {
        guard let publication = peer.publication else { return false }
        if owner.assumeIsolated({ $0.sockets.isServing(publication) }) { return false }
        context.close(promise: nil)
        return true
    }

    /// Sends the replies that were written, and adapts to how many of them the socket takes.
    private func send(_ context: ChannelHandlerContext) {
        if unchecked > 0 { context.flush() }
        if unchecked >= Self.uncheckedLimit { checkSent(context) }
        updateReading(context)
        closeIfDone(context)
    }

    /// Reads from the socket unless bytes of the peer wait in memory already, and starts the time-out of an incomplete frame if it
    /// is the peer's turn to continue.
    private func updateReading(_ context: ChannelHandlerContext) {
        let reads = unsent == 0 && !isFull
        if reads != isReading { setReading(reads, context) }
        if decoder.isInsideFrame, !decoder.hasFrame, canReply, usage.admitsRequests {
            startFrameTimeout(context)
        } else {
            stopFrameTimeout()
        }
    }

    /// Whether enough bytes wait: a request of any length that is still incomplete, or a complete one and some that follow it.
    private var isFull: Bool {
        decoder.waitingBytes > (decoder.hasFrame ? Self.readAhead : WireLimits.requestFrame + FrameDecoder.headerLength)
    }

    private func setReading(_ reads: Bool, _ context: ChannelHandlerContext) {
        guard let options = context.channel.syncOptions else { return }
        try? options.setOption(.autoRead, value: reads)
        isReading = reads
        if reads { context.read() }
    }

    /// How many bytes wait behind a complete request, beside those of one read.
    private static let readAhead = 16 << 10

    func closeIfDone(_ context: ChannelHandlerContext) {
        guard isEnding || isInputClosed && !decoder.hasFrame, waiting.count == 0, unsent == 0 else { return }
        if unchecked > 0 {
            // Replies written in this turn of the loop have not been flushed yet.
            context.flush()
            checkSent(context)
        }
        if unsent == 0 { context.close(promise: nil) }
    }

    // MARK: Requests

    /// Answers a request with the reply to an earlier one that differs in its IDs only; see `KeptReplies`.
    ///
    /// - Returns: false if the request has to be decoded and decided.
    private func repeatReply(to frame: ArraySlice<UInt8>, _ context: ChannelHandlerContext) -> Bool {
        let last = last
        guard let reply = owner.assumeIsolated({ $0.keptReply(to: frame, after: last) }) else { return false }
        let sent = sendAtOnce(context, reply.send)
        if sent < reply.length { write(reply.bytes(from: sent, context.channel.allocator), context) }
        registry.metrics.answeredRepeatedHit(readAt: lastReceived)
        return true
    }

    /// Answers a request frame; malformed frames and unknown requests get a failure as their reply.
    private func serve(_ bytes: ArraySlice<UInt8>, _ context: ChannelHandlerContext) {
        let frame: RequestFrame
        do throws(TokenError) {
            frame = try RequestFrame(decoding: bytes)
        } catch {
            // A call whose reply has another ID waits until its time-out.
            return refuse(error, id: RequestFrame.leadingID(of: bytes), context)
        }
        serve(frame, bytes.count, .received, context, bytes)
    }

    /// Continues with a request until it is answered, or has to wait.
    ///
    /// - Parameter bytes: the request's frame, for which a reply to repetitions is kept; nil after a wait.
    private func serve(
        _ frame: RequestFrame, _ length: Int, _ progress: RequestHandler.Progress, _ context: ChannelHandlerContext,
        _ bytes: ArraySlice<UInt8>? = nil
    ) {
        let handler: RequestHandler
        do throws(TokenError) {
            handler = try peer.handler(of: frame.number)
        } catch {
            return refuse(error, id: frame.id, of: frame.number, context)
        }
        let (id, peer) = (id, peer)
        switch owner.assumeIsolated({ handler.reply(frame, id, peer, progress, $0) }) {
        case .now(let reply): write(reply, context)
        case .repeatable(let reply, let entry):
            write(reply, context)
            if let bytes { owner.assumeIsolated { $0.core.replies.keep(reply, to: bytes, entry, of: id.peer) } }
        case .withDescriptor(let reply, let descriptor): write(reply, withDescriptor: descriptor, context)
        case .later(let future):
            wait(for: future, max(length, handler.allowance), watchesEvents: handler.watchesEvents) { .reply($0) }
            if handler.watchesEvents, isEnding || isInputClosed { finishWatching() }
        case .afterConfirmation(let future): wait(for: future, length) { .waited(frame, .confirmed, $0) }
        case .afterLoad(let future): wait(for: future, length) { .waited(frame, progress.afterLoad, $0) }
        }
    }

    /// Counts a request as in progress until its reply is written or, if the connection closes before, until its wait is over.
    private func wait<Value: Sendable>(
        for future: EventLoopFuture<Value>, _ length: Int, watchesEvents: Bool = false,
        _ outcome: @escaping (Value) -> WaitingRequests.Outcome
    ) {
        let request = WaitingRequests.Request(length: length, watchesEvents: watchesEvents)
        waiting.add(request)
        usage.began(requestOf: length)
        future.assumeIsolated().whenSuccess { value in
            guard self.context != nil else { return self.registry.ended(request, of: self.usage, self.id) }
            self.waiting.finish(request, outcome(value))
            if !self.isWorking, self.hasWork { self.registry.turns.run(self, of: self.usage.turns) }
        }
    }

    /// Answers the requests that wait for events, since no more events will be sent.
    private func finishWatching() {
        guard waiting.watchCount > 0 else { return }
        let id = id
        owner.assumeIsolated { $0.finishWatching(id) }
    }

    /// - Parameter number: the number of the request; 0 for a frame that is none.
    private func refuse(_ failure: TokenError, id: UInt64, of number: UInt32 = 0, _ context: ChannelHandlerContext) {
        let error = failure.forApps
        peer.log.refused(error, id: id)
        // The peer may invent any number that this version does not know.
        let known = RequestHandlers.handler(of: number) == nil ? 0 : number
        registry.metrics.count(.request(number: known, .failed(error.code)))
        write(ReplyFrame.encode(error, id: id), context)
    }

    private func startFrameTimeout(_ context: ChannelHandlerContext) {
        guard frameTimeout == nil else { return }
        let channel = context.channel
        frameTimeout = timers.schedule(context.eventLoop, Self.frameTimeLimit) { channel.close(promise: nil) }
    }

    private func stopFrameTimeout() {
        frameTimeout?.cancel()
        frameTimeout = nil
    }

    /// The number of requests of one connection after which it is another connection's turn.
    private static let requestsPerTurn = 16
    private static let frameTimeLimit = TimeAmount.seconds(30)
}
