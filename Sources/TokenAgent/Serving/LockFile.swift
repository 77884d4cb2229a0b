internal import Synchronization
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Keeps a second agent from taking over the first one's socket. The kernel drops the lock with the process, however it ends.
struct LockFile: ~Copyable {
    private let descriptor: Int32

    /// - Throws: `agentUnavailable` (-53004) when another agent holds it; the message names its process.
    init(beside socketPath: String) throws(TokenError) {
        let path = socketPath + ".lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw TokenError(.agentUnavailable, "cannot open \(path): \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            var text = [UInt8](repeating: 0, count: 16)
            let count = max(read(descriptor, &text, text.count), 0)
            let holder = String(decoding: text.prefix(count), as: UTF8.self).trimmedNonEmpty ?? "unknown"
            close(descriptor)
            throw TokenError(
                .agentUnavailable,
                "another sso-agent (process \(holder)) already listens on \(socketPath); use it, or stop it first")
        }
        let own = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        _ = pwrite(descriptor, own, own.count, 0)
    }

    deinit {
        // Not by closing alone: a process that this one is just starting has a copy until it becomes another program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// Holds the lock until it is let go, or until the agent is gone.
final class LockHolder: Sendable {
    private let file: Mutex<LockFile?>

    init(_ file: consuming LockFile) { self.file = Mutex(file) }

    /// Lets another agent take over.
    func release() { file.withLock { $0 = nil } }
}
