internal import AgentSocket
internal import CAgentSystem
internal import Logging
package import NIOCore
internal import NIOPosix
internal import TokenCache
internal import TokenEndpoint
package import TokenModel
internal import TokenStore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The agent: a listener, its sessions and the cache's owner, all on one event loop.
package final class AgentServer: Sendable {
    package let options: AgentOptions
    private let loop: any EventLoop
    private let listener: any Channel
    private let registry: NIOLoopBoundBox<SessionRegistry>
    private let store: TokenStore
    private let endpoint: TokenEndpoint
    private let lock: LockHolder

    /// Opens the store, takes the socket, and serves from then on.
    ///
    /// - Throws: `agentUnavailable` (-53004) when the socket cannot be had, `storeUnavailable` (-53008) or
    ///   `cacheBadFormat` (-51201) when the store cannot be opened; the message says what to do.
    package static func start(_ options: AgentOptions, on group: any EventLoopGroup) async throws(TokenError)
        -> AgentServer
    {
        _ = try SocketFolder(ofSocket: options.socketPath)
        let lock = LockHolder(try LockFile(beside: options.socketPath))
        let store = try TokenStore.open(directory: options.stateDirectory)
        let cache = try loadCache(from: store, options.logger)
        let endpoint = TokenEndpoint(
            network: options.network, allowsLoopbackHTTP: options.allowsLoopbackHTTP, eventLoopGroup: group)
        let loop = group.next()
        let owner = CacheOwner(loop: loop, options: options, store: store, endpoint: endpoint, cache: cache)
        let registry = NIOLoopBoundBox.makeBoxSendingValue(
            SessionRegistry(limit: options.connectionLimit), eventLoop: loop)
        let descriptor = try ListeningSocket.make(at: options.socketPath)
        do {
            let listener = try await bootstrap(RequestRouter(owner: owner), registry, options, on: loop)
                .withBoundSocket(descriptor).get()
            return AgentServer(options, loop, listener, registry, store, endpoint, lock)
        } catch {
            throw TokenError(.agentUnavailable, "cannot listen on \(options.socketPath): \(error)")
        }
    }

    private init(
        _ options: AgentOptions, _ loop: any EventLoop, _ listener: any Channel,
        _ registry: NIOLoopBoundBox<SessionRegistry>,
        _ store: TokenStore, _ endpoint: TokenEndpoint, _ lock: LockHolder
    ) {
        self.options = options
        self.loop = loop
        self.listener = listener
        self.registry = registry
        self.store = store
        self.endpoint = endpoint
        self.lock = lock
    }

    /// Takes no new connections, finishes the replies in hand within `patience`, writes down what is left, and lets go.
    package func stop(patience: TimeAmount = .seconds(10)) async {
        unlink(options.socketPath)
        try? await listener.close()
        let deadline = loop.makePromise(of: Void.self)
        let timer = loop.scheduleTask(in: patience) { deadline.succeed() }
        loop.flatSubmit { [registry, loop] in registry.value.end(on: loop) }.cascade(to: deadline)
        try? await deadline.futureResult.get()
        timer.cancel()
        await endpoint.close()
        await store.close()
    }

    private static func loadCache(from store: TokenStore, _ logger: Logger) throws(TokenError) -> CredentialCache {
        var cache = CredentialCache()
        let records = try store.load()
        let unknown = cache.load(records)
        cache.loadClouds(records)
        if !unknown.isEmpty {
            logger.warning("records that cannot be read are left alone", metadata: ["count": "\(unknown.count)"])
        }
        return cache
    }

    private static func bootstrap(
        _ router: RequestRouter, _ registry: NIOLoopBoundBox<SessionRegistry>, _ options: AgentOptions,
        on loop: any EventLoop
    ) -> ServerBootstrap {
        ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                // The kernel is asked before the channel is registered, and so before a byte can be read.
                peer(of: channel).flatMapThrowing { peer in
                    guard options.policy.admits(peer) else {
                        options.logger.warning("refused a peer", metadata: ["uid": "\(peer.userID)"])
                        throw TokenError(.peerNotAuthorized, "this agent serves another user")
                    }
                    let session = AgentSession(
                        router: router, log: RequestLog(logger: options.logger, peer: peer), registry: registry.value)
                    try channel.pipeline.syncOperations.addHandler(session)
                }
            }
    }

    private static func peer(of channel: any Channel) -> EventLoopFuture<PeerCredentials> {
        guard let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(TokenError(.peerNotAuthorized, "not a socket"))
        }
        let credentials: EventLoopFuture<agent_peer_credentials> = socket.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: SO_PEERCRED))
        return credentials.map {
            PeerCredentials(processID: $0.pid > 0 ? $0.pid : nil, userID: $0.uid, groupID: $0.gid)
        }
    }
}
