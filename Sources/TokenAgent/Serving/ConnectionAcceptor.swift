internal import AccessPolicy
internal import AgentSocket
internal import CAgentSystem
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Accepts the connections of the agent's own socket and of published ones. The peer of each is identified, or refused, before a byte
/// is read.
struct ConnectionAcceptor: Sendable {
    private let owner: CacheOwner
    private let registry: NIOLoopBoundBox<SessionRegistry>
    private let inspector: PeerInspector
    private let audit: AuditTrail?
    private let options: AgentOptions
    private let confirmer: Confirmer

    init(
        owner: CacheOwner, registry: NIOLoopBoundBox<SessionRegistry>, inspector: PeerInspector, audit: AuditTrail?,
        options: AgentOptions
    ) {
        self.owner = owner
        self.registry = registry
        self.inspector = inspector
        self.audit = audit
        self.options = options
        confirmer = Confirmer(askpass: options.askpass, helper: options.helper)
    }

    /// A bootstrap that starts a session for each connection which is not refused.
    ///
    /// - Parameter publication: the published socket; nil for the agent's own.
    func bootstrap(_ publication: Publication? = nil) -> ServerBootstrap {
        // Each socket has its own, so that refusals at one do not keep those at another out of the log.
        let denials = DenialLog(logger: options.logger, now: options.now)
        let published = publication.map(PublishedHandlers.init)
        return ServerBootstrap(group: registry.eventLoop)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                // The channel is registered when the future completes.
                identity(of: channel, at: publication, denials).flatMapThrowing { peer in
                    // The socket may have been closed meanwhile.
                    if let publication, !owner.assumeIsolated({ $0.sockets.isServing(publication) }) {
                        registry.value.metrics.count(.refused(.socket))
                        throw TokenError(.peerNotAuthorized, "the socket is not published any more")
                    }
                    let caller = Caller(
                        identity: peer, confirmer: confirmer, denials: denials,
                        log: RequestLog(logger: options.logger, processID: peer.processID), audit: audit,
                        published: published,
                        sharesGenerations: options.letsAppsKeepTokens && publication == nil && peer.sandbox == nil)
                    let session = AgentSession(
                        owner: owner, caller: caller, registry: registry.value, timers: options.timers)
                    try channel.pipeline.syncOperations.addHandler(session)
                }
            }
    }

    /// Identifies the peer of a connection; fails if the agent does not serve it.
    private func identity(
        of channel: any Channel, at publication: Publication?, _ denials: DenialLog
    ) -> EventLoopFuture<PeerIdentity> {
        guard let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(TokenError(.peerNotAuthorized, "not a socket"))
        }
        return Self.credentials(of: socket).flatMapThrowing { peer in
            let isAdmitted =
                publication?.rules.admits(userID: peer.userID) ?? options.policy.admits(userID: peer.userID)
            guard isAdmitted else {
                registry.value.metrics.count(.refused(.user))
                denials.add(refusedPeer: "refused a peer", ["uid": "\(peer.userID)"])
                audit?.refused(PeerIdentity(userID: peer.userID, processID: peer.processID), by: publication)
                throw TokenError(.peerNotAuthorized, "this agent serves another user")
            }
            return peer
        }.flatMap { peer -> EventLoopFuture<PeerIdentity?> in
            // Without an ID, the process is one that the agent cannot see. All of these count as one.
            let key =
                publication.map { PeerKey.published(PublicationUser(socket: $0.id, userID: peer.userID)) }
                ?? PeerKey.process(peer.processID ?? 0)
            let identification = Identification { channel.close(promise: nil) }
            registry.value.begin(identification, of: key)
            return Self.pidfd(of: socket)
                .flatMap { inspector.identify(peer, pidfd: $0, for: identification, on: channel.eventLoop) }
                .flatMapThrowing { identity in
                    guard !identification.isAbandoned else {
                        registry.value.metrics.count(.refused(.process))
                        throw TokenError(.agentUnavailable, "too many connections of the process wait to be identified")
                    }
                    return identity
                }
                .always { _ in registry.value.end(identification, of: key) }
        }.flatMapThrowing { identity in
            guard let identity else {
                registry.value.metrics.count(.refused(.process))
                denials.add(refusedPeer: "refused a peer whose process has ended")
                throw TokenError(.peerNotAuthorized, "the process has ended")
            }
            return identity
        }
    }

    static func credentials(of socket: any SocketOptionProvider) -> EventLoopFuture<PeerCredentials> {
        let credentials: EventLoopFuture<agent_peer_credentials> = socket.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: SO_PEERCRED))
        return credentials.map {
            PeerCredentials(processID: $0.pid > 0 ? $0.pid : nil, userID: $0.uid, groupID: $0.gid)
        }
    }

    /// A descriptor of the peer's process; -1 if the kernel has none.
    static func pidfd(of socket: any SocketOptionProvider) -> EventLoopFuture<Int32> {
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
