internal import AccessPolicy
internal import AgentSocket
internal import Logging
internal import NIOCore
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Identifies the peers of the connections to one socket before a byte is read, and refuses those that the agent does not serve. Each refusal
/// is counted, logged, and, if the peer is of another user, an event of the audit log.
struct PeerAdmission: Sendable {
    /// A connection while its peer is being identified.
    struct Waiting: Sendable {
        let identification: Identification
        /// Called when the peer is identified, or refused.
        let end: @Sendable () -> Void
    }

    let inspector: PeerInspector
    let metrics: AgentMetrics
    let audit: AuditTrail?
    let denials: DenialLog
    /// The published socket; nil for the agent's own sockets.
    var publication: Publication?
    /// The name of the socket in the log, as in “at the metrics socket”; nil for those on which requests are served.
    var place: String?
    /// Whether the socket serves a user.
    let admits: @Sendable (_ userID: UInt32) -> Bool

    /// Identifies the peer of a connection; fails if the agent does not serve it.
    ///
    /// - Parameter wait: called when the user is known to be served, to count the connection among those that wait.
    func identity(
        of channel: any Channel, whileIn wait: @escaping @Sendable (PeerCredentials) -> Waiting
    ) -> EventLoopFuture<PeerIdentity> {
        guard let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(TokenError(.peerNotAuthorized, "not a socket"))
        }
        return Self.credentials(of: channel).flatMapThrowing { peer in
            guard admits(peer.userID) else {
                metrics.count(.refused(.user))
                denials.add(refusedPeer: "refused a peer\(suffix)", ["uid": "\(peer.userID)"])
                audit?.refused(PeerIdentity(userID: peer.userID, processID: peer.processID), by: publication)
                throw TokenError(.peerNotAuthorized, "this agent serves another user")
            }
            return peer
        }.flatMap { peer -> EventLoopFuture<PeerIdentity?> in
            let waiting = wait(peer)
            return Self.pidfd(of: socket)
                .flatMapErrorThrowing { error in
                    metrics.count(.refused(.process))
                    denials.add(
                        refusedPeer: "refused a peer that cannot be identified\(suffix)",
                        ["reason": "\((error as? TokenError)?.message ?? "\(error)")"])
                    throw error
                }
                .flatMap { pidfd -> EventLoopFuture<PeerIdentity?> in
                    guard let pidfd else { return channel.eventLoop.makeSucceededFuture(nil) }
                    return inspector.identify(peer, pidfd: pidfd, for: waiting.identification, on: channel.eventLoop)
                }
                .flatMapThrowing { identity in
                    guard !waiting.identification.isAbandoned else {
                        metrics.count(.refused(.process))
                        throw TokenError(.agentUnavailable, "too many connections of the process wait to be identified")
                    }
                    return identity
                }
                .always { _ in waiting.end() }
        }.flatMapThrowing { identity in
            guard let identity else {
                metrics.count(.refused(.process))
                denials.add(refusedPeer: "refused a peer whose process has ended\(suffix)")
                throw TokenError(.peerNotAuthorized, "the process has ended")
            }
            return identity
        }
    }

    private var suffix: String { place.map { " \($0)" } ?? "" }

    private static func credentials(of channel: any Channel) -> EventLoopFuture<PeerCredentials> {
        channel.eventLoop.makeCompletedFuture {
            let operations = channel.pipeline.syncOperations
            let socket = try operations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
            guard let socket else { throw TokenError(.peerNotAuthorized, "not a socket") }
            return try PeerCredentials(ofSocket: socket)
        }
    }

    /// SO_PEERPIDFD, which C libraries do not have yet; since Linux 6.5.
    static let peerDescriptorOption: Int32 = 77

    /// A descriptor of the peer's process; -1 if the kernel has no such option. Nil if it names no process, as on Linux 6.5 to 6.15 once
    /// the process has ended, whose number may be another one's by now. Fails as ``pidfd(after:)``.
    private static func pidfd(of socket: any SocketOptionProvider) -> EventLoopFuture<Int32?> {
        #if os(Linux)
            let descriptor: EventLoopFuture<Int32> = socket.unsafeGetSocketOption(
                level: .socket, name: .init(rawValue: peerDescriptorOption))
            return descriptor.map(Optional.some).flatMapErrorThrowing { error in
                try pidfd(after: error)
            }
        #else
            return socket.eventLoop.makeSucceededFuture(-1)
        #endif
    }

    /// The result for a socket option that could not be read: -1 if the kernel has no such option, nil if it names no process.
    ///
    /// - Throws: `agentUnavailable` (-53004) if it says nothing, since the agent or the system has no descriptor or memory left.
    static func pidfd(after error: any Error) throws(TokenError) -> Int32? {
        switch (error as? IOError)?.errnoCode {
        case ENOPROTOOPT: return -1
        case let number? where [EMFILE, ENFILE, ENOMEM].contains(number):
            throw TokenError(.agentUnavailable, "\(SystemError(number: number))")
        default: return nil
        }
    }
}
