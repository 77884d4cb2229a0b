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
