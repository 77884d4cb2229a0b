internal import Synchronization
package import TokenModel

/// The interactive sign-in in progress; a process has at most one.
///
/// MSALCompat and ADALCompat use the same instance, so that an app with both libraries cannot open two sign-in pages at
/// once. Their APIs cancel the sign-in in progress without naming it, which is why it is process-wide. Safe to use from any
/// thread.
package final class CurrentSignIn: Sendable {
    /// The instance of this process. Tests, which run in parallel, create instances of their own.
    package static let shared = CurrentSignIn()

    private typealias SignInTask = Task<Result<TokenResult, TokenError>, Never>
    private let task = Mutex<SignInTask?>(nil)

    package init() {}

    /// Runs `signIn` unless another sign-in is in progress. Cancelling the calling task cancels `signIn`.
    ///
    /// - Parameter refusal: the message of the error while another sign-in is in progress.
    /// - Throws: `interactionInProgress` (-51710) while another sign-in is in progress, and what `signIn` throws.
    package func run(
        refusal: String, _ signIn: @escaping @Sendable () async throws(TokenError) -> TokenResult
    ) async throws(TokenError) -> TokenResult {
        guard let started = start(signIn) else { throw TokenError(.interactionInProgress, refusal) }
        let result = await withTaskCancellationHandler {
            await started.value
        } onCancel: {
            started.cancel()
        }
        task.withLock { $0 = nil }
        return try result.get()
    }

    /// Cancels the sign-in in progress.
    ///
    /// - Returns: false if there was none.
    @discardableResult
    package func cancel() -> Bool {
        let current = task.withLock { $0 }
        current?.cancel()
        return current != nil
    }

    /// Starts `signIn` in an unstructured task, so that `cancel()` can reach it from any thread. Returns nil while another
    /// sign-in is in progress.
    private func start(_ signIn: @escaping @Sendable () async throws(TokenError) -> TokenResult) -> SignInTask? {
        task.withLock { current in
            guard current == nil else { return nil }
            let started = SignInTask {
                do throws(TokenError) {
                    return .success(try await signIn())
                } catch {
                    return .failure(error)
                }
            }
            current = started
            return started
        }
    }
}
