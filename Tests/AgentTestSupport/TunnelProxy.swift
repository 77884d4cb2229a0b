internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// An HTTP proxy that connects every tunnel to one server on this machine, regardless of the requested host.
package final class TunnelProxy: Sendable {
    package let port: Int
    private let channel: any Channel
    private let log: Log

    /// The hosts to which tunnels were requested, in order.
    package var hosts: [String] { log.hosts.withLock(\.self) }

    /// Starts a proxy that listens on 127.0.0.1.
    static func start(leadingTo target: Int) async throws -> TunnelProxy {
        let log = Log()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TunnelEntrance(target: target, log: log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return TunnelProxy(channel: channel, log: log)
    }

    private init(channel: any Channel, log: Log) {
        self.channel = channel
        self.log = log
        self.port = channel.localAddress?.port ?? 0
    }

    func stop() async {
        try? await channel.close()
    }

    fileprivate final class Log: Sendable {
        let hosts = Mutex<[String]>([])
    }
}

/// Reads the `CONNECT` request up to its blank line, connects the tunnel, and removes itself from the pipeline.
private final class TunnelEntrance: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let target: Int
    private let log: TunnelProxy.Log
    private var head = ""

    init(target: Int, log: TunnelProxy.Log) {
        self.target = target
        self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        head += String(buffer: unwrapInboundIn(data))
        guard head.hasSuffix("\r\n\r\n") else { return }
        let words = head.split(separator: " ")
        guard words.count > 1, words[0] == "CONNECT" else { return context.close(promise: nil) }
        log.hosts.withLock { $0.append(String(words[1].prefix { $0 != ":" })) }
        let client = context.channel
        ClientBootstrap(group: context.eventLoop).connect(host: "127.0.0.1", port: target).assumeIsolated()
            .whenComplete { outcome in
                guard case .success(let server) = outcome else { return client.close(promise: nil) }
                do {
                    try server.pipeline.syncOperations.addHandler(TunnelEnd(other: client))
                    try client.pipeline.syncOperations.addHandler(TunnelEnd(other: server))
                } catch {
                    return client.close(promise: nil)
                }
                client.pipeline.syncOperations.removeHandler(self, promise: nil)
                client.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"), promise: nil)
            }
    }
}

/// One end of a tunnel, which forwards its input to the other end.
private final class TunnelEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
        context.fireChannelInactive()
    }
}
