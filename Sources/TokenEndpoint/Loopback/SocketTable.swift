internal import CAgentSystem
internal import NIOCore

/// The kernel's table of TCP sockets, which tells the user of the socket at the other end of a connection within this machine.
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
