internal import PosixFiles
internal import Synchronization
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The lock file beside the socket, which keeps a second agent from replacing the first one's socket. It holds the process ID.
struct LockFile: ~Copyable {
    private let lock: FileLock

    /// - Throws: `agentUnavailable` (-53004) if another agent has the lock, with its process ID, or if the file cannot be opened
    ///   or locked, with the reason.
    init(beside socketPath: String) throws(TokenError) {
        let files = PrivateFiles(errorCode: .agentUnavailable)
        let path = socketPath + ".lock"
        let lock: FileLock
        do throws(SystemError) {
            lock = FileLock(try FileDescriptor(openingOrCreating: path))
        } catch {
            throw files.failure("cannot open \(path)", error)
        }
        switch lock.acquire() {
        case .acquired: break
        case .failed(let error): throw files.failure("cannot lock \(path)", error)
        case .held:
            let text = (try? lock.file.readToEnd(limit: 16)) ?? []
            let holder = String(decoding: text, as: UTF8.self).trimmedNonEmpty ?? "unknown"
            throw TokenError(
                .agentUnavailable,
                "another sso-agent (process \(holder)) already listens on \(socketPath); use it, or stop it first")
        }
        lock.file.replaceContent(with: "\(getpid())\n")
        self.lock = lock
    }
}

/// Holds the lock until `release`, or until the process ends.
final class LockHolder: Sendable {
    private let file: Mutex<LockFile?>

    init(_ file: consuming LockFile) { self.file = Mutex(file) }

    /// Lets another agent take over.
    func release() { file.withLock { $0 = nil } }
}
