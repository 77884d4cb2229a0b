internal import Dispatch

/// Suspends tasks for a time.
///
/// `Task.sleep` would use libdispatch's shared pool, whose first use starts a timer that wakes an idle process every second.
package enum Pause {
    private static let queue = DispatchQueue(label: "sso-agent.pauses")

    /// Suspends the task for the duration, or until it is cancelled.
    package static func wait(for duration: Duration) async {
        let (events, end) = AsyncStream.makeStream(of: Void.self)
        // Not `asyncAfter`, which cannot be cancelled: the time limit of each request would stay in memory, and wake the process, after
        // the response has arrived.
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { @Sendable in end.finish() }
        timer.schedule(deadline: .now() + duration / .seconds(1))
        timer.activate()
        // The stream has no elements: this returns when it is finished, or when the task is cancelled.
        for await _ in events {}
        timer.cancel()
    }
}
