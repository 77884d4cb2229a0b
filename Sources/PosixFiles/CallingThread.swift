internal import Dispatch
internal import Synchronization

/// Runs asynchronous work on the thread that calls it, which waits for it anyway: the main thread of a program.
///
/// Swift's pool would start several threads, which takes a quarter of the processor time of a short command, and pass the work from one to
/// the next. Unstructured tasks and time-outs still run in the pool.
package final class CallingThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    private init() {}

    /// Runs an operation, and returns its result.
    package static func run<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) -> Value {
        let (thread, end) = (CallingThread(), End<Value>())
        Task(executorPreference: thread) { end.value = await operation() }
        while true {
            if let value = end.value { return value }
            thread.runNextJob()
        }
    }

    /// Called by Swift's runtime, on any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrivals.signal()
    }

    private func runNextJob() {
        arrivals.wait()
        jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
    }

    /// The end of the operation; nil while it runs.
    private final class End<Value: Sendable>: Sendable {
        private let state = Mutex<Value?>(nil)

        var value: Value? {
            get { state.withLock(\.self) }
            set { state.withLock { $0 = newValue } }
        }
    }
}
