internal import AccessPolicy
internal import AuditLog
internal import Synchronization
internal import TokenModel
internal import TokenWire

/// Decides which replies are events of the audit log, and writes these.
final class AuditTrail: Sendable {
    private let writer: AuditWriter
    /// Whether the log has usernames.
    private let hasNames: Bool
    private let now: @Sendable () -> Int64
    /// The apps of the sign-ins in progress: their last request names no app.
    private let signIns = Mutex<[String: ClientID]>([:])

    init(_ writer: AuditWriter, hasNames: Bool, now: @escaping @Sendable () -> Int64) {
        self.writer = writer
        self.hasNames = hasNames
        self.now = now
    }

    /// Records that the agent has started or stopped.
    func record(_ kind: AuditEvent.Kind) { writer.record(AuditEvent(kind, time: now())) }

    /// Records that a process was refused when it connected.
    func refused(_ peer: PeerIdentity) {
        writer.record(
            AuditEvent(
                .refusal, time: now(), peer: .init(peer), outcome: TokenError.Code.peerNotAuthorized.name))
    }

    /// Waits until the events so far are written.
    func flush() async { await writer.flush() }

    /// Records the reply to a request, if it is an event.
    func replied<Request: WireRequest>(
        to request: Request, _ asked: PolicyRequest, _ outcome: Result<Request.Reply, TokenError>,
        from peer: PeerIdentity
    ) {
        guard let event = event(of: request, asked, outcome) else { return }
        record(event, from: peer)
    }

    /// Records an event of a peer at the present time.
    func record(_ event: AuditEvent, from peer: PeerIdentity) {
        var event = event
        event.time = now()
        event.peer = .init(peer)
        writer.record(event)
    }

    /// The event of a reply, without its peer and its time; nil if the reply is none.
    func event<Request: WireRequest>(
        of request: Request, _ asked: PolicyRequest, _ outcome: Result<Request.Reply, TokenError>
    ) -> AuditEvent? {
        guard let kind = Self.kind(of: request, outcome) else { return nil }
        var event = AuditEvent(
            kind, time: 0, request: asked.name, clientID: asked.subject.clientID?.text,
            sharingGroup: asked.subject.sharingGroup?.name,
            scopes: request.tokenParameters.map { [$0.scopes.target] } ?? [])
        if let client = client(of: request, outcome) { event.clientID = client.text }
        switch outcome {
        case .failure(let error): event.outcome = error.code.name
        case .success(let reply):
            if let tokens = reply as? TokenResult { event.add(tokens, hasNames: hasNames) }
            if let list = reply as? ListCredentials.Reply { event.count = list.accessTokens }
        }
        if let account = request.namedAccount, event.account == nil {
            event.account = account.homeAccountID?.text ?? account.username
            if hasNames { event.username = account.username }
        }
        return event
    }

    /// The kind of event; nil if the reply is none.
    private static func kind<Request: WireRequest>(
        of request: Request, _ outcome: Result<Request.Reply, TokenError>
    ) -> AuditEvent.Kind? {
        var isSuccess = true
        if case .failure(let error) = outcome {
            if error.code == .requestDenied { return .refusal }
            isSuccess = false
        }
        return switch request {
        case is AcquireTokenSilent: isSuccess ? .token : nil
        case is ListCredentials: isSuccess ? .token : nil
        case is BeginInteractive, is BeginDeviceCode: .signInBegun
        case is CompleteInteractive, is CompleteDeviceCode, is RedeemGrant: .signIn
        case is RemoveAccount, is RemoveCredential: .signOut
        case let part as ImportCache: part.isLast || !isSuccess ? .importCache : nil
        // An export is recorded with its first part, which already has tokens.
        case let part as ExportCache: part.exportID == nil || !isSuccess ? .exportCache : nil
        case is SetKey: .keyChange
        case is Unlock: .unlock
        case is Lock: .lock
        default: nil
        }
    }

    /// The app of a sign-in.
    private func client<Request: WireRequest>(
        of request: Request, _ outcome: Result<Request.Reply, TokenError>
    ) -> ClientID? {
        switch request {
        case let complete as CompleteInteractive: signIns.withLock { $0.removeValue(forKey: complete.sessionID) }
        case let complete as CompleteDeviceCode: signIns.withLock { $0.removeValue(forKey: complete.sessionID) }
        default: remember(outcome, request.tokenParameters?.clientID)
        }
    }

    /// Remembers the app of a sign-in that has begun.
    private func remember<Reply>(_ outcome: Result<Reply, TokenError>, _ client: ClientID?) -> ClientID? {
        guard let client, case .success(let reply) = outcome else { return nil }
        let session = (reply as? BeginInteractive.Reply)?.sessionID ?? (reply as? BeginDeviceCode.Reply)?.sessionID
        guard let session else { return nil }
        signIns.withLock { signIns in
            // Sign-ins that were abandoned stay here; the agent has fewer than this at a time.
            if signIns.count >= Self.maximumSignIns { signIns.removeAll() }
            signIns[session] = client
        }
        return nil
    }

    private static let maximumSignIns = 1024
}

extension AuditEvent {
    /// Adds the account and the scopes of tokens.
    fileprivate mutating func add(_ tokens: TokenResult, hasNames: Bool) {
        account = tokens.account.homeAccountID?.text ?? tokens.account.username
        scopes = tokens.scopes
        if hasNames { username = tokens.account.username }
    }
}

extension AuditEvent.Peer {
    fileprivate init(_ peer: PeerIdentity) {
        self.init(
            userID: peer.userID, processID: peer.processID, peerClass: peer.peerClass.rawValue,
            executable: peer.executable?.path, unit: peer.unit, app: peer.sandbox?.app)
    }
}

extension WireRequest {
    /// The account that the request names; nil if it names none.
    fileprivate var namedAccount: AccountReference? {
        switch self {
        case let request as AcquireTokenSilent: request.account
        case let request as RemoveAccount: request.account
        case let request as RedeemGrant: request.account
        default: nil
        }
    }
}

extension ListCredentials.Reply {
    /// The number of credentials whose secret the reply has.
    fileprivate var accessTokens: Int { credentials.count { $0.kind == .accessToken } }
}
