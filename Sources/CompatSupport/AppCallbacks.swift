internal import Dispatch

/// A closure of the app, which the library may call from any thread.
///
/// Unchecked because the types that MSAL and ADAL declare for such closures are not `@Sendable`, while both libraries
/// call them from any thread: by their contracts, the app has to expect that.
package struct AppCallback<Function>: @unchecked Sendable {
    package let function: Function

    package init(_ function: Function) { self.function = function }
}

/// Runs code of the app that may block, such as a cache delegate's, outside of Swift's cooperative thread pool, waits for its end, and
/// returns its result.
package func runBlockingAppCode<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}

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
