internal import NIOCore
internal import TokenModel
internal import TokenWire

/// From a request to its one reply: a case for each request, and nothing but the way to it.
struct RequestRouter: Sendable {
    let owner: CacheOwner

    /// Call on the owner's event loop. A hit is answered before this returns.
    func reply(to request: Request.Body, from session: SessionID) -> Answer<Reply.Body> {
        owner.assumeIsolated { owner in
            if request.needsCache, let open = owner.untilLoaded() { return after(open, request, session) }
            if request.describesStore, let loading = owner.untilLoadedOrTimeout() {
                return after(loading, request, session)
            }
            return answer(request, session, owner)
        }
    }

    /// A session is over: nobody can go on with what it has begun.
    func ended(_ session: SessionID) {
        owner.assumeIsolated { $0.ended(session) }
    }

    private func answer(
        _ request: Request.Body, _ session: SessionID, _ owner: isolated CacheOwner
    ) -> Answer<Reply.Body> {
        switch request {
        case .hello(let request): owner.hello(request).map(Reply.Body.hello)
        case .acquireTokenSilent(let request):
            owner.acquireTokenSilent(request).map(Reply.Body.acquireTokenSilent)
        case .beginInteractive(let request): owner.beginInteractive(request).map(Reply.Body.beginInteractive)
        case .completeInteractive(let request):
            owner.completeInteractive(request).map(Reply.Body.completeInteractive)
        case .beginDeviceCode(let request): owner.beginDeviceCode(request).map(Reply.Body.beginDeviceCode)
        case .completeDeviceCode(let request):
            owner.completeDeviceCode(request).map(Reply.Body.completeDeviceCode)
        case .cancelInteraction(let request):
            owner.cancelInteraction(request).map { Reply.Body.cancelInteraction }
        case .listAccounts(let request): owner.listAccounts(request).map(Reply.Body.listAccounts)
        case .removeAccount(let request): owner.removeAccount(request).map(Reply.Body.removeAccount)
        case .getStatus: owner.status().map(Reply.Body.getStatus)
        case .diagnose(let request): owner.diagnose(request).map(Reply.Body.diagnose)
        case .listCredentials(let request): owner.listCredentials(request).map(Reply.Body.listCredentials)
        case .removeCredential(let request): owner.removeCredential(request).map(Reply.Body.removeCredential)
        case .redeemGrant(let request): owner.redeemGrant(request).map(Reply.Body.redeemGrant)
        case .getCurrentAccount(let request): owner.currentAccount(request).map(Reply.Body.getCurrentAccount)
        case .importCache(let request): owner.importCache(request, from: session).map(Reply.Body.importCache)
        case .exportCache(let request): owner.exportCache(request, from: session).map(Reply.Body.exportCache)
        case .getKey: owner.keyStatus().map(Reply.Body.getKey)
        case .setKey(let request): owner.setKey(request).map(Reply.Body.setKey)
        case .unlock(let request): owner.unlock(request).map(Reply.Body.unlock)
        case .rejected(let error): .now(.failure(error))
        }
    }

    /// The reply once the cache is there.
    private func after(
        _ open: EventLoopFuture<Result<Void, TokenError>>, _ request: Request.Body, _ session: SessionID
    ) -> Answer<Reply.Body> {
        .later(
            open.flatMap { outcome in
                if case .failure(let error) = outcome { return open.eventLoop.makeSucceededFuture(.failure(error)) }
                return reply(to: request, from: session).future(on: open.eventLoop)
            })
    }

    /// The reply once the store is loaded, or once that has taken too long to wait for.
    private func after(
        _ loading: EventLoopFuture<Void>, _ request: Request.Body, _ session: SessionID
    ) -> Answer<Reply.Body> {
        .later(
            loading.flatMap { owner.assumeIsolated { answer(request, session, $0) }.future(on: loading.eventLoop) })
    }
}

extension Request.Body {
    /// Whether it cannot be answered before the store is loaded.
    fileprivate var needsCache: Bool {
        switch self {
        case .hello, .getStatus, .diagnose, .getKey, .unlock, .rejected: false
        default: true
        }
    }

    /// Whether its answer says how the store is.
    fileprivate var describesStore: Bool {
        switch self {
        case .getStatus, .diagnose, .getKey: true
        default: false
        }
    }
}
