internal import CAgentSystem
internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Whether a signal has arrived before.
private final class Arrival: Sendable {
    private let hasArrived = Atomic(false)

    /// True for the first call only.
    func isFirst() -> Bool { !hasArrived.exchange(true, ordering: .relaxed) }
}

/// The terminals that the process was started on.
private struct Terminals: Sendable {
    private let descriptors: [Int32]

    /// - Parameter isUsed: whether the process stays with them.
    init(isUsed: Bool) { descriptors = isUsed ? [STDIN_FILENO, STDERR_FILENO].filter { isatty($0) != 0 } : [] }

    /// Whether one of them has been closed: the signal of that is SIGHUP too.
    var isOneClosed: Bool { descriptors.contains { isatty($0) == 0 } }
}

/// Waits for SIGHUP, and for SIGTERM or SIGINT, and ends the process if it does not stop after one of these.
///
/// The signals are handled on a queue of their own, whose thread Dispatch creates even if all others are busy: whatever the event
/// loop and Swift's pool do, a second signal ends the process at once, and the first one after `patience`. Nothing is lost: what was
/// answered is durable.
struct StopSignals {
    /// The signals: SIGHUP any number of times, and the first that stops the process: one of the others, or the SIGHUP of a
    /// terminal that was closed, as SIGTERM.
    let arrivals: AsyncStream<Int32>
    private let source: (any DispatchSourceRead)?

    /// - Parameter isInForeground: whether the process ends when its terminal is closed.
    init(isInForeground: Bool) {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        let hasArrived = Arrival()
        let terminals = Terminals(isUsed: isInForeground)
        let queue = DispatchQueue(label: "sso-agent.stop", qos: .userInteractive)
        arrivals = stream
        let signals = agent_catch_stop_signals()
        if signals >= 0 { agent_catch_hangup() }
        // Without a pipe, the signals end the process at once.
        source = signals < 0 ? nil : DispatchSource.makeReadSource(fileDescriptor: signals, queue: queue)
        source?.setEventHandler {
            var byte: UInt8 = 0
            guard read(signals, &byte, 1) == 1 else { return }
            let number = Int32(byte) == SIGHUP && terminals.isOneClosed ? SIGTERM : Int32(byte)
            if Int32(byte) == SIGHUP { agent_hangup_was_read() }
            guard number != SIGHUP else {
                continuation.yield(number)
                return
            }
            guard hasArrived.isFirst() else {
                Self.end(number, "stopped at once, by a second signal")
            }
            continuation.yield(number)
            queue.asyncAfter(deadline: .now() + Self.patience) {
                Self.end(number, "stopped at once, since it had not stopped within \(Int(Self.patience)) seconds")
            }
        }
        source?.resume()
        // A write to a closed connection returns an error instead of a signal.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Ends the process with the status of one that the signal has ended.
    private static func end(_ number: Int32, _ reason: String) -> Never {
        StandardError.print("sso-agent: \(reason)")
        _exit(128 + number)
    }

    /// In seconds; longer than a stop takes, which gives replies in progress ten seconds, and changes ten more.
    private static let patience = 30.0
}
