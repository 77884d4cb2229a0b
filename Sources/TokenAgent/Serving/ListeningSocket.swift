internal import AgentSocket
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Makes the agent's socket appear at its path all at once: listening, mode 0600, in the place of a stale one.
enum ListeningSocket {
    /// A listening, non-blocking descriptor.
    ///
    /// It is bound under another name, and renamed when its mode is right and it listens: there is no moment at which
    /// somebody could connect to it with a wider mode, or find nobody there.
    static func make(at path: String) throws(TokenError) -> Int32 {
        if let status = FileStatus(path, followsLinks: false), status.kind != .socket {
            throw TokenError(.agentUnavailable, "\(path) exists and is not a socket; move it away")
        }
        let descriptor = try UnixSocket.make()
        do throws(TokenError) {
            try listen(descriptor, at: path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// NIO listens again when it is handed the socket, with a queue of its own choosing; a burst of apps at log-in is longer.
    static func widenQueue(of descriptor: Int32) { _ = systemListen(descriptor, queueLength) }

    private static let queueLength: Int32 = 1024

    private static func listen(_ descriptor: Int32, at path: String) throws(TokenError) {
        let temporary = "\(path).\(getpid())"
        unlink(temporary)
        // Linux gives the new file the descriptor's mode, whatever the umask; elsewhere chmod does, before anyone can connect.
        fchmod(descriptor, 0o600)
        let code = try UnixSocket.withAddress(of: temporary) { address, length in
            bind(descriptor, address, length) == 0 ? 0 : errno
        }
        guard code == 0 else { throw failure("bind \(path)", code) }
        guard chmod(temporary, 0o600) == 0, systemListen(descriptor, queueLength) == 0, rename(temporary, path) == 0
        else {
            let code = errno
            unlink(temporary)
            throw failure("listen on \(path)", code)
        }
    }

    private static func failure(_ what: String, _ code: Int32) -> TokenError {
        TokenError(.agentUnavailable, "cannot \(what): \(SystemError(number: code))")
    }
}

/// `listen(2)`, whose name is taken above.
private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
