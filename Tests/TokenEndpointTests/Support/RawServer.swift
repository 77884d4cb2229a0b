internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import TestSupport

/// A server on a free port that sends the same bytes on every connection and closes it.
final class RawServer: Sendable {
    let port: Int
    private let opened: Opened

    /// The number of connections so far.
    var connections: Int { opened.count.load(ordering: .relaxed) }

    private final class Opened: Sendable {
        let count = Atomic(0)
    }

    private init(port: Int, opened: Opened) {
        self.port = port
        self.opened = opened
    }

    static func with<Value>(_ answer: String, _ body: (RawServer) async throws -> Value) async throws -> Value {
        let opened = Opened()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                opened.count.add(1, ordering: .relaxed)
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RawHandler(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = RawServer(port: listener.localAddress?.port ?? 0, opened: opened)
        return try await withCleanup {
            try await body(server)
        } cleanUp: {
            try await listener.close()
        }
    }
}

private final class RawHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String
    private var hasAnswered = false

    init(_ answer: String) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasAnswered else { return }
        hasAnswered = true
        let channel = context.channel
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: written)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
