internal import EntraEmulator
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization
internal import TestSupport

/// An HTTP server on a port of its own that answers as a test tells it, for what an identity provider that behaves
/// cannot show.
final class ScriptedServer: Sendable {
    typealias Script = @Sendable (ReceivedRequest) -> ScriptedReply

    let port: Int
    private let listener: any Channel
    private let log: RequestLog
    private let connectionLog: ConnectionLog

    /// How many connections there have been.
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

    /// Waits until so many requests have arrived.
    func waitForRequests(_ count: Int) async {
        for await total in log.arrivals where total >= count { return }
    }

    /// Waits until one more connection has ended.
    func waitForEndOfConnection() async {
        for await _ in connectionLog.ends { return }
    }

    static func with<Value>(
        isSecure: Bool = false, _ script: @escaping Script, _ body: (ScriptedServer) async throws -> Value
    ) async throws -> Value {
        let (log, connectionLog) = (RequestLog(), ConnectionLog())
        let folder = try TemporaryFolder()
        let tls = isSecure ? try TestCertificate(in: folder) : nil
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
