internal import CAgentSystem
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Admits connections to the redirect listener by the user of the process that has connected.
///
/// The agent's own user is admitted, and root: root is trusted, and services that forward connections to this machine, such
/// as that of the Windows Subsystem for Linux, run as root.
final class LoopbackPeers: Sendable {
    private enum Method {
        case query
        case search
    }

    /// The state behind the lock.
    private struct State {
        /// The method by which the users of sockets are found; nil until the kernel is known to support one.
        var method: Method?
        /// The number of searches in progress.
        var searches = 0
        var hasReportedAnotherUser = false
        var hasReportedUnknownUser = false
    }

    private let userID: UInt32
    private let table: SocketTable
    private let onRefusal: @Sendable (LoopbackRedirect.Refusal) -> Void
    private let state = Mutex(State())

    /// - Parameter onRefusal: called for the first connection of another user, and the first one of an unknown user.
    init(
        userID: UInt32, table: SocketTable, onRefusal: @escaping @Sendable (LoopbackRedirect.Refusal) -> Void = { _ in }
    ) {
        self.userID = userID
        self.table = table
        self.onRefusal = onRefusal
    }

    /// Finds out, with the listener's own socket, by which method the kernel reports the users of sockets. Until then
    /// every connection is refused. Returns false if the kernel does not report them.
    func begin(listener: SocketAddress) async -> Bool {
        let table = table
        guard let nobody = try? SocketAddress(ipAddress: listener.protocol == .inet6 ? "::" : "0.0.0.0", port: 0) else {
            return false
        }
        if table.query(listener, nobody) != nil {
            state.withLock { $0.method = .query }
            return true
        }
        let found = try? await NIOThreadPool.singleton.runIfActive { table.search(listener, nobody) }
        guard found != nil else { return false }
        state.withLock { $0.method = .search }
        return true
    }

    /// Completes if a connection is admitted, and fails if it is refused.
    func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
        user(of: channel).flatMapThrowing { user in
            guard user != self.userID, user != 0 else { return }
            self.report(user.map { .anotherUser($0) } ?? .unknownUser)
            throw ChannelError.inputClosed
        }
    }

    /// The user of the socket at the other end; nil if it is not known. A search runs on another thread, since its cost grows
    /// with the number of sockets on the machine, which any user can increase.
    private func user(of channel: any Channel) -> EventLoopFuture<UInt32?> {
        let loop = channel.eventLoop
        guard let own = channel.localAddress, let peer = channel.remoteAddress else {
            return loop.makeSucceededFuture(nil)
        }
        switch beginLookup() {
        case nil: return loop.makeSucceededFuture(nil)
        case .query: return loop.makeSucceededFuture(table.query(peer, own))
        case .search:
            return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
                defer { self.state.withLock { $0.searches -= 1 } }
                return self.table.search(peer, own)
            }
        }
    }

    /// The method for one more lookup; nil if there is none, or too many searches are in progress.
    private func beginLookup() -> Method? {
        state.withLock { state in
            guard state.method == .search else { return state.method }
            guard state.searches < Self.searchLimit else { return nil }
            state.searches += 1
            return .search
        }
    }

    private func report(_ refusal: LoopbackRedirect.Refusal) {
        let isFirst = state.withLock { state in
            switch refusal {
            case .anotherUser:
                defer { state.hasReportedAnotherUser = true }
                return !state.hasReportedAnotherUser
            case .unknownUser:
                defer { state.hasReportedUnknownUser = true }
                return !state.hasReportedUnknownUser
            }
        }
        if isFirst { onRefusal(refusal) }
    }

    /// The number of searches at the same time, each of which holds a connection; further connections are refused.
    private static let searchLimit = 32
}

/// The kernel's table of TCP sockets, which has the user of the socket at the other end of a connection within this machine.
///
/// TCP has no peer credentials as Unix sockets have.
struct SocketTable: Sendable {
    /// Finds the user of the open socket with these addresses, its own and its remote one; nil if no process has such a
    /// socket open, or the kernel does not report it.
    typealias Lookup = @Sendable (_ own: SocketAddress, _ remote: SocketAddress) -> UInt32?

    /// Asks for the one socket, which takes microseconds.
    var query: Lookup
    /// Reads the whole table, which may take milliseconds.
    var search: Lookup

    static let system = SocketTable(
        query: { own, remote in user(own, remote, agent_query_socket_user) },
        search: { own, remote in user(own, remote, agent_search_socket_user) })

    private static func user(
        _ own: SocketAddress, _ remote: SocketAddress,
        _ find: (UnsafeRawPointer, UnsafeRawPointer, UnsafeMutablePointer<UInt32>) -> Int32
    ) -> UInt32? {
        var user: UInt32 = 0
        let code = own.withSockAddr { own, _ in
            remote.withSockAddr { remote, _ in find(own, remote, &user) }
        }
        return code == 0 ? user : nil
    }
}
