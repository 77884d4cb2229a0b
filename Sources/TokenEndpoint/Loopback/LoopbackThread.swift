internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The thread of the redirect listeners of one sign-in.
///
/// Every user of the machine can connect to a listener, again and again. On a thread of their own, these connections take no time of the
/// event loop that serves apps. The thread ends with the last listener and the last connection to one.
final class LoopbackThread: Sendable {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// One for whoever has created the thread, and one for each future that has not completed.
    private let references = Mutex(1)
    private let onEnd: @Sendable () -> Void

    /// Starts the thread. The caller calls `release`.
    ///
    /// - Parameter onEnd: called when the thread has ended.
    init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }

    /// Keeps the thread until a future of its event loop has completed. The caller has a reference.
    func keep(until future: EventLoopFuture<some Sendable>) {
        references.withLock { $0 += 1 }
        future.whenComplete { _ in self.release() }
    }

    /// Gives up a reference. The last one ends the thread.
    func release() {
        let isLast = references.withLock { references in
            references -= 1
            return references == 0
        }
        if isLast { group.shutdownGracefully { [onEnd] _ in onEnd() } }
    }
}
