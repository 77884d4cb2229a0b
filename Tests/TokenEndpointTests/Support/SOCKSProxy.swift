internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import TestSupport

/// A SOCKS 5 proxy (RFC 1928) on a port of its own. Every host name leads to this machine; the port is the requested one.
final class SOCKSProxy: Sendable {
    let port: Int
    private let log: Log

    /// The requested hosts and ports, in order.
    var targets: [String] { log.targets.withLock(\.self) }

    fileprivate final class Log: Sendable {
        let targets = Mutex<[String]>([])
    }

    private init(port: Int, log: Log) {
        self.port = port
        self.log = log
    }

    /// - Parameter refuses: whether every request is answered with "connection not allowed".
    static func with<Value>(
        refuses: Bool = false, _ body: (SOCKSProxy) async throws -> Value
    ) async throws -> Value {
        let log = Log()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(SOCKSHandler(log: log, refuses: refuses))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let proxy = SOCKSProxy(port: listener.localAddress?.port ?? 0, log: log)
        return try await withCleanup {
            try await body(proxy)
        } cleanUp: {
            try await listener.close()
        }
    }
}

/// One connection to the proxy: greeting, request, and then bytes in both directions.
private final class SOCKSHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        case greeting
        case request
        case connecting
        case relaying(any Channel)
    }

    private let log: SOCKSProxy.Log
    private let refuses: Bool
    private var state = State.greeting
    private var received = ByteBuffer()

    init(log: SOCKSProxy.Log, refuses: Bool) {
        self.log = log
        self.refuses = refuses
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        advance(context)
    }

    private func advance(_ context: ChannelHandlerContext) {
        switch state {
        case .greeting:
            guard let count = received.getInteger(at: received.readerIndex + 1, as: UInt8.self),
                received.readSlice(length: 2 + Int(count)) != nil
            else { return }
            state = .request
            write([5, 0], context)
            advance(context)
        case .request:
            // 5, CONNECT, 0, domain name, length
            guard let length = received.getInteger(at: received.readerIndex + 4, as: UInt8.self),
                received.readableBytes >= 7 + Int(length), received.readSlice(length: 5) != nil,
                let host = received.readString(length: Int(length)), let port = received.readInteger(as: UInt16.self)
            else { return }
            log.targets.withLock { $0.append("\(host):\(port)") }
            state = .connecting
            if refuses { return write([5, 2, 0, 1, 0, 0, 0, 0, 0, 0], context) }
            connect(to: port, context)
        case .connecting: return
        case .relaying(let server):
            server.writeAndFlush(received, promise: nil)
            received.clear()
        }
    }

    private func connect(to port: UInt16, _ context: ChannelHandlerContext) {
        let back = context.channel
        ClientBootstrap(group: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(BackHandler(back))
                }
            }
            .connect(host: "127.0.0.1", port: Int(port)).assumeIsolated()
            .whenComplete { result in
                switch result {
                case .failure: context.close(promise: nil)
                case .success(let server):
                    self.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0], context)
                    self.state = .relaying(server)
                    self.advance(context)
                }
            }
    }

    private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if case .relaying(let server) = state { server.close(promise: nil) }
    }
}

/// Forwards the bytes of the server.
private final class BackHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let back: any Channel

    init(_ back: any Channel) { self.back = back }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        back.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { back.close(promise: nil) }
}
