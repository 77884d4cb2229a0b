internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// What is removed stays removed, and a removal is acknowledged when nothing can bring it back.
@Suite(.bounded) struct RemovalsTests {
    private let parts = Parts()

    @Test func removesTokensWhoseCommitBeganBeforeTheRemoval() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let saving = await parts.signIn("alice", "2")
        let commit = await parts.store.commits.next()
        let removal = await parts.signOut("alice")
        try await parts.settle()
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.commits.count == 0)
        commit.succeed()
        try await saving.value()
        let deletion = await parts.store.commits.next()
        #expect(try await parts.refreshTokens() == [], "removed before the deletion is durable")
        deletion.succeed()
        try await removal.value()
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
    }

    @Test func removesFromTheStoreWhatWasSavedDuringTheRemoval() async throws {
        parts.store.hold()
        let saving = await parts.signIn("alice", "1")
        let commit = await parts.store.commits.next()
        // The account is not in the cache yet: there is something to remove only when its commit has ended.
        let removal = await parts.signOut("alice")
        parts.store.hold(false)
        commit.succeed()
        try await saving.value()
        try await removal.value()
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
    }

    @Test func removesTokensWhoseCommitBeganEarlierEvenIfNothingCanBeWritten() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let saving = await parts.signIn("alice", "2")
        let commit = await parts.store.commits.next()
        let removal = await parts.signOut("alice")
        commit.fail()
        #expect(try await saving.error()?.code == .storeUnavailable)
        // With the earlier change, and then without it.
        for _ in 0..<2 { await parts.store.commits.next().fail() }
        #expect(try await removal.error()?.code == .storeUnavailable)
        #expect(try await parts.refreshTokens() == [])
        // The retry writes the removal and not the token.
        parts.store.hold(false)
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.refreshTokens == [])
        #expect(await !parts.hasUnsavedChanges)
    }

    /// Until then, a copy of the store's files has the tokens.
    @Test func acknowledgesARemovalAfterTheLogIsEmptied() async throws {
        try await parts.signIn("alice", "1").value()
        #expect(parts.store.truncations == 0, "a sign-in removes nothing")
        parts.store.hold()
        let removal = await parts.signOut("alice")
        let deletion = await parts.store.commits.next()
        #expect(parts.store.truncations == 0)
        deletion.succeed()
        #expect(try await removal.value())
        #expect(parts.store.truncations == 1)
    }

    /// Earlier failed changes are written with the next ones.
    @Test func emptiesTheLogAfterARemovalThatIsWrittenLater() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.fail()
        #expect(try await parts.signOut("alice").error()?.code == .storeUnavailable)
        #expect(parts.store.truncations == 0)
        parts.store.fail(false)
        try await parts.signIn("bob", "2").value()
        #expect(parts.store.truncations == 1)
    }

    /// The disk has no room for the earlier change, as for the upgrade of a store. It waits on.
    @Test func emptiesTheLogAfterARemovalThatIsWrittenWithoutAnEarlierChange() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.fail()
        #expect(try await parts.signIn("bob", "2").error()?.code == .storeUnavailable)
        parts.store.fail(false)
        parts.store.hold()
        let removal = await parts.signOut("alice")
        await parts.store.commits.next().fail()
        let alone = await parts.store.commits.next()
        #expect(parts.store.truncations == 0)
        alone.succeed()
        #expect(try await removal.value())
        #expect(parts.store.truncations == 1)
    }

    /// The success of a removal says that the tokens are gone for good.
    @Test func acknowledgesARemovalThatFindsNothingAfterTheOneThatRemovedIt() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let first = await parts.signOut("alice")
        let deletion = await parts.store.commits.next()
        let second = await parts.signOut("alice")
        try await parts.settle()
        #expect(!second.isDone)
        deletion.succeed()
        #expect(try await first.value())
        #expect(try await !second.value(), "the first one has removed it")
        #expect(parts.store.refreshTokens == [])
    }

    /// The second removal waits for the disk as well, and the sign-in behind both.
    @Test func keepsASignInThatBeginsAfterTwoRemovals() async throws {
        try await parts.signIn("alice", "1").value()
        try await parts.signIn("bob", "2").value()
        parts.store.hold()
        let first = await parts.signOut("alice")
        let deletion = await parts.store.commits.next()
        let second = await parts.signOut("bob")
        try await parts.settle()
        let saving = await parts.signIn("bob", "3")
        try await parts.settle()
        #expect(!second.isDone && !saving.isDone)
        parts.store.hold(false)
        deletion.succeed()
        #expect(try await first.value())
        #expect(try await second.value())
        try await saving.value()
        #expect(try await parts.refreshTokens() == ["rt-3"])
        #expect(parts.store.refreshTokens == ["rt-3"])
    }

    @Test func doesNotAcknowledgeARemovalWhileAnEarlierOneCannotBeWritten() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.fail()
        #expect(try await parts.signOut("alice").error()?.code == .storeUnavailable)
        #expect(try await parts.signOut("alice").error()?.code == .storeUnavailable)
        #expect(parts.store.refreshTokens == ["rt-1"])
        parts.store.fail(false)
        #expect(try await !parts.signOut("alice").value(), "the first one has removed it")
        #expect(parts.store.refreshTokens == [])
    }

    /// While an earlier removal is being written again, it is not among the unsaved changes.
    @Test func doesNotAcknowledgeARemovalWhileAnEarlierOneIsWrittenAgain() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.fail()
        #expect(try await parts.signOut("alice").error()?.code == .storeUnavailable)
        parts.store.fail(false)
        parts.store.hold()
        try await parts.timers.advance(by: 5)
        let again = await parts.store.commits.next()
        let second = await parts.signOut("alice")
        try await parts.settle()
        #expect(!second.isDone)
        again.fail()
        await parts.store.commits.next().fail()
        #expect(try await second.error()?.code == .storeUnavailable)
        parts.store.hold(false)
        #expect(try await !parts.signOut("alice").value())
        #expect(parts.store.refreshTokens == [])
    }

    /// A token that replaces another one deletes the note of its redemption, which is no removal.
    @Test func doesNotTakeAFailedSaveForARemoval() async throws {
        parts.store.fail()
        #expect(try await parts.signIn("alice", "1").error()?.code == .storeUnavailable)
        #expect(try await !parts.signOut("carol").value(), "there is nothing to write")
    }

    /// Each removal undoes what the one before has recorded of its app; if a commit did the same again, each would write as much as all.
    @Test func writesWhatEachOfManyRemovalsHasChangedAndNoMore() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let removals = try await [
            parts.signOut("alice"), parts.signOut("alice", of: .sample(1)), parts.signOut("alice", of: .sample(2)),
            parts.signOut("alice", of: .sample(3)),
        ]
        var written: [Int] = []
        for _ in removals {
            let commit = await parts.store.commits.next()
            written.append(commit.changes.count)
            commit.succeed()
        }
        for removal in removals { #expect(try await removal.value()) }
        #expect(written.dropFirst() == [2, 2, 2], "the record of the app before, and that of its own")
    }

    /// A token that was being saved when its account was removed is never visible, and so is none that a second removal has
    /// acknowledged.
    @Test func bringsNothingBackThatWasBeingSaved() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let saving = await parts.signIn("alice", "2")
        let other = await parts.signIn("bob", "3")
        let commits = [await parts.store.commits.next(), await parts.store.commits.next()]
        let removals = [await parts.signOut("alice"), await parts.signOut("alice")]
        commits[0].succeed()
        try await saving.value()
        try await parts.settle()
        // Bob's commit holds up the removals' turn.
        #expect(parts.store.commits.count == 0)
        #expect(try await parts.refreshTokens() == [])
        #expect(!removals[0].isDone && !removals[1].isDone)
        parts.store.hold(false)
        commits[1].succeed()
        try await other.value()
        #expect(try await removals[0].value())
        #expect(try await !removals[1].value(), "the first one has removed it")
        #expect(try await parts.refreshTokens() == ["rt-3"])
        #expect(parts.store.refreshTokens == ["rt-3"])
    }

    @Test func bringsNothingBackWithAnImport() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let copy = try await parts.cacheWithTokens(of: "alice", "2")
        let importing = await parts.replaceCache(with: copy)
        let imported = await parts.store.commits.next()
        let removal = await parts.signOut("alice")
        parts.store.hold(false)
        imported.succeed()
        try await importing.value()
        #expect(try await removal.value())
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
    }

    /// The account is not in the cache yet: there is something to remove only when the import has ended.
    @Test func removesWhatAnImportInProgressBrings() async throws {
        let copy = try await parts.cacheWithTokens(of: "alice", "1")
        parts.store.hold()
        let importing = await parts.replaceCache(with: copy)
        let imported = await parts.store.commits.next()
        let removal = await parts.signOut("alice")
        parts.store.hold(false)
        imported.succeed()
        try await importing.value()
        #expect(try await removal.value())
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
    }

    /// Other libraries save tokens under another name of the cloud than the agent does.
    @Test func removesATokenWhoseRenewalIsSavedUnderAnotherNameOfTheCloud() async throws {
        try await parts.signIn("alice", "1").value()
        let former = try await parts.moveRefreshToken(to: "login.microsoftonline.com")
        let request = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        parts.store.hold()
        redemption.answer(.sample("alice", "2"))
        let saving = await parts.store.commits.next()
        let removal = await parts.removeRecord(former)
        parts.store.hold(false)
        saving.succeed()
        #expect(try await request.value().accessToken == Secret("at-2"))
        #expect(try await removal.value())
        #expect(try await parts.refreshTokens() == [])
        #expect(!parts.store.refreshTokens.contains("rt-2"))
    }

    /// A response that grants fewer scopes than requested is an error with the granted token, which is returned again for two minutes.
    @Test func returnsNoRemovedTokenThatAnErrorHasBroughtMeanwhile() async throws {
        try await parts.signIn("alice", "1").value()
        let parameters = TokenParameters.sample(["Mail.Read", "Mail.Send"])
        let request = await parts.acquire(.sample("alice", parameters, force: false))
        let redemption = await parts.provider.redemptions.next()
        parts.store.hold()
        var tokens = IssuedTokens.sample("alice", "2")
        (tokens.refreshToken, tokens.scopes) = (nil, ScopeSet(["Mail.Read"]))
        redemption.answer(tokens)
        let saving = await parts.store.commits.next()
        let removal = await parts.removeAccessTokens()
        parts.store.hold(false)
        saving.succeed()
        #expect(try await request.error()?.details.partialResult?.accessToken == Secret("at-2"))
        #expect(try await removal.value())
        let again = await parts.acquire(.sample("alice", parameters, force: false))
        await parts.provider.redemptions.next().answer(.sample("alice", "3"))
        #expect(try await again.value().accessToken == Secret("at-3"))
    }

    /// The removal is in effect before it is written.
    @Test func returnsNoRemovedTokenOfAnEarlierErrorWhileTheRemovalIsWritten() async throws {
        try await parts.signIn("alice", "1").value()
        let request = AcquireTokenSilent.sample("alice", .sample(["Mail.Read", "Mail.Send"]), force: false)
        let first = await parts.acquire(request)
        var tokens = IssuedTokens.sample("alice", "2")
        (tokens.refreshToken, tokens.scopes) = (nil, ScopeSet(["Mail.Read"]))
        await parts.provider.redemptions.next().answer(tokens)
        #expect(try await first.error()?.code == .declinedScopes)
        let repeated = try await parts.acquire(request).error()
        #expect(repeated?.details.partialResult?.accessToken == Secret("at-2"), "the error is returned again")
        parts.store.hold()
        let removal = await parts.removeAccessTokens()
        let deletion = await parts.store.commits.next()
        parts.store.hold(false)
        let again = await parts.acquire(request)
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 1)
        await parts.provider.redemptions.next().answer(.sample("alice", "3"))
        deletion.succeed()
        #expect(try await removal.value())
        #expect(try await again.value().accessToken == Secret("at-3"))
    }
}

extension Parts {
    /// A cache with a sign-in, as an import makes it.
    fileprivate func cacheWithTokens(of user: String, _ token: String) async throws -> CredentialCache {
        let other = Parts()
        try await other.signIn(user, token).value()
        return await other.cache
    }

    fileprivate var cache: CredentialCache { core.memory.cache }

    /// Writes a cache within `exclusively`, and lets it take the place of the one in memory, as an import does.
    fileprivate func replaceCache(with cache: CredentialCache) -> Pending<Void> {
        start { parts async throws(TokenError) in
            try await parts.core.commits.exclusively { () async throws(TokenError) in
                let changes = cache.everything()
                try await parts.core.commits.writeExclusively { $0 == 0 ? changes : nil }
                parts.core.memory.replace(with: cache)
            }
        }
    }

    /// Saves the refresh token in memory under another host name, as an import may; returns its key.
    fileprivate func moveRefreshToken(to environment: String) throws -> RecordKey {
        let records = core.memory.cache.everything().compactMap { change -> CacheRecord? in
            guard case .put(let stored) = change, stored.key.kind == .refreshToken else { return nil }
            return CacheRecord(stored)
        }
        let record = try #require(records.first)
        let moved = record.saved(under: environment)
        let (former, key) = (record.key(in: .standard), moved.key(in: .standard))
        try #require(former != key)
        core.memory.apply([.remove(former, account: record.header.account), .save(moved)], in: .standard)
        return key
    }

    /// Removes the record with a key.
    fileprivate func removeRecord(_ key: RecordKey) -> Pending<Bool> {
        remove { cache in
            cache.everything().compactMap { change in
                guard case .put(let stored) = change, stored.key == key, let record = CacheRecord(stored) else {
                    return nil
                }
                return .remove(key, account: record.header.account)
            }
        }
    }

    /// Removes the access tokens of everybody.
    fileprivate func removeAccessTokens() -> Pending<Bool> {
        remove { cache in
            cache.everything().compactMap { change in
                guard case .put(let stored) = change, case .accessToken(let token) = CacheRecord(stored) else {
                    return nil
                }
                return .remove(stored.key, account: token.account)
            }
        }
    }

    private func remove(_ find: @escaping @Sendable (CredentialCache) -> [CacheChange]) -> Pending<Bool> {
        let begun = core.removals.begin(in: .standard, find)
        return start { parts async throws(TokenError) in
            guard let begun else { return false }
            return try await parts.core.removals.finish(begun)
        }
    }
}
