internal import Dispatch
internal import PosixFiles
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The end of a command that waits for what it prints next, such as `ssoctl watch | head -1`.
///
/// A process learns of a closed pipe only when it writes, which may be hours later.
enum ClosedOutput {
    /// Ends the process with status 0, without a message, when the reader of its standard output has closed it: it has what it
    /// wanted. A file and a terminal are never closed by a reader.
    ///
    /// Called once in a process.
    static func endProcessWhenClosed() {
        isAwaited.store(true, ordering: .relaxed)
        // A write before the process is told would end it by the signal, and not with status 0.
        signal(SIGPIPE, SIG_IGN)
        // A thread of its own, since it waits until then.
        DispatchQueue(label: "ssoctl.output").async {
            guard waitUntilClosed(STDOUT_FILENO) else { return }
            _exit(0)
        }
    }

    /// Whether a failure of the output means only that: the command may write before it is told that its reader has ended.
    static func explains(_ failure: SystemError) -> Bool {
        isAwaited.load(ordering: .relaxed) && failure.number == EPIPE
    }

    private static let isAwaited = Atomic(false)

    /// Waits until the other end of a pipe or a socket is closed.
    ///
    /// - Returns: false if the descriptor cannot be waited for.
    private static func waitUntilClosed(_ descriptor: Int32) -> Bool {
        // Linux reports that in any case, macOS only if an event is awaited.
        var event = pollfd(fd: descriptor, events: Int16(POLLHUP), revents: 0)
        while true {
            let count = poll(&event, 1, -1)
            guard count >= 0 else {
                if errno == EINTR { continue }
                return false
            }
            return Int32(event.revents) & (Int32(POLLERR) | Int32(POLLHUP)) != 0
        }
    }
}
