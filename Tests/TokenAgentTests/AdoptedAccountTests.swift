internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// A sign-in that moves the records of an account that was known by its username to the identifier, beside other changes of that account.
@Suite(.bounded) struct AdoptedAccountTests {
    private let parts = Parts()

    /// Otherwise the move would keep the token that is being replaced, and remove the newer one.
    @Test func movesTheTokenThatIsBeingSaved() async throws {
        try await parts.signInByName("1").value()
        parts.store.hold()
        let renewal = try await parts.signInByName("2")
        let commit = await parts.store.commits.next()
        let signIn = await parts.signIn("alice", "3")
        try await parts.settle()
        #expect(parts.store.commits.count == 0 && !signIn.isDone, "the move waits for the token")
        commit.succeed()
        try await renewal.value()
        await parts.store.commits.next().succeed()
        #expect(try await signIn.value().account.homeAccountID == HomeAccountID.sample("alice"))
        #expect(try await parts.refreshTokens() == ["rt-2", "rt-3"])
        #expect(parts.store.refreshTokens == ["rt-2", "rt-3"])
    }

    /// The other way round, the token is saved under the username, from which the other one has gone.
    @Test func savesATokenAfterTheMoveThatHasBegun() async throws {
        try await parts.signInByName("1").value()
        parts.store.hold()
        let signIn = await parts.signIn("alice", "3")
        let commit = await parts.store.commits.next()
        let renewal = try await parts.signInByName("2")
        try await parts.settle()
        #expect(parts.store.commits.count == 0 && !renewal.isDone)
        commit.succeed()
        try await signIn.value()
        await parts.store.commits.next().succeed()
        try await renewal.value()
        #expect(try await parts.refreshTokens() == ["rt-1", "rt-2", "rt-3"])
        #expect(parts.store.refreshTokens == ["rt-1", "rt-2", "rt-3"])
    }

    /// Under the identifier, the token has another key than the one that the removal names.
    @Test func removesATokenByItsKeyWhileItIsBeingMoved() async throws {
        try await parts.signInByName("1").value()
        parts.store.hold()
        let signIn = await parts.signIn("alice", "3")
        let commit = await parts.store.commits.next()
        let removal = try await parts.removeRefreshToken("rt-1")
        try await parts.settle()
        #expect(try await parts.refreshTokens() == [])
        commit.succeed()
        try await signIn.value()
        #expect(try await parts.refreshTokens() == ["rt-3"], "removed before the deletion is durable")
        await parts.store.commits.next().succeed()
        #expect(try await removal.value())
        #expect(try await parts.refreshTokens() == ["rt-3"])
        #expect(parts.store.refreshTokens == ["rt-3"])
    }
}

extension Parts {
    /// Saves the tokens of a sign-in to another app, whose response names alice by her username only.
    func signInByName(_ token: String) throws -> Pending<TokenResult> {
        var parameters = TokenParameters.sample(["https://graph.example/.default"], version: .v1)
        parameters.clientID = try .sample(1)
        var tokens = IssuedTokens.sample("alice", token)
        tokens.homeAccountID = nil
        return start { [parameters, tokens] parts async throws(TokenError) in
            try await parts.core.saver.save(tokens, from: .signIn, parameters, at: parameters.authority)
        }
    }

    /// Removes a refresh token by its record's key, as `ssoctl` does with what it has listed.
    fileprivate func removeRefreshToken(_ secret: String) throws -> Pending<Bool> {
        let keys = core.memory.cache.everything().compactMap { change -> String? in
            guard case .put(let stored) = change, case .refreshToken(let token) = CacheRecord(stored),
                token.secret == Secret(secret)
            else { return nil }
            return stored.key.key
        }
        let request = RemoveCredential(id: try #require(keys.first))
        let begun = core.removals.begin(in: request.sharingGroup) { $0.changes(removing: request) }
        return start { parts async throws(TokenError) in
            guard let begun else { return false }
            return try await parts.core.removals.finish(begun)
        }
    }
}
