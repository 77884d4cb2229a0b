internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// Locking the store while tokens are redeemed or saved.
@Suite(.bounded) struct LockingTests {
    private let parts = Parts()

    /// The provider has replaced the refresh token; one that was not sent yet stays valid.
    @Test func savesResponsesOnTheirWayAndSendsNothingMore() async throws {
        try await parts.open()
        try await parts.signIn("alice", "1").value()
        let first = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        let second = await parts.acquire(.sample("alice", .sample(["Other"])))
        let lock = await parts.lock()
        try await parts.settle()
        #expect(!lock.isDone)
        #expect(parts.store.locks == 0)
        redemption.answer(.sample("alice", "2"))
        #expect(try await first.value().accessToken.reveal() == "at-2")
        #expect(try await second.error()?.code == .storeUnavailable)
        try await lock.value()
        #expect(parts.store.locks == 1)
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(parts.store.notes == 0)
        #expect(try await parts.refreshTokens().isEmpty)
    }

    /// The audit log has no line for what changes nothing.
    @Test func saysWhetherALockOrAnUnlockHasChangedAnything() async throws {
        try await parts.open()
        #expect(try await parts.unlock().value().isUnchanged)
        #expect(try await !parts.lock().value().isUnchanged)
        #expect(try await parts.lock().value().isUnchanged)
        #expect(try await !parts.unlock().value().isUnchanged)
        #expect(try await parts.unlock().value().isUnchanged)
        #expect(parts.store.locks == 1 && parts.store.loads == 2)
    }

    @Test func keepsNothingOfASignInThatIsSavedTooLate() async throws {
        try await parts.open()
        try await parts.lock().value()
        #expect(try await parts.signIn("alice", "1").error()?.code == .storeUnavailable)
        #expect(try await parts.refreshTokens().isEmpty)
        #expect(await !parts.hasUnsavedChanges)
        #expect(parts.store.refreshTokens.isEmpty)
    }

    /// Instance discovery may be answered after the lock.
    @Test func writesNoLearntCloudOnceTheStoreIsLocked() async throws {
        try await parts.open()
        let parameters = TokenParameters.sample(authority: try Authority("https://login.example.com/common"))
        let resolving = await parts.start { parts async throws(TokenError) in
            try await parts.core.authorities.resolve(parameters.authority, parameters, username: nil)
        }
        let discovery = await parts.provider.discoveries.next()
        try await parts.lock().value()
        discovery.answer([
            CloudDirectory.Cloud(
                aliases: ["login.example.com"], preferredNetwork: "login.example.com",
                preferredCache: "login.example.com")
        ])
        try await resolving.value()
        #expect(parts.store.clouds == 0)
        #expect(await !parts.hasUnsavedChanges)
    }

    /// A response that grants fewer scopes than requested is an error with the granted token, which is returned again for two minutes.
    @Test func keepsNoErrorWithAToken() async throws {
        try await parts.open()
        try await parts.signIn("alice", "1").value()
        let request = AcquireTokenSilent.sample("alice", .sample(["Mail.Read", "Mail.Send"]))
        let first = await parts.acquire(request)
        var tokens = IssuedTokens.sample("alice", "2")
        (tokens.refreshToken, tokens.scopes) = (nil, ScopeSet(["Mail.Read"]))
        await parts.provider.redemptions.next().answer(tokens)
        #expect(try await first.error()?.details.partialResult?.accessToken == Secret("at-2"))
        #expect(try await parts.acquire(request).error()?.details.isThrottled == true)
        try await parts.lock().value()
        parts.store.answerLoads(with: .success(parts.store.loadedWithoutTokens))
        try await parts.unlock().value()
        let again = await parts.acquire(request)
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 1)
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-1")
        redemption.answer(.sample("alice", "3"))
        #expect(try await again.value().accessToken == Secret("at-3"))
    }

    @Test func staysOpenIfChangesCannotBeWritten() async throws {
        try await parts.open()
        parts.store.fail()
        #expect(try await parts.signIn("alice", "1").error()?.code == .storeUnavailable)
        #expect(try await parts.lock().error()?.code == .storeUnavailable)
        #expect(parts.store.locks == 0)
        #expect(await parts.isOpen)
        #expect(try await parts.refreshTokens() == ["rt-1"])
        parts.store.fail(false)
        try await parts.signIn("bob", "2").value()
        try await parts.lock().value()
        #expect(parts.store.refreshTokens == ["rt-1", "rt-2"])
        #expect(try await parts.refreshTokens().isEmpty)
    }

    @Test func waitsForALockInProgress() async throws {
        try await parts.open()
        try await parts.signIn("alice", "1").value()
        let request = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        let locks = [await parts.lock(), await parts.lock()]
        try await parts.settle()
        #expect(locks.allSatisfy { !$0.isDone })
        redemption.fail(.invalidGrant)
        _ = try await request.error()
        for lock in locks { try await lock.value() }
        #expect(parts.store.locks == 1)
    }

    /// An unlock that comes while the store is being locked needs what any unlock needs, and is not undone.
    @Test func opensTheStoreAgainOnlyAfterTheLockInProgress() async throws {
        try await parts.open()
        try await parts.signIn("alice", "1").value()
        let request = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        let lock = await parts.lock()
        let unlock = await parts.start { parts async throws(TokenError) in
            try await parts.lifecycle.unlock(Unlock(passphrase: Secret("open sesame")))
        }
        try await parts.settle()
        #expect(!lock.isDone && !unlock.isDone)
        #expect(parts.store.loads == 1)
        // ssoctl would take an open store for unlocked.
        #expect(await !parts.isOpen)
        redemption.answer(.sample("alice", "2"))
        _ = try await request.value()
        try await lock.value()
        try await unlock.value()
        #expect(parts.store.locks == 1)
        #expect(parts.store.passphrases == [nil, Secret("open sesame")])
        #expect(try await !parts.isRefused())
        #expect(await parts.isOpen)
    }

    /// Loading the store has failed, and would be tried again for the request.
    @Test func staysLockedIfARequestComesDuringTheLockOfAStoreThatIsNotOpen() async throws {
        parts.store.answerLoads(with: .failure(ScriptedStore.diskFull))
        #expect(try await parts.loadStore().error() != nil)
        parts.store.answerLoads(with: .success(LoadedCache()))
        parts.clock.advance(by: 5)
        let response = Mailbox<Void>()
        let redemption = await parts.start { parts async throws(TokenError) in
            await parts.core.tokensInUse.exclusive(Secret("rt-1")) { await response.next() }
        }
        try await parts.settle()
        let lock = await parts.lock()
        try await parts.settle()
        #expect(!lock.isDone)
        #expect(try await parts.isRefused())
        response.put(())
        try await redemption.value()
        try await lock.value()
        #expect(try await parts.isRefused())
        #expect(parts.store.loads == 1)
        try await parts.unlock().value()
        #expect(try await !parts.isRefused())
    }

    /// A removal is visible before it is committed. The store is not locked in between: the account would come back.
    @Test func commitsARemovalThatWaitsForAnotherChangeOfItsGroup() async throws {
        try await parts.open()
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let saving = await parts.signIn("bob", "2")
        let commit = await parts.store.commits.next()
        let removal = await parts.signOut("alice")
        let lock = await parts.lock()
        parts.store.hold(false)
        commit.succeed()
        try await saving.value()
        try await removal.value()
        try await lock.value()
        #expect(parts.store.refreshTokens == ["rt-2"])
    }

    @Test func savesAgainAfterAnUnlock() async throws {
        try await parts.open()
        try await parts.lock().value()
        #expect(try await parts.isRefused())
        let unlock = await parts.start { parts async throws(TokenError) in
            try await parts.lifecycle.unlock(Unlock())
        }
        try await unlock.value()
        #expect(try await !parts.isRefused())
        try await parts.signIn("alice", "1").value()
        #expect(parts.store.refreshTokens == ["rt-1"])
    }
}

extension Parts {
    fileprivate func open() async throws { try await lifecycle.load().outcome() }

    /// Opens the locked store.
    fileprivate func unlock() -> Pending<KeyStatus> {
        start { parts async throws(TokenError) in try await parts.lifecycle.unlock(Unlock()) }
    }

    fileprivate var isOpen: Bool { lifecycle.keyStatus.isOpen }

    /// Whether a request for the cache is refused.
    fileprivate func isRefused() async throws -> Bool {
        guard let load = lifecycle.untilLoaded() else { return false }
        if case .failure = try await load.get() { return true }
        return false
    }
}
