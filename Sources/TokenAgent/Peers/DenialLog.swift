internal import AccessPolicy
internal import Logging
internal import Synchronization
internal import TokenModel

/// Logs connections that were refused, and requests that the access policy or a person has refused. With other messages that an app can
/// cause any number of times, there are 60 in a minute at most: the agent's log must not fill the disk.
final class DenialLog: Sendable {
    private struct Minute {
        var start: Int64 = 0
        var count = 0
    }

    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let minute = Mutex(Minute())

    init(logger: Logger, now: @escaping @Sendable () -> Int64) {
        self.logger = logger
        self.now = now
    }

    func add(_ request: PolicyRequest, _ error: TokenError, from peer: PeerIdentity) {
        guard admitsMessage() else { return }
        var metadata: Logger.Metadata = [
            "request": "\(request.name)", "peer": "\(RequestLog.safe(peer.description))",
            "class": "\(peer.peerClass.rawValue)", "failure": "\(error.code.name)",
        ]
        if let clientID = request.subject.clientID { metadata["client_id"] = "\(RequestLog.safe(clientID.text))" }
        logger.notice("denied", metadata: metadata)
    }

    /// Logs that a connection was refused.
    func add(refusedPeer message: Logger.Message, _ metadata: Logger.Metadata? = nil) {
        guard admitsMessage() else { return }
        logger.warning(message, metadata: metadata)
    }

    /// Counts a message that an app has caused; returns whether it may be logged.
    func admitsMessage() -> Bool {
        let time = now()
        let (count, omitted) = minute.withLock { minute in
            var omitted = 0
            // The clock may have been set back.
            if abs(time - minute.start) >= 60 {
                omitted = max(minute.count - Self.limit, 0)
                minute = Minute(start: time)
            }
            minute.count += 1
            return (minute.count, omitted)
        }
        if omitted > 0 {
            logger.notice("further messages of this kind were left out", metadata: ["count": "\(omitted)"])
        }
        return count <= Self.limit
    }

    /// The number of messages in a minute.
    static let limit = 60
}
