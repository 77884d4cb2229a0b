internal import EntraEmulator
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization
internal import TestSupport

@testable internal import TokenEndpoint

/// An HTTP server on a free port whose responses the test scripts, for cases that a correct identity provider does not
/// show.
final class ScriptedServer: Sendable {
    typealias Script = @Sendable (ReceivedRequest) -> ScriptedReply

    let port: Int
    private let listener: any Channel
    private let log: RequestLog
    private let connectionLog: ConnectionLog

    /// The number of connections so far.
    var connections: Int { connectionLog.count.load(ordering: .relaxed) }

    /// Everything received so far.
    var received: [ReceivedRequest] { log.requests }

    private final class ConnectionLog: Sendable {
        let count = Atomic(0)
        let (ends, end) = AsyncStream<Void>.makeStream()
    }

    private init(listener: any Channel, log: RequestLog, connectionLog: ConnectionLog) throws {
        guard let port = listener.localAddress?.port else { throw ChannelError.unknownLocalAddress }
        self.port = port
        self.listener = listener
        self.log = log
        self.connectionLog = connectionLog
    }

    /// Waits until a number of requests has arrived.
    func waitForRequests(_ count: Int) async {
        for await total in log.arrivals where total >= count { return }
    }

    /// Waits until one more connection has ended.
    func waitForEndOfConnection() async {
        for await _ in connectionLog.ends { return }
    }

    static func with<Value>(
        isSecure: Bool = false, certificate: String = TestCertificate.certificate, _ script: @escaping Script,
        _ body: (ScriptedServer) async throws -> Value
    ) async throws -> Value {
        let (log, connectionLog) = (RequestLog(), ConnectionLog())
        let folder = try TemporaryFolder()
        let tls = isSecure ? try TestCertificate(in: folder, certificate) : nil
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                connectionLog.count.add(1, ordering: .relaxed)
                channel.closeFuture.whenComplete { _ in connectionLog.end.yield() }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        let files = TLSFiles(certificateChain: tls.certificateFile, privateKey: tls.keyFile)
                        try pipeline.addHandler(TLSHandler(files))
                    }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(ScriptedHandler(script: script, log: log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = try ScriptedServer(listener: listener, log: log, connectionLog: connectionLog)
        return try await withCleanup {
            try await body(server)
        } cleanUp: {
            try await listener.close()
            withExtendedLifetime(folder) {}
        }
    }
}

/// The reaction of a scripted server to a request.
enum ScriptedReply: Sendable {
    /// Sends a response.
    case answer(status: Int, headers: [(String, String)] = [], body: String)
    /// Sends a response whose body has a number of bytes.
    case filler(bytes: Int)
    /// Sends all but the last byte of a response's body, tells `sent`, and keeps the connection open.
    case stalled(body: String, sent: AsyncStream<Void>.Continuation)
    /// Closes the connection without a response.
    case hangUp
    /// Starts a response, and closes the connection before the last byte of its body.
    case interrupted(body: String)
    /// Keeps the connection open without a response.
    case silence

    /// Starts a response and never completes it.
    static let drip = stalled(body: "{", sent: AsyncStream.makeStream().continuation)

    static func json(_ body: String, status: Int = 200, headers: [(String, String)] = []) -> ScriptedReply {
        .answer(status: status, headers: headers + [("Content-Type", "application/json")], body: body)
    }
}

/// A request that a scripted server has received.
struct ReceivedRequest: Sendable {
    var method: String
    var uri: String
    var headers: HTTPHeaders
    var body: String

    var path: String { String(uri.prefix { $0 != "?" }) }
    var form: FormParameters? { FormParameters(decoding: body[...]) }
}

/// The requests that a scripted server has received.
final class RequestLog: Sendable {
    /// The number of requests, sent whenever one arrives. For a single reader.
    let arrivals: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation
    private let state = Mutex<[ReceivedRequest]>([])

    init() {
        (arrivals, continuation) = AsyncStream.makeStream()
    }

    var requests: [ReceivedRequest] { state.withLock { $0 } }

    func append(_ request: ReceivedRequest) {
        continuation.yield(
            state.withLock { requests in
                requests.append(request)
                return requests.count
            })
    }
}

/// One connection to a scripted server.
final class ScriptedHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let script: ScriptedServer.Script
    private let log: RequestLog
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(script: @escaping ScriptedServer.Script, log: RequestLog) {
        self.script = script
        self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let bytes):
            body += bytes.readableBytesView
        case .end:
            guard let head else { return }
            let request = ReceivedRequest(
                method: head.method.rawValue, uri: head.uri, headers: head.headers,
                body: String(decoding: body, as: UTF8.self))
            log.append(request)
            reply(script(request), context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func reply(_ reply: ScriptedReply, _ context: ChannelHandlerContext) {
        switch reply {
        case .answer(let status, let headers, let body):
            answer(status, headers, ByteBuffer(string: body), context)
        case .filler(let bytes):
            answer(200, [], ByteBuffer(repeating: UInt8(ascii: "x"), count: bytes), context)
        case .stalled(let body, let sent):
            let written = context.eventLoop.makePromise(of: Void.self)
            written.futureResult.whenComplete { _ in sent.yield() }
            beginAnswer(body, context, promise: written)
        case .interrupted(let body):
            let (channel, written) = (context.channel, context.eventLoop.makePromise(of: Void.self))
            written.futureResult.whenComplete { _ in channel.close(promise: nil) }
            beginAnswer(body, context, promise: written)
        case .hangUp:
            context.close(promise: nil)
        case .silence:
            break
        }
    }

    /// Sends all but the last byte of a response.
    private func beginAnswer(_ body: String, _ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        let length = "\(body.utf8.count + 1)"
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": length])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: promise)
    }

    private func answer(
        _ status: Int, _ headers: [(String, String)], _ body: ByteBuffer, _ context: ChannelHandlerContext
    ) {
        var fields = HTTPHeaders(headers)
        fields.add(name: "Content-Length", value: "\(body.readableBytes)")
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
