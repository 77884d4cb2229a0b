internal import Foundation
internal import Synchronization

/// The emulator's memory: one lock around ``EmulatorContents``, and the two ways to wait for others.
///
/// A lock rather than an actor, so that a test can ask and set without waiting.
final class EmulatorState: Sendable {
    let options: EmulatorOptions
    private let contents: Mutex<EmulatorContents>

    init(_ options: EmulatorOptions) {
        self.options = options
        contents = Mutex(EmulatorContents(options))
    }

    var now: Date { options.now() }

    var directory: Directory { Directory(seed: options.seed) }

    /// Reads or changes the contents, then wakes who waited for the change.
    func update<Result: Sendable, Failure: Error>(
        _ change: (inout EmulatorContents) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var satisfied: [EmulatorContents.Waiter] = []
        defer { for waiter in satisfied { waiter.continuation.resume() } }
        return try contents.withLock { (contents) throws(Failure) in
            defer { satisfied = contents.takeSatisfiedWaiters() }
            return try change(&contents)
        }
    }

    /// Returns when the counts say so, or when the task is cancelled.
    func wait(until isSatisfied: @escaping @Sendable (Counts) -> Bool) async {
        let id = update { contents in
            contents.nextWaiter += 1
            return contents.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = update { contents in
                    guard !Task.isCancelled, !contents.isStopping else { return false }
                    contents.waiters[id] = EmulatorContents.Waiter(
                        isSatisfied: isSatisfied, continuation: continuation)
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            update { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    /// Returns when ``release()`` is called, at once when the emulator is stopping.
    func hold() async {
        await withCheckedContinuation { continuation in
            let isHeld = update { contents in
                guard !contents.isStopping else { return false }
                contents.holds.append(continuation)
                contents.counts.held += 1
                return true
            }
            if !isHeld { continuation.resume() }
        }
    }

    /// Lets held requests go on, the oldest first, and returns how many there were.
    @discardableResult
    func release(_ limit: Int = .max) -> Int {
        let released = update { contents in
            let released = Array(contents.holds.prefix(limit))
            contents.holds.removeFirst(released.count)
            contents.counts.held -= released.count
            return released
        }
        for continuation in released { continuation.resume() }
        return released.count
    }

    /// Nobody waits from here on: what is held goes on, so that a shutdown can finish.
    func stopWaiting() {
        let waiters = update { contents in
            contents.isStopping = true
            defer { contents.waiters = [:] }
            return Array(contents.waiters.values)
        }
        for waiter in waiters { waiter.continuation.resume() }
        release()
    }
}
