internal import Dispatch
internal import PosixFiles
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Checks from time to time whether the agent's socket can still be reached by its path.
///
/// The end of a user's session removes the runtime folder (`XDG_RUNTIME_DIR`), also while the agent runs. No app finds the agent then, and
/// it keeps the next agent from opening the store.
final class SocketWatch: Sendable {
    private let socket: OwnSocket
    private let interval: DispatchTimeInterval
    /// Called once, when the socket has been removed or replaced.
    private let onLoss: @Sendable () -> Void
    /// The folder may be on a file system that does not answer.
    private let queue = DispatchQueue(label: "sso-agent.socket")
    private let hasEnded = Atomic(false)

    /// Begins to check the socket that is at the path now.
    ///
    /// - Parameter onLoss: called once, on a thread of its own, when the socket has been removed or replaced.
    static func start(
        at path: String, every interval: DispatchTimeInterval, _ onLoss: @escaping @Sendable () -> Void
    ) -> SocketWatch {
        let watch = SocketWatch(path, interval, onLoss)
        watch.scheduleCheck()
        return watch
    }

    private init(_ path: String, _ interval: DispatchTimeInterval, _ onLoss: @escaping @Sendable () -> Void) {
        socket = OwnSocket(at: path)
        self.interval = interval
        self.onLoss = onLoss
    }

    /// Checks no more.
    func end() { hasEnded.store(true, ordering: .relaxed) }

    /// Removes the socket, unless another file has replaced it.
    func removeSocket() { socket.remove() }

    private func scheduleCheck() {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in self?.check() }
    }

    private func check() {
        guard !hasEnded.load(ordering: .relaxed) else { return }
        if socket.isInPlace { scheduleCheck() } else { onLoss() }
    }
}

/// A socket that this process has made, by its path and its file.
struct OwnSocket: Sendable {
    private let path: String
    /// The file; nil if nothing is known of it.
    private let file: FileIdentity?

    /// The socket that is at a path now.
    init(at path: String) {
        self.path = path
        file = try? FileIdentity(path, followsLinks: false)
    }

    /// Whether the socket is at its path, as far as that can be found out.
    var isInPlace: Bool {
        do throws(SystemError) {
            guard let found = try FileIdentity(path, followsLinks: false) else { return false }
            return file == nil || found == file
        } catch {
            return true
        }
    }

    /// Removes the socket, unless another file has replaced it.
    func remove() {
        if isInPlace { unlink(path) }
    }
}
