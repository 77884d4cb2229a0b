internal import Dispatch
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
    /// What tells a file from another one with the same path.
    private struct File: Equatable, Sendable {
        let device: UInt64
        let number: UInt64
    }

    private let path: String
    /// The socket; nil if nothing is known of it.
    private let file: File?
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
        self.path = path
        self.interval = interval
        self.onLoss = onLoss
        file = if case .found(let file) = Self.look(at: path) { file } else { nil }
    }

    /// Checks no more.
    func end() { hasEnded.store(true, ordering: .relaxed) }

    /// Whether the socket is at its path, as far as that can be found out.
    var isInPlace: Bool {
        switch Self.look(at: path) {
        case .found(let found): file == nil || found == file
        case .missing: false
        case .unknown: true
        }
    }

    private func scheduleCheck() {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in self?.check() }
    }

    private func check() {
        guard !hasEnded.load(ordering: .relaxed) else { return }
        if isInPlace { scheduleCheck() } else { onLoss() }
    }

    private enum Finding {
        case found(File)
        case missing
        case unknown
    }

    private static func look(at path: String) -> Finding {
        var status = stat()
        guard lstat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .missing : .unknown }
        return .found(
            File(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino)))
    }
}
