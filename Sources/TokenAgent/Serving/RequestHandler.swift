internal import NIOCore
internal import TokenModel
internal import TokenWire

/// Answers the requests of one type: decodes them, waits for the store, has the owner of the cache answer, and encodes the reply.
struct RequestHandler: Sendable {
    /// What a request waits for.
    enum Wait: Sendable {
        case never
        /// It cannot be answered before the store is loaded.
        case untilLoaded
        /// Its reply describes the store, which is worth waiting for a moment.
        case untilLoadedOrTimeout
    }

    /// The number of the requests, see `AgentRequest.number`.
    let number: UInt32
    /// From a request's frame to the frame of its reply. A hit is answered before this returns.
    let reply: @Sendable (RequestFrame, SessionID, RequestLog, isolated CacheOwner) -> Answer<[UInt8]>

    init<Request: WireRequest>(
        _ type: Request.Type, waits: Wait = .untilLoaded,
        answer: @escaping @Sendable (isolated CacheOwner, Request, SessionID) -> Answer<Request.Reply>
    ) {
        number = Request.number
        reply = { frame, session, log, owner in
            do throws(TokenError) {
                let request = try frame.request(Request.self)
                return owner.answer(request, session, waits, answer).encoded { outcome in
                    log.replied(to: request, id: frame.id, outcome)
                    return ReplyFrame.encode(outcome, to: Request.self, id: frame.id)
                }
            } catch {
                return .now(.failure(error))
            }
        }
    }
}

extension CacheOwner {
    /// Has a request answered once there is nothing to wait for.
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

    /// The answer to a request that has waited.
    private nonisolated func answer<Request: WireRequest>(
        _ request: Request, _ session: SessionID,
        _ answer: @escaping @Sendable (isolated CacheOwner, Request, SessionID) -> Answer<Request.Reply>,
        on loop: any EventLoop
    ) -> EventLoopFuture<Result<Request.Reply, TokenError>> {
        assumeIsolated { answer($0, request, session) }.future(on: loop)
    }
}
