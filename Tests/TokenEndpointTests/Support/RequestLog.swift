internal import Synchronization

/// What a scripted server has received.
final class RequestLog: Sendable {
    /// The number of requests, each time one arrives. For one reader.
    let arrivals: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation
    private let state = Mutex<[ReceivedRequest]>([])

    init() {
        (arrivals, continuation) = AsyncStream.makeStream()
    }

    var requests: [ReceivedRequest] { state.withLock { $0 } }

    func append(_ request: ReceivedRequest) {
        continuation.yield(
            state.withLock { requests in
                requests.append(request)
                return requests.count
            })
    }
}
