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
        #expect(try await list.value().accounts.compactMap(\.homeIDToken).allSatisfy { !$0.isEmpty })
        #expect(try await parts.refreshTokens().isEmpty)
    }

    @Test func asksForASignInIfTheStoreHasLostTheTokens() async throws {
        try await start(with: ["alice"])
        for kind in [RecordKind.accessToken, .refreshToken] { parts.store.keys(of: kind).forEach(parts.store.lose) }
        #expect(try await parts.acquire(.sample("alice")).error()?.code == .interactionRequired)
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

    /// Signs users in, and starts the agent again.
    private func start(with users: [String]) async throws {
        for user in users { try await parts.signIn(user, user).value() }
        parts.store.answerLoads(with: .success(parts.store.loadedWithoutTokens))
        try await parts.loadStore().value()
        #expect(try await parts.refreshTokens().isEmpty)
    }
}

extension Parts {
    fileprivate func loadStore() -> Pending<Void> { Pending(lifecycle.load()) }
}
