internal import AccessPolicy
internal import AgentSocket
internal import AuditLog
internal import CAgentSystem
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Synchronization
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
    private let parts: Parts
    private let isStopping = Atomic(false)

    /// The resources of a running server; ``stop(finishesReplies:)`` releases them.
    private struct Parts: Sendable {
        let lock: LockHolder
        let store: Store
        let group: MultiThreadedEventLoopGroup
        let endpoint: TokenEndpointClient
        let owner: CacheOwner
        let registry: NIOLoopBoundBox<SessionRegistry>
        let inspector: PeerInspector
        let audit: AuditTrail?
        let pipe: NIOLoopBound<LoopPipe>
        let listener: any Channel
    }

    private init(_ options: AgentOptions, _ parts: Parts) {
        self.options = options
        self.parts = parts
    }

    /// Makes the folders of the store and of the socket if they do not exist. `start` does the same; a process that restricts its
    /// files does it before.
    ///
    /// - Throws: `storeUnavailable` (-53008) or `agentUnavailable` (-53004) if one is not private or cannot be made.
    /// - Returns: the paths of the folders.
    package static func prepareFolders(_ options: AgentOptions) throws(TokenError) -> [String] {
        let folder = try SocketFolder(ofSocket: options.socketPath)
        try Store.prepare(directory: options.stateDirectory)
        return [options.stateDirectory, folder.path]
    }

    /// Opens the store's folder and the socket, and accepts connections when this returns. Requests that need the cache wait
    /// until it is loaded.
    ///
    /// - Throws: `agentUnavailable` (-53004) if the socket cannot be opened or another agent has it, `storeUnavailable` (-53008)
    ///   if the store's folder cannot be opened; the message says what to do.
    package static func start(_ options: AgentOptions) async throws(TokenError) -> AgentServer {
        var options = options
        // The passphrase is used once, to open the store; the options, which stay in memory, do not keep it.
        let passphrase = options.keys.passphrase
        options.keys.passphrase = nil
        return try await start(options, passphrase)
    }

    private static func start(
        _ options: AgentOptions, _ passphrase: Secret?
    ) async throws(TokenError) -> AgentServer {
        _ = try SocketFolder(ofSocket: options.socketPath)
        let lock = LockHolder(try LockFile(beside: options.socketPath))
        let store = try Store.open(
            directory: options.stateDirectory, StoreOptions(keys: options.keys, vfs: options.storeVFS, now: options.now)
        )
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.any()
        let endpoint = TokenEndpointClient(
            network: options.network, allowsLoopbackHTTP: options.allowsLoopbackHTTP, timing: options.httpTiming,
            now: options.now)
        let owner = CacheOwner(loop: loop, options: options, store: store, endpoint: endpoint)
        let audit = makeAuditTrail(options)
        let inspector = PeerInspector(
            executables: options.policy.executables, helper: options.helper, timers: options.timers)
        do {
            let pipe = try await LoopPipe.open(on: loop)
            let registry = try await loop.submit {
                NIOLoopBoundBox(SessionRegistry(options, loop, pipe.value), eventLoop: loop)
            }.get()
            let descriptor = try ListeningSocket.make(at: options.socketPath)
            let listener = try await bootstrap(owner, registry, inspector, audit, options, on: loop)
                .withBoundSocket(descriptor).get()
            ListeningSocket.widenQueue(of: descriptor)
            let parts = Parts(
                lock: lock, store: store, group: group, endpoint: endpoint, owner: owner, registry: registry,
                inspector: inspector, audit: audit, pipe: pipe, listener: listener)
            audit?.record(.agentStarted)
            try await loop.submit {
                owner.assumeIsolated { owner in
                    owner.sockets.start(
                        PublishedSockets.Server(
                            files: SocketFiles(helper: options.helper), audit: audit,
                            open: { publication, descriptor in
                                bootstrap(owner, registry, inspector, audit, options, publication, on: loop)
                                    .withBoundSocket(descriptor)
                            },
                            closeConnections: { registry.value.closeConnections(ofSocket: $0.id) },
                            connections: { registry.value.connections(ofSocket: $0.id) }))
                }
            }.get()
            // Loading begins when the listener accepts connections already: requests that need no cache are answered meanwhile.
            try await loop.submit { owner.assumeIsolated { $0.start(passphrase: passphrase) } }.get()
            return AgentServer(options, parts)
        } catch {
            inspector.stop()
            await endpoint.close()
            await store.close()
            try? await group.shutdownGracefully()
            throw error as? TokenError
                ?? TokenError(.agentUnavailable, "cannot listen on \(options.socketPath): \(error)")
        }
    }

    /// Stops accepting connections, finishes the replies in progress, and releases all resources. A second call has no effect.
    ///
    /// - Parameter finishesReplies: whether requests that wait for a token endpoint or the user have ten seconds to complete;
    ///   otherwise they fail immediately.
    package func stop(finishesReplies: Bool = true) async {
        guard !isStopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
        unlink(options.socketPath)
        try? await parts.listener.close()
        parts.inspector.stop()
        let (loop, registry, owner) = (parts.registry.eventLoop, parts.registry, parts.owner)
        await runWithTimeout { owner.assumeIsolated { $0.sockets.stop() } }
        if finishesReplies { await runWithTimeout { registry.value.end(on: loop) } }
        await parts.endpoint.close()
        await runWithTimeout { owner.assumeIsolated { $0.shutDown() } }
        await parts.store.close()
        let pipe = parts.pipe
        try? await loop.submit { pipe.value.end() }.get()
        parts.audit?.record(.agentStopped)
        await parts.audit?.flush()
        try? await parts.group.shutdownGracefully()
        parts.lock.release()
    }

    /// Runs work on the event loop, and waits for it for ten seconds at most.
    private func runWithTimeout(_ work: @escaping @Sendable () -> EventLoopFuture<Void>) async {
        let loop = parts.registry.eventLoop
        let done = loop.makePromise(of: Void.self)
        let timer = options.timers.schedule(loop, .seconds(10)) { done.succeed() }
        loop.flatSubmit(work).cascade(to: done)
        try? await done.futureResult.get()
        timer.cancel()
    }

    private static func bootstrap(
        _ owner: CacheOwner, _ registry: NIOLoopBoundBox<SessionRegistry>, _ inspector: PeerInspector,
        _ audit: AuditTrail?, _ options: AgentOptions, _ publication: Publication? = nil, on loop: any EventLoop
    ) -> ServerBootstrap {
        let confirmer = Confirmer(askpass: options.askpass, helper: options.helper)
        let denials = DenialLog(logger: options.logger, now: options.now)
        let handlers = publication.map(PublishedHandlers.init)
        return ServerBootstrap(group: loop)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                // The peer is identified before the channel is registered, and so before a byte can be read.
                identity(of: channel, inspector, registry, audit, options, publication, denials).flatMapThrowing {
                    peer in
                    // The socket may have been closed meanwhile.
                    if let publication, !owner.assumeIsolated({ $0.sockets.isServing(publication) }) {
                        throw TokenError(.peerNotAuthorized, "the socket is not published any more")
                    }
                    let caller = Caller(
                        identity: peer, policy: options.policy, confirmer: confirmer, denials: denials,
                        log: RequestLog(logger: options.logger, processID: peer.processID), audit: audit,
                        publication: publication, handlers: handlers)
                    let session = AgentSession(
                        owner: owner, caller: caller, registry: registry.value, timers: options.timers)
                    try channel.pipeline.syncOperations.addHandler(session)
                }
            }
    }

    private static func makeAuditTrail(_ options: AgentOptions) -> AuditTrail? {
        guard let destination = options.audit else { return nil }
        let writer = AuditWriter(destination) { [logger = options.logger] error in
            logger.error("events are missing in the audit log", metadata: ["reason": "\(error.message)"])
        }
        return AuditTrail(writer, hasNames: options.auditsNames, now: options.now)
    }

    /// Identifies the peer of a connection; fails if the agent does not serve it.
    private static func identity(
        of channel: any Channel, _ inspector: PeerInspector, _ registry: NIOLoopBoundBox<SessionRegistry>,
        _ audit: AuditTrail?, _ options: AgentOptions, _ publication: Publication?, _ denials: DenialLog
    ) -> EventLoopFuture<PeerIdentity> {
        guard let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(TokenError(.peerNotAuthorized, "not a socket"))
        }
        return credentials(of: socket).flatMapThrowing { peer in
            let isAdmitted =
                publication?.rules.admits(userID: peer.userID) ?? options.policy.admits(userID: peer.userID)
            guard isAdmitted else {
                denials.add(refusedUser: peer.userID)
                audit?.refused(PeerIdentity(userID: peer.userID, processID: peer.processID), by: publication)
                throw TokenError(.peerNotAuthorized, "this agent serves another user")
            }
            return peer
        }.flatMap { peer -> EventLoopFuture<PeerIdentity?> in
            // Without an ID, the process is one that the agent cannot see. All of these count as one.
            let key =
                publication.map { PeerKey.published(PublicationUser(socket: $0.id, userID: peer.userID)) }
                ?? PeerKey.process(peer.processID ?? 0)
            guard registry.value.beginIdentification(of: key) else {
                return channel.eventLoop.makeFailedFuture(
                    TokenError(.agentUnavailable, "too many connections wait to be identified"))
            }
            return pidfd(of: socket)
                .flatMap { inspector.identify(peer, pidfd: $0, on: channel.eventLoop) }
                .always { _ in registry.value.endIdentification(of: key) }
        }.flatMapThrowing { identity in
            guard let identity else {
                options.logger.warning("refused a peer whose process has ended")
                throw TokenError(.peerNotAuthorized, "the process has ended")
            }
            return identity
        }
    }

    private static func credentials(of socket: any SocketOptionProvider) -> EventLoopFuture<PeerCredentials> {
        let credentials: EventLoopFuture<agent_peer_credentials> = socket.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: SO_PEERCRED))
        return credentials.map {
            PeerCredentials(processID: $0.pid > 0 ? $0.pid : nil, userID: $0.uid, groupID: $0.gid)
        }
    }

    /// A descriptor of the peer's process; -1 if the kernel has none.
    private static func pidfd(of socket: any SocketOptionProvider) -> EventLoopFuture<Int32> {
        #if os(Linux)
            // SO_PEERPIDFD, which C libraries do not have yet; since Linux 6.5.
            let descriptor: EventLoopFuture<Int32> = socket.unsafeGetSocketOption(
                level: .socket, name: .init(rawValue: 77))
            return descriptor.flatMapErrorThrowing { _ in -1 }
        #else
            return socket.eventLoop.makeSucceededFuture(-1)
        #endif
    }
}
