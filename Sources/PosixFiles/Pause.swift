internal import Dispatch

/// A wait of a task, for a time.
///
/// `Task.sleep` would wait on libdispatch's shared pool, from whose first work on an idle process is woken once a second.
package enum Pause {
    private static let queue = DispatchQueue(label: "sso-agent.pauses")

    /// Suspends the task for the duration, or until it is cancelled.
    package static func wait(for duration: Duration) async {
        let (events, end) = AsyncStream.makeStream(of: Void.self)
        queue.asyncAfter(deadline: .now() + duration / .seconds(1)) { end.finish() }
        // None comes: this returns at the end of the stream, or of the task.
        for await _ in events {}
    }
}
