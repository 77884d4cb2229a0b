internal import Foundation
internal import Synchronization

/// The emulator's state: ``EmulatorContents`` behind a lock, and the tasks that wait for a change of it.
///
/// It is a lock and not an actor, so that tests can read and change it synchronously.
final class EmulatorState: Sendable {
    let options: EmulatorOptions
    private let contents: Mutex<EmulatorContents>

    init(_ options: EmulatorOptions) {
        self.options = options
        contents = Mutex(EmulatorContents(options))
    }

    var now: Date { options.now() }

    var directory: Directory { Directory(seed: options.seed) }

    /// Reads or changes the contents, then resumes the tasks that waited for the change.
    func update<Result: Sendable, Failure: Error>(
        _ change: (inout EmulatorContents) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var satisfied: [EmulatorContents.Waiter] = []
        defer { for waiter in satisfied { waiter.continuation.resume() } }
        return try contents.withLock { (contents) throws(Failure) in
            defer { satisfied = contents.removeSatisfiedWaiters() }
            return try change(&contents)
        }
    }

    /// Returns when the counts satisfy the condition, when the task is cancelled, or when the emulator stops.
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

    /// Holds a request until ``release()`` is called; returns immediately if the emulator is stopping.
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

    /// Resumes held requests, the oldest first.
    ///
    /// - Returns: the number of resumed requests.
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

    /// Resumes every waiting task and held request, and lets no other wait, so that the server can stop.
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

/// The mutable state of an emulator, protected by the lock of ``EmulatorState``.
struct EmulatorContents: Sendable {
    var settings: EmulatorSettings
    var ledger: Ledger
    var faults: [Fault] = []
    var counts = Counts()
    var recorded: [RecordedRequest] = []
    /// Scheme, host and port; empty until the listener is bound.
    var baseURL = ""
    var isStopping = false
    var holds: [CheckedContinuation<Void, Never>] = []
    var waiters: [Int: Waiter] = [:]
    var nextWaiter = 0

    /// A task that waits until the counts satisfy a condition.
    struct Waiter: Sendable {
        var isSatisfied: @Sendable (Counts) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    init(_ options: EmulatorOptions) {
        settings = options.settings
        ledger = Ledger(directory: Directory(seed: options.seed), usernames: options.usernames)
    }

    /// Restores the initial state. Waiting tasks and held requests keep waiting.
    mutating func reset(_ options: EmulatorOptions) {
        let fresh = EmulatorContents(options)
        (settings, ledger) = (fresh.settings, fresh.ledger)
        (faults, recorded) = ([], [])
        counts.reset()
    }

    /// Returns the first fault that matches the request and counts it down; removes the fault after its last use.
    mutating func consumeFault(for request: EmulatorRequest) -> Fault? {
        guard let index = faults.firstIndex(where: { $0.matches(request) }) else { return nil }
        let fault = faults[index]
        switch fault.count {
        case 0: break
        case 1: faults.remove(at: index)
        default: faults[index].count -= 1
        }
        return fault
    }

    /// Records a request for tests. Past the limit the oldest record is dropped, so that a long run needs no more memory.
    mutating func record(_ request: EmulatorRequest) {
        if recorded.count == Self.recordedLimit { recorded.removeFirst() }
        recorded.append(RecordedRequest(request))
    }

    private static let recordedLimit = 10_000

    /// Removes and returns the waiters whose condition holds.
    mutating func removeSatisfiedWaiters() -> [Waiter] {
        let satisfied = waiters.filter { $0.value.isSatisfied(counts) }
        for id in satisfied.keys { waiters[id] = nil }
        return Array(satisfied.values)
    }
}

extension EmulatorState {
    /// New identifiers for the reply to a request.
    func trace(of request: EmulatorRequest) -> RequestTrace {
        let traceID = update { $0.ledger.nextGUID("trace") }
        return RequestTrace(traceID: traceID, correlationID: request.correlationID, now: now)
    }
}
