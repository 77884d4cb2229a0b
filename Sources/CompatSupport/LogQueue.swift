internal import Dispatch

/// The queue on which the log callbacks of apps are called: one at a time, in the order of the messages, as in MSAL and ADAL.
///
/// Callbacks of apps need not be safe for concurrent calls, and may wait for the thread that made the request, such as the main thread.
package enum LogQueue {
    private static let queue = DispatchQueue(label: "sso-agent.log")

    /// Calls `body` after the earlier messages have been passed to the app. Returns at once.
    package static func call(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// Waits until every earlier message has been passed to the app; for tests.
    package static func drain() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
