internal import AccessPolicy
internal import AuditLog
internal import Synchronization
internal import TokenModel
internal import TokenWire

/// Decides which replies are events of the audit log, and writes these.
final class AuditTrail: Sendable {
    private let writer: AuditWriter
    /// Whether the log has usernames.
    private let hasNames: Atomic<Bool>
    private let now: @Sendable () -> Int64
    /// The apps of the sign-ins in progress, by session ID: the request that completes a sign-in does not name its app.
    private let signIns = Mutex<[String: ClientID]>([:])
    /// The refusals of each published socket in its present minute, by its number.
    private let refusals = Mutex<[UInt64: Minute]>([:])

    init(_ writer: AuditWriter, hasNames: Bool, now: @escaping @Sendable () -> Int64) {
        self.writer = writer
        self.hasNames = Atomic(hasNames)
        self.now = now
    }

    /// Sets whether later lines of the log have usernames.
    func setHasNames(_ hasNames: Bool) { self.hasNames.store(hasNames, ordering: .relaxed) }

    /// Records that the agent has started or stopped, or has read its configuration again.
    func record(_ kind: AuditEvent.Kind, outcome: String = "ok") {
        writer.record(AuditEvent(kind, time: now(), outcome: outcome))
    }

    /// Records that a process was refused when it connected.
    ///
    /// - Parameter publication: the published socket; nil for the agent's own.
    func refused(_ peer: PeerIdentity, by publication: Publication? = nil) {
        record(
            AuditEvent(
                .refusal, time: now(), peer: .init(peer), socket: publication?.label,
                outcome: TokenError.Code.peerNotAuthorized.name), at: publication)
    }

    /// Records the refusal of a request that no handler has decoded: the published socket does not serve it, or it
    /// arrived at the metrics socket.
    ///
    /// - Parameter publication: the published socket; nil for the agent's own.
    func refused(
        _ request: PolicyRequest, _ code: TokenError.Code, from peer: PeerIdentity, by publication: Publication? = nil
    ) {
        record(
            AuditEvent(
                .refusal, time: now(), peer: .init(peer), socket: publication?.label, request: request.name,
                outcome: code.name), at: publication)
    }

    /// Records that the time of a published socket is over.
    func expired(_ publication: Publication) {
        writer.record(AuditEvent(.socketExpired, time: now(), socket: publication.label))
    }

    /// Records the refusals of a published socket that have no line yet, when it ends.
    func ended(_ publication: Publication) {
        let minute = refusals.withLock { $0.removeValue(forKey: publication.id) }
        let omitted = (minute?.count ?? 0) - Self.refusalsPerMinute
        guard omitted > 0 else { return }
        var event = AuditEvent(
            .refusal, time: now(), socket: publication.label, outcome: TokenError.Code.requestDenied.name)
        event.count = omitted
        writer.record(event)
    }

    /// Records an event. The refusals of a published socket have a limited number of lines in a minute; the first
    /// refusal of a later minute records how many had none. The peers of such a socket could otherwise fill the log
    /// until its older lines are deleted.
    @discardableResult
    private func record(_ event: AuditEvent, at publication: Publication?) -> AuditWriter.Line? {
        var event = event
        if event.kind == .refusal, let socket = publication?.id {
            let omitted: Int? = refusals.withLock { refusals in
                let minute = refusals[socket]
                if let minute, abs(event.time - minute.start) < 60 {
                    refusals[socket]?.count += 1
                    return minute.count < Self.refusalsPerMinute ? 0 : nil
                }
                refusals[socket] = Minute(start: event.time, count: 1)
                return max((minute?.count ?? 0) - Self.refusalsPerMinute, 0)
            }
            guard let omitted else { return nil }
            if omitted > 0 { event.count = omitted + 1 }
        }
        return writer.record(event)
    }

    private struct Minute {
        var start: Int64
        var count: Int
    }

    private static let refusalsPerMinute = 60

    /// Waits until the events so far are written.
    func flush() async { await writer.flush() }

    /// Records the reply to a request, if it is an event.
    func replied<Request: WireRequest>(
        to request: Request, _ asked: PolicyRequest, _ outcome: Result<Request.Reply, TokenError>,
        from caller: Caller
    ) {
        guard let event = event(of: request, asked, outcome) else { return }
        record(event, from: caller)
    }

    /// Records an event of a caller at the present time.
    ///
    /// - Returns: the line in which an equal event can be counted; nil if there is none.
    @discardableResult
    func record(_ event: AuditEvent, from caller: Caller) -> AuditWriter.Line? {
        var event = event
        event.time = now()
        event.peer = .init(caller.identity)
        // A request about published sockets names one itself.
        if let publication = caller.publication { event.socket = publication.label }
        return record(event, at: caller.publication)
    }

    /// Counts an event in the line of an equal one.
    ///
    /// - Returns: false if there is no line, or it has been written: the event has to be recorded.
    func count(_ line: AuditWriter.Line?) -> Bool { line.map(writer.count) ?? false }

    /// The event of a reply, without its peer and its time; nil if the reply is none.
    func event<Request: WireRequest>(
        of request: Request, _ asked: PolicyRequest, _ outcome: Result<Request.Reply, TokenError>
    ) -> AuditEvent? {
        guard let kind = Self.kind(of: request, outcome) else { return nil }
        let hasNames = hasNames.load(ordering: .relaxed)
        var event = AuditEvent(
            kind, time: 0, request: asked.name, clientID: asked.subject.clientID?.text,
            sharingGroup: asked.subject.sharingGroup?.name,
            scopes: request.tokenParameters.map { [$0.scopes.target] } ?? [])
        if let client = client(of: request, outcome) { event.clientID = client.text }
        switch outcome {
        case .failure(let error):
            event.outcome = error.code.name
            if let tokens = error.details.partialResult { event.add(tokens, hasNames: hasNames) }
        case .success(let reply):
            if let tokens = reply as? TokenResult { event.add(tokens, hasNames: hasNames) }
            if let list = reply as? ListCredentials.Reply { event.count = list.accessTokens }
        }
        if let account = request.namedAccount, event.account == nil {
            event.account = account.homeAccountID?.text ?? account.username
            if hasNames { event.username = account.username }
        }
        event.add(request, outcome, hasNames: hasNames)
        return event
    }

    /// The kind of event; nil if the reply is none.
    private static func kind<Request: WireRequest>(
        of request: Request, _ outcome: Result<Request.Reply, TokenError>
    ) -> AuditEvent.Kind? {
        var (isSuccess, hasToken) = (true, true)
        if case .failure(let error) = outcome {
            if error.code == .requestDenied { return .refusal }
            (isSuccess, hasToken) = (false, error.details.partialResult != nil)
        }
        return switch request {
        case is AcquireTokenSilent: hasToken ? .token : nil
        case let list as ListCredentials: isSuccess && !list.withoutSecrets ? .token : nil
        case is BeginInteractive, is BeginDeviceCode: .signInBegun
        case is CompleteInteractive, is CompleteDeviceCode, is RedeemGrant: .signIn
        case is RemoveAccount, is RemoveCredential: .signOut
        case let part as ImportCache: part.isLast || !isSuccess ? .importCache : nil
        // An export is recorded with its first part, which already has tokens.
        case let part as ExportCache: part.exportID == nil || !isSuccess ? .exportCache : nil
        case is SetKey: .keyChange
        case is Unlock: .unlock
        case is Lock: .lock
        case is PublishSocket: .publish
        case is UnpublishSocket where isSuccess && !closesSocket(outcome): nil
        case is UnpublishSocket: .unpublish
        case is ReloadConfiguration: .reload
        default: nil
        }
    }

    /// Whether there was a published socket to close.
    private static func closesSocket<Reply>(_ outcome: Result<Reply, TokenError>) -> Bool {
        guard case .success(let reply) = outcome else { return false }
        return (reply as? UnpublishSocket.Reply)?.label != nil
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
            // Abandoned sign-ins are not removed one by one. The agent has fewer sign-ins than this at a time.
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

    /// Adds what a request about published sockets says.
    fileprivate mutating func add<Request: WireRequest>(
        _ request: Request, _ outcome: Result<Request.Reply, TokenError>, hasNames: Bool
    ) {
        switch request {
        case let publish as PublishSocket:
            socket = publish.label ?? publish.path
            clientID = publish.clientIDs.map(\.text).joined(separator: " ")
            scopes = publish.scopes.scopes
            guard case .success(let reply) = outcome, let published = reply as? PublishedSocket else { return }
            account = published.account.homeAccountID?.text ?? published.account.username
            if hasNames { username = published.account.username }
        case let unpublish as UnpublishSocket:
            socket = unpublish.name
            if case .success(let reply) = outcome, let label = (reply as? UnpublishSocket.Reply)?.label {
                socket = label
            }
        default: break
        }
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
