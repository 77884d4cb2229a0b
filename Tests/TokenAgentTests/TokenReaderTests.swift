internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// Tokens that are in the store only, until a request needs them.
@Suite(.bounded) struct TokenReaderTests {
    private let parts = Parts()

    @Test func readsTheTokensOfAnAccountForItsFirstRequest() async throws {
        try await start(with: ["alice", "bob"])
        #expect(parts.store.reads == 0)
        #expect(try await parts.acquire(.sample("alice", force: false)).value().accessToken == Secret("at-alice"))
        #expect(try await parts.acquire(.sample("alice", force: false)).value().accessToken == Secret("at-alice"))
        #expect(parts.store.reads == 1)
        #expect(try await parts.refreshTokens() == ["rt-alice"])
    }

    @Test func failsWhileTheStoreCannotBeRead() async throws {
        try await start(with: ["alice"])
        parts.store.failReads()
        #expect(try await parts.acquire(.sample("alice", force: false)).error()?.code == .storeUnavailable)
        parts.store.failReads(false)
        #expect(try await parts.acquire(.sample("alice", force: false)).value().accessToken == Secret("at-alice"))
    }

    /// Lists do not leave tokens in memory.
    @Test func findsWhatAListNeedsInACopy() async throws {
        try await start(with: ["alice", "bob"])
        let list = await parts.start { parts async throws(TokenError) in
            try await parts.core.reader.find(in: .standard) { cache, unread in
                cache.accounts(ListAccounts(clientID: .sample), &unread)
            }
        }
        let tokens = try await list.value().accounts.map(\.homeIDToken)
        #expect(Set(tokens) == Set(["alice", "bob"].map { IssuedTokens.sample($0, $0).idToken }))
        #expect(tokens.count == 2)
        #expect(try await parts.refreshTokens().isEmpty)
    }

    @Test func asksForASignInIfTheStoreHasLostTheTokens() async throws {
        try await start(with: ["alice"])
        for kind in [RecordKind.accessToken, .refreshToken] { parts.store.keys(of: kind).forEach(parts.store.lose) }
        #expect(try await parts.acquire(.sample("alice")).error()?.code == .interactionRequired)
    }

    @Test func readsTheTokensOnceForRequestsAtTheSameTime() async throws {
        try await start(with: ["alice"])
        var requests: [Pending<TokenResult>] = []
        for _ in 0..<5 { requests.append(await parts.acquire(.sample("alice", force: false))) }
        for request in requests { #expect(try await request.value().accessToken == Secret("at-alice")) }
        #expect(parts.store.reads == 1)
    }

    @Test func redeemsARefreshTokenOnceItHasBeenRead() async throws {
        try await start(with: ["alice"])
        let request = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-alice")
        redemption.answer(.sample("alice", "2"))
        #expect(try await request.value().accessToken == Secret("at-2"))
        #expect(parts.store.refreshTokens == ["rt-2"])
    }

    /// The response to a sign-in is kept whatever the disk does: the account's old tokens are not needed for it.
    @Test func savesASignInThoughTheStoreCannotBeRead() async throws {
        try await start(with: ["alice", "bob"])
        parts.store.failReads()
        try await parts.signIn("alice", "new").value()
        #expect(parts.store.refreshTokens == ["rt-bob", "rt-new"])
        #expect(try await parts.acquire(.sample("alice", force: false)).value().accessToken == Secret("at-new"))
    }

    @Test func refusesToWriteARecordWithoutItsToken() async throws {
        try await start(with: ["alice"])
        let commit = await parts.start { parts async throws(TokenError) in
            let records = parts.core.memory.cache.partition(.standard).records
            try await parts.core.commits.commit(records.map(CacheChange.save), in: .standard)
        }
        #expect(try await commit.error()?.code == .internalError)
        #expect(parts.store.refreshTokens == ["rt-alice"])
    }

    @Test func keepsTheTokensOfALimitedNumberOfAccounts() async throws {
        let users = (0..<TokenReader.limit + 20).map { "user-\($0)" }
        try await start(with: users)
        for user in users { try await parts.acquire(.sample(user, force: false)).value() }
        #expect(try await parts.refreshTokens().count <= TokenReader.limit)
        #expect(parts.store.refreshTokens.count == users.count)
        #expect(try await parts.acquire(.sample(users[0], force: false)).value().accessToken == Secret("at-user-0"))
    }

    @Test func keepsTheTokensThatAreNotInTheStoreYet() async throws {
        let users = (0..<TokenReader.limit + 20).map { "user-\($0)" }
        try await start(with: users)
        parts.store.fail()
        #expect(try await parts.signIn("alice", "unsaved").error()?.code == .storeUnavailable)
        for user in users { try await parts.acquire(.sample(user, force: false)).value() }
        #expect(try await parts.refreshTokens().count == users.count + 1)
    }

    // MARK: Losses

    /// A read finds that the store has lost records, some of which are in memory.
    @Test func writesLostRecordsAgainAfterARead() async throws {
        try await start(with: ["alice", "bob"])
        try await parts.acquire(.sample("alice", force: false)).value()
        parts.store.loseRecords(naming: "alice")
        #expect(parts.store.refreshTokens == ["rt-bob"])
        parts.store.updateReport { $0.losses = 1 }
        #expect(try await parts.acquire(.sample("bob", force: false)).value().accessToken == Secret("at-bob"))
        try await parts.waitUntilIdle()
        #expect(parts.store.refreshTokens == ["rt-alice", "rt-bob"])
    }

    @Test func keepsTokensInMemoryWhileLostRecordsAreNotWrittenAgain() async throws {
        let users = (0..<TokenReader.limit + 20).map { "user-\($0)" }
        try await start(with: users)
        let (first, others) = (users.prefix(TokenReader.limit), users.dropFirst(TokenReader.limit))
        for user in first { try await parts.acquire(.sample(user, force: false)).value() }
        #expect(try await parts.refreshTokens().count == TokenReader.limit)
        parts.store.loseRecords(naming: "user-0")
        parts.store.hold()
        parts.store.updateReport { $0.losses = 1 }
        for user in others { try await parts.acquire(.sample(user, force: false)).value() }
        #expect(try await parts.refreshTokens().count == users.count)
        #expect(await parts.hasUnsavedChanges)
        let everything = await parts.store.commits.next()
        parts.store.hold(false)
        everything.succeed()
        try await parts.waitUntilIdle()
        #expect(parts.store.refreshTokens.contains("rt-user-0"))
        #expect(await !parts.hasUnsavedChanges)
        // Those that were used first leave memory as soon as the store has everything.
        try await parts.signIn("alice", "alice").value()
        #expect(try await parts.refreshTokens().count < users.count)
        #expect(try await parts.acquire(.sample("user-0", force: false)).value().accessToken == Secret("at-user-0"))
    }

    /// The disk is full when the records are to be written again.
    @Test func writesLostRecordsAgainAsSoonAsTheDiskCanBeWritten() async throws {
        try await start(with: ["alice", "bob"])
        try await parts.acquire(.sample("alice", force: false)).value()
        parts.store.loseRecords(naming: "alice")
        parts.store.fail()
        parts.store.updateReport { $0.losses = 1 }
        try await parts.acquire(.sample("bob", force: false)).value()
        try await parts.waitUntilIdle()
        #expect(parts.store.refreshTokens == ["rt-bob"])
        #expect(await parts.hasUnsavedChanges)
        parts.store.fail(false)
        try await parts.timers.advance(by: 5)
        try await parts.waitUntilIdle()
        #expect(parts.store.refreshTokens == ["rt-alice", "rt-bob"])
        #expect(await !parts.hasUnsavedChanges)
        #expect(parts.timers.count == 0)
    }

    @Test func writesLostRecordsAgainBeforeTheStoreIsLocked() async throws {
        try await start(with: ["alice"])
        try await parts.acquire(.sample("alice", force: false)).value()
        parts.store.loseRecords(naming: "alice")
        parts.store.updateReport { $0.losses = 1 }
        try await parts.lock().value()
        #expect(parts.store.refreshTokens == ["rt-alice"])
    }

    /// Signs users in, and starts the agent again.
    private func start(with users: [String]) async throws {
        for user in users { try await parts.signIn(user, user).value() }
        parts.store.answerLoads(with: .success(parts.store.loadedWithoutTokens))
        try await parts.loadStore().value()
        #expect(try await parts.refreshTokens().isEmpty)
    }
}
