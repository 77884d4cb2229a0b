internal import NIOCore
internal import TokenModel

/// Starts the agent's tasks and knows how many are running. Nothing else in the agent starts one.
///
/// They are unstructured on purpose: an app that hangs up must not fail the others that wait for the same, nor lose a refresh
/// token that is being rotated. They run on the actor of whoever starts them, beside the actor's other work.
final class TaskTracker {
    private let loop: any EventLoop
    private let timers: Timers
    private var running = 0
    private var idle: EventLoopPromise<Void>?

    init(loop: any EventLoop, timers: Timers) {
        self.loop = loop
        self.timers = timers
    }

    /// Starts `work` now.
    @discardableResult
    func start<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation,
        _ work: sending @escaping () async throws(TokenError) -> Value
    ) -> EventLoopFuture<Result<Value, TokenError>> {
        let promise = loop.makePromise(of: Result<Value, TokenError>.self)
        running += 1
        Task {
            _ = isolation
            let outcome: Result<Value, TokenError>
            do throws(TokenError) {
                outcome = .success(try await work())
            } catch {
                outcome = .failure(error)
            }
            promise.succeed(outcome)
            ended()
        }
        return promise.futureResult
    }

    /// Does `work` after a delay, on the event loop, unless what is returned is cancelled first.
    func schedule(after delay: TimeAmount, _ work: @escaping () -> Void) -> Timers.Timer {
        let work = NIOLoopBound(work, eventLoop: loop)
        return timers.schedule(loop, delay) { work.value() }
    }

    /// Waits, beside the actor's other work; cut short by `wakeUp`.
    func sleep(for delay: TimeAmount, until wakeUp: EventLoopFuture<Void>) async {
        let promise = loop.makePromise(of: Void.self)
        let timer = timers.schedule(loop, delay) { promise.succeed() }
        wakeUp.whenComplete { _ in promise.succeed() }
        _ = try? await promise.futureResult.get()
        timer.cancel()
    }

    /// Completes when no task is running.
    func whenIdle() -> EventLoopFuture<Void> {
        guard running > 0 else { return loop.makeSucceededVoidFuture() }
        let promise = idle ?? loop.makePromise(of: Void.self)
        idle = promise
        return promise.futureResult
    }

    private func ended() {
        running -= 1
        if running == 0 { idle?.succeed() }
    }
}

extension EventLoopFuture {
    /// Waits for a task's result.
    func outcome<Success: Sendable>() async throws(TokenError) -> Success where Value == Result<Success, TokenError> {
        let outcome: Value
        do {
            outcome = try await get()
        } catch {
            throw TokenError(.cancelled, "the agent is stopping")
        }
        return try outcome.get()
    }
}
