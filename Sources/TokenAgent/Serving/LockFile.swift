internal import AgentSocket
internal import PosixFiles
internal import Synchronization
package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The lock file beside the socket, which keeps a second agent from replacing the first one's socket. It holds the process ID, and is
/// locked until `release`, or until the process ends.
package final class LockFile: Sendable {
    private let lock: Mutex<FileLock?>

    /// Acquires the lock. One whose agent has stopped listening is waited for: that agent finishes its replies, and then ends.
    ///
    /// - Parameter isManagers: whether the service manager listens at the path. An agent that has the lock has lost its socket then, as when
    ///   the unit was switched on while an agent ran that a program had started. It finds that out within a minute, and ends.
    /// - Throws: `agentUnavailable` (-53004) if there can be no socket at the path, if another agent has the lock, with its process ID, or
    ///   if the file cannot be opened or locked, with the reason.
    init(beside socketPath: String, isManagers: Bool = false) async throws(TokenError) {
        // No file is left beside a path that is not a socket's.
        try ListeningSocket.requirePlace(at: socketPath)
        let files = PrivateFiles(errorCode: .agentUnavailable)
        let path = socketPath + ".lock"
        let lock: FileLock
        do throws(SystemError) {
            lock = FileLock(try FileDescriptor(openingOrCreating: path))
        } catch {
            throw files.failure("cannot open \(path)", error)
        }
        let deadline = ContinuousClock.now + (isManagers ? Self.longestWaitOfUnit : Self.longestWait)
        acquiring: while true {
            switch lock.acquire() {
            case .acquired: break acquiring
            case .failed(let error): throw files.failure("cannot lock \(path)", error)
            case .held:
                let listens = !isManagers && ListeningSocket.isServed(at: socketPath) != false
                guard !listens, .now < deadline, !Task.isCancelled else {
                    throw Self.held(lock, socketPath, listens: listens)
                }
                // Polled, since no system call waits for a lock with a time limit.
                await Pause.wait(for: .milliseconds(20))
            }
        }
        lock.file.replaceContent(with: "\(getpid())\n")
        self.lock = Mutex(lock)
    }

    /// Lets another agent take over.
    func release() { lock.withLock { $0 = nil } }

    private static func held(_ lock: borrowing FileLock, _ socketPath: String, listens: Bool) -> TokenError {
        let text = (try? lock.file.readToEnd(limit: 16)) ?? []
        let holder = String(decoding: text, as: UTF8.self).trimmedNonEmpty ?? "unknown"
        // A second signal would end it before it has the refresh tokens for which it waits.
        guard listens else {
            return TokenError(
                .agentUnavailable,
                "another sso-agent (process \(holder)) does not listen on \(socketPath), and has not ended yet; try again in a minute"
            )
        }
        return TokenError(
            .agentUnavailable,
            "another sso-agent (process \(holder)) already listens on \(socketPath); use it, or stop it first",
            Int32(holder).map { .purpose("kill \($0)") })
    }

    /// Longer than a stopping agent waits for its replies in progress, but for refresh tokens that have been sent, and shorter than a
    /// program waits for the agent that it has started.
    private static let longestWait = Duration.seconds(12)
    /// Longer than an agent needs to find out that it has lost its socket, and shorter than systemd waits for the start of a service.
    private static let longestWaitOfUnit = Duration.seconds(75)
}

extension LockFile {
    /// Acquires the lock of an agent's socket, which may take as long as another agent needs to end.
    ///
    /// - Throws: `agentUnavailable` (-53004) if another agent has the lock and listens, or does not end; if another process, such as the
    ///   service manager for the agent's unit, listens at the path; or if the folder is not private, or cannot be made.
    package static func acquire(for options: AgentOptions) async throws(TokenError) -> LockFile {
        let path = options.socketPath
        _ = try SocketFolder(ofSocket: path)
        guard options.handedSocket == nil else { return try await LockFile(beside: path, isManagers: true) }
        // Checked without the lock: if a service manager listens, the connection starts an agent, which needs the lock.
        let wasServed = ListeningSocket.isServed(at: path) == true
        let lock = try await LockFile(beside: path)
        // If the listener has ended in the meantime, it was an agent that was stopping.
        if wasServed, ListeningSocket.isServed(at: path) == true { throw ListeningSocket.served(path) }
        return lock
    }
}
