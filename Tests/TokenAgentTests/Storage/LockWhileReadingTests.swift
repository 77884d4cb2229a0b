internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent
@testable internal import TokenCache

/// Requests whose tokens are read while the store is locked: the cache is empty afterwards, and an answer from it would be wrong.
@Suite(.bounded) struct LockWhileReadingTests {
    private let parts = Parts()

    @Test func asksForNoSignIn() async throws {
        try await start()
        let (request, lock) = await parts.acquireBeforeLocking(.sample("alice", force: false))
        let error = try await request.error()
        #expect(error?.code == .storeUnavailable && error?.message == TokenError.storeWasLocked.message)
        try await lock.value()
    }

    @Test func makesNoListOfNobody() async throws {
        try await start()
        let (list, lock) = await parts.listBeforeLocking()
        let error = try await list.error()
        #expect(error?.code == .storeUnavailable && error?.message == TokenError.storeWasLocked.message)
        try await lock.value()
    }

    /// Signs alice in, and starts the agent again, so that her tokens are in the store only.
    private func start() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.answerLoads(with: .success(parts.store.loadedWithoutTokens))
        try await parts.loadStore().value()
    }
}

extension Parts {
    /// Sends a silent request, and begins to lock the store in the same turn of the event loop.
    fileprivate func acquireBeforeLocking(
        _ request: AcquireTokenSilent
    ) -> (request: Pending<TokenResult>, lock: Pending<KeyStatus>) { (acquire(request), lock()) }

    /// Lists the accounts, and begins to lock the store in the same turn of the event loop.
    fileprivate func listBeforeLocking() -> (list: Pending<ListAccounts.Reply>, lock: Pending<KeyStatus>) {
        let list = start { parts async throws(TokenError) in
            try await parts.find { cache, tokens in cache.accounts(ListAccounts(clientID: .sample), &tokens) }
        }
        return (list, lock())
    }

    /// Answers a list, as `CacheOwner` does.
    private func find<Value>(
        _ body: (CredentialCache, _ tokens: inout ListedTokens) throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        let (value, rest) = try core.reader.find(in: .standard, body)
        if let value { return value }
        return try await core.reader.finish(rest, in: .standard, body)
    }
}
