internal import AccessPolicy
internal import NIOCore
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
        /// The request has waited for the store.
        case loaded
        /// What the request has waited for has failed.
        case failed(TokenError)

        /// Whether the request has waited for nothing.
        var isImmediate: Bool { if case .received = self { true } else { false } }
    }

    /// The number of the request type; see `AgentRequest.number`.
    let number: UInt32
    /// Whether requests of this type wait for events, without a time limit. Such a request does not keep its connection
    /// open, and is answered when the connection ends.
    let watchesEvents: Bool
    /// Handles the frame of a request and returns the frame of its reply, or what has to be waited for before it is called again.
    /// A cache hit is answered before this returns.
    let reply: @Sendable (RequestFrame, SessionID, Caller, Progress, isolated CacheOwner) -> EncodedReply

    /// - Parameter descriptor: returns the descriptor to send with a success that is available immediately; nil for
    ///   none.
    init<Request: WireRequest>(
        _ type: Request.Type, waits: Wait = .untilLoaded, watchesEvents: Bool = false,
        descriptor: (@Sendable (isolated CacheOwner, Request, Caller) -> Int32?)? = nil,
        answer: @escaping @Sendable (isolated CacheOwner, Request, SessionID) -> Answer<Request.Reply>
    ) {
        number = Request.number
        self.watchesEvents = watchesEvents
        let name = RequestFrame.name(of: Request.number) ?? "unknown"
        reply = { frame, session, caller, progress, owner in
            let (id, metrics) = (frame.id, owner.core.metrics)
            let decoded: Request
            do throws(TokenError) {
                let sent = try frame.request(Request.self)
                decoded = caller.isConfined ? sent.confined : sent
            } catch {
                caller.log.refused(error, id: id)
                metrics.count(.request(number: Request.number, .failed(error.code)))
                return .now(ReplyFrame.encode(error.forApps, id: id))
            }
            // An app may keep a result only if it shares the page, and if an equal request needs no confirmation by a
            // person.
            let restricted =
                caller.sharesGenerations && progress.isImmediate ? nil : decoded.withoutFreshness
            let request = restricted ?? decoded
            var asked = PolicyRequest(name: name, subject: request.subject, purpose: request.purpose)
            if asked.subject.isContinuation {
                asked.subject.isContinuation = owner.isContinuation(request, on: session)
            }
            let encode: @Sendable (Result<Request.Reply, TokenError>) -> [UInt8] = { [asked] outcome in
                let outcome = outcome.mapError(\.forApps)
                metrics.replied(to: Request.number, outcome)
                caller.log.replied(to: request, id: id, outcome, limitedBy: caller.denials)
                caller.audit?.replied(to: request, asked, outcome, from: caller)
                return ReplyFrame.encode(outcome, to: Request.self, id: id)
            }
            var hasLoaded = false
            switch progress {
            case .received:
                switch caller.admission(of: asked, by: owner.policy, on: owner.loop) {
                case .allowed: break
                case .refused(let error): return .now(encode(.failure(error)))
                case .confirming(let future): return .afterConfirmation(future)
                }
            case .confirmed, .loaded:
                if let error = caller.refusalAfterWait(of: asked, by: owner.policy) {
                    return .now(encode(.failure(error)))
                }
                if case .loaded = progress { hasLoaded = true }
            case .failed(let error): return .now(encode(.failure(error)))
            }
            // The store may have been locked while the request waited for its turn.
            if !hasLoaded || waits == .untilLoaded, let load = owner.load(waits, for: request, from: caller) {
                return .afterLoad(load)
            }
            let answer = answer(owner, request, session)
            if let descriptor, case .now(let outcome) = answer, case .success = outcome,
                let descriptor = descriptor(owner, request, caller)
            {
                return .withDescriptor(encode(outcome), descriptor)
            }
            guard restricted == nil, case .repeatable(let value, let conditions) = answer else {
                return answer.encoded(encode)
            }
            let outcome = Result<Request.Reply, TokenError>.success(value)
            let event = caller.audit?.event(of: request, asked, outcome)
            caller.log.replied(to: request, id: id, outcome, limitedBy: caller.denials)
            metrics.replied(to: Request.number, outcome)
            if let event { caller.audit?.record(event, from: caller) }
            return .repeatable(
                ReplyFrame.encode(outcome, to: Request.self, id: id),
                KeptReplies.Entry(
                    conditions: conditions, policyRequest: asked, event: event,
                    hasFreshness: request.withoutFreshness != nil))
        }
    }
}

/// The reply to a request: available now, or as a future.
enum Answer<Value: Sendable>: Sendable {
    case now(Result<Value, TokenError>)
    /// A success that repetitions of the request have as well, under these conditions.
    case repeatable(Value, KeptReplies.Conditions)
    case later(EventLoopFuture<Result<Value, TokenError>>)

    /// Waits for the outcome.
    func outcome() async throws(TokenError) -> Value {
        switch self {
        case .now(let outcome): try outcome.get()
        case .repeatable(let value, _): value
        case .later(let future): try await future.outcome()
        }
    }

    func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) -> Other) -> Answer<Other> {
        mapOutcome { $0.map(transform) }
    }

    func mapOutcome<Other: Sendable>(
        _ transform: @escaping @Sendable (Result<Value, TokenError>) -> Result<Other, TokenError>
    ) -> Answer<Other> {
        switch self {
        case .now(let outcome): .now(transform(outcome))
        case .later(let future): .later(future.map(transform))
        case .repeatable(let value, _): .now(transform(.success(value)))
        }
    }

    /// The frame of the reply, of a success or a failure.
    func encoded(_ encode: @escaping @Sendable (Result<Value, TokenError>) -> [UInt8]) -> EncodedReply {
        switch self {
        case .now(let outcome): .now(encode(outcome))
        case .repeatable(let value, _): .now(encode(.success(value)))
        case .later(let future): .later(future.map { outcome in { encode(outcome) } })
        }
    }
}

/// The frame of a reply: available now, or later. A later one is encoded when it can be sent, since it may be much larger than the
/// outcome, which other replies may share.
enum EncodedReply {
    case now([UInt8])
    /// Available now, and for repetitions of the request.
    case repeatable([UInt8], KeptReplies.Entry)
    /// Available now, and comes with a descriptor.
    case withDescriptor([UInt8], Int32)
    case later(EventLoopFuture<@Sendable () -> [UInt8]>)
    /// A person has to allow the request first.
    case afterConfirmation(EventLoopFuture<Result<Void, TokenError>>)
    /// The store has to be loaded first.
    case afterLoad(EventLoopFuture<Result<Void, TokenError>>)
}

extension AcquireTokenSilent {
    /// The request without the reserved scopes, which the agent always adds.
    var withoutReservedScopes: AcquireTokenSilent {
        guard parameters.scopes.intersects(.reserved) else { return self }
        var request = self
        request.parameters.scopes = parameters.scopes.subtracting(.reserved)
        return request
    }
}

extension Answer<TokenResult> {
    /// The answer, whose ID token is encoded once if the app restores its other places (`acceptsSingleIDToken`).
    func withIDTokens(for request: AcquireTokenSilent) -> Answer<TokenResult> {
        guard request.acceptsSingleIDToken else { return self }
        return map { result in
            var result = result
            result.allowsSingleIDToken = true
            return result
        }
    }
}
