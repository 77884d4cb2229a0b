internal import AccessPolicy
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore
internal import TokenWire

@testable internal import TokenAgent

/// Requests that wait for the store, and rules that change meanwhile.
@Suite(.bounded) struct WaitedRequestTests {
    /// A rule that refuses counts after the wait, and so does one that requires a person.
    @Test func asksForAConfirmationThatARuleRequiresSinceTheRequestWaited() async throws {
        try await Self.withOwner(rules: []) { owner, peer in
            let list = ListAccounts(clientID: nil)
            let received = RequestHandler.Progress.received
            guard case .waitingForStore(let load) = try await owner.step(list, of: peer, after: received) else {
                Issue.record("the request does not wait for the store")
                return
            }
            _ = try await owner.reload()
            try await load.get().get()
            guard case .confirming(let answer) = try await owner.step(list, of: peer, after: received.afterLoad) else {
                Issue.record("nobody is asked")
                return
            }
            try await answer.get().get()
            // What a person has confirmed is not asked again, also if it waits for the store afterwards.
            let confirmed = RequestHandler.Progress.confirmed
            for progress in [confirmed, confirmed.afterLoad, confirmed.afterLoad.afterLoad] {
                guard case .answered = try await owner.step(list, of: peer, after: progress) else {
                    Issue.record("not answered after \(progress)")
                    continue
                }
            }
        }
    }

    /// What the rules have allowed on a connection before holds as long as they do.
    @Test(arguments: [[], Self.confirmingRules])
    func asksForAConfirmationOfASubscriptionIfTheRulesHaveChanged(rules: [PolicyRule]) async throws {
        try await Self.withOwner(rules: rules) { owner, peer in
            var request = WatchEvents(clientID: nil)
            request.position = try await owner.subscribe(request)
            guard case .answered = try await owner.step(request, of: peer, after: .received) else {
                Issue.record("the subscription is not continued")
                return
            }
            _ = try await owner.reload()
            switch try await owner.step(request, of: peer, after: .received) {
            case .confirming(let answer):
                try await answer.get().get()
                #expect(rules != Self.confirmingRules)
            case .answered: #expect(rules == Self.confirmingRules)
            case .waitingForStore: Issue.record("the request waits for the store")
            }
            await owner.finishWatching(CacheOwner.connection)
        }
    }

    /// A process could close its connection, so that no reply is sent.
    @Test func logsWhatChangesSomethingWithoutWaitingForTheReply() async throws {
        let messages = LogCollector.Messages()
        try await Self.withOwner(rules: [], messages) { owner, peer in
            let reply = try #require(try await owner.laterReply(to: SetKey(source: .file), of: peer))
            _ = try await reply.get()
            #expect(messages.all.count { $0.contains("set_key") } == 1, "\(messages.all)")
        }
    }

    /// No rule has refused it, and the message at the usual level is the only one.
    @Test func logsARefusalByTheLimitsOfAPublishedSocket() async throws {
        let messages = LogCollector.Messages()
        try await Self.withOwner(rules: [], messages) { owner, peer in
            let rules = SocketRules(
                userIDs: [geteuid()], clientIDs: [.sample], sharingGroup: .standard, scopes: ScopeSet([]),
                authorities: [], account: nil)
            let summary = PublishedSocket(
                path: "/srv/build.sock", label: "build", userIDs: [geteuid()], clientIDs: [.sample],
                sharingGroup: .standard, scopes: ScopeSet([]), authorities: [], account: AccountReference(),
                expiresOn: .max, connections: 0)
            var published = peer
            published.published = PublishedHandlers(Publication(id: 1, rules: rules, account: nil, summary: summary))
            let other = WatchEvents(clientID: try ClientID.sample(2))
            guard case .answered = try await owner.step(other, of: published, after: .received) else {
                Issue.record("the request is not refused at once")
                return
            }
            #expect(messages.all.count == 1, "\(messages.all)")
            #expect(messages.all.first?.hasPrefix("notice denied") == true)
        }
    }

    private static let confirmingRules = [PolicyRule(requests: .all, effect: .confirm)]

    /// An agent with rules, which gets the rules that require confirmations when it reads its configuration again.
    private static func withOwner(
        rules: [PolicyRule], _ messages: LogCollector.Messages = LogCollector.Messages(),
        _ body: (CacheOwner, ConnectedPeer) async throws -> Void
    ) async throws {
        let (folder, clock) = (try TemporaryFolder(), TestClock())
        let log = messages.logger()
        let network = try NetworkSettings(environment: [:])
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), allowsLoopbackHTTP: false,
            network: network, policy: PeerPolicy(userID: geteuid(), rules: rules), now: { clock.now }, logger: log)
        options.readConfiguration = {
            ReadConfiguration(
                rules: confirmingRules, auditsNames: false, allowsLoopbackHTTP: false,
                report: ReloadConfiguration.Reply(files: [], applied: [], awaitingRestart: []))
        }
        let askpass = try await folder.makeProgram("askpass", "exit 0")
        let peer = ConnectedPeer(
            identity: PeerIdentity(userID: geteuid(), processID: 7),
            confirmer: Confirmer(askpass: askpass, helper: nil),
            denials: DenialLog(logger: log, now: { clock.now }), log: RequestLog(logger: log, processID: 7), audit: nil)
        let store = try Store.open(directory: options.stateDirectory, StoreOptions(now: { clock.now }))
        let endpoint = TokenEndpointClient(network: network, allowsLoopbackHTTP: false, now: { clock.now })
        let owner = CacheOwner(
            loop: MultiThreadedEventLoopGroup.singleton.next(), options: options, store: store, endpoint: endpoint,
            metrics: AgentMetrics(), audit: nil)
        try await withCleanup {
            try await body(owner, peer)
        } cleanUp: {
            try await owner.shutDown().get()
            await endpoint.close()
            await store.close()
        }
    }
}

/// What a request waits for.
private enum Step: Sendable {
    case waitingForStore(EventLoopFuture<Result<Void, TokenError>>)
    case confirming(EventLoopFuture<Result<Void, TokenError>>)
    case answered
}

extension CacheOwner {
    fileprivate static let connection = ConnectionID(number: 1)

    /// Handles a request of a connection.
    fileprivate func step<Request: WireRequest>(
        _ request: Request, of peer: ConnectedPeer, after progress: RequestHandler.Progress
    ) throws -> Step {
        let bytes = try RequestFrame.encode(request, id: 1).dropFirst(FrameDecoder.headerLength)
        let handler = try peer.handler(of: Request.number)
        let frame = try RequestFrame(decoding: bytes)
        switch handler.reply(frame, Self.connection, peer, progress, self) {
        case .afterLoad(let future): return .waitingForStore(future)
        case .afterConfirmation(let future): return .confirming(future)
        case .now, .repeatable, .withDescriptor, .later: return .answered
        }
    }

    /// Handles a request that a person has allowed and that has waited for the store.
    ///
    /// - Returns: the reply, which is not encoded when the future completes; nil if it is available at once.
    fileprivate func laterReply<Request: WireRequest>(
        to request: Request, of peer: ConnectedPeer
    ) throws -> EventLoopFuture<@Sendable () -> [UInt8]>? {
        let bytes = try RequestFrame.encode(request, id: 1).dropFirst(FrameDecoder.headerLength)
        let handler = try #require(RequestHandlers.handler(of: Request.number))
        let frame = try RequestFrame(decoding: bytes)
        let progress = RequestHandler.Progress.loaded(isConfirmed: true)
        guard case .later(let reply) = handler.reply(frame, Self.connection, peer, progress, self) else { return nil }
        return reply
    }

    /// Begins a subscription that has been allowed, and returns its position.
    fileprivate func subscribe(_ request: WatchEvents) throws -> EventPosition {
        guard case .now(let outcome) = watchEvents(request, from: Self.connection) else {
            throw TokenError(.internalError, "the first request for events is not answered at once")
        }
        return try outcome.get().position
    }
}
