internal import Dispatch
internal import Foundation

/// SIGTERM and SIGINT, as something to wait for.
struct StopSignals {
    private let stream: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        // A write to a closed connection then fails instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Returns when the first of them has come.
    func first() async {
        for await _ in stream { return }
    }
}
