internal import AccessPolicy

/// Identifies a peer: a process or, if it is not known, a connection.
///
/// All processes of a sandboxed app are one peer, and so are all processes of a user at one published socket: who starts many of them
/// gets no larger share than an app that has one.
enum PeerKey: Hashable {
    case process(Int32)
    case sandbox(SandboxedApp)
    case connection(UInt64)
    case published(PublicationUser)

    /// The number of the published socket; nil for the agent's own.
    var socket: UInt64? {
        if case .published(let user) = self { user.socket } else { nil }
    }

    var isPublished: Bool { socket != nil }
}

/// A user of a published socket.
struct PublicationUser: Hashable, Sendable {
    /// The number of the socket.
    var socket: UInt64
    var userID: UInt32
}

/// An app in a sandbox. Those whose app is not known count as one.
struct SandboxedApp: Hashable, Sendable {
    var id: String?
}

/// The peers that share one limit: for their failed requests in the audit log, and for their questions to a person.
enum LimitedPeer: Hashable, Sendable {
    /// All peers of a published socket, by its number.
    case publishedSocket(UInt64)
    /// All processes of a sandboxed app.
    case app(String)
    /// All sandboxed processes whose app is not known: one of them can start any number of others.
    case unknownApp
    /// A process; its start time distinguishes it from an earlier one with the same ID.
    case process(Int32, startTime: UInt64?)
    /// All processes of a user: of another one, or those whose ID the system does not report.
    case user(UInt32)
    /// All peers for which the table has no room.
    case others

    init(_ peer: PeerIdentity, at publication: Publication?) {
        if let publication {
            self = .publishedSocket(publication.id)
        } else if let sandbox = peer.sandbox {
            self = sandbox.app.map(LimitedPeer.app) ?? .unknownApp
        } else if let process = peer.processID {
            self = .process(process, startTime: peer.startTime)
        } else {
            self = .user(peer.userID)
        }
    }
}
