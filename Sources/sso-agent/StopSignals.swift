internal import CAgentSystem
internal import Dispatch
internal import Synchronization
internal import TokenAgent

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The terminals that the process was started on.
private struct Terminals: Sendable {
    private let descriptors: [Int32]

    /// - Parameter isUsed: whether the process ends when one of them is closed.
    init(isUsed: Bool) { descriptors = isUsed ? [STDIN_FILENO, STDERR_FILENO].filter { isatty($0) != 0 } : [] }

    /// Whether one of them has been closed.
    var isOneClosed: Bool { descriptors.contains { isatty($0) == 0 || Self.isHungUp($0) } }

    /// Whether the other end of a terminal has been closed. On macOS, it stays a terminal until the leader of the session has ended, which
    /// sends SIGHUP before.
    private static func isHungUp(_ descriptor: Int32) -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLHUP), revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLHUP) != 0
    }
}

/// Decides what a signal means. Used on the queue of `StopSignals` only.
private struct StopDecision {
    enum Action {
        case reload
        /// Stop as after SIGTERM or SIGINT, whichever the number is.
        case stop(Int32)
        /// End the process at once.
        case end(Int32)
        /// End the process, which has nothing to finish yet.
        case leave
        case ignore
    }

    let terminals: Terminals
    /// Whether the process has something to finish.
    var hasBegun = false
    private var isStopping = false

    init(_ terminals: Terminals) { self.terminals = terminals }

    /// When a terminal is closed, the process may get SIGHUP twice: from its shell, and from the kernel. The first one stops the process;
    /// the second one is ignored, so that requests in progress get their replies. SIGTERM and SIGINT end a process that is stopping.
    ///
    /// A SIGHUP that comes from elsewhere is the request to reload, also if the terminal was closed before: the shell had disowned the
    /// agent.
    mutating func action(for signal: agent_stop_signal) -> Action {
        if signal.number == SIGHUP {
            if isStopping { return .ignore }
            guard signal.is_from_session, terminals.isOneClosed else { return .reload }
            return stop(SIGTERM)
        }
        return isStopping ? .end(signal.number) : stop(signal.number)
    }

    private mutating func stop(_ number: Int32) -> Action {
        isStopping = true
        return hasBegun ? .stop(number) : .leave
    }
}

/// Waits for SIGHUP, and for SIGTERM or SIGINT, and ends the process if it does not stop after one of these.
///
/// The signals are handled on a queue of their own, whose thread Dispatch creates even if all others are busy: whatever the event
/// loop and the threads of tasks do, a second signal ends the process at once, and the first one after `timeout`. Nothing is lost: what was
/// answered is durable.
struct StopSignals {
    /// The signals: SIGHUP any number of times, and the first that stops the process: one of the others, or the SIGHUP of a
    /// terminal that was closed, as SIGTERM.
    let arrivals: AsyncStream<Int32>
    private let source: (any DispatchSourceRead)?
    /// Stops the process as SIGTERM does, but for the limit of time.
    let stop: @Sendable () -> Void
    /// Records that the process has something to finish from now on. Until then, as while it waits for another agent to end, the first signal
    /// ends it at once.
    let begin: @Sendable () -> Void

    /// - Parameter isInForeground: whether the process ends when its terminal is closed, unless it was started to survive that.
    init(isInForeground: Bool) {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        let queue = DispatchQueue(label: "sso-agent.stop", qos: .userInteractive)
        arrivals = stream
        stop = { continuation.yield(SIGTERM) }
        let signals = agent_catch_stop_signals()
        let endsWithTerminal = signals >= 0 && agent_catch_hangup() && isInForeground
        // Without a pipe, the signals end the process at once.
        source = signals < 0 ? nil : DispatchSource.makeReadSource(fileDescriptor: signals, queue: queue)
        let decision = Mutex(StopDecision(Terminals(isUsed: endsWithTerminal)))
        begin = { decision.withLock { $0.hasBegun = true } }
        source?.setEventHandler {
            let signal = agent_read_stop_signal(signals)
            guard signal.number != 0 else { return }
            switch decision.withLock({ $0.action(for: signal) }) {
            case .ignore: break
            case .leave:
                LogStream.shared.flush()
                _exit(0)
            case .reload: continuation.yield(SIGHUP)
            case .end(let number): Self.end(number, "stopped at once, by a second signal")
            case .stop(let number):
                continuation.yield(number)
                queue.asyncAfter(deadline: .now() + Self.timeout) {
                    Self.end(number, "stopped at once, since it had not stopped within \(Int(Self.timeout)) seconds")
                }
            }
        }
        source?.resume()
        // A write to a closed connection returns an error instead of a signal.
        signal(SIGPIPE, SIG_IGN)
        // After “stty tostop”, a line of the log would stop an agent in the background of the terminal, and every app would wait for it.
        signal(SIGTTOU, SIG_IGN)
    }

    /// Ends the process with the status of one that the signal has ended.
    private static func end(_ number: Int32, _ reason: String) -> Never {
        LogStream.shared.write("sso-agent: \(reason)\n")
        LogStream.shared.flush()
        _exit(128 + number)
    }

    /// In seconds; longer than a stop takes, whose last line of the audit log would be lost otherwise.
    private static let timeout = Double(AgentServer.longestStop + 1)
}
