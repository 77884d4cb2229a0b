internal import Dispatch
internal import PosixFiles
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Checks from time to time whether the agent's socket can still be reached by its path, and has what else has to be looked at checked in the
/// same moment: an idle agent wakes once.
///
/// The end of a user's session removes the runtime folder (`XDG_RUNTIME_DIR`), also while the agent runs. No app finds the agent then, and
/// it keeps the next agent from opening the store.
final class SocketWatch: Sendable {
    /// Nil for a socket of the service manager, which stays when the agent stops: connections wait at it until the next start.
    private let socket: OwnSocket?
    private let interval: DispatchTimeInterval
    /// Called at each check.
    private let besides: @Sendable () -> Void
    /// Called once, when the socket has been removed or replaced.
    private let onLoss: @Sendable () -> Void
    /// The folder may be on a file system that does not answer.
    private let queue = DispatchQueue(label: "sso-agent.socket")
    private let hasEnded = Atomic(false)

    /// Begins to check the socket that is at the path now.
    ///
    /// - Parameters:
    ///   - path: nil for a socket that is not the agent's own.
    ///   - besides: called at each check, on a thread of its own; it must not block.
    ///   - onLoss: called once, on that thread, when the socket has been removed or replaced.
    static func start(
        at path: String?, every interval: DispatchTimeInterval, besides: @escaping @Sendable () -> Void,
        _ onLoss: @escaping @Sendable () -> Void
    ) -> SocketWatch {
        let watch = SocketWatch(path, interval, besides, onLoss)
        watch.scheduleCheck()
        return watch
    }

    private init(
        _ path: String?, _ interval: DispatchTimeInterval, _ besides: @escaping @Sendable () -> Void,
        _ onLoss: @escaping @Sendable () -> Void
    ) {
        socket = path.map(OwnSocket.init)
        self.interval = interval
        self.besides = besides
        self.onLoss = onLoss
    }

    /// Checks no more.
    func end() { hasEnded.store(true, ordering: .relaxed) }

    /// Removes the socket, unless another file has replaced it.
    func removeSocket() { socket?.remove() }

    private func scheduleCheck() {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in self?.check() }
    }

    private func check() {
        guard !hasEnded.load(ordering: .relaxed) else { return }
        besides()
        if socket?.isInPlace ?? true { scheduleCheck() } else { onLoss() }
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
