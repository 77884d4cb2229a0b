internal import CTaskThreads
internal import Dispatch
internal import Synchronization

/// The threads of the tasks that have no executor of their own, such as the decoding of a response. They replace libdispatch's shared pool.
///
/// libdispatch adjusts that pool on a timer of one second, which starts with the pool's first work and never ends. Serial queues have threads
/// only while there is work, and no timer.
enum TaskThreads {
    /// Makes all tasks without an executor use these threads from now on. Called before the first task.
    static func use() {
        task_threads_use { job in TaskThreads.start(Job(pointer: job)) }
    }

    private static func start(_ job: Job) {
        let shortest = lines.min { $0.waiting.load(ordering: .relaxed) < $1.waiting.load(ordering: .relaxed) }
        shortest?.start(job)
    }

    private static let lines = (0..<4).map(Line.init)

    /// Jobs that run one after the other.
    private final class Line: Sendable {
        let waiting = Atomic(0)
        private let queue: DispatchQueue

        init(_ number: Int) { queue = DispatchQueue(label: "sso-agent.tasks.\(number)") }

        func start(_ job: Job) {
            waiting.add(1, ordering: .relaxed)
            queue.async { [self] in
                task_threads_run(job.pointer)
                waiting.subtract(1, ordering: .relaxed)
            }
        }
    }

    /// A job of Swift's runtime.
    ///
    /// `@unchecked`: the pointer is not used but passed on, once, and the job belongs to whoever has it.
    private struct Job: @unchecked Sendable {
        let pointer: UnsafeRawPointer?
    }
}
