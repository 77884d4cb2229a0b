internal import Foundation
internal import TokenModel

/// How long the app is willing to wait.
struct Deadline: Sendable {
    let seconds: TimeInterval

    // How long `AgentClient` waits by itself. A limit beyond it needs no clock of its own, which a cached token would
    // have to pay for.
    private static let agentLimit: TimeInterval = 90

    /// Runs `work`, which is cancelled when the time is over.
    ///
    /// - Throws: `networkUnavailable` with `NSURLErrorTimedOut` when the time is over, and what `work` throws.
    func run(
        _ work: @escaping @Sendable () async throws(TokenError) -> TokenResult
    ) async throws(TokenError) -> TokenResult {
        guard seconds < Self.agentLimit else { return try await work() }
        let outcome = await withTaskGroup(of: Result<TokenResult, TokenError>?.self) { group in
            group.addTask {
                do throws(TokenError) {
                    return .success(try await work())
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(max(seconds, 0)))
                return Task.isCancelled ? .failure(TokenError(.cancelled, "the call was cancelled")) : nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let outcome else {
            var details = TokenError.Details()
            details.networkErrorCode = Int32(NSURLErrorTimedOut)
            throw TokenError(.networkUnavailable, "the request took longer than \(seconds) s", details: details)
        }
        return try outcome.get()
    }
}
