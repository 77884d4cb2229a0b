internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The thread of the redirect listeners, which all sign-ins in progress share.
///
/// Every user of the machine can connect to a listener, again and again. On a thread of their own, these connections take no time of the
/// event loop that serves apps. The thread exists only while there is a listener, or a connection to one.
final class LoopbackThread: Sendable {
    /// The state behind the lock.
    private struct State {
        var current: LoopbackThread?
        /// The number of references to the current thread, which ends with the last one.
        var references = 0
    }

    private static let state = Mutex(State())

    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private init() {}

    /// The number of references to the thread; 0 if there is none.
    static var references: Int { state.withLock(\.references) }

    /// Returns the thread, which is started if there is none. The caller calls `release`.
    static func acquire() -> LoopbackThread {
        state.withLock { state in
            let thread = state.current ?? LoopbackThread()
            state.current = thread
            state.references += 1
            return thread
        }
    }

    /// Keeps the thread until a future of its event loop has completed. The caller has a reference.
    func keep(until future: EventLoopFuture<some Sendable>) {
        Self.state.withLock { $0.references += 1 }
        future.whenComplete { _ in self.release() }
    }

    /// Gives up a reference. The last one ends the thread.
    func release() {
        let isLast = Self.state.withLock { state in
            state.references -= 1
            guard state.references == 0 else { return false }
            state.current = nil
            return true
        }
        if isLast { group.shutdownGracefully { _ in } }
    }
}
