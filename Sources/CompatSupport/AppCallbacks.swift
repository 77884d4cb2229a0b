internal import Dispatch

/// A closure of the app, which the library may call from any thread.
///
/// Unchecked because the types that MSAL and ADAL declare for such closures are not `@Sendable`, while both libraries
/// call them from any thread: by their contracts, the app has to expect that.
package struct AppCallback<Function>: @unchecked Sendable {
    package let function: Function

    package init(_ function: Function) { self.function = function }
}

/// Runs code of the app that may block, such as a cache delegate's, outside of Swift's cooperative thread pool, and waits
/// for its end.
package func runBlockingAppCode(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            body()
            continuation.resume()
        }
    }
}
