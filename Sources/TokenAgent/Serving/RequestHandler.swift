internal import AccessPolicy
internal import NIOCore
internal import TokenModel
internal import TokenWire

/// Handles the requests of one type: decodes them, applies the access policy, waits for the store, calls `CacheOwner`, and
/// encodes the reply.
struct RequestHandler: Sendable {
    /// Whether a request waits until the store is loaded.
    enum Wait: Sendable {
        case never
        case untilLoaded
        /// Waits for a limited time, since the reply describes the state of the store.
        case untilLoadedOrTimeout
    }

    /// The number of the request type; see `AgentRequest.number`.
    let number: UInt32
    /// Handles the frame of a request and returns the frame of its reply. A cache hit is answered before this returns.
    let reply: @Sendable (RequestFrame, SessionID, Caller, isolated CacheOwner) -> Answer<[UInt8]>

    init<Request: WireRequest>(
        _ type: Request.Type, waits: Wait = .untilLoaded,
        answer: @escaping @Sendable (isolated CacheOwner, Request, SessionID) -> Answer<Request.Reply>
    ) {
        number = Request.number
        let name = RequestFrame.name(of: Request.number) ?? "unknown"
        reply = { frame, session, caller, owner in
            do throws(TokenError) {
                let request = try frame.request(Request.self)
                let asked = PolicyRequest(name: name, subject: request.subject)
                return caller.answer(asked, on: owner.loop) {
                    owner.assumeIsolated { $0.answer(request, session, waits, answer) }
                }.encoded { outcome in
                    caller.log.replied(to: request, id: frame.id, outcome)
                    caller.audit?.replied(to: request, asked, outcome, from: caller.identity)
                    return ReplyFrame.encode(outcome, to: Request.self, id: frame.id)
                }
            } catch {
                return .now(.failure(error))
            }
        }
    }
}

extension CacheOwner {
    /// Answers a request, after the store is loaded if the request needs it.
    fileprivate func answer<Request: WireRequest>(
        _ request: Request, _ session: SessionID, _ wait: RequestHandler.Wait,
        _ answer: @escaping @Sendable (isolated CacheOwner, Request, SessionID) -> Answer<Request.Reply>
    ) -> Answer<Request.Reply> {
        switch wait {
        case .never: break
        case .untilLoaded:
            guard let load = untilLoaded() else { break }
            return .later(
                load.flatMap { outcome in
                    if case .failure(let error) = outcome { return load.eventLoop.makeSucceededFuture(.failure(error)) }
                    return self.answer(request, session, answer, on: load.eventLoop)
                })
        case .untilLoadedOrTimeout:
            guard let load = untilLoadedOrTimeout() else { break }
            return .later(load.flatMap { self.answer(request, session, answer, on: load.eventLoop) })
        }
        return answer(self, request, session)
    }

    /// Answers a request whose wait is over.
    private nonisolated func answer<Request: WireRequest>(
        _ request: Request, _ session: SessionID,
        _ answer: @escaping @Sendable (isolated CacheOwner, Request, SessionID) -> Answer<Request.Reply>,
        on loop: any EventLoop
    ) -> EventLoopFuture<Result<Request.Reply, TokenError>> {
        assumeIsolated { answer($0, request, session) }.future(on: loop)
    }
}

/// The reply to a request: available now, or as a future.
enum Answer<Value: Sendable>: Sendable {
    case now(Result<Value, TokenError>)
    case later(EventLoopFuture<Result<Value, TokenError>>)

    func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) -> Other) -> Answer<Other> {
        switch self {
        case .now(let outcome): .now(outcome.map(transform))
        case .later(let future): .later(future.map { $0.map(transform) })
        }
    }

    /// The frame of the reply, be it a success or a failure.
    func encoded(_ encode: @escaping @Sendable (Result<Value, TokenError>) -> [UInt8]) -> Answer<[UInt8]> {
        switch self {
        case .now(let outcome): .now(.success(encode(outcome)))
        case .later(let future): .later(future.map { .success(encode($0)) })
        }
    }

    func future(on loop: any EventLoop) -> EventLoopFuture<Result<Value, TokenError>> {
        switch self {
        case .now(let outcome): loop.makeSucceededFuture(outcome)
        case .later(let future): future
        }
    }
}
