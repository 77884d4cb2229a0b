internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent
@testable internal import TokenCache

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

    /// No redemption begins any more, but the store is open.
    @Test func readsTokensWhileTheAgentStops() async throws {
        try await start(with: ["alice"])
        await parts.refuseRedemptions()
        #expect(try await listAccounts().accounts.first?.homeIDToken?.isEmpty == false)
        #expect(try await parts.acquire(.sample("alice", force: false)).value().accessToken == Secret("at-alice"))
    }

    /// Lists do not leave tokens in memory.
    @Test func keepsNoTokenThatAListNeeds() async throws {
        try await start(with: ["alice", "bob"])
        let list = try await listAccounts()
        #expect(list.accounts.count == 2)
        #expect(list.accounts.allSatisfy { $0.homeIDToken?.isEmpty == false })
        #expect(try await parts.refreshTokens().isEmpty)
        #expect(await parts.unreadCount == 6)
    }

    /// A page of a list takes the work for its own tokens, however many others there are.
    @Test func readsTheTokensOfThePageOnly() async throws {
        try await start(with: (0..<60).map { "user-\($0)" })
        let accounts = try await listAccounts()
        #expect(accounts.accounts.count == CredentialCache.pageItems)
        #expect(parts.store.readKeys.count == CredentialCache.pageItems)
        #expect(Set(parts.store.readKeys.map(\.kind)) == [.idToken])
        let credentials = try await listCredentials()
        #expect(credentials.credentials.count == CredentialCache.pageItems)
        #expect(credentials.credentials.allSatisfy { $0.idToken?.isEmpty == false })
        #expect(credentials.credentials.compactMap(\.accessToken).count == CredentialCache.pageItems / 2)
        #expect(parts.store.readKeys.dropFirst(CredentialCache.pageItems).count == CredentialCache.pageItems)
        #expect(parts.store.reads == 2)
    }

    @Test func leavesOutOfListsWhatTheStoreHasLost() async throws {
        let users = (0..<50).map { "user-\($0)" }
        try await start(with: users)
        for kind in [RecordKind.accessToken, .idToken] { parts.store.keys(of: kind).forEach(parts.store.lose) }
        let accounts = try await listAccounts()
        #expect(accounts.accounts.count == CredentialCache.pageItems)
        #expect(accounts.accounts.allSatisfy { $0.homeIDToken == nil })
        var (kinds, next) = ([Credential.Kind](), String?.none)
        repeat {
            let page = try await listCredentials(after: next)
            kinds += page.credentials.map(\.kind)
            next = page.next
        } while next != nil
        #expect(kinds == users.map { _ in .refreshToken })
    }

    /// On the disk, the records of two accounts may have one key.
    @Test func listsNoTokenOfAnotherAccount() async throws {
        try await start(with: ["alice", "bob"])
        for kind in [RecordKind.accessToken, .idToken] {
            let keys = parts.store.keys(of: kind)
            let alice = try #require(keys.first { $0.key.hasPrefix("alice") })
            let bob = try #require(keys.first { $0.key != alice.key })
            parts.store.replace(alice, with: bob)
        }
        #expect(try await listAccounts().accounts.map { $0.homeIDToken == nil } == [true, false])
        let listed = try await listCredentials().credentials
        #expect(listed.compactMap(\.accessToken) == [Secret("at-bob")])
    }

    @Test func listsNothingOfAStoreThatCannotBeRead() async throws {
        try await start(with: ["alice"])
        parts.store.failReads()
        let list = await parts.start { parts async throws(TokenError) in try await parts.listAccounts() }
        #expect(try await list.error()?.code == .storeUnavailable)
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
            let changes = parts.core.memory.cache.partition(.standard).records.map(CacheChange.save)
            try await parts.core.commits.commit(changing: [], in: .standard) { () async throws(TokenError) in
                (CommitQueue.CacheCommit(changes: changes), ())
            }
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

    @Test func keepsTokensOfALimitedSize() async throws {
        let padding = String(repeating: "x", count: 100_000)
        let count = TokenReader.sizeLimit / 200_000 + 20
        for number in 0..<count { try await parts.signIn("user-\(number)", "\(number)-\(padding)").value() }
        let tokens = try await parts.refreshTokens()
        #expect(tokens.count <= TokenReader.sizeLimit / 200_000)
        #expect(tokens.count > TokenReader.sizeLimit / 250_000)
        #expect(parts.store.refreshTokens.count == count)
        let first = try await parts.acquire(.sample("user-0", force: false)).value()
        #expect(first.accessToken == Secret("at-0-\(padding)"))
    }

    /// A provider may take long to answer, and another redemption may begin before.
    @Test func keepsTokensOfALimitedSizeDuringARedemption() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        let padding = String(repeating: "x", count: 100_000)
        let count = TokenReader.sizeLimit / 200_000 + 20
        for number in 0..<count { try await parts.signIn("user-\(number)", "\(number)-\(padding)").value() }
        let tokens = try await parts.refreshTokens()
        #expect(tokens.count <= TokenReader.sizeLimit / 200_000 + 1)
        // The account that was noted first.
        #expect(tokens.contains("rt-1"))
        redemption.answer(.sample("alice", "2"))
        #expect(try await request.value().accessToken == Secret("at-2"))
        #expect(parts.store.refreshTokens.count == count + 1)
    }

    /// Each commit ends while others are in progress.
    @Test func keepsTokensOfALimitedSizeBesideOtherCommits() async throws {
        let padding = String(repeating: "x", count: 100_000)
        let count = TokenReader.sizeLimit / 200_000 + 40
        parts.store.hold()
        var signIns: [Pending<TokenResult>] = []
        for number in 0..<count { signIns.append(await parts.signIn("user-\(number)", "\(number)-\(padding)")) }
        var commits: [ScriptedStore.Commit] = []
        for _ in 0..<count { commits.append(await parts.store.commits.next()) }
        parts.store.hold(false)
        for commit in commits { commit.succeed() }
        for signIn in signIns { try await signIn.value() }
        try await parts.waitUntilIdle()
        #expect(try await parts.refreshTokens().count <= TokenReader.sizeLimit / 200_000)
        #expect(parts.store.refreshTokens.count == count)
    }

    /// The disk is full when tokens are to leave memory.
    @Test func keepsTokensOfALimitedSizeAfterACommitThatHasFailed() async throws {
        let padding = String(repeating: "x", count: 100_000)
        let limit = TokenReader.sizeLimit / 200_000
        for number in 0..<limit { try await parts.signIn("user-\(number)", "\(number)-\(padding)").value() }
        let (signIns, commits) = await beginSignIns(of: ["alice", "bob"], padding)
        commits[0].succeed()
        try await signIns[0].value()
        try await parts.settle()
        parts.store.fail()
        commits[1].fail()
        #expect(try await signIns[1].error()?.code == .storeUnavailable)
        try await parts.waitUntilIdle()
        parts.store.fail(false)
        try await parts.timers.advance(by: 5)
        try await parts.waitUntilIdle()
        let (others, further) = await beginSignIns(of: (0..<40).map { "other-\($0)" }, padding)
        for commit in further { commit.succeed() }
        for signIn in others { try await signIn.value() }
        try await parts.waitUntilIdle()
        #expect(try await parts.refreshTokens().count <= limit)
        #expect(parts.store.refreshTokens.count == limit + 42)
    }

    /// Signs users in at the same time; their commits wait.
    private func beginSignIns(
        of users: [String], _ padding: String
    ) async -> (signIns: [Pending<TokenResult>], commits: [ScriptedStore.Commit]) {
        parts.store.hold()
        var signIns: [Pending<TokenResult>] = []
        for user in users { signIns.append(await parts.signIn(user, "\(user)-\(padding)")) }
        var commits: [ScriptedStore.Commit] = []
        for _ in users { commits.append(await parts.store.commits.next()) }
        parts.store.hold(false)
        return (signIns, commits)
    }

    @Test func keepsTheTokensThatAreNotInTheStoreYet() async throws {
        let users = (0..<TokenReader.limit + 20).map { "user-\($0)" }
        try await start(with: users)
        parts.store.fail()
        #expect(try await parts.signIn("alice", "unsaved").error()?.code == .storeUnavailable)
        for user in users { try await parts.acquire(.sample(user, force: false)).value() }
        #expect(try await parts.refreshTokens().count == users.count + 1)
    }

    private func listAccounts() async throws -> ListAccounts.Reply {
        try await parts.start { parts async throws(TokenError) in try await parts.listAccounts() }.value()
    }

    private func listCredentials(after: String? = nil) async throws -> ListCredentials.Reply {
        try await parts.start { parts async throws(TokenError) in
            try await parts.find { cache, tokens in
                cache.credentials(ListCredentials(after: after), localScheme: "https", &tokens)
            }
        }.value()
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

    /// An earlier change could not be written. When it is, in order to lock the store, the loss is found.
    @Test func writesLostRecordsAgainIfLockingTheStoreFindsTheLoss() async throws {
        try await start(with: ["alice"])
        try await parts.acquire(.sample("alice", force: false)).value()
        parts.store.fail()
        _ = try await parts.signIn("bob", "bob").error()
        try #require(await parts.hasUnsavedChanges)
        parts.store.fail(false)
        parts.store.hold()
        let lock = await parts.lock()
        let earlier = await parts.store.commits.next()
        parts.store.loseRecords(naming: "alice")
        parts.store.updateReport { $0.losses = 1 }
        parts.store.hold(false)
        earlier.succeed()
        try await lock.value()
        #expect(parts.store.refreshTokens == ["rt-alice", "rt-bob"])
        parts.store.answerLoads(with: .success(parts.store.loadedWithoutTokens))
        try await parts.loadStore(unlocks: true).value()
        #expect(await !parts.hasUnsavedChanges)
    }

    /// The records had been read, and were not in memory yet, when everything in memory was written again.
    @Test func writesWhatWasReadBeforeTheLoss() async throws {
        try await start(with: ["alice"])
        let read = await parts.start { parts async throws(TokenError) in
            let (memory, commits) = (parts.core.memory, parts.core.commits)
            try await commits.reading { () async throws(TokenError) in
                let tokens = memory.cache.unreadTokens(
                    of: memory.cache.partition(.standard).accountKeys, in: .standard)
                let records = ReadTokens(try await parts.store.records(with: tokens.map(\.key)))
                parts.store.loseRecords(naming: "alice")
                parts.store.updateReport { $0.losses = 1 }
                try await commits.exclusively {}
                memory.fill(with: records, of: tokens, in: .standard)
            }
        }
        try await read.value()
        try await parts.waitUntilIdle()
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

extension Parts {
    /// Answers a list, as `CacheOwner` does.
    fileprivate func find<Value>(
        _ body: (CredentialCache, _ tokens: inout ListedTokens) throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        let (value, rest) = try core.reader.find(in: .standard, body)
        if let value { return value }
        return try await core.reader.finish(rest, in: .standard, body)
    }

    fileprivate func listAccounts() async throws(TokenError) -> ListAccounts.Reply {
        try await find { cache, tokens in
            cache.accounts(ListAccounts(clientID: .sample), &tokens)
        }
    }

    /// The number of tokens that are in the store only.
    fileprivate var unreadCount: Int {
        let cache = core.memory.cache
        return cache.unreadTokens(of: cache.partition(.standard).accountKeys, in: .standard).count
    }
}
