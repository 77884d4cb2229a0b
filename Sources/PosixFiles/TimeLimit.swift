package import Dispatch

/// Limits the wait for a disk, which may never answer.
extension DispatchQueue {
    /// Runs `work` on the queue, and suspends the caller until it has ended, or until a time. Work that takes longer goes on.
    ///
    /// - Parameter end: the time at which the wait ends.
    /// - Returns: whether the work has ended.
    package func run(until end: DispatchTime, _ work: @escaping @Sendable () -> Void) async -> Bool {
        let ended = DispatchSemaphore(value: 0)
        async {
            work()
            ended.signal()
        }
        return await withCheckedContinuation { done in
            DispatchQueue(label: "sso-agent.limit").async {
                done.resume(returning: ended.wait(timeout: end) == .success)
            }
        }
    }
}
