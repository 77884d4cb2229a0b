internal import Dispatch
internal import Logging
internal import PosixFiles
internal import Synchronization

/// The standard error of the agent, written on a thread of its own: the event loop never waits for the program or the terminal that reads it.
///
/// If nobody reads it, a limited number of lines waits, and further ones are lost and counted.
final class LogStream: TextOutputStream, Sendable {
    static let shared = LogStream()

    private struct Waiting {
        /// Whether the thread may be started: before, the process restricts itself, and nobody is served.
        var hasBegun = false
        var text = ""
        /// The number of lines that were lost since the last one that waits.
        var lost = 0
        /// Whether `writeWaiting` has been scheduled, and not begun.
        var isScheduled = false

        /// - Returns: whether the caller has to schedule `writeWaiting`.
        mutating func append(_ line: String) -> Bool {
            guard text.utf8.count + line.utf8.count <= LogStream.limit else {
                lost += 1
                return false
            }
            if lost > 0 { text += "sso-agent: \(lost) lines of the log were lost, since nobody read standard error\n" }
            text += line
            defer { (lost, isScheduled) = (0, true) }
            return !isScheduled
        }

        mutating func removeAll() -> String {
            defer { (text, isScheduled) = ("", false) }
            return text
        }
    }

    private let queue = DispatchQueue(label: "sso-agent.log")
    private let waiting = Mutex(Waiting())

    private init() {}

    /// Begins to write lines on the thread; earlier ones are written by their callers.
    func begin() { waiting.withLock { $0.hasBegun = true } }

    /// Writes a line soon, in the order of the calls.
    func write(_ line: String) {
        let isFirst = waiting.withLock { waiting -> Bool? in waiting.hasBegun ? waiting.append(line) : nil }
        guard let isFirst else { return StandardStream.error.write(line) }
        if isFirst { queue.async { self.writeWaiting() } }
    }

    /// Returns when every line so far has been written, or after a second.
    func flush() {
        guard waiting.withLock(\.hasBegun) else { return }
        let written = DispatchSemaphore(value: 0)
        queue.async { written.signal() }
        _ = written.wait(timeout: .now() + 1)
    }

    private func writeWaiting() { StandardStream.error.write(waiting.withLock { $0.removeAll() }) }

    /// The bytes that wait to be written.
    private static let limit = 256 << 10
}

/// Log lines on standard error, without characters that a terminal would obey.
struct TerminalLogHandler: LogHandler {
    private var lines: StreamLogHandler

    init(label: String) { lines = StreamLogHandler(label: label, stream: LogStream.shared) }

    var logLevel: Logger.Level {
        get { lines.logLevel }
        set { lines.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { lines.metadata }
        set { lines.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { lines[metadataKey: key] }
        set { lines[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        event.message = "\(TerminalText.line(event.message.description))"
        event.metadata = event.metadata?.mapValues { "\(TerminalText.line($0.description))" }
        lines.log(event: event)
    }
}
