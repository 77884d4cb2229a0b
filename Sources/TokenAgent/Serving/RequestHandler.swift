internal import AccessPolicy
internal import TokenModel
internal import TokenWire

/// Handles the requests of one type: decodes them, applies the access policy, calls `CacheOwner`, and encodes the reply.
struct RequestHandler: Sendable {
    /// Whether a request waits until the store is loaded.
    enum Wait: Sendable {
        case never
        case untilLoaded
        /// Waits for a limited time, since the reply describes the state of the store.
        case untilLoadedOrTimeout
    }

    /// The state of a request that may have to wait.
    enum Progress: Sendable {
        case received
        /// A person has allowed the request.
        case confirmed
        /// The request has waited for the store. A person has allowed it before only if it is confirmed.
        case loaded(isConfirmed: Bool)
        /// What the request has waited for has failed.
        case failed(TokenError)

        /// Whether the request has waited for nothing.
        var isImmediate: Bool { if case .received = self { true } else { false } }

        /// Whether the request has waited for the store.
        var hasLoaded: Bool { if case .loaded = self { true } else { false } }

        /// The state of the request when it has waited for the store.
        var afterLoad: Progress {
            switch self {
            case .received, .loaded(isConfirmed: false): .loaded(isConfirmed: false)
            case .confirmed, .loaded(isConfirmed: true): .loaded(isConfirmed: true)
            case .failed: self
            }
        }
    }

    /// The number of the request type; see `AgentRequest.number`.
    let number: UInt32
    /// Whether requests of this type wait for events, without a time limit. Such a request does not keep its connection
    /// open, and is answered when the connection ends.
    let watchesEvents: Bool
    /// The smallest number of bytes that a waiting request counts for, against `PeerLimits.requestBytes`. Its outcome may be longer than
    /// the request, and stays in memory until the peer reads its replies.
    let allowance: Int
    /// Handles the frame of a request and returns the frame of its reply, or what has to be waited for before it is called again.
    /// A cache hit is answered before this returns.
    let reply: @Sendable (RequestFrame, ConnectionID, ConnectedPeer, Progress, isolated CacheOwner) -> EncodedReply

    /// - Parameters:
    ///   - account: returns the account that a request removes something of, for the audit log; called before `answer`.
    ///   - descriptor: returns the descriptor to send with a success that is available immediately; nil for none.
    init<Request: WireRequest>(
        _ type: Request.Type, waits: Wait = .untilLoaded, watchesEvents: Bool = false,
        account: (@Sendable (isolated CacheOwner, Request) -> AccountReference?)? = nil,
        descriptor: (@Sendable (isolated CacheOwner, Request, ConnectedPeer) -> Int32?)? = nil,
        answer: @escaping @Sendable (isolated CacheOwner, Request, ConnectionID) -> Answer<Request.Reply>
    ) {
        number = Request.number
        self.watchesEvents = watchesEvents
        allowance = Self.allowance(of: Request.number)
        let name = RequestFrame.name(of: Request.number)
        reply = { frame, connection, peer, progress, owner in
            let decoded: Request
            do throws(TokenError) {
                let sent = try frame.request(Request.self)
                decoded = peer.isConfined ? sent.confined : sent
            } catch {
                peer.log.refused(error, id: frame.id)
                owner.core.metrics.count(.request(number: Request.number, .failed(error.code)))
                return .now(ReplyFrame.encode(error.forApps, id: frame.id))
            }
            // An app may keep a result only if it shares the page, and if an equal request needs no confirmation by a
            // person.
            let restricted = peer.sharesGenerations && progress.isImmediate ? nil : decoded.withoutFreshness
            let request = restricted ?? decoded
            var policyRequest = PolicyRequest(name: name, subject: request.subject, purpose: request.purpose)
            if policyRequest.subject.isContinuation {
                policyRequest.subject.isContinuation = owner.isContinuation(request, on: connection)
            }
            var signIn: RequestLog.SignIn?
            if let id = policyRequest.subject.signIn, let begun = owner.signIns.parameters(of: id) {
                policyRequest.subject.clientID = begun.clientID
                policyRequest.subject.sharingGroup = begun.sharingGroup
                signIn = RequestLog.SignIn(of: begun)
            }
            let asked = Exchange(
                request: request, policyRequest: policyRequest, id: frame.id, peer: peer, metrics: owner.core.metrics,
                signIn: signIn)
            if let reply = asked.replyBeforeAnswer(after: progress, owner) { return reply }
            // The store may have been locked while the request waited for its turn.
            if !progress.hasLoaded || waits == .untilLoaded,
                let load = owner.pendingLoad(waits, for: request, from: peer)
            {
                return .afterLoad(load)
            }
            let exchange = if let account { asked.about(account(owner, request)) } else { asked }
            let answer = answer(owner, request, connection)
            if let descriptor, case .now(let outcome) = answer, case .success = outcome,
                let descriptor = descriptor(owner, request, peer)
            {
                return .withDescriptor(exchange.encode(outcome), descriptor)
            }
            guard restricted == nil, case .repeatable(let value, let conditions) = answer else {
                return answer.encoded(now: exchange.encodeAnswer) { exchange.encodeLater($0, by: owner) }
            }
            return exchange.repeatableReply(value, conditions)
        }
    }
}

extension RequestHandler {
    /// The allowance of the requests with a number; 0 if their outcome has neither tokens nor a list of accounts.
    fileprivate static func allowance(of number: UInt32) -> Int {
        switch number {
        case AcquireTokenSilent.number, CompleteInteractive.number, CompleteDeviceCode.number, RedeemGrant.number:
            tokens
        case ListAccounts.number, ListCredentials.number, GetCurrentAccount.number, ExportCache.number: page
        default: 0
        }
    }

    /// The allowance for the tokens of one app: a few kilobytes, and up to 400 KiB from a provider with long tokens.
    private static let tokens = 16 << 10
    /// The allowance for a page of a list with ID tokens, or a part of an export: up to 1 MiB.
    private static let page = 64 << 10
}

/// A decoded request and its peer: what the access policy decides about, and what the reply is logged and recorded with.
private struct Exchange<Request: WireRequest>: Sendable {
    let request: Request
    /// The request as the access policy sees it.
    let policyRequest: PolicyRequest
    let id: UInt64
    let peer: ConnectedPeer
    let metrics: AgentMetrics
    /// The sign-in that the request completes; nil for other requests.
    let signIn: RequestLog.SignIn?
    /// The account that the request removes something of, as the cache has it; nil for requests that remove nothing.
    var account: AccountReference?

    /// The exchange of a request that removes something of an account.
    func about(_ account: AccountReference?) -> Exchange {
        var exchange = self
        exchange.account = account
        return exchange
    }

    /// The reply to a request that is not answered: it is refused, a person is asked first, or what it has waited for has failed. Nil if
    /// it may be answered.
    func replyBeforeAnswer(after progress: RequestHandler.Progress, _ owner: isolated CacheOwner) -> EncodedReply? {
        switch progress {
        // The rules may have changed while the request waited for the store, and require a confirmation.
        case .received, .loaded(isConfirmed: false):
            switch peer.admission(of: policyRequest, request, by: owner.policy, on: owner.loop) {
            case .allowed: nil
            case .refused(let error): .now(encode(.failure(error)))
            case .confirming(let future): .afterConfirmation(future)
            }
        case .confirmed, .loaded(isConfirmed: true):
            peer.refusalOfAdmitted(policyRequest, by: owner.policy).map { .now(encode(.failure($0))) }
        case .failed(let error): .now(encode(.failure(error)))
        }
    }

    /// Counts, logs and records an outcome.
    ///
    /// - Returns: the frame of the reply.
    @Sendable func encode(_ outcome: Result<Request.Reply, TokenError>) -> [UInt8] {
        frame(of: outcome.mapError(sent), isRecorded: false)
    }

    /// As ``encode(_:)``, of the outcome of an answer.
    @Sendable func encodeAnswer(_ outcome: Result<Request.Reply, TokenError>) -> [UInt8] {
        logRefusal(in: outcome)
        return encode(outcome)
    }

    /// An error as it is sent to the peer.
    private func sent(_ error: TokenError) -> TokenError {
        peer.published == nil ? error.forApps : error.forPublishedPeers
    }

    /// Logs that the limits of a published socket refuse the request. A refusal by the policy or a person is logged before the answer.
    private func logRefusal(in outcome: Result<Request.Reply, TokenError>) {
        guard case .failure(let error) = outcome, error.code == .requestDenied, error.reason == .policy,
            peer.published != nil
        else { return }
        peer.denials.add(policyRequest, error, from: peer.identity)
    }

    /// Logs and records the outcome of a request that has waited, if such requests change something. The reply may wait until the peer has
    /// read others, or never be sent, since the connection has closed.
    ///
    /// - Returns: what does the rest of `encode` when the reply can be sent. If the rules have changed by then, they may refuse the tokens or
    ///   the accounts in the reply. Events are not decided about again: a change of the rules answers the requests that wait for them.
    func encodeLater(
        _ outcome: Result<Request.Reply, TokenError>, by owner: CacheOwner
    ) -> @Sendable () -> [UInt8] {
        logRefusal(in: outcome)
        let outcome = outcome.mapError(sent)
        let isRecorded = AuditTrail.isOfChange(request, outcome)
        if isRecorded { record(outcome) }
        let hasTokensOrAccounts = RequestHandler.allowance(of: Request.number) > 0
        return {
            guard hasTokensOrAccounts,
                let refusal = peer.refusalOfAdmitted(policyRequest, by: owner.assumeIsolated({ $0.policy }))
            else { return frame(of: outcome, isRecorded: isRecorded) }
            return frame(of: .failure(refusal.forApps), isRecorded: isRecorded)
        }
    }

    private func frame(of outcome: Result<Request.Reply, TokenError>, isRecorded: Bool) -> [UInt8] {
        metrics.replied(to: Request.number, outcome)
        if !isRecorded { record(outcome) }
        return ReplyFrame.encode(outcome, to: Request.self, id: id)
    }

    /// Logs and records an outcome.
    private func record(_ outcome: Result<Request.Reply, TokenError>) {
        peer.log.ended(request, id: id, outcome, of: signIn, limitedBy: peer.denials.limit)
        peer.audit?.replied(to: request, policyRequest, outcome, about: account, from: peer)
    }

    /// Counts, logs and records a success that is also the answer to repetitions of the request. Each of these adds the event to the
    /// audit log again.
    func repeatableReply(_ value: Request.Reply, _ conditions: KeptReplies.Conditions) -> EncodedReply {
        let outcome = Result<Request.Reply, TokenError>.success(value)
        let event = peer.audit?.event(of: request, policyRequest, outcome)
        metrics.replied(to: Request.number, outcome)
        peer.log.ended(request, id: id, outcome, limitedBy: peer.denials.limit)
        if let event { peer.audit?.record(event, from: peer) }
        return .repeatable(
            ReplyFrame.encode(outcome, to: Request.self, id: id),
            KeptReplies.Entry(
                conditions: conditions, policyRequest: policyRequest, event: event,
                hasFreshness: request.withoutFreshness != nil, isConfined: peer.isConfined))
    }
}
