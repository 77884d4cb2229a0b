internal import AccessPolicy
internal import AgentSocket
internal import ListenerSupport
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Serves the agent's measurements over HTTP on a Unix socket of its own: `GET /metrics`, in Prometheus' text format.
///
/// It has an event loop and a thread of its own. A scraper costs the agent's event loop one short function call for each answer, however slow
/// or hostile it is, and all scrapers together fifty of these in a second at most. Connections, their time and the length of a request are
/// limited, and no process can use up the connections. The peer is identified before a byte is read, and the access policy decides as for
/// `get_status`.
final class MetricsServer: Sendable {
    /// Returns the measurements for a peer; nil if it may not have them.
    typealias Source = @Sendable (PeerIdentity, any EventLoop) -> EventLoopFuture<[AgentMetric]?>

    private let socket: OwnSocket
    private let lock: LockFile
    private let acceptor: Acceptor
    private let group: MultiThreadedEventLoopGroup
    let listener: any Channel

    private init(
        _ path: String, _ lock: LockFile, _ acceptor: Acceptor, _ group: MultiThreadedEventLoopGroup,
        _ listener: any Channel
    ) {
        socket = OwnSocket(at: path)
        (self.lock, self.acceptor, self.group, self.listener) = (lock, acceptor, group, listener)
    }

    /// Creates the socket, with mode 0600, and accepts connections when this returns. Its folder has to be the user's.
    ///
    /// - Throws: `agentUnavailable` (-53004) with the reason and the remedy, also if another agent or another program has the socket.
    static func start(
        at path: String, _ admission: PeerAdmission, _ source: @escaping Source
    ) async throws(TokenError) -> MetricsServer {
        let lock = try await LockFile(beside: path)
        guard ListeningSocket.isServed(at: path) != true else {
            throw TokenError(
                .agentUnavailable,
                "\(path) has a listener that is no sso-agent; stop it, or name another path for the metrics socket")
        }
        let descriptor = try ListeningSocket.make(at: path)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let acceptor = Acceptor(admission, source: source)
        do {
            let listener = try await acceptor.bootstrap(group).withBoundSocket(descriptor).get()
            DescriptorGuard.guardListener(listener, descriptor)
            return MetricsServer(path, lock, acceptor, group, listener)
        } catch {
            unlink(path)
            await group.end()
            throw TokenError(.agentUnavailable, "cannot listen on \(path): \(error)")
        }
    }

    /// Removes the socket, unless another file has replaced it, and accepts no further connections. Requests that arrive later on open
    /// connections get no answer.
    func stopAccepting() async {
        acceptor.stop()
        socket.remove()
        try? await listener.close()
    }

    /// Closes every connection, and ends the event loop. Called after ``stopAccepting()``, when neither the agent's event loop nor the
    /// inspector of peers has work left for it.
    func shutDown() async {
        await group.end()
        lock.release()
    }
}

extension MetricsServer {
    /// Accepts connections, and identifies their peers.
    private final class Acceptor: Sendable {
        private let admission: PeerAdmission
        private let source: Source
        private let places = ScrapePlaces(limit: MetricsServer.connectionLimit)
        private let turns = ScrapeTurns(interval: MetricsServer.interval)
        private let isStopping = Atomic(false)

        init(_ admission: PeerAdmission, source: @escaping Source) {
            (self.admission, self.source) = (admission, source)
        }

        /// Asks for no further measurements.
        func stop() { isStopping.store(true, ordering: .relaxed) }

        func bootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
            ServerBootstrap(group: group)
                .pausingAfterFailures()
                .serverChannelOption(.backlog, value: 16)
                .childChannelOption(.maxMessagesPerRead, value: 1)
                .childChannelOption(.outOfBandInline, value: 1)
                // The socket takes nothing from the channel until its peer is identified.
                .childChannelInitializer { channel in
                    self.limitTime(of: channel)
                    let descriptors: NIOLoopBound<DescriptorGuard?>
                    do {
                        descriptors = NIOLoopBound(try DescriptorGuard(of: channel), eventLoop: channel.eventLoop)
                    } catch {
                        return channel.eventLoop.makeFailedFuture(error)
                    }
                    return self.admission.identity(of: channel) { peer in
                        let key = PeerKey.process(peer.processID ?? 0)
                        let identification = Identification(of: key) { channel.close(promise: nil) }
                        self.places.add(channel, identification)
                        return PeerAdmission.Waiting(identification: identification) {}
                    }.flatMapThrowing { peer in
                        try descriptors.value?.guardReads(of: channel) {}
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.addHandler(RequestSizeLimit())
                        try pipeline.configureHTTPServerPipeline(
                            withPipeliningAssistance: false, withErrorHandling: false)
                        try pipeline.addHandler(MetricsRequestHandler { self.answer(peer, on: channel) })
                    }
                }
        }

        /// Closes a connection when its time is over.
        private func limitTime(of channel: any Channel) {
            let closing = channel.eventLoop.scheduleTask(in: MetricsServer.timeLimit) { channel.close(promise: nil) }
            channel.closeFuture.whenComplete { _ in closing.cancel() }
        }

        /// The measurements as text, when it is the connection's turn; nil if the peer may not have them.
        private func answer(_ peer: PeerIdentity, on channel: any Channel) -> EventLoopFuture<String?> {
            let loop = channel.eventLoop
            return turns.turn(of: channel).flatMap {
                guard !self.isStopping.load(ordering: .relaxed) else {
                    return loop.makeFailedFuture(TokenError(.agentUnavailable, "the agent is stopping"))
                }
                return self.source(peer, loop).map { metrics in
                    if metrics == nil { self.refused(peer) }
                    return metrics.map(MetricsText.encode)
                }
            }
        }

        /// Logs that the policy does not let a peer have the measurements.
        private func refused(_ peer: PeerIdentity) {
            let request = CacheOwner.metricsRequest
            admission.denials.add(
                request, TokenError(.requestDenied, "the policy does not allow it at the metrics socket"), from: peer)
            admission.audit?.refused(request, .requestDenied, from: peer)
        }
    }

    /// The largest number of connections. Past it, one of the process with most of them is closed.
    private static let connectionLimit = 8
    /// The time limit of a connection.
    private static let timeLimit = TimeAmount.seconds(5)
    /// The minimum time between two answers.
    private static let interval = TimeAmount.milliseconds(20)
}

/// Closes a connection whose request is longer than that of any scraper.
private final class RequestSizeLimit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var length = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        length += unwrapInboundIn(data).readableBytes
        guard length <= Self.limit else { return context.close(promise: nil) }
        context.fireChannelRead(data)
    }

    /// The limit in bytes; the requests of scrapers have a few hundred.
    private static let limit = 16 * 1024
}

/// Answers the first request of a connection, and closes it.
private final class MetricsRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: () -> EventLoopFuture<String?>
    private var hasAnswered = false

    init(_ answer: @escaping () -> EventLoopFuture<String?>) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasAnswered, case .head(let head) = unwrapInboundIn(data) else { return }
        hasAnswered = true
        guard head.uri.split(separator: "?", maxSplits: 1).first == "/metrics" else {
            return respond(.notFound, "only /metrics is served here\n", context)
        }
        guard head.method == .GET else { return respond(.methodNotAllowed, "only GET is served here\n", context) }
        answer().assumeIsolated().whenComplete { outcome in
            switch outcome {
            case .success(let text?): self.respond(.ok, text, context)
            case .success(nil):
                self.respond(.forbidden, "the access policy does not allow get_status to this process\n", context)
            case .failure: context.close(promise: nil)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func respond(_ status: HTTPResponseStatus, _ text: String, _ context: ChannelHandlerContext) {
        let body = ByteBuffer(string: text)
        let fields: HTTPHeaders = [
            "Content-Type": status == .ok ? MetricsText.contentType : "text/plain; charset=utf-8",
            "Content-Length": "\(body.readableBytes)", "Cache-Control": "no-store", "Connection": "close",
        ]
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: fields))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let channel = context.channel
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }
}

/// The open connections of the metrics socket, whose number is limited.
///
/// Past the limit, the oldest connection is closed of the process with most of them: one that connects again and again, or says nothing,
/// takes no place that another process could have.
final class ScrapePlaces: Sendable {
    private let limit: Int
    /// The connections, the oldest first.
    private let open = Mutex<[(connection: ObjectIdentifier, identification: Identification)]>([])

    init(limit: Int) { self.limit = limit }

    /// Adds a connection until it is closed.
    ///
    /// - Parameter identification: that of the connection's peer, which closes the connection when it is abandoned.
    func add(_ channel: any Channel, _ identification: Identification) {
        let connection = ObjectIdentifier(channel)
        let crowded = open.withLock { open -> Identification? in
            open.append((connection, identification))
            guard open.count > limit else { return nil }
            var counts: [PeerKey: Int] = [:]
            for place in open { counts[place.identification.peer, default: 0] += 1 }
            let most = counts.values.max()
            guard let index = open.firstIndex(where: { counts[$0.identification.peer] == most }) else { return nil }
            return open.remove(at: index).identification
        }
        crowded?.abandon()
        channel.closeFuture.whenComplete { _ in
            self.open.withLock { $0.removeAll { $0.connection == connection } }
        }
    }
}
