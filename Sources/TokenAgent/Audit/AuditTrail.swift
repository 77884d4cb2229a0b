internal import AccessPolicy
internal import AuditLog
internal import Dispatch
internal import Synchronization
internal import TokenModel
internal import TokenWire

/// Decides which replies are events of the audit log, and writes these.
final class AuditTrail: Sendable {
    private let writer: AuditWriter
    /// Whether the log has usernames.
    private let hasNames: Atomic<Bool>
    private let now: @Sendable () -> Int64
    /// The failed requests of each peer in its present minute.
    private let failures = Mutex(FailureLimit())
    private let schedule: @Sendable (_ seconds: Int64, _ work: @escaping @Sendable () -> Void) -> Void

    /// - Parameter schedule: calls a closure after a time.
    init(
        _ writer: AuditWriter, hasNames: Bool, now: @escaping @Sendable () -> Int64,
        schedule: @escaping @Sendable (_ seconds: Int64, _ work: @escaping @Sendable () -> Void) -> Void
    ) {
        self.writer = writer
        self.hasNames = Atomic(hasNames)
        self.now = now
        self.schedule = schedule
    }

    /// Sets whether later lines of the log have usernames.
    func setHasNames(_ hasNames: Bool) { self.hasNames.store(hasNames, ordering: .relaxed) }

    /// Returns what keeps events from the log; nil if every event so far has been written.
    func problem() async -> TokenError? { await writer.problem(at: now()) }

    /// Records that the agent has started or stopped.
    func record(_ kind: AuditEvent.Kind) {
        writer.record(AuditEvent(kind, time: now()))
    }

    /// Records that a signal has had the agent read its configuration again, unless nothing has changed. Failures are limited as those of
    /// requests are: every process of the user can send the signal again and again.
    func reloaded(_ outcome: Result<ReloadConfiguration.Reply, TokenError>, of user: UInt32) {
        switch outcome {
        case .success: if !outcome.hasChangedNothing { record(.reload) }
        case .failure(let error):
            record(failure: AuditEvent(.reload, time: now(), outcome: error.code.name), of: .user(user))
        }
    }

    /// Records that the agent has stopped, and waits until the events so far are written.
    ///
    /// - Parameter end: the time at which the wait ends.
    /// - Returns: false if the disk has not answered by then.
    @discardableResult
    func stopped(by end: DispatchTime = .distantFuture) async -> Bool {
        let omissions = failures.withLock { $0.endAll(at: now()) }
        for omission in omissions { writer.record(omission) }
        record(.agentStopped)
        return await writer.flush(by: end)
    }

    /// Records that a process was refused when it connected.
    ///
    /// - Parameter publication: the published socket; nil for the agent's own.
    func refused(_ peer: PeerIdentity, by publication: Publication? = nil) {
        record(
            failure: AuditEvent(
                .refusal, time: now(), peer: .init(peer), socket: publication?.label,
                outcome: TokenError.Code.peerNotAuthorized.name),
            of: publication.map { .publishedSocket($0.id) } ?? .user(peer.userID))
    }

    /// Records the refusal of a request that no handler has decoded: the published socket does not serve it, or it
    /// arrived at the metrics socket.
    ///
    /// - Parameter publication: the published socket; nil for the agent's own.
    func refused(
        _ request: PolicyRequest, _ code: TokenError.Code, from peer: PeerIdentity, by publication: Publication? = nil
    ) {
        record(
            failure: AuditEvent(
                .refusal, time: now(), peer: .init(peer), socket: publication?.label, request: request.name,
                outcome: code.name), of: LimitedPeer(peer, at: publication))
    }

    /// Records that a published socket has ended without a request: its time is over, or it accepts no more connections.
    func expired(_ publication: Publication) {
        writer.record(AuditEvent(.socketExpired, time: now(), socket: publication.label))
    }

    /// Records how many failed requests of a published socket have no line, when it ends.
    func ended(_ publication: Publication) {
        let omission = failures.withLock { $0.end(.publishedSocket(publication.id), at: now()) }
        if let omission { writer.record(omission) }
    }

    /// Records a request that has failed and has handed out nothing. A limited number of those of a peer has lines of their own, and one
    /// line has the number of the others: a peer must not push all other lines out of the files, or fill the queue of the writer.
    private func record(failure event: AuditEvent, of peer: LimitedPeer) {
        let decision = failures.withLock { $0.decide(on: event, of: peer) }
        for omission in decision.omissions { writer.record(omission) }
        if decision.isAdmitted { writer.record(event) }
        guard let minute = decision.minute else { return }
        schedule(minute.end) {
            let omission = self.failures.withLock { $0.end(minute.number, of: minute.peer, at: self.now()) }
            if let omission { self.writer.record(omission) }
        }
    }

    /// Records the reply to a request, if it is an event.
    ///
    /// - Parameter account: the account that the request removes something of, as the cache has it; nil for other requests.
    func replied<Request: WireRequest>(
        to request: Request, _ policyRequest: PolicyRequest, _ outcome: Result<Request.Reply, TokenError>,
        about account: AccountReference? = nil, from peer: ConnectedPeer
    ) {
        guard let event = event(of: request, policyRequest, outcome, about: account) else { return }
        if case .failure(let error) = outcome, error.details.partialResult == nil {
            record(failure: complete(event, from: peer), of: LimitedPeer(peer.identity, at: peer.publication))
        } else {
            record(event, from: peer)
        }
    }

    /// Whether an outcome is an event of requests that change something. It is recorded without waiting for the reply to be sent, which the
    /// peer can delay, or prevent by closing its connection.
    static func isOfChange<Request: WireRequest>(
        _ request: Request, _ outcome: Result<Request.Reply, TokenError>
    ) -> Bool {
        guard let kind = Self.kind(of: request, outcome) else { return false }
        return changes.contains(kind)
    }

    /// The events of requests that change something.
    private static let changes: [AuditEvent.Kind] = [
        .signIn, .signOut, .importCache, .keyChange, .unlock, .lock, .publish, .unpublish, .reload,
    ]

    /// Records an event of a peer at the present time. It is not limited: something was handed out or changed.
    ///
    /// - Returns: the line in which an equal event can be counted; nil if there is none.
    @discardableResult
    func record(_ event: AuditEvent, from peer: ConnectedPeer) -> AuditWriter.Line? {
        writer.record(complete(event, from: peer))
    }

    /// Adds the present time and the peer to an event.
    private func complete(_ event: AuditEvent, from peer: ConnectedPeer) -> AuditEvent {
        var event = event
        event.time = now()
        event.peer = .init(peer.identity)
        // A request about published sockets names one itself.
        if let publication = peer.publication { event.socket = publication.label }
        return event
    }

    /// Counts an event in the line of an equal one.
    ///
    /// - Returns: false if there is no line, or it has been written: the event has to be recorded.
    func count(_ line: AuditWriter.Line?) -> Bool { line.map(writer.count) ?? false }

    /// The event of a reply, without its peer and its time; nil if the reply is none.
    func event<Request: WireRequest>(
        of request: Request, _ policyRequest: PolicyRequest, _ outcome: Result<Request.Reply, TokenError>,
        about account: AccountReference? = nil
    ) -> AuditEvent? {
        guard let kind = Self.kind(of: request, outcome) else { return nil }
        let hasNames = hasNames.load(ordering: .relaxed)
        var event = AuditEvent(
            kind, time: 0, request: policyRequest.name, clientID: policyRequest.subject.clientID?.text,
            sharingGroup: policyRequest.subject.sharingGroup?.name,
            scopes: request.tokenParameters.map { [$0.scopes.target] } ?? [])
        switch outcome {
        case .failure(let error):
            event.outcome = error.code.name
            if let tokens = error.details.partialResult { event.add(tokens, hasNames: hasNames) }
        case .success(let reply):
            if let tokens = reply as? TokenResult {
                event.add(tokens, hasNames: hasNames)
            } else if let list = reply as? ListCredentials.Reply {
                event.count = list.accessTokens
            } else if kind == .idToken {
                event.add(idTokensOf: Self.accounts(in: reply), hasNames: hasNames)
            }
        }
        if let account = account ?? request.namedAccount, event.account == nil {
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
            // The identifier is the peer's own invention, or that of a sign-in whose end has a line.
            if error.isOfUnknownSignIn { return nil }
            (isSuccess, hasToken) = (false, error.details.partialResult != nil)
        }
        return switch request {
        case is AcquireTokenSilent: hasToken ? .token : nil
        case let list as ListCredentials: isSuccess && !list.withoutSecrets ? .token : nil
        case is ListAccounts, is GetCurrentAccount: hasIDToken(outcome) ? .idToken : nil
        case is BeginInteractive, is BeginDeviceCode: .signInBegun
        case is CompleteInteractive, is CompleteDeviceCode, is RedeemGrant: .signIn
        // An app could repeat what changes nothing to push out other lines.
        case is RemoveAccount, is RemoveCredential: outcome.hasChangedNothing ? nil : .signOut
        case let part as ImportCache: part.isLast || !isSuccess ? .importCache : nil
        // An export is recorded with its first part, which already has tokens.
        case let part as ExportCache: part.exportID == nil || !isSuccess ? .exportCache : nil
        case is SetKey: .keyChange
        case is Unlock: outcome.hasChangedNothing ? nil : .unlock
        case is Lock: outcome.hasChangedNothing ? nil : .lock
        case is PublishSocket: .publish
        case is UnpublishSocket where isSuccess && !closesSocket(outcome): nil
        case is UnpublishSocket: .unpublish
        case is ReloadConfiguration: outcome.hasChangedNothing ? nil : .reload
        default: nil
        }
    }

    /// Whether a reply with accounts has an ID token.
    private static func hasIDToken<Reply>(_ outcome: Result<Reply, TokenError>) -> Bool {
        guard case .success(let reply) = outcome else { return false }
        return accounts(in: reply).contains { $0.idTokens > 0 }
    }

    /// The accounts in a reply; none if it is not a reply with accounts.
    private static func accounts<Reply>(in reply: Reply) -> [Account] {
        switch reply {
        case let list as ListAccounts.Reply: list.accounts
        case let current as GetCurrentAccount.Reply: [current.account, current.previous].compactMap(\.self)
        default: []
        }
    }

    /// Whether there was a published socket to close.
    private static func closesSocket<Reply>(_ outcome: Result<Reply, TokenError>) -> Bool {
        guard case .success(let reply) = outcome else { return false }
        return (reply as? UnpublishSocket.Reply)?.label != nil
    }
}

extension AuditEvent {
    /// Adds the account and the scopes of tokens.
    fileprivate mutating func add(_ tokens: TokenResult, hasNames: Bool) {
        account = tokens.account.homeAccountID?.text ?? tokens.account.username
        scopes = tokens.scopes
        if hasNames { username = tokens.account.username }
    }

    /// Adds the number of ID tokens that come with accounts, and the account if they are of one only.
    fileprivate mutating func add(idTokensOf accounts: [Account], hasNames: Bool) {
        let holders = accounts.filter { $0.idTokens > 0 }
        count = holders.reduce(0) { $0 + $1.idTokens }
        guard holders.count == 1, let holder = holders.first else { return }
        account = holder.homeAccountID?.text ?? holder.username
        if hasNames { username = holder.username }
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
        // The whole sharing group is removed, whatever account the request has beside.
        case let request as RemoveAccount: request.extent == .everything ? nil : request.account
        case let request as RedeemGrant: request.account
        default: nil
        }
    }
}

extension Account {
    /// The number of ID tokens of the account. That of the home tenant is also in its tenant profile, and counts once.
    fileprivate var idTokens: Int {
        let ofProfiles = tenantProfiles.count { $0.idToken != nil }
        guard let homeIDToken, !tenantProfiles.contains(where: { $0.idToken == homeIDToken }) else { return ofProfiles }
        return ofProfiles + 1
    }
}

extension ListCredentials.Reply {
    /// The number of credentials whose secret the reply has.
    fileprivate var accessTokens: Int { credentials.count { $0.kind == .accessToken } }
}
