internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// The current account of an app beside a removal of everything: nothing of it comes back.
@Suite(.bounded) struct CurrentAccountsTests {
    private let parts = Parts()

    @Test func recordsTheAccountAndReturnsItAsThePreviousOne() async throws {
        try await parts.signIn("alice", "1").value()
        let first = try await parts.currentAccount().value()
        #expect(first.account?.homeAccountID == .sample("alice"))
        #expect(first.previous == nil)
        #expect(try await parts.currentAccount().value().previous?.homeAccountID == .sample("alice"))
    }

    /// The answer is found, and the account removed, in one turn of the event loop, before the record is written.
    @Test func recordsNoAccountThatWasRemovedSinceItWasFound() async throws {
        try await parts.signIn("alice", "1").value()
        let (request, removal) = await parts.currentAccountBeforeRemovalOfEverything()
        #expect(try await removal.value())
        _ = try await request.value()
        #expect(await parts.currentAccountsInMemory == 0)
        #expect(parts.store.keys(of: .currentAccount).isEmpty)
    }

    /// The record is being written when everything is removed from memory.
    @Test func removesTheRecordThatIsBeingWritten() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let request = await parts.currentAccount()
        let recording = await parts.store.commits.next()
        let removal = await parts.signOut("alice", extent: .everything)
        parts.store.hold(false)
        recording.succeed()
        #expect(try await request.value().account?.homeAccountID == .sample("alice"))
        #expect(try await removal.value())
        #expect(await parts.currentAccountsInMemory == 0)
        #expect(parts.store.keys(of: .currentAccount).isEmpty)
    }

    /// No redemption begins any more, but the store is open.
    @Test func recordsTheAccountWhileTheAgentStops() async throws {
        try await parts.signIn("alice", "1").value()
        await parts.refuseRedemptions()
        #expect(try await parts.currentAccount().value().account?.homeAccountID == .sample("alice"))
        #expect(parts.store.keys(of: .currentAccount).count == 1)
    }

    /// The app would be told that its account is gone.
    @Test func answersNothingFromAStoreThatIsLockedMeanwhile() async throws {
        try await parts.loadStore().value()
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let other = await parts.signIn("bob", "2", .sample(["Mail.Read"]))
        let saving = await parts.store.commits.next()
        let lock = await parts.lock()
        try await parts.settle()
        let request = await parts.currentAccount()
        parts.store.hold(false)
        saving.succeed()
        try await other.value()
        try await lock.value()
        #expect(try await request.error()?.code == .storeUnavailable)
    }
}

extension Parts {
    fileprivate func currentAccount() -> Pending<GetCurrentAccount.Reply> {
        let answer = CurrentAccounts(core).answer(GetCurrentAccount(clientID: .sample))
        return start { _ async throws(TokenError) in try await answer.outcome() }
    }

    /// Asks for the current account, and then begins to remove everything.
    fileprivate func currentAccountBeforeRemovalOfEverything() -> (Pending<GetCurrentAccount.Reply>, Pending<Bool>) {
        (currentAccount(), signOut("alice", extent: .everything))
    }

    fileprivate var currentAccountsInMemory: Int {
        core.memory.cache.everything().count { change in
            guard case .put(let stored) = change else { return false }
            return stored.key.kind == .currentAccount
        }
    }
}
