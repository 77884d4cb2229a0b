internal import NIOCore
internal import TokenModel
internal import TokenWire

/// The requests of one connection that wait for something, and those whose wait is over and that are to be continued or answered.
struct WaitingRequests {
    struct Request {
        /// The length of the request's frame, or the allowance for its outcome if that is more.
        let length: Int
        /// Whether the request waits for events.
        let watchesEvents: Bool
    }

    enum Outcome {
        case reply(() -> [UInt8])
        /// The wait is over: its condition is fulfilled, or has failed. Indirect, so that `finished` has small elements.
        indirect case waited(RequestFrame, RequestHandler.Progress, Result<Void, TokenError>)
    }

    /// The number of requests, those whose wait is over included.
    private(set) var count = 0
    /// The number of requests that wait for events.
    private(set) var watchCount = 0
    /// The number of requests whose wait is not over, apart from those that wait for events.
    private(set) var inProgress = 0
    /// Without initial capacity: most connections never have a request that waits.
    private var finished = CircularBuffer<(request: Request, outcome: Outcome)>(initialCapacity: 0)

    /// Whether the wait of a request is over.
    var hasOutcome: Bool { !finished.isEmpty }

    mutating func add(_ request: Request) {
        count += 1
        if request.watchesEvents { watchCount += 1 } else { inProgress += 1 }
    }

    /// Ends the wait of a request.
    mutating func finish(_ request: Request, _ outcome: Outcome) {
        if !request.watchesEvents { inProgress -= 1 }
        finished.append((request, outcome))
    }

    /// Removes the request whose wait ended first, and returns its outcome and its length; nil if all of them wait.
    mutating func removeFirst() -> (outcome: Outcome, length: Int)? {
        guard let (request, outcome) = finished.popFirst() else { return nil }
        count -= 1
        if request.watchesEvents { watchCount -= 1 }
        return (outcome, request.length)
    }

    /// Forgets the outcomes, because the connection is closed.
    ///
    /// - Returns: the number of requests whose wait is over, and their lengths together.
    mutating func removeOutcomes() -> (count: Int, bytes: Int) {
        defer { finished.removeAll() }
        return (finished.count, finished.reduce(0) { $0 + $1.request.length })
    }
}
