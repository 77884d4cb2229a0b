internal import AccessPolicy
internal import Logging
internal import TokenModel

/// Logs connections that were refused, and requests that the access policy or a person has refused. Their number is limited.
struct DenialLog: Sendable {
    /// The limit, which further messages of the same connections can share.
    let limit: MessageLimit
    private let logger: Logger

    /// - Parameter now: the time, in seconds.
    init(logger: Logger, now: @escaping @Sendable () -> Int64) {
        self.logger = logger
        limit = MessageLimit(logger: logger, now: now)
    }

    /// Logs that a request was refused.
    func add(_ request: PolicyRequest, _ error: TokenError, from peer: PeerIdentity) {
        guard limit.admitsMessage() else { return }
        var metadata: Logger.Metadata = [
            "request": "\(request.name)", "class": "\(peer.peerClass.rawValue)", "failure": "\(error.code.name)",
        ]
        if let name = peer.sandbox?.app ?? peer.executable?.path { metadata["peer"] = "\(RequestLog.safe(name))" }
        if let processID = peer.processID { metadata["pid"] = "\(processID)" }
        if let clientID = request.subject.clientID { metadata["client_id"] = "\(RequestLog.safe(clientID.text))" }
        logger.notice("denied", metadata: metadata)
    }

    /// Logs that a connection was refused.
    func add(refusedPeer message: Logger.Message, _ metadata: Logger.Metadata? = nil) {
        guard limit.admitsMessage() else { return }
        logger.warning(message, metadata: metadata)
    }
}
