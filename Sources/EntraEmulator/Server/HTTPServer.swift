internal import Foundation
internal import ListenerSupport
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// An HTTP server on 127.0.0.1, with or without TLS.
final class HTTPServer: Sendable {
    /// Answers a request; nil closes the connection without a response. The task is cancelled when the server stops, and has
    /// to stop waiting then.
    typealias Respond = @Sendable (ReceivedRequest) async -> Response?

    /// The event that ends the connections when the server stops.
    struct Stop: Sendable {}

    private let listener: any Channel
    private let connections: Connections

    private var port: Int { listener.localAddress?.port ?? 0 }

    private init(listener: any Channel, connections: Connections) {
        self.listener = listener
        self.connections = connections
    }

    /// Starts a server, which accepts connections when this returns.
    ///
    /// - Parameters:
    ///   - port: the port to listen on; with 0 the kernel chooses one.
    ///   - whenBound: called with the port before the first connection is accepted.
    /// - Throws: `PortUnusable` if it cannot listen.
    static func start(
        port: Int, tls: TLSContext?, whenBound: (Int) -> Void, _ respond: @escaping Respond
    ) async throws -> HTTPServer {
        let connections = Connections()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .pausingAfterFailures()
            .serverChannelOption(.autoRead, value: false)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                connections.add(channel)
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(TLSHandler(tls)) }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(HTTPHandler(respond))
                }
            }
            .bind(host: "127.0.0.1", port: port)
            .flatMapErrorThrowing { error in throw (error as? IOError).map { PortUnusable(port: port, $0) } ?? error }
            .get()
        let server = HTTPServer(listener: listener, connections: connections)
        whenBound(server.port)
        try await listener.setOption(.autoRead, value: true).get()
        return server
    }

    /// Stops listening, cancels the tasks of requests in progress, and returns when these have been answered and every
    /// connection is closed. A client that does not read its response does not delay this for more than two seconds.
    func stop() async {
        try? await listener.close()
        await connections.stop()
    }
}

/// A port on which the emulator cannot listen, with the reason and the remedy.
package struct PortUnusable: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(port: Int, _ error: IOError) {
        description =
            switch error.errnoCode {
            case EADDRINUSE: "port \(port) is in use; choose another one with --port"
            case EACCES: "this user may not listen on port \(port); choose one above 1023 with --port"
            case let code: "the emulator cannot listen on port \(port): \(String(cString: strerror(code)))"
            }
    }
}

/// The open connections of a server.
private final class Connections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
        var isStopping = false
    }

    private let state = Mutex(State())

    /// Registers a connection until it is closed; closes it immediately if the server has stopped.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let isStopping = state.withLock { state in
            state.open[id] = channel
            return state.isStopping
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { _ = $0.open.removeValue(forKey: id) }
        }
        if isStopping { channel.close(promise: nil) }
    }

    func stop() async {
        let open = state.withLock { state in
            state.isStopping = true
            return Array(state.open.values)
        }
        for channel in open { channel.pipeline.fireUserInboundEventTriggered(HTTPServer.Stop()) }
        for channel in open { try? await channel.closeFuture.get() }
    }
}
