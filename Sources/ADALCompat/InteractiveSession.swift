internal import Synchronization
package import TokenModel

/// The place of the one interactive request that may be under way.
///
/// The lock guards what is process-wide by ADAL's contract: `ADWebAuthController.cancelCurrentWebAuthSession()` names no
/// request, and a second request at the same time is refused. Tests make places of their own.
package final class InteractiveSession: Sendable {
    package typealias SignIn = Task<Result<TokenResult, TokenError>, Never>

    /// This process's.
    package static let shared = InteractiveSession()

    private let signIn = Mutex<SignIn?>(nil)

    package init() {}

    /// Runs `work` unless another is under way: then fails with `interactionInProgress` (-51710).
    package func run(
        _ work: @escaping @Sendable () async throws(TokenError) -> TokenResult
    ) async throws(TokenError) -> TokenResult {
        let task = signIn.withLock { current -> SignIn? in
            guard current == nil else { return nil }
            // Unstructured on purpose: `cancel()` comes from anywhere and has no task to cancel but this.
            let task = SignIn {
                do throws(TokenError) { return .success(try await work()) } catch { return .failure(error) }
            }
            current = task
            return task
        }
        guard let task else { throw TokenError(.interactionInProgress, "another sign-in is under way") }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        signIn.withLock { $0 = nil }
        return try result.get()
    }

    /// Gives up what is under way, if anything.
    package func cancel() {
        signIn.withLock { $0 }?.cancel()
    }
}
