internal import CAgentSystem
internal import Foundation
internal import NIOCore
internal import TestSupport
internal import Testing

@testable internal import TokenEndpoint

/// The users of TCP sockets, as the kernel tells them.
@Suite(.bounded) struct SocketTableTests {
    /// A connection within this process.
    private struct Connection {
        #if os(Linux)
            private static let stream = Int32(SOCK_STREAM.rawValue)
        #else
            private static let stream = SOCK_STREAM
        #endif

        let listener: Int32
        let client: Int32
        let server: Int32
        /// The addresses of the client's socket.
        let own: SocketAddress
        let remote: SocketAddress

        /// - Parameter target: the address that the client connects to; may be IPv4 in an IPv6 socket.
        init(to target: String, listeningOn address: String) throws {
            let listening = try SocketAddress(ipAddress: address, port: 0)
            let listener = socket(address.contains(":") ? AF_INET6 : AF_INET, Self.stream, 0)
            let bound = listening.withSockAddr { bind(listener, $0, socklen_t($1)) }
            try #require(bound == 0 && listen(listener, 1) == 0)
            let port = try Self.address(of: listener, getsockname).port ?? 0
            let goal = try SocketAddress(ipAddress: target, port: port)
            let client = socket(target.contains(":") ? AF_INET6 : AF_INET, Self.stream, 0)
            let connected = goal.withSockAddr { connect(client, $0, socklen_t($1)) }
            try #require(connected == 0)
            let server = accept(listener, nil, nil)
            own = try Self.address(of: server, getpeername)
            remote = try Self.address(of: server, getsockname)
            (self.listener, self.client, self.server) = (listener, client, server)
        }

        func close() { for socket in [client, server, listener] { Foundation.close(socket) } }

        private static func address(
            of socket: Int32,
            _ read: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
        ) throws -> SocketAddress {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            return try withUnsafeMutablePointer(to: &storage) { storage in
                let code = storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { read(socket, $0, &length) }
                try #require(code == 0)
                return if Int32(storage.pointee.ss_family) == AF_INET {
                    storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
                } else {
                    storage.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) }
                }
            }
        }
    }

    private static let lookups: [SocketTable.Lookup] = [SocketTable.system.query, SocketTable.system.search]

    /// The address to connect to, and the one to listen on. Without `::1`, a machine may have no sockets of IPv6 at all.
    private static let addresses: [(String, String)] =
        [("127.0.0.1", "127.0.0.1")]
        + (LoopbackAddress.hasIPv6
            ? [("::1", "::1"), ("::ffff:127.0.0.1", "127.0.0.1"), ("127.0.0.1", "::")] : [])

    @Test(arguments: addresses)
    func findsTheUserOfAConnection(target: String, listening: String) throws {
        let connection = try Connection(to: target, listeningOn: listening)
        defer { connection.close() }
        for lookup in Self.lookups {
            #expect(lookup(connection.own, connection.remote) == geteuid())
            #expect(lookup(connection.remote, connection.own) == geteuid(), "the other end is a socket of its own")
        }
    }

    @Test func findsNobodyForAConnectionThatIsNotThere() throws {
        let connection = try Connection(to: "127.0.0.1", listeningOn: "127.0.0.1")
        defer { connection.close() }
        var elsewhere = connection.remote
        elsewhere.port = 1
        for lookup in Self.lookups {
            #expect(lookup(connection.own, elsewhere) == nil)
            // The kernel finds a listening socket for its own address and any other end, which is no connection.
            #expect(lookup(connection.remote, elsewhere) == nil)
        }
    }

    /// The kernel says that a socket without a process belongs to root.
    @Test func findsNobodyForASocketThatIsClosed() throws {
        let connection = try Connection(to: "127.0.0.1", listeningOn: "127.0.0.1")
        defer { for socket in [connection.server, connection.listener] { close(socket) } }
        close(connection.client)
        for lookup in Self.lookups { #expect(lookup(connection.own, connection.remote) == nil) }
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
    func findsAnotherUserUntilItsProcessHasEnded() async throws {
        let listener = try Connection(to: "127.0.0.1", listeningOn: "127.0.0.1")
        defer { listener.close() }
        let other = try OtherUser.connections(1, to: "127.0.0.1", port: try #require(listener.remote.port))
        try await other.waitForOutput("connected")
        var peer = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let accepted = withUnsafeMutablePointer(to: &peer) { peer in
            peer.withMemoryRebound(to: sockaddr.self, capacity: 1) { accept(listener.listener, $0, &length) }
        }
        defer { close(accepted) }
        let own = withUnsafePointer(to: &peer) { peer in
            peer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
        }
        for lookup in Self.lookups { #expect(lookup(own, listener.remote) == OtherUser.id) }
        try await other.killHard()
        for lookup in Self.lookups { #expect(lookup(own, listener.remote) == nil) }
    }

    #if os(Linux)
        private func search(_ table: String, in folder: TemporaryFolder) throws -> (code: Int32, user: UInt32) {
            let path = folder.file("tcp")
            try table.write(toFile: path, atomically: true, encoding: .utf8)
            let own = try SocketAddress(ipAddress: "127.0.0.1", port: 0x1234)
            let remote = try SocketAddress(ipAddress: "127.0.0.1", port: 0x5678)
            var user: UInt32 = 0
            let code = own.withSockAddr { own, _ in
                remote.withSockAddr { remote, _ in agent_search_socket_table(path, own, remote, 1, &user) }
            }
            return (code, user)
        }

        private static func line(
            _ addresses: String = "0100007F:1234 0100007F:5678", user: String = "1001", inode: String = "77"
        ) -> String {
            "   7: \(addresses) 01 00000000:00000000 00:00000000 00000000  \(user)        0 \(inode) 1 0000 20 4 30 10 -1\n"
        }

        @Test func readsTheTableOfProc() throws {
            let folder = try TemporaryFolder()
            for user: UInt32 in [0, 1001, .max] {
                let found = try search(Self.line(user: "\(user)"), in: folder)
                #expect(found.code == 0 && found.user == user)
            }
            for other in [
                "", "\n:\n", "   7: ", Self.line(inode: "0"), Self.line(user: "x"), Self.line(inode: "x"),
                Self.line("0100007F:5678 0100007F:1234"), Self.line("0100007F:1234 0100007F:56789"),
                String(repeating: ":", count: 5000),
            ] {
                #expect(try search(other, in: folder).code == ENOENT, "\(other)")
            }
            let noise = String(repeating: "x: 0100007F:1234 ", count: 99) + "\n"
            #expect(try search(noise + Self.line(), in: folder).code == 0)
        }

        @Test func readsATableOfLimitedLength() throws {
            let folder = try TemporaryFolder()
            let other = Self.line("0100007F:5678 0100007F:1234", inode: "1")
            let long = String(repeating: other, count: 1 << 18)
            #expect(try search(long.dropLast(other.count) + Self.line(), in: folder).code == 0)
            #expect(try search(long + Self.line(), in: folder).code == EFBIG)
        }
    #endif
}
