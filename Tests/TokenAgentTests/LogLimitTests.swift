internal import AccessPolicy
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// The messages that an app can cause again and again, without a response of a provider.
@Suite(.bounded) struct LogLimitTests {
    private let messages = LogCollector.Messages()
    private let clock = TestClock()

    @Test func limitsTheMessagesAboutAStoreThatCannotBeUsed() {
        let log = StoreLog(store: ScriptedStore(), logger: messages.logger(), now: { [clock] in clock.now })
        let error = TokenError(.storeUnavailable, "the disk is full")
        for _ in 0..<100 { log.reportFailure(error) }
        // Attempts to unlock the store leave the other messages in the log.
        for _ in 0..<100 { log.reportLocked(error) }
        #expect(messages.all.count == 2 * MessageLimit.messages)
        clock.advance(by: 60)
        log.reportFailure(error)
        #expect(messages.all.dropFirst(2 * MessageLimit.messages).first?.contains("\"count\": 40") == true)
        #expect(messages.all.last?.contains("the store cannot be written") == true)
    }

    /// The store is opened again after each lock, and has its records then.
    @Test func saysOnceThatAnEmptyStoreWasCreated() {
        let store = ScriptedStore()
        store.updateReport { $0.isNew = true }
        let log = StoreLog(store: store, logger: messages.logger(), now: { [clock] in clock.now })
        for _ in 0..<3 { log.reportOpened(LoadedCache()) }
        #expect(messages.all.count == 1)
    }

    @Test(arguments: [true, false]) func limitsTheMessagesAboutReloads(thatFail: Bool) async throws {
        let clock = clock
        var options = AgentOptions(
            socketPath: "/agent.sock", stateDirectory: "/state", allowsLoopbackHTTP: false,
            network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()),
            now: { clock.now }, logger: messages.logger())
        options.readConfiguration = { () throws(TokenError) in
            guard !thatFail else { throw TokenError(.invalidDeveloperParameter, "config.toml:1: no key") }
            return ReadConfiguration(
                rules: [], auditsNames: false, allowsLoopbackHTTP: false,
                report: ReloadConfiguration.Reply(files: [], applied: [], awaitingRestart: []))
        }
        let reload = ConfigurationReload(options)
        var successes = 0
        for _ in 0..<100 where (try? await reload.run { _ in }) != nil { successes += 1 }
        #expect(successes == (thatFail ? 0 : 100))
        #expect(messages.all.count == MessageLimit.messages)
    }
}
