internal import AccessPolicy
internal import AgentTestSupport
internal import AuditLog
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// Sockets beside the agent's own whose listener SwiftNIO has closed, as it does after most errors of `accept`.
@Suite(.bounded) struct ClosedListenerTests {
    /// It would be listed until its time is over, and its path could not be published again.
    @Test func endsAPublishedSocketThatAcceptsNoMoreConnections() async throws {
        let (folder, parts) = (try TemporaryFolder(), Parts())
        let request = PublishSocket(path: folder.file("published.sock"), clientIDs: [.sample], lifetime: 600)
        let writer = AuditWriter(.file(path: folder.file("audit.log"), limit: 32 << 10))
        try await parts.publishTwice(request, AuditTrail(writer, hasNames: false, now: { 0 }) { _, _ in })
        await writer.flush()
        let lines = try AuditReader.lines(of: folder.file("audit.log"))
        #expect(lines.map { $0["event"] } == ["expire"])
    }

    @Test(arguments: [true, false])
    func logsThatTheMetricsSocketAcceptsNoMoreConnections(isClosed: Bool) async throws {
        let (folder, clock, losses) = (try TemporaryFolder(), TestClock(), Mailbox<Void>())
        let messages = LogCollector.Messages()
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), allowsLoopbackHTTP: false,
            network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()),
            now: { clock.now }, logger: messages.logger())
        options.metricsSocketPath = folder.file("metrics.sock")
        options.onSocketLoss = { losses.put(()) }
        let server = try await AgentServer.start(options)
        if isClosed {
            let listener = try #require(server.metricsListener)
            try await listener.close()
            // Completes after the agent has been told.
            try await listener.closeFuture.get()
        }
        await server.stop()
        // Apps can reach the agent.
        #expect(losses.count == 0)
        let lines = messages.all.filter { $0.contains("the metrics socket accepts no more connections") }
        #expect(lines.count == (isClosed ? 1 : 0), "\(messages.all)")
    }
}

extension Parts {
    /// Publishes a socket, closes its listener, and publishes the socket again.
    fileprivate func publishTwice(_ request: PublishSocket, _ audit: AuditTrail) async throws {
        let (loop, listeners, ended) = (loop, Mailbox<any Channel>(), Mailbox<Void>())
        let sockets = PublishedSockets(core, userID: geteuid(), uptime: { 0 })
        sockets.start(
            PublishedSockets.Server(
                files: SocketFiles(helper: nil), audit: audit,
                open: { _, descriptor in
                    ServerBootstrap(group: loop).withBoundSocket(descriptor).map { listener in
                        listeners.put(listener)
                        return listener
                    }
                },
                closeConnections: { _ in ended.put(()) }, connections: { _ in 0 }))
        _ = try await sockets.publish(request)
        #expect(sockets.paths == [request.path])
        let listener = await listeners.next()
        try await listener.close()
        // Completes after the owner of the socket has been told.
        try await listener.closeFuture.get()
        #expect(sockets.paths.isEmpty)
        #expect(ended.count == 1)
        try await waitUntilIdle()
        #expect(!FileManager.default.fileExists(atPath: request.path))
        _ = try await sockets.publish(request)
        #expect(sockets.paths == [request.path])
        try await sockets.stop().get()
        #expect(ended.count == 1)
    }
}
