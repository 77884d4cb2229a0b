internal import AgentTestSupport
internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// Loading the store, and the requests that wait for it.
@Suite(.bounded) struct StoreLifecycleTests {
    private let parts = Parts()

    /// No request is refused because the agent has only just started.
    @Test func beginsToLoadForARequestThatComesFirst() async throws {
        try await parts.loaded()?.value()
        #expect(parts.store.loads == 1)
        #expect(await parts.isLoaded)
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
        parts.clock.advance(by: 4)
        #expect(try await parts.loaded()?.error()?.code == .storeUnavailable)
        #expect(parts.store.loads == 1)
        parts.clock.advance(by: 1)
        parts.store.answerLoads(with: .success(LoadedCache()))
        try await parts.loaded()?.value()
        #expect(parts.store.loads == 2)
        #expect(await parts.isLoaded)
    }

    /// The clock was wrong when the load failed, and has been corrected.
    @Test func repeatsAFailedLoadWhenTheClockIsSetBack() async throws {
        parts.store.answerLoads(with: .failure(ScriptedStore.diskFull))
        #expect(try await parts.load().error()?.code == .storeUnavailable)
        parts.store.answerLoads(with: .success(LoadedCache()))
        parts.clock.advance(by: -86_400)
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

    /// Others are told what the store waits for.
    @Test func tellsOnlyWhoEnteredAPassphraseThatItIsWrong() async throws {
        parts.store.updateReport { report in
            report.keySource = .passphrase
            report.phase = .locked(TokenError(.storeUnavailable, "a passphrase is missing"))
        }
        parts.store.answerLoads(with: .failure(TokenError(.storeUnavailable, "it is wrong")))
        #expect(try await parts.load(passphrase: Secret("wrong")).error()?.message == "it is wrong")
        #expect(try await parts.loaded()?.error()?.message == "a passphrase is missing")
    }

    /// A required source of the key may have kept the store from being created.
    @Test func loadsTheStoreAfterAChangeOfItsKey() async throws {
        parts.store.answerLoads(with: .failure(ScriptedStore.diskFull))
        #expect(try await parts.load().error() != nil)
        parts.store.answerLoads(with: .success(LoadedCache()))
        let change = await parts.start { parts async throws(TokenError) in
            try await parts.lifecycle.setKey(SetKey(source: .file))
        }
        #expect(try await change.value().isOpen)
        #expect(parts.store.loads == 2)
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

    /// The keyring asks its user for a password, or does not answer at all.
    @Test func saysWhatToDoIfTheKeyringDoesNotAnswer() async throws {
        parts.store.answerLoads(with: nil)
        parts.store.askKeyring()
        let load = await parts.load()
        let held = await parts.store.heldLoads.next()
        let waits = [
            try #require(await parts.loaded()), try #require(await parts.wait(.hit("alice"))),
        ]
        parts.clock.advance(by: 29)
        try await parts.timers.advance(by: 29)
        try await parts.settle()
        #expect(waits.map(\.isDone) == [false, false])
        parts.clock.advance(by: 1)
        try await parts.timers.advance(by: 1)
        for wait in waits { #expect(try await wait.error() == .keyringUnavailable) }
        // A later request need not wait.
        #expect(try await parts.loaded()?.error() == .keyringUnavailable)
        #expect(try await parts.wait(.hit("alice"))?.error() == .keyringUnavailable)
        #expect(!load.isDone)
        parts.store.askKeyring(false)
        held.resume(returning: .success(LoadedCache()))
        try await load.value()
        #expect(await parts.isLoaded)
        #expect(parts.timers.count == 0)
    }

    /// As by the network soon after a start.
    @Test func waitsForTheKeyringAlthoughTheClockIsSet() async throws {
        parts.store.answerLoads(with: nil)
        parts.store.askKeyring()
        let load = await parts.load()
        let held = await parts.store.heldLoads.next()
        let first = try #require(await parts.loaded())
        parts.clock.advance(by: 86_400)
        let second = try #require(await parts.loaded())
        try await parts.settle()
        #expect([first.isDone, second.isDone] == [false, false])
        #expect(parts.timers.count == 1, "however many requests wait")
        parts.store.askKeyring(false)
        held.resume(returning: .success(LoadedCache()))
        for wait in [load, first, second] { try await wait.value() }
        #expect(parts.timers.count == 0)
    }

    /// A store with very many records takes its time.
    @Test func waitsForALoadThatNeedsNoKeyring() async throws {
        parts.store.answerLoads(with: nil)
        let load = await parts.load()
        let held = await parts.store.heldLoads.next()
        let wait = try #require(await parts.loaded())
        parts.clock.advance(by: 60)
        try await parts.timers.advance(by: 60)
        try await parts.settle()
        #expect(!wait.isDone)
        held.resume(returning: .success(LoadedCache()))
        try await wait.value()
        try await load.value()
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

/// Silent requests while the store is being loaded.
@Suite(.bounded) struct EarlyAnswerTests {
    private let parts = Parts()

    @Test func answersAHitFromTheRecordsOfItsAccount() async throws {
        let held = try await loading(with: ["alice"])
        let wait = try #require(await parts.wait(.hit("alice")))
        try await wait.value()
        #expect(await parts.earlyAnswer(.hit("alice")) != nil)
        // Repetitions need no other read.
        #expect(await parts.wait(.hit("alice")) == nil)
        #expect(parts.store.earlyReads == 1)
        held.resume(returning: .success(LoadedCache()))
    }

    @Test func waitsForTheWholeStoreWithoutAHit() async throws {
        let held = try await loading(with: [])
        let wait = try #require(await parts.wait(.hit("alice")))
        try await parts.settle()
        #expect(!wait.isDone)
        #expect(await parts.earlyAnswer(.hit("alice")) == nil)
        held.resume(returning: .success(LoadedCache()))
        try await wait.value()
        #expect(await parts.earlyAnswer(.hit("alice")) == nil)
    }

    @Test func waitsForTheWholeStoreIfTheAccountCannotBeRead() async throws {
        let held = try await loading(with: nil)
        let wait = try #require(await parts.wait(.hit("alice")))
        try await parts.settle()
        #expect(!wait.isDone)
        held.resume(returning: .failure(ScriptedStore.diskFull))
        #expect(try await wait.error()?.code == .storeUnavailable)
    }

    @Test(arguments: 0..<3)
    func readsNoAccountForARequestThatNoHitAnswers(number: Int) async throws {
        let held = try await loading(with: ["alice"])
        var request = AcquireTokenSilent.hit("alice")
        switch number {
        case 0: request.forceRefresh = true
        case 1: request.parameters.claims = "{}"
        default: request.account = AccountReference(username: "alice@contoso.com")
        }
        let wait = try #require(await parts.wait(request))
        try await parts.settle()
        #expect(!wait.isDone && parts.store.earlyReads == 0)
        #expect(await parts.earlyAnswer(request) == nil)
        held.resume(returning: .success(LoadedCache()))
        try await wait.value()
    }

    @Test func forgetsWhatItHasReadWhenTheStoreIsLoaded() async throws {
        let held = try await loading(with: ["alice"])
        try await #require(await parts.wait(.hit("alice"))).value()
        held.resume(returning: .success(LoadedCache()))
        try await parts.load().value()
        #expect(await parts.earlyAnswer(.hit("alice")) == nil)
        #expect(await parts.wait(.hit("alice")) == nil, "it is decided by the loaded cache")
    }

    @Test func forgetsWhatItHasReadWhenTheStoreCannotBeLoaded() async throws {
        let held = try await loading(with: ["alice"])
        try await #require(await parts.wait(.hit("alice"))).value()
        parts.store.answerLoads(with: .failure(ScriptedStore.diskFull))
        held.resume(returning: .failure(ScriptedStore.diskFull))
        #expect(try await parts.load().error() != nil)
        #expect(await parts.earlyAnswer(.hit("alice")) == nil)
    }

    /// Each read takes time from the load.
    @Test func readsNoMoreAccountsAtATimeThanItKeeps() async throws {
        parts.store.holdEarlyReads()
        let held = try await loading(with: nil)
        var waits: [Pending<Void>] = []
        for number in 0..<100 { waits.append(try #require(await parts.wait(.hit("user-\(number)")))) }
        // Requests for one account have not to wait for the whole store because they come at the same time.
        for _ in 0..<100 { waits.append(try #require(await parts.wait(.hit("user-0")))) }
        try await parts.settle()
        #expect(parts.store.earlyReads == EarlyAnswers.limit + 100)
        for _ in 0..<EarlyAnswers.limit + 100 { await parts.store.heldEarlyReads.next().resume(returning: nil) }
        held.resume(returning: .success(LoadedCache()))
        for wait in waits { try await wait.value() }
    }

    /// The store may have been locked meanwhile: what was read belongs to a load that has ended.
    @Test func forgetsWhatItReadsAfterTheLoadHasEnded() async throws {
        parts.store.holdEarlyReads()
        let first = try await loading(with: ["alice"])
        let wait = try #require(await parts.wait(.hit("alice")))
        let read = await parts.store.heldEarlyReads.next()
        parts.store.answerLoads(with: .failure(ScriptedStore.diskFull))
        first.resume(returning: .failure(ScriptedStore.diskFull))
        #expect(try await parts.load().error() != nil)
        read.resume(returning: await parts.cache)
        #expect(try await wait.error() != nil)

        parts.store.answerLoads(with: nil)
        _ = await parts.load()
        let second = await parts.store.heldLoads.next()
        #expect(await parts.earlyAnswer(.hit("alice")) == nil)
        second.resume(returning: .success(LoadedCache()))
    }

    /// The user has locked the store: nothing is read from it for an app before the unlock has succeeded.
    @Test func readsNoAccountWhileALockedStoreIsBeingUnlocked() async throws {
        try await parts.signIn("alice", "1").value()
        let cache = await parts.cache
        parts.store.answerEarlyReads(with: cache)
        try await parts.lock().value()
        parts.store.answerLoads(with: nil)
        let unlock = await parts.loadStore(unlocks: true)
        let held = await parts.store.heldLoads.next()
        let wait = try #require(await parts.wait(.hit("alice")))
        try await parts.settle()
        #expect(!wait.isDone && parts.store.earlyReads == 0)
        held.resume(returning: .success(LoadedCache()))
        try await unlock.value()
        try await wait.value()
    }

    /// The cache is empty until the store is loaded: it must not decide that the user has to sign in.
    @Test func failsARequestWhoseTokenExpiresBeforeItsTurn() async throws {
        let held = try await loading(with: ["alice"])
        try await #require(await parts.wait(.hit("alice"))).value()
        parts.clock.advance(by: 100_000)
        #expect(await parts.earlyFailure(.hit("alice")) == .storeUnavailable)
        held.resume(returning: .success(LoadedCache()))
    }

    /// Begins a load, which reads the given accounts early; nil if it can read none.
    private func loading(
        with users: [String]?
    ) async throws -> CheckedContinuation<Result<LoadedCache, TokenError>, Never> {
        for user in users ?? [] { try await parts.signIn(user, "1").value() }
        let cache = await parts.cache
        parts.store.answerEarlyReads(with: users.map { _ in cache })
        parts.store.answerLoads(with: nil)
        _ = await parts.load()
        return await parts.store.heldLoads.next()
    }
}

extension AcquireTokenSilent {
    /// A request that the tokens of `Parts.signIn` answer.
    fileprivate static func hit(_ user: String) -> AcquireTokenSilent {
        var request = AcquireTokenSilent.sample(user)
        request.forceRefresh = false
        return request
    }
}

extension Parts {
    fileprivate func wait(_ request: AcquireTokenSilent) -> Pending<Void>? {
        lifecycle.untilLoaded(for: request).map { Pending($0) }
    }

    fileprivate var cache: CredentialCache { core.memory.cache }

    /// The early answer, if it is a hit.
    fileprivate func earlyAnswer(_ request: AcquireTokenSilent) -> TokenResult? {
        lifecycle.earlyAnswer(to: request).flatMap { try? $0.get() }
    }

    /// The code of the early answer, if it is a failure.
    fileprivate func earlyFailure(_ request: AcquireTokenSilent) -> TokenError.Code? {
        guard case .failure(let error) = lifecycle.earlyAnswer(to: request) else { return nil }
        return error.code
    }

    fileprivate func load(passphrase: Secret? = nil) -> Pending<Void> {
        Pending(lifecycle.load(passphrase: passphrase))
    }

    /// The load that a request for the cache waits for.
    fileprivate func loaded() -> Pending<Void>? { lifecycle.untilLoaded().map { Pending($0) } }

    /// Whether the store is loaded.
    fileprivate var isLoaded: Bool { lifecycle.untilLoaded() == nil }

    fileprivate func loadedOrTimeout() -> EventLoopFuture<Void>? { lifecycle.untilLoadedOrTimeout() }
}
