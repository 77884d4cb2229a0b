internal import NIOCore
internal import TokenModel
internal import TokenWire

/// Handles the requests of one type: decodes them, calls `CacheOwner`, and encodes the reply.
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
    /// What has to be waited for before `reply` is called.
    let wait: Wait
    /// Handles the frame of a request and returns the frame of its reply. A cache hit is answered before this returns.
    let reply: @Sendable (RequestFrame, SessionID, RequestLog, isolated CacheOwner) -> EncodedReply

    init<Request: WireRequest>(
        _ type: Request.Type, waits: Wait = .untilLoaded,
        answer: @escaping @Sendable (isolated CacheOwner, Request, SessionID) -> Answer<Request.Reply>
    ) {
        number = Request.number
        wait = waits
        reply = { frame, session, log, owner in
            let id = frame.id
            let request: Request
            do throws(TokenError) {
                request = try frame.request(Request.self)
            } catch {
                log.refused(error, id: id)
                return .now(ReplyFrame.encode(error, id: id))
            }
            return answer(owner, request, session).encoded { outcome in
                log.replied(to: request, id: id, outcome)
                return ReplyFrame.encode(outcome, to: Request.self, id: id)
            }
        }
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
    func encoded(_ encode: @escaping @Sendable (Result<Value, TokenError>) -> [UInt8]) -> EncodedReply {
        switch self {
        case .now(let outcome): .now(encode(outcome))
        case .later(let future): .later(future.map { outcome in { encode(outcome) } })
        }
    }
}

/// The frame of a reply: available now, or later. A later one is encoded when it can be sent, since it may be much larger than the
/// outcome, which other replies may share.
enum EncodedReply {
    case now([UInt8])
    case later(EventLoopFuture<@Sendable () -> [UInt8]>)
}
