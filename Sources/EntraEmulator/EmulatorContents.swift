/// Everything that changes while an emulator runs. ``EmulatorState`` keeps it behind a lock.
struct EmulatorContents: Sendable {
    var settings: EmulatorSettings
    var ledger: Ledger
    var faults: [Fault] = []
    var counts = Counts()
    var recorded: [RecordedRequest] = []
    /// Scheme, host and port, known once the port is.
    var baseURL = ""
    var isStopping = false
    var holds: [CheckedContinuation<Void, Never>] = []
    var waiters: [Int: Waiter] = [:]
    var nextWaiter = 0

    /// Somebody who waits until the counts say something.
    struct Waiter: Sendable {
        var isSatisfied: @Sendable (Counts) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    init(_ options: EmulatorOptions) {
        settings = options.settings
        ledger = Ledger(directory: Directory(seed: options.seed), usernames: options.usernames)
    }

    /// Back to the start; who is waiting keeps waiting.
    mutating func reset(_ options: EmulatorOptions) {
        let fresh = EmulatorContents(options)
        (settings, ledger) = (fresh.settings, fresh.ledger)
        (faults, recorded) = ([], [])
        counts.reset()
    }

    /// The first fault for this request; used up when its count is.
    mutating func takeFault(for request: EmulatorRequest) -> Fault? {
        guard let index = faults.firstIndex(where: { $0.matches(request) }) else { return nil }
        let fault = faults[index]
        switch fault.count {
        case 0: break
        case 1: faults.remove(at: index)
        default: faults[index].count -= 1
        }
        return fault
    }

    /// Keeps a request for tests to look at; the oldest go first, so that a long run does not grow without end.
    mutating func record(_ request: EmulatorRequest) {
        if recorded.count == Self.recordedLimit { recorded.removeFirst() }
        recorded.append(RecordedRequest(request))
    }

    private static let recordedLimit = 10_000

    mutating func takeSatisfiedWaiters() -> [Waiter] {
        let satisfied = waiters.filter { $0.value.isSatisfied(counts) }
        for id in satisfied.keys { waiters[id] = nil }
        return Array(satisfied.values)
    }
}
