internal import Logging
internal import Synchronization

/// Limits the messages that an app can cause any number of times to 60 in a minute: the agent's log must not fill the disk. The number of
/// those that were left out is logged with the next message.
final class MessageLimit: Sendable {
    private struct Minute {
        var start: Int64 = 0
        var count = 0
    }

    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let minute = Mutex(Minute())

    /// - Parameter now: the time, in seconds.
    init(logger: Logger, now: @escaping @Sendable () -> Int64) {
        self.logger = logger
        self.now = now
    }

    /// Counts a message; returns whether it may be logged.
    func admitsMessage() -> Bool {
        let time = now()
        let (count, omitted) = minute.withLock { minute in
            var omitted = 0
            // The clock may have been set back.
            if abs(time - minute.start) >= 60 {
                omitted = max(minute.count - Self.messages, 0)
                minute = Minute(start: time)
            }
            minute.count += 1
            return (minute.count, omitted)
        }
        if omitted > 0 {
            logger.notice("further messages of this kind were left out", metadata: ["count": "\(omitted)"])
        }
        return count <= Self.messages
    }

    /// The number of messages in a minute.
    static let messages = 60
}
