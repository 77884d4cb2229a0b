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
        let (folder, clock) = (try TemporaryFolder(), TestClock())
        let log = LogCollector.Messages().logger()
        let network = try NetworkSettings(environment: [:])
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), allowsLoopbackHTTP: false,
            network: network, policy: PeerPolicy(userID: geteuid()), now: { clock.now }, logger: log)
        options.readConfiguration = {
            ReadConfiguration(
                rules: [PolicyRule(requests: .all, effect: .confirm)], auditsNames: false, allowsLoopbackHTTP: false,
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
            let received = RequestHandler.Progress.received
            guard case .waitingForStore(let load) = try await owner.step(of: peer, after: received) else {
                Issue.record("the request does not wait for the store")
                return
            }
            _ = try await owner.reload()
            try await load.get().get()
            guard case .confirming(let answer) = try await owner.step(of: peer, after: received.afterLoad) else {
                Issue.record("nobody is asked")
                return
            }
            try await answer.get().get()
            // What a person has confirmed is not asked again, also if it waits for the store afterwards.
            let confirmed = RequestHandler.Progress.confirmed
            for progress in [confirmed, confirmed.afterLoad, confirmed.afterLoad.afterLoad] {
                guard case .answered = try await owner.step(of: peer, after: progress) else {
                    Issue.record("not answered after \(progress)")
                    continue
                }
            }
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
    /// Handles a request for a list of accounts.
    fileprivate func step(of peer: ConnectedPeer, after progress: RequestHandler.Progress) throws -> Step {
        let bytes = try RequestFrame.encode(ListAccounts(clientID: nil), id: 1).dropFirst(FrameDecoder.headerLength)
        let handler = try #require(RequestHandlers.handler(of: ListAccounts.number))
        let frame = try RequestFrame(decoding: bytes)
        switch handler.reply(frame, SessionID(number: 1), peer, progress, self) {
        case .afterLoad(let future): return .waitingForStore(future)
        case .afterConfirmation(let future): return .confirming(future)
        case .now, .repeatable, .withDescriptor, .later: return .answered
        }
    }
}
