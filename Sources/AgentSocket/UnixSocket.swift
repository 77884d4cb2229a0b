internal import CAgentSystem
internal import PosixFiles
package import TokenModel

#if canImport(Glibc)
    package import Glibc
#elseif canImport(Darwin)
    package import Darwin
#endif

/// Unix stream sockets by path.
package enum UnixSocket {
    /// The result of an attempt to connect.
    package enum Attempt {
        case connected(Int32)
        /// No process listens on the socket.
        case nobody
        /// The agent's queue of new connections is full.
        case busy
    }

    /// Connects without blocking. The socket is non-blocking and closed on exec.
    ///
    /// - Parameter receivesDescriptors: false has the kernel refuse descriptors that are sent to the socket, on Linux since 6.16.
    /// - Throws: `agentUnavailable` (-53004) if the path cannot be that of a socket, or this process may not connect to it;
    ///   `peerNotAuthorized` (-53005) if the socket belongs to another user.
    package static func connect(to path: String, receivesDescriptors: Bool = true) throws(TokenError) -> Attempt {
        let descriptor = try make()
        // Before the connection is made, on which the other end may send at once.
        if !receivesDescriptors { agent_refuse_descriptors(descriptor) }
        do throws(TokenError) {
            let code = try withAddress(of: path) { address, length in
                systemConnect(descriptor, address, length) == 0 ? 0 : errno
            }
            if let outcome = try refusal(code, at: path) {
                close(descriptor)
                return outcome
            }
            try checkOwner(of: descriptor, path: path)
        } catch {
            close(descriptor)
            throw error
        }
        return .connected(descriptor)
    }

    /// Connects to an agent, as ``connect(to:receivesDescriptors:)`` does. If an agent has the lock beside a socket on which no process seems
    /// to listen, it is busy: elsewhere than on Linux, the kernel refuses a connection for which the agent's queue has no room with the same
    /// error as one to nobody.
    package static func connectToAgent(at path: String, receivesDescriptors: Bool = true) throws(TokenError) -> Attempt
    {
        let attempt = try connect(to: path, receivesDescriptors: receivesDescriptors)
        #if os(Linux)
            return attempt
        #else
            guard case .nobody = attempt, FileStatus(path)?.kind == .socket, isLocked(path) else { return attempt }
            return .busy
        #endif
    }

    /// Whether an agent has the lock beside its socket.
    private static func isLocked(_ path: String) -> Bool {
        guard let file = try? FileDescriptor(readingRegular: path + ".lock") else { return false }
        return FileLock(file).acquire() == .held
    }

    /// What an error of `connect(2)` means; nil if it has succeeded.
    private static func refusal(_ code: Int32, at path: String) throws(TokenError) -> Attempt? {
        switch code {
        case 0: return nil
        case EAGAIN: return .busy
        case ENOENT: return .nobody
        case ECONNREFUSED, ENOTSOCK:
            // Linux also refuses a file or a folder at the path, for which macOS has the other error.
            guard let kind = FileStatus(path)?.kind, kind != .socket else { return .nobody }
            let origin = origin(of: path)
            throw TokenError(
                .agentUnavailable, "\(path) is not a socket\(origin)",
                origin.isEmpty ? nil : .run("unset SSO_AGENT_SOCK"))
        case EACCES, EPERM:
            throw TokenError(
                .agentUnavailable,
                "you may not use \(path); it is another user's, or its mode was changed\(origin(of: path))",
                .run("ssoctl doctor"))
        default:
            throw TokenError(.agentUnavailable, "\(path): \(SystemError(number: code))", .run("ssoctl doctor"))
        }
    }

    /// The variable that names a path, as the end of a sentence; empty if none does.
    private static func origin(of path: String) -> String {
        AgentEnvironment.value("SSO_AGENT_SOCK") == path ? "; SSO_AGENT_SOCK names it" : ""
    }

    /// The types of Unix sockets that are used.
    package enum Kind: Sendable {
        case stream, datagram
    }

    /// Creates a stream socket: non-blocking, closed on exec and, where that is an option of the socket, without SIGPIPE. Its number is never
    /// that of a standard stream.
    package static func make() throws(TokenError) -> Int32 {
        let descriptor = make(.stream)
        guard descriptor >= 0 else {
            throw TokenError(.agentUnavailable, "no socket: \(SystemError.last)")
        }
        return descriptor
    }

    /// Creates a socket, as ``make()`` does; negative, with `errno`, if there can be none.
    package static func make(_ kind: Kind) -> Int32 {
        #if os(Linux)
            let type = kind == .stream ? SOCK_STREAM : SOCK_DGRAM
            let descriptor = agent_above_standard_streams(
                socket(AF_UNIX, Int32(type.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0))
        #else
            let descriptor = agent_above_standard_streams(
                socket(AF_UNIX, kind == .stream ? SOCK_STREAM : SOCK_DGRAM, 0))
            guard descriptor >= 0 else { return descriptor }
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            var on: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return descriptor
    }

    /// Makes reads without `MSG_DONTWAIT` wait for data, at most for this time, which the kernel rounds up to its own unit. Writes without
    /// that flag wait as well then, without a limit.
    package static func letReadersWait(on descriptor: Int32, milliseconds: Int) {
        var time = timeval(tv_sec: 0, tv_usec: .init(milliseconds * 1000))
        guard
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size)) == 0
        else { return }
        let flags = fcntl(descriptor, F_GETFL)
        if flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) }
    }

    /// Calls `body` with the socket address of a path. A path that is too long is refused, not truncated.
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

    /// The local address of a socket, and its type and state.
    package struct LocalAddress: Sendable, Equatable {
        package let isStream: Bool
        /// Nil if the system does not report it: macOS has no such option.
        package let isListening: Bool?
        /// The path that the socket is bound to; empty if it has none.
        package let path: String
    }

    /// The local address of a Unix socket of this process; nil if the descriptor is not one.
    package static func localAddress(of descriptor: Int32) -> LocalAddress? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard code == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let path = withUnsafeBytes(of: &address.sun_path) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        #if os(Linux)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        return LocalAddress(
            isStream: option(SO_TYPE, of: descriptor) == stream,
            isListening: option(SO_ACCEPTCONN, of: descriptor).map { $0 != 0 }, path: path)
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    /// Refuses a socket of another user, who could read the requests. Root's is accepted, and that of the user whom
    /// `$SSO_AGENT_OWNER` names.
    private static func checkOwner(of descriptor: Int32, path: String) throws(TokenError) {
        let owner = try PeerCredentials(ofSocket: descriptor).userID
        guard owner == geteuid() || owner == 0 || owner == AgentEnvironment.current.socketOwner else {
            throw TokenError(
                .peerNotAuthorized,
                "\(path) belongs to an agent of user \(owner), not yours; if that user has published it to you, set "
                    + "SSO_AGENT_OWNER=\(owner)")
        }
    }
}

/// `connect(2)`; the method above hides the function.
private func systemConnect(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(socket, address, length)
}

/// The process at the other end of a Unix socket, as recorded by the kernel.
package struct PeerCredentials: Sendable, Equatable {
    /// The process ID at the time of the connection; nil if the system does not report it. For logs only: process IDs are
    /// reused.
    package var processID: Int32?
    /// The effective user ID.
    package var userID: UInt32

    package init(processID: Int32?, userID: UInt32) {
        self.processID = processID
        self.userID = userID
    }

    /// Reads the credentials of a connected socket.
    ///
    /// - Throws: `peerNotAuthorized` (-53005) if the kernel does not report them.
    package init(ofSocket socket: Int32) throws(TokenError) {
        var credentials = agent_peer_credentials()
        let code = agent_get_peer_credentials(socket, &credentials)
        guard code == 0 else { throw TokenError(.peerNotAuthorized, "the other end is unknown (errno \(code))") }
        self.init(processID: credentials.pid > 0 ? credentials.pid : nil, userID: credentials.uid)
    }
}
