internal import Foundation
internal import Synchronization

/// A task executor that runs each test on a thread of its own, however many that takes.
///
/// Tests block: they read sockets, wait for processes, call methods that wait for the agent. Swift's thread pool
/// has one thread for each processor. In a test the agent and the emulator live in the same process; on a pool that the tests
/// block, they could not send the replies that the tests wait for.
final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    private struct State {
        var jobs: [UnownedJob] = []
        var idle = 0
    }

    private let state = Mutex(State())
    private let work = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.idle >= state.jobs.count else { return true }
            return false
        }
        if needsThread { Thread.detachNewThread { self.serve() } }
        work.signal()
    }

    /// Runs jobs until the process ends; the thread is reused by later tests.
    private func serve() {
        while true {
            state.withLock { $0.idle += 1 }
            work.wait()
            let job = state.withLock { state in
                state.idle -= 1
                return state.jobs.removeFirst()
            }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
