internal import Logging
internal import Synchronization

/// Keeps the messages of a logger, with their level and metadata as text.
struct LogCollector: LogHandler {
    final class Messages: Sendable {
        private let messages = Mutex<[String]>([])

        var all: [String] { messages.withLock(\.self) }

        func add(_ message: String) { messages.withLock { $0.append(message) } }

        /// A logger whose messages are kept.
        func logger(_ level: Logger.Level = .notice) -> Logger {
            var logger = Logger(label: "test") { _ in LogCollector(self) }
            logger.logLevel = level
            return logger
        }
    }

    private let messages: Messages
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    private init(_ messages: Messages) { self.messages = messages }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        messages.add("\(event.level) \(event.message) \(event.metadata ?? [:])")
    }
}
