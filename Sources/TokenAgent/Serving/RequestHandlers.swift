internal import TokenCache
internal import TokenModel
internal import TokenWire

/// The table of request handlers, in the order of the request numbers.
enum RequestHandlers {
    static let all: [RequestHandler] = [
        RequestHandler(Hello.self, waits: .never, descriptor: { $0.pageDescriptor(for: $1, from: $2) }) {
            owner, request, _ in owner.hello(request)
        },
        RequestHandler(AcquireTokenSilent.self) { owner, request, connection in
            owner.acquireTokenSilent(request, from: connection)
        },
        RequestHandler(BeginInteractive.self) { owner, request, connection in
            owner.beginInteractive(request, from: connection)
        },
        RequestHandler(CompleteInteractive.self) { owner, request, connection in
            owner.completeInteractive(request, from: connection)
        },
        RequestHandler(BeginDeviceCode.self) { owner, request, connection in
            owner.beginDeviceCode(request, from: connection)
        },
        RequestHandler(CompleteDeviceCode.self) { owner, request, connection in
            owner.completeDeviceCode(request, from: connection)
        },
        RequestHandler(CancelInteraction.self) { owner, request, _ in owner.cancelInteraction(request) },
        RequestHandler(ListAccounts.self) { owner, request, _ in owner.listAccounts(request) },
        RequestHandler(RemoveAccount.self, account: { $0.core.memory.cache.account(removedBy: $1) }) {
            owner, request, _ in owner.removeAccount(request)
        },
        RequestHandler(GetStatus.self, waits: .untilLoadedOrTimeout) { owner, request, _ in owner.status(request) },
        RequestHandler(Diagnose.self, waits: .untilLoadedOrTimeout) { owner, request, connection in
            owner.diagnose(request, from: connection)
        },
        RequestHandler(ListCredentials.self) { owner, request, _ in owner.listCredentials(request) },
        RequestHandler(RemoveCredential.self, account: { $0.core.memory.cache.account(removedBy: $1) }) {
            owner, request, _ in owner.removeCredential(request)
        },
        RequestHandler(RedeemGrant.self) { owner, request, connection in
            owner.redeemGrant(request, from: connection)
        },
        RequestHandler(GetCurrentAccount.self) { owner, request, _ in owner.currentAccount(request) },
        RequestHandler(ImportCache.self) { owner, request, connection in owner.importCache(request, from: connection) },
        RequestHandler(ExportCache.self) { owner, request, connection in owner.exportCache(request, from: connection) },
        RequestHandler(GetKey.self, waits: .untilLoadedOrTimeout) { owner, _, _ in owner.keyStatus() },
        RequestHandler(SetKey.self, waits: .untilLoadedOrTimeout) { owner, request, _ in owner.setKey(request) },
        RequestHandler(Unlock.self, waits: .never) { owner, request, _ in owner.unlock(request) },
        RequestHandler(PublishSocket.self) { owner, request, _ in owner.publishSocket(request) },
        RequestHandler(ListSockets.self, waits: .never) { owner, _, _ in owner.listSockets() },
        RequestHandler(UnpublishSocket.self, waits: .never) { owner, request, _ in owner.unpublishSocket(request) },
        RequestHandler(Lock.self, waits: .never) { owner, _, _ in owner.lock() },
        RequestHandler(WatchEvents.self, waits: .never, watchesEvents: true) { owner, request, connection in
            owner.watchEvents(request, from: connection)
        },
        RequestHandler(ReloadConfiguration.self, waits: .never) { owner, _, _ in owner.reloadConfiguration() },
    ]

    /// The numbers of the requests that the agent supports.
    static let numbers = all.map(\.number)

    /// The handler of a request number; nil if the agent does not support the request.
    static func handler(of number: UInt32) -> RequestHandler? {
        number < byNumber.count ? byNumber[Int(number)] : nil
    }

    private static let byNumber: [RequestHandler?] = {
        var handlers = [RequestHandler?](repeating: nil, count: Int(numbers.max() ?? 0) + 1)
        for handler in all { handlers[Int(handler.number)] = handler }
        return handlers
    }()
}
