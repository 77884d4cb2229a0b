internal import Dispatch

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// SIGTERM and SIGINT, as something to wait for.
struct StopSignals {
    private let stream: AsyncStream<Int32>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.stream = stream
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield(number) }
            source.resume()
            return source
        }
        // A peer that hangs up is found out by the write, not by a signal.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Returns when the first of them has come.
    func first() async {
        for await _ in stream { return }
    }
}
