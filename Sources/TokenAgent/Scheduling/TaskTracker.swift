package import NIOCore
internal import TokenModel

/// Starts the agent's tasks and counts those that are running. No other code of the agent starts a task.
///
/// The tasks are unstructured on purpose: an app that disconnects must not fail other apps that wait for the same result, nor
/// lose a refresh token that is being rotated. They run on the event loop.
final class TaskTracker {
    private let loop: any EventLoop
    private let place: TaskPlace
    private let timers: Timers
    private var running = 0
    private var idle: EventLoopPromise<Void>?

    init(loop: any EventLoop, timers: Timers) {
        self.loop = loop
        self.timers = timers
        place = TaskPlace(loop: loop)
    }

    /// Starts a task on the event loop, on which it is called.
    ///
    /// - Parameter work: a closure without a capture list: with one, Swift 6.3 runs it on another thread
    ///   (docs/decisions/0043-closures-of-tasks.md).
    /// - Returns: a future of the result, which never fails.
    @discardableResult
    func start<Value: Sendable>(
        _ work: @escaping () async throws(TokenError) -> Value
    ) -> EventLoopFuture<Result<Value, TokenError>> {
        let promise = loop.makePromise(of: Result<Value, TokenError>.self)
        running += 1
        let task = NIOLoopBound((work: work, tracker: self), eventLoop: loop)
        // Isolated, so that tasks begin in the order of the calls.
        place.assumeIsolated { place in _ = Task { await place.run(task, promise) } }
        return promise.futureResult
    }

    /// Runs `work` on the event loop after a delay, unless the returned timer is cancelled first.
    func schedule(after delay: TimeAmount, _ work: @escaping () -> Void) -> Timers.Timer {
        let work = NIOLoopBound(work, eventLoop: loop)
        return timers.schedule(loop, delay) { work.value() }
    }

    /// Suspends the task for the delay, or until `wakeUp` completes.
    func sleep(for delay: TimeAmount, orUntil wakeUp: EventLoopFuture<Void>) async {
        let promise = loop.makePromise(of: Void.self)
        let timer = timers.schedule(loop, delay) { promise.succeed() }
        wakeUp.whenComplete { _ in promise.succeed() }
        _ = try? await promise.futureResult.get()
        timer.cancel()
    }

    /// The outcome of a future, or another one if the future has not completed in time.
    func limited<Value: Sendable>(
        _ future: EventLoopFuture<Value>, to limit: TimeAmount, otherwise value: Value
    ) -> EventLoopFuture<Value> {
        let promise = loop.makePromise(of: Value.self)
        let timer = timers.schedule(loop, limit) { promise.succeed(value) }
        future.whenComplete { outcome in
            timer.cancel()
            promise.completeWith(outcome)
        }
        return promise.futureResult
    }

    /// Completes when no task is running.
    func whenIdle() -> EventLoopFuture<Void> {
        guard running > 0 else { return loop.makeSucceededVoidFuture() }
        let promise = idle ?? loop.makePromise(of: Void.self)
        idle = promise
        return promise.futureResult
    }

    fileprivate func ended() {
        running -= 1
        guard running == 0, let idle else { return }
        // A later call waits for the tasks that are running then.
        self.idle = nil
        idle.succeed()
    }
}

/// The event loop as an actor, for tasks: they run on it wherever they are started. A task that inherited the actor of its caller would run
/// on another thread if it were started in a function without one, as in a timer's.
private actor TaskPlace {
    private nonisolated let loop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    init(loop: any EventLoop) { self.loop = loop }

    func run<Value: Sendable>(
        _ task: NIOLoopBound<(work: () async throws(TokenError) -> Value, tracker: TaskTracker)>,
        _ promise: EventLoopPromise<Result<Value, TokenError>>
    ) async {
        let (work, tracker) = task.value
        do throws(TokenError) {
            let value = try await work()
            promise.succeed(.success(value))
        } catch {
            promise.succeed(.failure(error))
        }
        tracker.ended()
    }
}

extension EventLoopFuture {
    /// Waits for a task's result.
    ///
    /// - Throws: the task's error; `cancelled` if the event loop has stopped.
    func outcome<Success: Sendable>() async throws(TokenError) -> Success where Value == Result<Success, TokenError> {
        let outcome: Value
        do {
            outcome = try await get()
        } catch {
            throw TokenError.agentIsStopping
        }
        return try outcome.get()
    }
}

extension TokenError {
    /// The error of what ends because the agent stops.
    static let agentIsStopping = TokenError(.cancelled, "the agent is stopping")
}

/// The timers of the agent: by default those of its event loop; tests have timers that they advance themselves.
package struct Timers: Sendable {
    /// Runs `work` on the event loop after the delay, unless the returned timer is cancelled first.
    package var schedule: @Sendable (any EventLoop, TimeAmount, _ work: @escaping @Sendable () -> Void) -> Timer

    package init(schedule: @escaping @Sendable (any EventLoop, TimeAmount, @escaping @Sendable () -> Void) -> Timer) {
        self.schedule = schedule
    }

    package static let system = Timers { loop, delay, work in
        let scheduled = loop.scheduleTask(in: delay, work)
        return Timer { scheduled.cancel() }
    }

    /// Scheduled work that can be cancelled.
    package struct Timer: Sendable {
        private let cancellation: @Sendable () -> Void

        /// - Parameter cancellation: cancels the work; has no effect once the work has run.
        package init(_ cancellation: @escaping @Sendable () -> Void) {
            self.cancellation = cancellation
        }

        package func cancel() { cancellation() }
    }
}
