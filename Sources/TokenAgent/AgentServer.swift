internal import AccessPolicy
internal import AgentSocket
internal import AuditLog
internal import Dispatch
internal import ListenerSupport
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import TokenEndpoint
package import TokenModel
internal import TokenStore

/// The agent: a listener, its connections and the cache's owner, all on one event loop.
package final class AgentServer: Sendable {
    package let options: AgentOptions
    private let parts: Parts
    private let isStopping = Atomic(false)

    /// The resources of a running server; ``stop(finishesReplies:)`` releases them.
    private struct Parts: Sendable {
        let lock: LockFile
        let base: Base
        let registry: NIOLoopBoundBox<ConnectionRegistry>
        let listener: any Channel
        let metricsServer: MetricsServer?
        let socket: SocketWatch
    }

    /// The parts of a server that are made before its event loop is used.
    private struct Base: Sendable {
        let metrics = AgentMetrics()
        let store: Store
        let group: MultiThreadedEventLoopGroup
        let loop: any EventLoop
        let endpoint: TokenEndpointClient
        let audit: AuditTrail?
        let owner: CacheOwner
        let inspector: PeerInspector
        let confirmer: Confirmer

        init(_ options: AgentOptions) throws(TokenError) {
            store = try AgentServer.openStore(options, metrics)
            group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            loop = group.any()
            endpoint = TokenEndpointClient(
                network: options.network, allowsLoopbackHTTP: options.allowsLoopbackHTTP, timing: options.httpTiming,
                now: options.now)
            audit = AgentServer.makeAuditTrail(options, loop)
            owner = CacheOwner(
                loop: loop, options: options, store: store, endpoint: endpoint, metrics: metrics, audit: audit)
            inspector = PeerInspector(
                executables: options.policy.executables, helper: options.helper, timers: options.timers)
            confirmer = Confirmer(askpass: options.askpass, helper: options.helper)
        }
    }

    private init(_ options: AgentOptions, _ parts: Parts) {
        self.options = options
        self.parts = parts
    }

    /// Makes the folders of the store and of the sockets if they do not exist. `start` does the same; a process that restricts its
    /// files does it before.
    ///
    /// - Throws: `storeUnavailable` (-53008) or `agentUnavailable` (-53004) if one is not private or cannot be made.
    /// - Returns: the paths of the folders.
    package static func prepareFolders(_ options: AgentOptions) throws(TokenError) -> [String] {
        let folder = try SocketFolder(ofSocket: options.socketPath)
        try Store.prepare(directory: options.stateDirectory)
        let metrics = try options.metricsSocketPath.map { path throws(TokenError) in
            try SocketFolder(ofSocket: path, .metrics).path
        }
        return [options.stateDirectory, folder.path] + (metrics.map { [$0] } ?? [])
    }

    /// Opens the store's folder and the socket, and accepts connections when this returns. Requests that need the cache wait
    /// until it is loaded.
    ///
    /// - Parameter lock: the lock of the agent's socket; nil to acquire it first.
    /// - Throws: `agentUnavailable` (-53004) if the socket cannot be opened or another agent has it, `storeUnavailable` (-53008)
    ///   if the store's folder cannot be opened; the message says what to do.
    package static func start(
        _ options: AgentOptions, holding lock: LockFile? = nil
    ) async throws(TokenError) -> AgentServer {
        var options = options
        // The passphrase is used once, to open the store; the options, which stay in memory, do not keep it.
        let passphrase = options.keys.passphrase
        options.keys.passphrase = nil
        let held: LockFile = if let lock { lock } else { try await LockFile.acquire(for: options) }
        return try await start(options, passphrase, held)
    }

    private static func openStore(_ options: AgentOptions, _ metrics: AgentMetrics) throws(TokenError) -> Store {
        var storeOptions = StoreOptions(keys: options.keys, vfs: options.storeVFS, now: options.now)
        storeOptions.counter = options.counter
        storeOptions.didCommit = { metrics.committed($0) }
        return try Store.open(directory: options.stateDirectory, storeOptions)
    }

    /// The descriptor of the agent's socket: the service manager's, or one that is made now.
    private static func listeningSocket(_ options: AgentOptions) throws(TokenError) -> Int32 {
        guard let handed = options.handedSocket else { return try ListeningSocket.make(at: options.socketPath) }
        try ListeningSocket.adopt(handed, at: options.socketPath)
        return handed
    }

    private static func start(
        _ options: AgentOptions, _ passphrase: Secret?, _ lock: LockFile
    ) async throws(TokenError) -> AgentServer {
        let base = try Base(options)
        var metricsServer: MetricsServer?
        do {
            let registry = try await prepareLoop(options, base)
            // Started before the agent's own socket is made, to which apps connect as soon as it exists.
            metricsServer = try await startMetrics(options, base)
            let listener = try await listen(options, base, registry, passphrase)
            if metricsServer != nil { LoopDelay.measure(base.loop, options.timers, into: base.metrics.loopDelay) }
            announceStart(options, base)
            let server = AgentServer(
                options,
                Parts(
                    lock: lock, base: base, registry: registry, listener: listener, metricsServer: metricsServer,
                    socket: watchPlaces(options, base)))
            server.watchListener()
            server.watchMetricsListener()
            return server
        } catch {
            await discard(base, metricsServer)
            throw error as? TokenError
                ?? TokenError(.agentUnavailable, "cannot listen on \(options.socketPath): \(error)")
        }
    }

    /// Makes what the event loop has for connections, and the page that apps are told of changes through.
    private static func prepareLoop(
        _ options: AgentOptions, _ base: Base
    ) async throws -> NIOLoopBoundBox<ConnectionRegistry> {
        let (loop, owner, metrics) = (base.loop, base.owner, base.metrics)
        return try await loop.submit {
            if options.letsAppsKeepTokens { owner.assumeIsolated { $0.sharePage() } }
            return NIOLoopBoundBox(ConnectionRegistry(options, loop, metrics), eventLoop: loop)
        }.get()
    }

    /// Opens the agent's socket, begins to load the store, and accepts connections.
    private static func listen(
        _ options: AgentOptions, _ base: Base, _ registry: NIOLoopBoundBox<ConnectionRegistry>, _ passphrase: Secret?
    ) async throws -> any Channel {
        let descriptor = try listeningSocket(options)
        let (owner, audit) = (base.owner, base.audit)
        let acceptor = ConnectionAcceptor(
            owner: owner, registry: registry, metrics: base.metrics, inspector: base.inspector,
            confirmer: base.confirmer, audit: audit, options: options)
        // Begins to load the store before a connection is accepted: whatever its first request is, it waits for that load.
        try await base.loop.submit {
            owner.assumeIsolated { owner in
                owner.sockets.start(publicationServer(options, acceptor, registry, audit))
                owner.lifecycle.load(passphrase: passphrase)
            }
        }.get()
        let listener = try await acceptor.bootstrap().withBoundSocket(descriptor).get()
        ListeningSocket.widenQueue(of: descriptor)
        DescriptorGuard.guardListener(listener, descriptor)
        return listener
    }

    /// Watches the place of the store, and the socket that the agent has made.
    private static func watchPlaces(_ options: AgentOptions, _ base: Base) -> SocketWatch {
        let (loop, owner) = (base.loop, base.owner)
        let path = options.handedSocket == nil ? options.socketPath : nil
        let checkStore: @Sendable () -> Void = {
            loop.execute { owner.assumeIsolated { $0.lifecycle.checkPlace() } }
        }
        return SocketWatch.start(at: path, every: options.socketCheckInterval, besides: checkStore) {
            guard let onSocketLoss = options.onSocketLoss else { return }
            options.logger.error(
                "the socket was removed or replaced, so that no app can reach this agent",
                metadata: ["path": "\(options.socketPath)"])
            onSocketLoss()
        }
    }

    /// The listener at the agent's socket.
    var listener: any Channel { parts.listener }

    /// Watches the listener, which SwiftNIO closes if it cannot accept a connection for another reason than that there are too many open
    /// files or there is no memory left: a security module may forbid it, for one.
    private func watchListener() {
        listener.closeFuture.whenComplete { _ in
            guard !self.isStopping.load(ordering: .acquiring), let onSocketLoss = self.options.onSocketLoss else {
                return
            }
            self.options.logger.error(
                "the socket accepts no more connections, so that no app can reach this agent",
                metadata: ["path": "\(self.options.socketPath)"])
            onSocketLoss()
        }
    }

    /// The listener at the metrics socket; nil if there is none.
    var metricsListener: (any Channel)? { parts.metricsServer?.listener }

    /// Watches the listener at the metrics socket as that at the agent's. Apps do without it, so that the agent continues.
    private func watchMetricsListener() {
        metricsListener?.closeFuture.whenComplete { _ in
            guard !self.isStopping.load(ordering: .acquiring) else { return }
            self.options.logger.error(
                "the metrics socket accepts no more connections; restart sso-agent",
                metadata: ["path": "\(self.options.metricsSocketPath ?? "")"])
        }
    }

    /// Tells the audit log and the service manager that connections are accepted.
    private static func announceStart(_ options: AgentOptions, _ base: Base) {
        base.audit?.record(.agentStarted)
        guard let notifier = options.notifier else { return }
        notifier.send(.ready(socketPath: options.socketPath))
        keepAlive(notifier, on: base.loop, options.timers)
    }

    /// Releases what a start that has failed has made.
    private static func discard(_ base: Base, _ metricsServer: MetricsServer?) async {
        let owner = base.owner
        await metricsServer?.stopAccepting()
        base.inspector.stop()
        await base.endpoint.close()
        try? await base.loop.flatSubmit { owner.assumeIsolated { $0.shutDown() } }.get()
        await base.store.close()
        await metricsServer?.shutDown()
        await base.group.end()
    }

    /// Begins to read the configuration again, and returns at once: its files may be on a file system that does not answer. The log says
    /// what has changed, or why nothing has.
    package func beginReload() {
        let (loop, owner) = (parts.base.loop, parts.base.owner)
        loop.execute { owner.assumeIsolated { $0.beginReload() } }
    }

    /// Stops accepting connections, finishes the replies in progress, saves what token endpoints answer to refresh tokens, also for apps that
    /// have gone, and releases all resources. A second call has no effect.
    ///
    /// - Parameter finishesReplies: whether requests that wait for a token endpoint or the user have ten seconds to complete, and those
    ///   whose refresh token has been sent 30 more; otherwise they fail immediately.
    package func stop(finishesReplies: Bool = true) async {
        guard !isStopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let begin = DispatchTime.now()
        options.notifier?.send(.stopping)
        parts.socket.end()
        parts.socket.removeSocket()
        try? await parts.listener.close()
        await parts.metricsServer?.stopAccepting()
        let base = parts.base
        base.inspector.stop()
        let (loop, registry, owner) = (base.loop, parts.registry, base.owner)
        await runWithTimeout(Self.publicationTime) {
            owner.assumeIsolated { owner in
                owner.retirePage()
                owner.configuration.cancel()
                return owner.sockets.stop()
            }
        }
        if finishesReplies {
            await runWithTimeout(Self.replyTime) {
                registry.value.end(on: loop).and(owner.assumeIsolated { $0.untilResponsesAreSaved() }).map { _ in }
            }
            await finishRedemptions()
        }
        // The program that asks would keep running without the agent.
        await base.confirmer.stop()
        await base.endpoint.close()
        await runWithTimeout(Self.changeTime) { owner.assumeIsolated { $0.shutDown() } }
        let isClosed = await base.store.close(by: begin + .seconds(Int(Self.longestStop - Self.auditTime)))
        try? await loop.submit { registry.value.endTurns() }.get()
        let isAudited = await base.audit?.stopped(by: begin + .seconds(Int(Self.longestStop))) ?? true
        if !isClosed || !isAudited {
            options.logger.error(
                "the agent ends before everything has been written, since a disk does not answer",
                metadata: ["folder": "\(options.stateDirectory)"])
        }
        // Its work on the agent's event loop was submitted before the turns were ended there, and so is done.
        await parts.metricsServer?.shutDown()
        await base.group.end()
        parts.lock.release()
    }

    /// Abandons the redemptions whose refresh token has not been sent, and waits for the responses to the others: the provider may have
    /// replaced the token, and the response has the only one that is valid.
    private func finishRedemptions() async {
        let (loop, owner) = (parts.base.loop, parts.base.owner)
        try? await loop.submit { owner.assumeIsolated { $0.refuseRedemptions() } }.get()
        parts.base.endpoint.stopSending()
        await runWithTimeout(Self.responseTime) { owner.assumeIsolated { $0.untilResponsesAreSaved() } }
    }

    /// Reports from the event loop that it runs, as often as the service manager requires. A loop that hangs reports nothing, and the service
    /// manager starts another process.
    private static func keepAlive(_ notifier: ServiceNotifier, on loop: any EventLoop, _ timers: Timers) {
        guard let interval = notifier.watchdogInterval else { return }
        notifier.send(.alive)
        _ = timers.schedule(loop, .microseconds(interval)) { keepAlive(notifier, on: loop, timers) }
    }

    /// The longest time for which a stop waits, in seconds, also for a disk that does not answer. What ends a process that does not stop has
    /// to wait longer.
    package static let longestStop: Int64 = publicationTime + replyTime + responseTime + changeTime + diskTime

    /// The time for which a stop waits for the files of published sockets to be removed, in seconds.
    private static let publicationTime: Int64 = 5
    /// The time for which it waits for requests that wait for a token endpoint or the user.
    private static let replyTime: Int64 = 10
    /// The time for which it waits then for responses to refresh tokens that have been sent: the limit of a request to a token endpoint.
    private static let responseTime: Int64 = 30
    /// The time for which it waits for changes to be saved.
    private static let changeTime: Int64 = 10
    /// The time that is left then, at least, to close the store and to write the last line of the audit log. What the earlier steps have not
    /// used is added.
    static let diskTime: Int64 = 4
    /// The part of that time for the audit log.
    private static let auditTime: Int64 = 2

    /// Runs work on the event loop, and waits for it for a limited number of seconds.
    private func runWithTimeout(_ seconds: Int64, _ work: @escaping @Sendable () -> EventLoopFuture<Void>) async {
        let loop = parts.base.loop
        let done = loop.makePromise(of: Void.self)
        let timer = options.timers.schedule(loop, .seconds(seconds)) { done.succeed() }
        loop.flatSubmit(work).cascade(to: done)
        try? await done.futureResult.get()
        timer.cancel()
    }

    /// What the published sockets need of the server: opening a listener, and the connections to it.
    private static func publicationServer(
        _ options: AgentOptions, _ acceptor: ConnectionAcceptor, _ registry: NIOLoopBoundBox<ConnectionRegistry>,
        _ audit: AuditTrail?
    ) -> PublishedSockets.Server {
        PublishedSockets.Server(
            files: SocketFiles(helper: options.helper), audit: audit,
            open: { publication, socket in
                acceptor.bootstrap(publication).withBoundSocket(socket).map { listener in
                    DescriptorGuard.guardListener(listener, socket)
                    return listener
                }
            },
            closeConnections: { registry.value.closeConnections(ofSocket: $0.id) },
            connections: { registry.value.connectionCount(ofSocket: $0.id) })
    }

    /// Starts the server of the metrics socket; nil if there is none.
    private static func startMetrics(_ options: AgentOptions, _ base: Base) async throws(TokenError) -> MetricsServer? {
        guard let path = options.metricsSocketPath else { return nil }
        _ = try SocketFolder(ofSocket: path, .metrics)
        guard !SocketFolder.isSameSocket(path, options.socketPath) else {
            throw TokenError(.agentUnavailable, "\(path) is the agent's socket; the metrics socket needs another path")
        }
        let admission = PeerAdmission(
            inspector: base.inspector, metrics: base.metrics, audit: base.audit,
            denials: DenialLog(logger: options.logger, now: options.now), place: "at the metrics socket",
            admits: { options.policy.admits(userID: $0) })
        let owner = base.owner
        return try await MetricsServer.start(at: path, admission) { peer, loop in
            owner.loop.submit { owner.assumeIsolated { $0.metrics(for: peer) } }.hop(to: loop)
        }
    }

    private static func makeAuditTrail(_ options: AgentOptions, _ loop: any EventLoop) -> AuditTrail? {
        guard let destination = options.audit else { return nil }
        let writer = AuditWriter(destination) { [logger = options.logger] error in
            logger.error("events are missing in the audit log", metadata: ["reason": "\(error.message)"])
        }
        return AuditTrail(writer, hasNames: options.auditsNames, now: options.now) { [timers = options.timers] in
            _ = timers.schedule(loop, .seconds($0), $1)
        }
    }
}

/// Measures how late the event loop runs a timer: the time for which a request would have waited at that moment.
///
/// Used only if there is a metrics socket, since each timer wakes the process.
private enum LoopDelay {
    static func measure(_ loop: any EventLoop, _ timers: Timers, into histogram: DurationHistogram) {
        let due = NIODeadline.now() + interval
        _ = timers.schedule(loop, interval) {
            histogram.add(microseconds: (NIODeadline.now() - due).nanoseconds / 1000)
            measure(loop, timers, into: histogram)
        }
    }

    private static let interval = TimeAmount.seconds(1)
}
