internal import Logging
internal import PosixFiles

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
