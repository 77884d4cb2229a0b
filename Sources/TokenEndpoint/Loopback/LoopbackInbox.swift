internal import Synchronization
internal import TokenModel

/// Tells the browser's one answer from everything else that may knock, and holds it until it is asked for.
final class LoopbackInbox: Sendable {
    /// What became of a request.
    enum Verdict: Sendable, Equatable {
        /// The answer, with a code in it.
        case signedIn
        /// The answer, with an error in it.
        case failed
        /// A request for something else: a favicon, a port scan.
        case notFound
        /// A request for the right path that is not the answer to this sign-in.
        case rejected
    }

    /// A browser opens a handful; more would be someone using up the agent's file descriptors.
    private static let visitorLimit = 16

    private let path: String
    private let state: Secret
    private let answers: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let visitors = Mutex(0)

    init(path: String, state: String) {
        self.path = path
        self.state = Secret(state)
        (answers, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Judges a request by its path and its parameters, and keeps the parameters if they are the answer.
    func receive(path: String, parameters text: String) -> Verdict {
        guard path == self.path else { return .notFound }
        guard let parameters = FormParameters(decoding: text[...]), let state = parameters["state"],
            Secret(state) == self.state
        else { return .rejected }
        continuation.yield(text)
        continuation.finish()
        return OAuthError(parameters) == nil && parameters["code"] != nil ? .signedIn : .failed
    }

    /// The answer's parameters, still encoded; nil once the inbox is closed or the task cancelled.
    func next() async -> String? {
        var iterator = answers.makeAsyncIterator()
        return await iterator.next()
    }

    func close() { continuation.finish() }

    /// Whether one more connection is welcome; if so, `leave` when it goes.
    func admit() -> Bool {
        visitors.withLock { count in
            guard count < Self.visitorLimit else { return false }
            count += 1
            return true
        }
    }

    func leave() { visitors.withLock { $0 -= 1 } }
}
