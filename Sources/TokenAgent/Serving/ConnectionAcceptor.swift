internal import AccessPolicy
internal import AgentSocket
internal import ListenerSupport
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
    private let registry: NIOLoopBoundBox<ConnectionRegistry>
    private let metrics: AgentMetrics
    private let inspector: PeerInspector
    private let audit: AuditTrail?
    private let options: AgentOptions
    private let confirmer: Confirmer

    init(
        owner: CacheOwner, registry: NIOLoopBoundBox<ConnectionRegistry>, metrics: AgentMetrics,
        inspector: PeerInspector, confirmer: Confirmer, audit: AuditTrail?, options: AgentOptions
    ) {
        self.owner = owner
        self.registry = registry
        self.metrics = metrics
        self.inspector = inspector
        self.audit = audit
        self.options = options
        self.confirmer = confirmer
    }

    /// A bootstrap that accepts each connection that is not refused.
    ///
    /// - Parameter publication: the published socket; nil for the agent's own.
    func bootstrap(_ publication: Publication? = nil) -> ServerBootstrap {
        // Each socket has a log of its own, so that refusals at one socket do not use up the limit of another.
        let denials = DenialLog(logger: options.logger, now: options.now)
        let admission = PeerAdmission(
            inspector: inspector, metrics: metrics, audit: audit, denials: denials,
            publication: publication,
            admits: { publication?.rules.admits(userID: $0) ?? options.policy.admits(userID: $0) })
        let published = publication.map(PublishedHandlers.init)
        return ServerBootstrap(group: registry.eventLoop)
            .pausingAfterFailures()
            // Connections are accepted one at a time, so that a peer that connects again and again delays others by one
            // connection only.
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.outOfBandInline, value: 1)
            .childChannelInitializer { channel in
                let descriptors: NIOLoopBound<DescriptorGuard?>
                do {
                    descriptors = NIOLoopBound(try DescriptorGuard(of: channel), eventLoop: channel.eventLoop)
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
                // The channel is registered when the future completes.
                return identity(of: channel, by: admission).flatMapThrowing { identity in
                    // The socket may have been closed meanwhile.
                    if let publication, !owner.assumeIsolated({ $0.sockets.isServing(publication) }) {
                        metrics.count(.refused(.socket))
                        throw TokenError(.peerNotAuthorized, "the socket is not published any more")
                    }
                    try addHandler(
                        to: channel,
                        of: ConnectedPeer(
                            identity: identity, confirmer: confirmer, denials: denials,
                            log: RequestLog(logger: options.logger, processID: identity.processID), audit: audit,
                            published: published,
                            sharesGenerations: options.letsAppsKeepTokens && publication == nil
                                && identity.sandbox == nil),
                        descriptors.value)
                }
            }
    }

    /// Adds the handler of a connection, on the event loop. A peer that is confined sends no descriptors; those of another one are not
    /// looked for.
    private func addHandler(
        to channel: any Channel, of peer: ConnectedPeer, _ descriptors: DescriptorGuard?
    ) throws {
        if peer.isConfined {
            try descriptors?.guardReads(of: channel) {
                peer.denials.add(refusedPeer: "closed a connection to which descriptors were sent")
            }
        } else {
            descriptors?.end()
        }
        let connection = PeerConnection(owner: owner, peer: peer, registry: registry.value, timers: options.timers)
        try channel.pipeline.syncOperations.addHandler(connection)
    }

    /// Identifies the peer of a connection; fails if the agent does not serve it.
    private func identity(of channel: any Channel, by admission: PeerAdmission) -> EventLoopFuture<PeerIdentity> {
        admission.identity(of: channel) { peer in
            // Without an ID, the process is one that the agent cannot see. All of these count as one.
            let key =
                admission.publication.map { PeerKey.published(PublicationUser(socket: $0.id, userID: peer.userID)) }
                ?? PeerKey.process(peer.processID ?? 0)
            let identification = Identification(of: key) { channel.close(promise: nil) }
            registry.value.begin(identification)
            return PeerAdmission.Waiting(identification: identification) { registry.value.end(identification) }
        }
    }
}

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
    /// Reads a byte that a peer sends out of band (`MSG_OOB`) like the others. Without the option SwiftNIO would end the process: it does not
    /// expect a socket that has nothing else to read.
    static var outOfBandInline: Self { .socketOption(NIOBSDSocket.Option(rawValue: SO_OOBINLINE)) }
}
