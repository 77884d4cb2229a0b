internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// The order in which changes become durable and visible.
@Suite(.bounded) struct CommitQueueTests {
    private let parts = Parts()

    @Test func makesAChangeDurableBeforeItIsVisible() async throws {
        parts.store.hold()
        let saving = await parts.signIn("alice", "1")
        let commit = await parts.store.commits.next()
        try await parts.settle()
        #expect(try await parts.refreshTokens() == [])
        #expect(!saving.isDone)
        commit.succeed()
        #expect(try await saving.value().accessToken == Secret("at-1"))
        #expect(try await parts.refreshTokens() == ["rt-1"])
        #expect(parts.store.refreshTokens == ["rt-1"])
    }

    @Test func doesNotOverlapTwoSavesOfOneAccount() async throws {
        parts.store.hold()
        let first = await parts.signIn("alice", "1")
        let commit = await parts.store.commits.next()
        let second = await parts.signIn("alice", "2")
        try await parts.settle()
        #expect(parts.store.commits.count == 0)
        commit.succeed()
        try await first.value()
        await parts.store.commits.next().succeed()
        try await second.value()
        // The second change was computed from the result of the first: one account, with the newer token.
        #expect(try await parts.refreshTokens() == ["rt-2"])
        #expect(parts.store.refreshTokens == ["rt-2"])
    }

    @Test func overlapsSavesOfTwoAccounts() async throws {
        parts.store.hold()
        let first = await parts.signIn("alice", "1")
        let second = await parts.signIn("bob", "2")
        let commits = [await parts.store.commits.next(), await parts.store.commits.next()]
        // They complete in the opposite order: neither waits for the other.
        commits[1].succeed()
        try await second.value()
        #expect(try await parts.refreshTokens() == ["rt-2"])
        commits[0].succeed()
        try await first.value()
        #expect(try await parts.refreshTokens() == ["rt-1", "rt-2"])
    }

    @Test func delaysOnlyChangesOfTheSameSharingGroupDuringARemoval() async throws {
        let other = TokenParameters.sample(group: try #require(SharingGroup("other")))
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let removal = await parts.signOut("alice")
        let commit = await parts.store.commits.next()
        let inGroup = await parts.signIn("bob", "2")
        let elsewhere = await parts.signIn("bob", "3", other)
        let beside = await parts.store.commits.next()
        beside.succeed()
        try await elsewhere.value()
        #expect(!inGroup.isDone)
        #expect(parts.store.commits.count == 0)
        commit.succeed()
        try await removal.value()
        await parts.store.commits.next().succeed()
        try await inGroup.value()
        #expect(parts.store.refreshTokens == ["rt-2", "rt-3"])
    }

    @Test func runsAnImportExclusively() async throws {
        parts.store.hold()
        let before = await parts.signIn("alice", "1")
        let commit = await parts.store.commits.next()
        let importing = await parts.exclusively(writing: "imported")
        let after = await parts.signIn("bob", "2")
        let removal = await parts.signOut("carol")
        let note = await parts.start { parts async throws(TokenError) in
            try await parts.core.commits.write([.put(.sample("note"))])
        }
        try await parts.settle()
        #expect(parts.store.commits.count == 0, "the import waits for what began before it")
        commit.succeed()
        try await before.value()
        let imported = await parts.store.commits.next()
        try await parts.settle()
        #expect(imported.changes == [.put(.sample("imported"))])
        #expect(parts.store.commits.count == 0, "everything else waits for the import")
        parts.store.hold(false)
        imported.succeed()
        for pending in [importing, note] { try await pending.value() }
        #expect(try await !removal.value(), "carol has nothing")
        try await after.value()
        #expect(parts.store.refreshTokens == ["rt-1", "rt-2"])
    }

    @Test func commitsChangesAfterAFailedImport() async throws {
        parts.store.hold()
        let importing = await parts.exclusively(writing: "imported")
        let saving = await parts.signIn("alice", "1")
        await parts.store.commits.next().fail()
        #expect(try await importing.error()?.code == .storeUnavailable)
        await parts.store.commits.next().succeed()
        try await saving.value()
        // A failed import is not written again: it can be repeated.
        #expect(await !parts.hasUnsavedChanges)
    }

    @Test func keepsFailedChangesVisibleAndWritesThemFirst() async throws {
        parts.store.hold()
        let first = await parts.signIn("alice", "1")
        await parts.store.commits.next().fail()
        #expect(try await first.error()?.code == .storeUnavailable)
        #expect(try await parts.refreshTokens() == ["rt-1"])
        let second = await parts.signIn("bob", "2")
        let commit = await parts.store.commits.next()
        let tokens = commit.changes.compactMap(\.refreshToken)
        #expect(tokens == ["rt-1", "rt-2"])
        commit.succeed()
        try await second.value()
        #expect(await !parts.hasUnsavedChanges)
    }

    /// In a store that has reached its limit: what one app adds is tried again later, and keeps out nothing of others.
    @Test func writesAChangeBesideEarlierOnesForWhichThereIsNoRoom() async throws {
        parts.store.hold()
        let first = await parts.signIn("alice", "1")
        await parts.store.commits.next().fail()
        #expect(try await first.error()?.code == .storeUnavailable)
        let second = await parts.signIn("bob", "2")
        let together = await parts.store.commits.next()
        #expect(together.changes.compactMap(\.refreshToken) == ["rt-1", "rt-2"])
        together.fail()
        let alone = await parts.store.commits.next()
        #expect(alone.changes.compactMap(\.refreshToken) == ["rt-2"])
        alone.succeed()
        try await second.value()
        #expect(await parts.hasUnsavedChanges)
        // What has failed just now may be very much, and is not tried again with each change.
        let third = await parts.signIn("carol", "3")
        let next = await parts.store.commits.next()
        #expect(next.changes.compactMap(\.refreshToken) == ["rt-3"])
        next.succeed()
        try await third.value()
        // There is room again.
        parts.store.hold(false)
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.refreshTokens.sorted() == ["rt-1", "rt-2", "rt-3"])
        #expect(await !parts.hasUnsavedChanges)
    }

    /// Alice's newer token is written without the earlier one, for which there is no room, and which must not follow it.
    @Test func writesNoEarlierChangeAfterANewerOneThatWasWrittenWithoutIt() async throws {
        parts.store.hold()
        let first = await parts.signIn("alice", "1")
        await parts.store.commits.next().fail()
        #expect(try await first.error()?.code == .storeUnavailable)
        let second = await parts.signIn("alice", "2")
        await parts.store.commits.next().fail()
        let alone = await parts.store.commits.next()
        #expect(alone.changes.compactMap(\.refreshToken) == ["rt-2"])
        alone.succeed()
        try await second.value()
        parts.store.hold(false)
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(await !parts.hasUnsavedChanges)
    }

    /// The deletion of a sharing group would delete what has been written before it.
    @Test func writesNothingWithoutAnEarlierDeletionOfItsSharingGroup() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let removal = await parts.signOut("alice", extent: .everything)
        await parts.store.commits.next().fail()
        #expect(try await removal.error()?.code == .storeUnavailable)
        let saving = await parts.signIn("bob", "2")
        let together = await parts.store.commits.next()
        parts.store.hold(false)
        together.fail()
        #expect(try await saving.error()?.code == .storeUnavailable)
        #expect(parts.store.refreshTokens == ["rt-1"])
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(await !parts.hasUnsavedChanges)
    }

    /// A change of alice's could not be written; bob's commit writes it again and fails as well, while a newer one of alice's succeeds.
    @Test(arguments: [false, true])
    func writesNoEarlierChangeOverANewerOneThatWasWrittenMeanwhile(isRemoval: Bool) async throws {
        parts.store.hold()
        let first = await parts.signIn("alice", "1")
        await parts.store.commits.next().fail()
        #expect(try await first.error()?.code == .storeUnavailable)
        let bob = await parts.start { parts async throws(TokenError) in
            try await parts.core.commits.write([.put(.sample("note"))])
        }
        let together = await parts.store.commits.next()
        #expect(together.changes.compactMap(\.refreshToken) == ["rt-1"])
        let newer = isRemoval ? nil : await parts.signIn("alice", "2")
        let removal = isRemoval ? await parts.signOut("alice") : nil
        let commit = await parts.store.commits.next()
        together.fail()
        let alone = await parts.store.commits.next()
        commit.succeed()
        try await parts.settle()
        parts.store.hold(false)
        alone.succeed()
        try await bob.value()
        try await newer?.value()
        try await removal?.value()
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.refreshTokens == (isRemoval ? [] : ["rt-2"]))
        #expect(await !parts.hasUnsavedChanges)
    }

    @Test func writesFailedChangesAgainAfterAFewSeconds() async throws {
        parts.store.fail()
        #expect(try await parts.signIn("alice", "1").error()?.code == .storeUnavailable)
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.refreshTokens == [])
        parts.store.fail(false)
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(parts.timers.count == 0)
    }

    @Test func neverWritesAnOlderValueAfterANewerOne() async throws {
        parts.store.hold()
        let older = await parts.signIn("alice", "1")
        await parts.store.commits.next().fail()
        #expect(try await older.error()?.code == .storeUnavailable)
        parts.store.hold(false)
        try await parts.signIn("alice", "2").value()
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.refreshTokens == ["rt-2"])
    }

    @Test func writesFailedChangesBeforeAnImport() async throws {
        parts.store.fail()
        #expect(try await parts.signIn("alice", "1").error()?.code == .storeUnavailable)
        parts.store.fail(false)
        parts.store.hold()
        let importing = await parts.exclusively(writing: "imported")
        let earlier = await parts.store.commits.next()
        #expect(earlier.changes.compactMap(\.refreshToken) == ["rt-1"])
        earlier.succeed()
        let imported = await parts.store.commits.next()
        #expect(imported.changes == [.put(.sample("imported"))])
        imported.succeed()
        try await importing.value()
    }

    @Test func doesNotRepeatWritesThatAreNotToBeRetried() async throws {
        parts.store.fail()
        let note = await parts.start { parts async throws(TokenError) in
            try await parts.core.commits.write([.put(.sample("note"))], isRetried: false)
        }
        #expect(try await note.error()?.code == .storeUnavailable)
        #expect(await !parts.hasUnsavedChanges)
        #expect(parts.timers.count == 0)
    }

    /// Such a record would fail each time it is written again, and with it whatever is written in the same commit.
    @Test func refusesARecordThatIsTooLongBeforeAnythingIsWritten() async throws {
        try await parts.signIn("alice", "1").value()
        let saving = try await parts.saveTokenThatIsTooLong()
        let error = try #require(try await saving.error())
        #expect(error.code == .storeUnavailable && error.message.contains("longer than the store allows"))
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(try await parts.refreshTokens() == ["rt-1"])
        #expect(await !parts.hasUnsavedChanges)
        #expect(parts.timers.count == 0)
    }

    @Test func writesTheCacheAgainWhenTheStoreHasLostRecords() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        parts.store.updateReport { $0.losses = 1 }
        let second = await parts.signIn("bob", "2")
        await parts.store.commits.next().succeed()
        let everything = await parts.store.commits.next()
        #expect(everything.changes.compactMap(\.refreshToken).sorted() == ["rt-1", "rt-2"])
        everything.succeed()
        try await second.value()
        try await parts.settle()
        #expect(parts.store.commits.count == 0, "once for a loss")
    }

    /// Every record is read for it, and no other request need come.
    @Test func writesTheCacheAgainWhenAChangeOfTheKeyFindsLostRecords() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.loseRecords(naming: "alice")
        parts.store.updateReport { $0.losses = 1 }
        let change = await parts.start { parts async throws(TokenError) in
            try await parts.lifecycle.setKey(SetKey(source: .file))
        }
        try await change.value()
        try await parts.waitUntilIdle()
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(await !parts.hasUnsavedChanges)
    }
}

extension Parts {
    /// Saves another secret of the refresh token in memory, which is longer than a record of the store.
    fileprivate func saveTokenThatIsTooLong() throws -> Pending<Void> {
        let tokens = core.memory.cache.everything().compactMap { change -> RefreshTokenRecord? in
            guard case .put(let stored) = change, case .refreshToken(let token) = CacheRecord(stored) else {
                return nil
            }
            return token
        }
        var token = try #require(tokens.first)
        token.secret = Secret(String(repeating: "x", count: 17 << 20))
        return start { [token] parts async throws(TokenError) in
            try await parts.core.commits.commit(changing: [], in: .standard) { () async throws(TokenError) in
                (CommitQueue.CacheCommit(changes: [.save(.refreshToken(token))]), ())
            }
        }
    }

    /// Writes a record within `exclusively`, as an import does.
    fileprivate func exclusively(writing name: String) -> Pending<Void> {
        start { parts async throws(TokenError) in
            try await parts.core.commits.exclusively { () async throws(TokenError) in
                try await parts.core.commits.writeExclusively { $0 == 0 ? [.put(.sample(name))] : nil }
            }
        }
    }
}

extension StoredRecord {
    fileprivate static func sample(_ name: String) -> StoredRecord {
        StoredRecord(key: RecordKey(group: "sample", kind: .cloud, key: name), body: [])
    }
}

extension StoreChange {
    /// The secret of the refresh token that the change writes.
    fileprivate var refreshToken: String? {
        guard case .put(let stored) = self, case .refreshToken(let token) = CacheRecord(stored) else { return nil }
        return token.secret.reveal()
    }
}
