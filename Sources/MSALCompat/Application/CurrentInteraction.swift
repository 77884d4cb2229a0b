internal import Synchronization
internal import TokenModel

/// The interactive request under way: a process has one at most.
final class CurrentInteraction: Sendable {
    static let shared = CurrentInteraction()

    private typealias Running = Task<Result<TokenResult, TokenError>, Never>
    private let running = Mutex<Running?>(nil)

    /// Runs `work` as the interactive request under way. Cancelling the calling task cancels it.
    ///
    /// - Throws: `interactionInProgress` when there is one already, `sessionCanceled` when it is cancelled, and what
    ///   `work` throws.
    func run(
        _ work: @escaping @Sendable () async throws(TokenError) -> TokenResult
    ) async throws(TokenError) -> TokenResult {
        let task = try begin(work)
        let outcome = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        running.withLock { $0 = nil }
        do {
            return try outcome.get()
        } catch {
            throw error.code == .cancelled ? TokenError(.sessionCanceled, "the sign-in was cancelled") : error
        }
    }

    /// Cancels the interactive request under way; returns whether there was one.
    func cancel() -> Bool {
        let task = running.withLock { $0 }
        task?.cancel()
        return task != nil
    }

    /// A task of its own, so that `cancel()` can reach it from anywhere.
    private func begin(
        _ work: @escaping @Sendable () async throws(TokenError) -> TokenResult
    ) throws(TokenError) -> Running {
        let started: Running? = running.withLock { running in
            guard running == nil else { return nil }
            let task = Running {
                do throws(TokenError) {
                    return .success(try await work())
                } catch {
                    return .failure(error)
                }
            }
            running = task
            return task
        }
        guard let started else {
            // MSAL's own words: apps look for them.
            throw TokenError(.interactionInProgress, "Only one interactive session is allowed at a time.")
        }
        return started
    }
}
