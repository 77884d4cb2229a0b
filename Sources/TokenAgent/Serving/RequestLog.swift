internal import AccessPolicy
internal import Logging
internal import TokenModel
internal import TokenWire

/// Logs requests: their type, app and result. Never logs a token, a code or the name of a user.
struct RequestLog: Sendable {
    let logger: Logger
    /// The process at the other end of the connection; nil if it is not known.
    let processID: Int32?

    /// Whether the reply to each request is logged, and not only those that are security events.
    var logsEveryRequest: Bool { logger.logLevel <= .debug }

    /// The app of a sign-in and its correlation ID, which the request that completes it does not name.
    struct SignIn: Sendable {
        let clientID: ClientID
        let correlationID: CorrelationID

        init(of begun: TokenParameters) { (clientID, correlationID) = (begun.clientID, begun.correlationID) }
    }

    /// Logs the outcome of a request.
    ///
    /// - Parameters:
    ///   - signIn: the sign-in that the request completes; nil for other requests.
    ///   - limit: limits the messages about failures, which an app can repeat at will.
    func ended<Request: WireRequest>(
        _ request: Request, id: UInt64, _ outcome: Result<Request.Reply, TokenError>, of signIn: SignIn? = nil,
        limitedBy limit: MessageLimit
    ) {
        let level = Self.level(of: request, outcome)
        guard logger.logLevel <= level else { return }
        var metadata = metadata(RequestFrame.name(of: Request.number), id)
        if case .failure(let error) = outcome {
            guard level == .debug || limit.admitsMessage() else { return }
            metadata["failure"] = "\(error.code.name)"
        }
        if let clientID = signIn?.clientID ?? request.subject.clientID {
            metadata["client_id"] = "\(Self.safe(clientID.text))"
        }
        if let correlationID = signIn?.correlationID ?? request.tokenParameters?.correlationID {
            metadata["correlation_id"] = "\(correlationID)"
        }
        logger.log(level: level, "ended", metadata: metadata)
    }

    private static func level<Request: WireRequest>(
        of request: Request, _ outcome: Result<Request.Reply, TokenError>
    ) -> Logger.Level {
        // The error is to be reported with the message about it.
        if case .failure(let error) = outcome, error.code == .internalError { return .error }
        return isSecurityEvent(request, outcome) ? .notice : .debug
    }

    /// Whether the outcome belongs in the log at its usual level: it concerns all tokens or the store's key, or an account was signed in or
    /// out.
    private static func isSecurityEvent<Request: WireRequest>(
        _ request: Request, _ outcome: Result<Request.Reply, TokenError>
    ) -> Bool {
        if case .failure(let error) = outcome {
            // A refusal by a rule or a person has a message of its own. That of a wrong passphrase has none.
            if error.code == .requestDenied, error.reason == .policy { return false }
            // A request that names no sign-in concerns nobody.
            if error.isOfUnknownSignIn { return false }
        }
        return switch request {
        case is AcquireTokenSilent: false
        case let part as ImportCache: part.isLast
        case let part as ExportCache: part.exportID == nil
        case is SetKey: true
        case is CompleteInteractive, is CompleteDeviceCode, is RedeemGrant: true
        case is Unlock, is Lock, is RemoveAccount, is RemoveCredential: !outcome.hasChangedNothing
        default: false
        }
    }

    /// Logs a request that was refused before it could be decoded or handled.
    func refused(_ error: TokenError, id: UInt64) {
        guard logger.logLevel <= .debug else { return }
        var metadata = metadata("rejected", id)
        metadata["failure"] = "\(error.code.name)"
        logger.debug("ended", metadata: metadata)
    }

    private func metadata(_ name: String, _ id: UInt64) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["request": "\(name)", "id": "\(id)"]
        if let processID { metadata["pid"] = "\(processID)" }
        return metadata
    }

    /// The metadata for a message about a redirect URI: the URI and the app that asked for the sign-in.
    static func redirect(_ uri: String, of parameters: TokenParameters) -> Logger.Metadata {
        [
            "client_id": "\(safe(parameters.clientID.text))", "correlation_id": "\(parameters.correlationID)",
            "redirect_uri": "\(safe(uri))",
        ]
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || "-_.:/@".unicodeScalars.contains(scalar)
    }

    /// Untrusted text for the log: shortened, and without characters that could forge a log line.
    static func safe(_ text: String) -> String {
        // By scalars: some letters form one `Character` with a blank behind them.
        let scalars = text.unicodeScalars.prefix(80).map { isPlain($0) ? $0 : "?" }
        return String(String.UnicodeScalarView(scalars))
    }
}

extension Result where Failure == TokenError {
    /// Whether it is the reply to a removal that found nothing to remove, a lock of a locked store, an unlock of an open one, or a reading of
    /// the configuration after which the same is in effect.
    var hasChangedNothing: Bool {
        guard case .success(let reply) = self else { return false }
        return switch reply {
        case let reply as RemoveAccount.Reply: !reply.removed
        case let reply as RemoveCredential.Reply: !reply.removed
        case let status as KeyStatus: status.isUnchanged
        case let configuration as ReloadConfiguration.Reply: configuration.applied.isEmpty
        default: false
        }
    }
}

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
