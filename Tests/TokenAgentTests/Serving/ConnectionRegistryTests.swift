internal import AccessPolicy
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import PosixFiles
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// Connections of one peer, each of which is opened when the test says so.
@Suite(.bounded) struct ConnectionRegistryTests {
    /// Such a connection would not count against the limits, and an agent that stops would wait for it.
    @Test func endsAConnectionThatWasOpenedWhileTheOthersOfItsPeerWereClosed() async throws {
        try await Self.withConnections { connections in
            let loop = connections.loop
            let first = try await connections.open(after: loop.makeSucceededVoidFuture()).get()
            let gate = loop.makePromise(of: Void.self)
            let second = try connections.open(after: gate.futureResult)
            try await first.close()
            // The connection leaves the registry before.
            try await first.closeFuture.get()
            let third = try await connections.open(after: loop.makeSucceededVoidFuture()).get()
            gate.succeed()
            #expect(try await second.get().isActive && third.isActive)
            let registry = connections.registry
            try await loop.flatSubmit { registry.value.end(on: loop) }.get()
            #expect(try await !second.get().isActive && !third.isActive)
        }
    }

    /// Such a connection would stay open until its peer sends something.
    @Test func closesAConnectionThatWasOpenedWhileItsSocketWasWithdrawn() async throws {
        let apps = [try #require(ClientID("app-1"))]
        let publication = Publication(
            id: 1,
            rules: SocketRules(
                userIDs: [geteuid()], clientIDs: Set(apps), sharingGroup: .standard, scopes: ScopeSet([]),
                authorities: [], account: nil),
            account: nil,
            summary: PublishedSocket(
                path: "/published.sock", label: "published", userIDs: [geteuid()], clientIDs: apps,
                sharingGroup: .standard, scopes: ScopeSet([]), authorities: [], account: AccountReference(),
                expiresOn: .max, connections: 0))
        try await Self.withConnections(at: publication) { connections in
            let isClosed = connections.loop.makePromise(of: Void.self)
            let open = try connections.open(
                after: connections.loop.makeSucceededVoidFuture(), whenClosed: { isClosed.succeed() })
            try await isClosed.futureResult.get()
            _ = try? await open.get()
            let registry = connections.registry
            #expect(try await connections.loop.submit { registry.value.connectionCount(ofSocket: 1) }.get() == 0)
        }
    }

    /// Each connection that waits to be identified has a descriptor. Whoever has most of them loses the oldest.
    @Test func closesTheOldestConnectionOfThePeerWithMostThatWaitToBeIdentified() async throws {
        let closed = Mailbox<String>()
        try await Self.withConnections(limit: 3) { connections in
            let registry = connections.registry
            try await connections.loop.submit {
                for (name, process) in [("a-1", 1), ("a-2", 1), ("a-3", 1), ("b-1", 2)] as [(String, Int32)] {
                    registry.value.begin(Identification(of: .process(process)) { closed.put(name) })
                }
            }.get()
        }
        try #require(closed.count == 1)
        #expect(await closed.next() == "a-1")
    }

    /// All processes of a user at a published socket have together fewer connections than one of the agent's user has.
    @Test func limitsTheConnectionsThatWaitAtAPublishedSocket() async throws {
        let closed = Mailbox<Int>()
        try await Self.withConnections { connections in
            let registry = connections.registry
            try await connections.loop.submit {
                let user = PeerKey.published(PublicationUser(socket: 1, userID: 1))
                for number in 1...66 {
                    registry.value.begin(Identification(of: user) { closed.put(number) })
                }
            }.get()
        }
        try #require(closed.count == 2)
        #expect(await closed.next() == 1)
    }

    /// A process may close all of its connections and begin again any number of times.
    @Test func limitsTheMessagesAboutTooManyConnections() async throws {
        let messages = LogCollector.Messages()
        var limits = PeerLimits()
        limits.connections = 1
        try await Self.withConnections(limits: limits, messages: messages) { connections in
            let gate = connections.loop.makeSucceededVoidFuture()
            for _ in 0..<MessageLimit.messages + 10 {
                let first = try await connections.open(after: gate).get()
                let second = try await connections.open(after: gate).get()
                try await first.closeFuture.get()
                try await second.close()
                try await second.closeFuture.get()
            }
        }
        let written = messages.all.filter { $0.contains("too many connections") }
        #expect(written.count == MessageLimit.messages)
    }

    /// Connections of a peer, with an agent whose store is not loaded.
    ///
    /// - Parameters:
    ///   - publication: the socket of the connections; nil for the agent's own.
    ///   - limit: the largest number of connections of all peers.
    private static func withConnections(
        at publication: Publication? = nil, limits: PeerLimits = PeerLimits(), limit: Int = 10_240,
        messages: LogCollector.Messages = LogCollector.Messages(), _ body: (Connections) async throws -> Void
    ) async throws {
        let (folder, clock) = (try TemporaryFolder(), TestClock())
        let log = messages.logger()
        let network = try NetworkSettings(environment: [:])
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), allowsLoopbackHTTP: false,
            network: network, policy: PeerPolicy(userID: geteuid(), rules: []), now: { clock.now }, logger: log)
        options.peerLimits = limits
        options.connectionLimit = limit
        let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let store = try Store.open(directory: options.stateDirectory, StoreOptions(now: { clock.now }))
        let endpoint = TokenEndpointClient(network: network, allowsLoopbackHTTP: false, now: { clock.now })
        let metrics = AgentMetrics()
        let owner = CacheOwner(
            loop: loop, options: options, store: store, endpoint: endpoint, metrics: metrics, audit: nil)
        let registry = try await loop.submit { [options] in
            NIOLoopBoundBox(ConnectionRegistry(options, loop, metrics), eventLoop: loop)
        }.get()
        var peer = ConnectedPeer(
            identity: PeerIdentity(userID: geteuid(), processID: 7), confirmer: Confirmer(askpass: nil, helper: nil),
            denials: DenialLog(logger: log, now: { clock.now }), log: RequestLog(logger: log, processID: 7), audit: nil)
        peer.published = publication.map(PublishedHandlers.init)
        let connections = Connections(loop: loop, owner: owner, registry: registry, peer: peer)
        try await withCleanup {
            try await body(connections)
        } cleanUp: {
            try await loop.submit { registry.value.endTurns() }.get()
            try await owner.shutDown().get()
            await endpoint.close()
            await store.close()
        }
    }
}

/// Connections of one peer, whose other ends nothing uses.
private struct Connections: Sendable {
    let loop: any EventLoop
    let owner: CacheOwner
    let registry: NIOLoopBoundBox<ConnectionRegistry>
    let peer: ConnectedPeer

    /// Makes a connection, which is opened when `gate` completes.
    ///
    /// - Parameter whenClosed: called when it is closed.
    func open(
        after gate: EventLoopFuture<Void>, whenClosed: @escaping @Sendable () -> Void = {}
    ) throws -> EventLoopFuture<any Channel> {
        let (owner, registry, peer) = (owner, registry, peer)
        let pair = try SocketPair()
        return ClientBootstrap(group: loop).channelInitializer { channel in
            channel.closeFuture.whenComplete { _ in
                close(pair.second)
                whenClosed()
            }
            return channel.eventLoop.makeCompletedFuture {
                let connection = PeerConnection(owner: owner, peer: peer, registry: registry.value, timers: .system)
                try channel.pipeline.syncOperations.addHandler(connection)
            }.flatMap { gate }
        }.withConnectedSocket(pair.first)
    }
}
