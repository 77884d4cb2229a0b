internal import Dispatch
package import NIOCore

/// The end of the threads that listeners have.
///
/// SwiftNIO would call back on libdispatch's shared pool, from whose first work on an idle process is woken once a second.
extension EventLoopGroup {
    /// Ends the threads of the group, which have no connections, and calls `done` then, on another thread.
    package func end(_ done: @escaping @Sendable () -> Void) {
        shutdownGracefully(queue: DispatchQueue(label: "sso-agent.listeners")) { _ in done() }
    }

    /// Ends the threads of the group, which have no connections.
    package func end() async {
        await withCheckedContinuation { ended in end { ended.resume() } }
    }
}
