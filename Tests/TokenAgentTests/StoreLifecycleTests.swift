internal import AgentTestSupport
internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// Loading the store, and the requests that wait for it.
@Suite(.bounded) struct StoreLifecycleTests {
    private let parts = Parts()

    @Test func refusesRequestsBeforeLoadingBegins() async throws {
        #expect(try await parts.loaded()?.error()?.code == .storeUnavailable)
    }

    @Test func sharesOneLoadAmongWaitingRequests() async throws {
        let waits = [await parts.load(), await parts.load()]
        for wait in waits { try await wait.value() }
        #expect(parts.store.loads == 1)
        #expect(await parts.isLoaded, "there is nothing to wait for any more")
        try await parts.load().value()
        #expect(parts.store.loads == 1)
    }

    @Test func repeatsAFailedLoadAfterFiveSeconds() async throws {
        parts.store.answerLoads(with: .failure(ScriptedStore.diskFull))
        #expect(try await parts.load().error()?.code == .storeUnavailable)
        #expect(try await parts.loaded()?.error()?.message.contains("tries again") == true)
        #expect(parts.store.loads == 1)
        parts.clock.advance(by: 5)
        parts.store.answerLoads(with: .success(LoadedCache()))
        try await parts.loaded()?.value()
        #expect(parts.store.loads == 2)
        #expect(await parts.isLoaded)
    }

    @Test(arguments: [KeySource.passphrase, .secretService])
    func doesNotRepeatALoadThatNeedsTheUser(source: KeySource) async throws {
        parts.store.updateReport { report in
            report.keySource = source
            report.phase = .locked(ScriptedStore.diskFull)
        }
        parts.store.answerLoads(with: .failure(ScriptedStore.diskFull))
        #expect(try await parts.load().error()?.code == .storeUnavailable)
        parts.clock.advance(by: 3600)
        #expect(try await parts.loaded()?.error()?.code == .storeUnavailable)
        #expect(parts.store.loads == 1)
        parts.store.answerLoads(with: .success(LoadedCache()))
        try await parts.load(passphrase: Secret("open sesame")).value()
        #expect(await parts.isLoaded)
    }

    @Test func triesPassphrasesInTheOrderOfTheirRequests() async throws {
        parts.store.answerLoads(with: nil)
        let first = await parts.load()
        let held = await parts.store.heldLoads.next()
        let second = await parts.load(passphrase: Secret("wrong"))
        parts.store.answerLoads(with: .failure(ScriptedStore.diskFull))
        held.resume(returning: .failure(ScriptedStore.diskFull))
        // The third passphrase may arrive before the second is tried.
        let third = await parts.load(passphrase: Secret("right"))
        #expect(try await first.error()?.code == .storeUnavailable)
        #expect(try await second.error()?.code == .storeUnavailable)
        _ = try await third.error()
        #expect(parts.store.passphrases == [nil, Secret("wrong"), Secret("right")])
    }

    @Test func triesNoPassphraseOnceTheStoreIsOpen() async throws {
        parts.store.answerLoads(with: nil)
        let first = await parts.load()
        let held = await parts.store.heldLoads.next()
        let second = await parts.load(passphrase: Secret("late"))
        held.resume(returning: .success(LoadedCache()))
        try await first.value()
        try await second.value()
        #expect(parts.store.loads == 1)
        #expect(await parts.isLoaded)
    }

    @Test func limitsTheWaitOfStatusRequests() async throws {
        parts.store.answerLoads(with: nil)
        let load = await parts.load()
        let held = await parts.store.heldLoads.next()
        let description = try #require(await parts.loadedOrTimeout())
        try await parts.settle()
        #expect(!load.isDone)
        try await parts.timers.advance(by: 1)
        try await description.get()
        #expect(!load.isDone)
        held.resume(returning: .success(LoadedCache()))
        try await load.value()
        #expect(await parts.loadedOrTimeout() == nil, "there is nothing to wait for any more")
    }
}

extension Parts {
    fileprivate func load(passphrase: Secret? = nil) -> Pending<Void> {
        Pending(lifecycle.load(passphrase: passphrase))
    }

    /// The load that a request for the cache waits for.
    fileprivate func loaded() -> Pending<Void>? { lifecycle.untilLoaded().map { Pending($0) } }

    /// Whether the store is loaded.
    fileprivate var isLoaded: Bool { lifecycle.untilLoaded() == nil }

    fileprivate func loadedOrTimeout() -> EventLoopFuture<Void>? { lifecycle.untilLoadedOrTimeout() }
}
