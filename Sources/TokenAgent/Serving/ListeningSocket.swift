internal import AgentSocket
internal import CAgentSystem
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Creates the agent's socket at its path in one step: listening, with mode 0600, in place of a stale one.
enum ListeningSocket {
    /// Creates the socket, and returns a non-blocking descriptor that listens on it.
    ///
    /// The socket is bound under a temporary name, and renamed when it has its mode and listens, so that no other user can
    /// connect to it, and none of the user's connections is refused.
    ///
    /// - Throws: `agentUnavailable` (-53004) with the reason.
    static func make(at path: String) throws(TokenError) -> Int32 {
        try requirePlace(at: path)
        let descriptor = try UnixSocket.make()
        do throws(TokenError) {
            try listen(descriptor, at: path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Checks that there can be a socket at the path: an address has room for it, and no other file is there.
    static func requirePlace(at path: String) throws(TokenError) {
        try UnixSocket.withAddress(of: path) { _, _ in }
        if let status = FileStatus(path, followsLinks: false), status.kind != .socket {
            throw TokenError(.agentUnavailable, "\(path) exists and is not a socket; move it elsewhere")
        }
    }

    /// Takes over a socket that the service manager has made, and which listens at the path already. As at a
    /// socket that `make` makes, the agent's user has to be its owner, and nobody else may connect to it.
    ///
    /// - Throws: `agentUnavailable` (-53004) with the reason and the remedy.
    static func adopt(_ descriptor: Int32, at path: String) throws(TokenError) {
        let address = UnixSocket.localAddress(of: descriptor)
        guard let address, address.isStream, address.isListening != false else {
            throw handover("is not a stream socket that listens; use ListenStream= in the socket unit")
        }
        guard address.path == path else {
            throw handover(
                "listens at \(UntrustedText.clean(address.path, limit: 108)), and the agent's socket is \(path); use "
                    + "ListenStream=\(path) in the socket unit, or set SSO_AGENT_SOCK")
        }
        guard let status = FileStatus(path, followsLinks: false), status.kind == .socket, status.isOwn else {
            throw handover("has no file of user \(FileStatus.effectiveUser) at \(path); restart the socket unit")
        }
        // Connecting needs the permission to write.
        guard !status.isWritableByOthers else {
            throw handover("can be connected to by others; use SocketMode=0600 in the socket unit")
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        agent_refuse_descriptors(descriptor)
    }

    /// Whether a process listens at a path; nil if that cannot be found out. A service manager that listens there
    /// starts its service.
    static func isServed(at path: String) -> Bool? {
        switch try? UnixSocket.connect(to: path) {
        case .connected(let socket):
            close(socket)
            return true
        case .busy: return true
        case .nobody: return false
        case nil: return nil
        }
    }

    /// The error for a path at which a process that is no agent listens. An agent would replace that process's socket,
    /// and remove the file when it stops.
    static func served(_ path: String, _ environment: AgentEnvironment = .current) -> TokenError {
        let isUnit = path == environment.unitSocketPath && ServiceUnit.state(environment) == .reachable
        let reason =
            isUnit
            ? "is the socket of the agent's unit, whose service manager starts the agent; put options into its configuration, or "
                + "serve another socket"
            : "has a listener that is no sso-agent; stop it, or serve another socket"
        return TokenError(.agentUnavailable, "\(path) \(reason), with --socket PATH")
    }

    private static func handover(_ defect: String) -> TokenError {
        TokenError(.agentUnavailable, "the socket that was handed over \(defect)")
    }

    /// Restores the length of the queue of pending connections after NIO has called `listen` with a shorter one. Many apps may
    /// connect at once when the user logs in.
    static func widenQueue(of descriptor: Int32) { _ = systemListen(descriptor, queueLength) }

    private static let queueLength: Int32 = 1024

    private static func listen(_ descriptor: Int32, at path: String) throws(TokenError) {
        agent_refuse_descriptors(descriptor)
        let temporary = temporaryPath(beside: path)
        unlink(temporary)
        // On Linux, the file gets the descriptor's mode less the umask, and the agent's process may change no mode by a path: its umask
        // leaves the user's own bits. Elsewhere, chmod sets the mode before the socket listens.
        fchmod(descriptor, 0o600)
        let code = try UnixSocket.withAddress(of: temporary) { address, length in
            bind(descriptor, address, length) == 0 ? 0 : errno
        }
        guard code == 0 else { throw failure("bind \(path)", code) }
        #if os(Linux)
            let isPrivate = true
        #else
            let isPrivate = chmod(temporary, 0o600) == 0
        #endif
        guard isPrivate, systemListen(descriptor, queueLength) == 0, rename(temporary, path) == 0 else {
            let code = errno
            unlink(temporary)
            throw failure("listen on \(path)", code)
        }
    }

    /// A path in the same folder, which no other process uses. Its name, which tools such as `ss` show for the socket, begins with the
    /// agent's, unless that is so long that an address has no room for more.
    private static func temporaryPath(beside path: String) -> String {
        let usual = "\(path).\(getpid())"
        guard (try? UnixSocket.withAddress(of: usual) { _, _ in }) == nil else { return usual }
        let folder = PrivateFiles.parent(of: path)
        return "\(folder == "/" ? "" : folder)/.\(String(getpid(), radix: 36))"
    }

    private static func failure(_ what: String, _ code: Int32) -> TokenError {
        TokenError(.agentUnavailable, "cannot \(what): \(SystemError(number: code))")
    }
}

/// `listen(2)`; the method above hides the function.
private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
