internal import CAgentSystem
internal import Dispatch
internal import TokenModel

/// A thread for work that takes long, or that a file system may never end, one piece of work after the other. The threads of tasks stay free:
/// on these few, the responses of identity providers are read, and the agent is stopped.
///
/// The stack is wiped after each piece of work: the thread may be idle afterwards, so that nothing else overwrites the tokens.
struct WorkThread: Sendable {
    private let queue: DispatchQueue

    init(_ name: String) { queue = DispatchQueue(label: "sso-agent.\(name)") }

    /// Runs `work` on the thread, and suspends the caller meanwhile.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        try await withCheckedContinuation { (done: CheckedContinuation<Result<Value, TokenError>, Never>) in
            start(work) { done.resume(returning: $0) }
        }.get()
    }

    /// Begins `work` on the thread, and passes its result to `done` there.
    func start<Value: Sendable>(
        _ work: @escaping @Sendable () throws(TokenError) -> Value,
        _ done: @escaping @Sendable (Result<Value, TokenError>) -> Void
    ) {
        queue.async {
            let result = Self.result(of: work)
            agent_wipe_stack()
            done(result)
        }
    }

    /// Waits for the end of the work that has been given to the thread so far.
    func waitUntilIdle() async {
        await withCheckedContinuation { done in queue.async { done.resume() } }
    }

    /// Runs `work` in a stack frame of its own, so that the stack below the caller's frame can be wiped afterwards.
    @inline(never)
    private static func result<Value>(of work: () throws(TokenError) -> Value) -> Result<Value, TokenError> {
        Result { () throws(TokenError) in try work() }
    }
}
