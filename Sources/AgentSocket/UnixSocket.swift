internal import PosixFiles
package import TokenModel

#if canImport(Glibc)
    package import Glibc
#elseif canImport(Darwin)
    package import Darwin
#endif

/// Unix stream sockets by path.
package enum UnixSocket {
    /// What became of an attempt to connect.
    package enum Attempt {
        case connected(Int32)
        /// Nobody listens there.
        case nobody
        /// The agent's queue of new connections is full; try again in a moment.
        case busy
    }

    /// Connects without ever waiting; the socket is non-blocking and closed on exec.
    ///
    /// - Throws: `agentUnavailable` (-53004) when the path cannot be a socket's, `peerNotAuthorized` (-53005) when
    ///   another user listens there.
    package static func connect(to path: String) throws(TokenError) -> Attempt {
        let descriptor = try make()
        let code = try withAddress(of: path) { address, length in
            systemConnect(descriptor, address, length) == 0 ? 0 : errno
        }
        guard code == 0 else {
            close(descriptor)
            switch code {
            case EAGAIN: return .busy
            case ENOENT, ECONNREFUSED: return .nobody
            default: throw TokenError(.agentUnavailable, "\(path): \(SystemError(number: code))")
            }
        }
        do throws(TokenError) {
            try checkOwner(of: descriptor, path: path)
        } catch {
            close(descriptor)
            throw error
        }
        return .connected(descriptor)
    }

    /// A new socket: non-blocking, closed on exec, and no SIGPIPE where that is an option of the socket.
    package static func make() throws(TokenError) -> Int32 {
        #if os(Linux)
            let descriptor = socket(
                AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            var on: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        guard descriptor >= 0 else {
            throw TokenError(.agentUnavailable, "no socket: \(SystemError.last)")
        }
        return descriptor
    }

    /// Lends `path` as a socket address. A path that does not fit is refused, never cut.
    package static func withAddress<Result>(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(TokenError) -> Result {
        var address = sockaddr_un()
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room, !path.isEmpty else {
            throw TokenError(
                .agentUnavailable,
                "the socket path \(path) is longer than \(room - 1) bytes; set SSO_AGENT_SOCK to a shorter one")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// A socket that another user put there could be a trap for requests: only our own user's or root's agent is asked.
    private static func checkOwner(of descriptor: Int32, path: String) throws(TokenError) {
        let owner = try PeerCredentials(ofSocket: descriptor).userID
        guard owner == geteuid() || owner == 0 else {
            throw TokenError(.peerNotAuthorized, "\(path) belongs to an agent of user \(owner), not yours")
        }
    }
}

/// `connect(2)`, whose name is taken above.
private func systemConnect(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(socket, address, length)
}
