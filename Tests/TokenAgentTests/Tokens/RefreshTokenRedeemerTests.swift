internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent
@testable internal import TokenEndpoint

/// One redemption: the order of its steps, and what becomes of its note, its refresh token and its response.
@Suite(.bounded) struct RefreshTokenRedeemerTests {
    private let parts = Parts()

    // MARK: The order of the steps

    @Test func notesATokenDurablyBeforeItIsSent() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let request = await parts.acquire(.sample("alice"))
        let note = await parts.store.commits.next()
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        note.succeed()
        let redemption = await parts.provider.redemptions.next()
        #expect(parts.store.notes == 1)
        #expect(redemption.token == "rt-1")
        redemption.answer(.sample("alice", "2"))
        await parts.store.commits.next().succeed()
        #expect(try await request.value().accessToken == Secret("at-2"))
    }

    @Test func savesAResponseAndDeletesItsNoteInOneCommitBeforeAnswering() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        parts.store.hold()
        redemption.answer(.sample("alice", "2"))
        let commit = await parts.store.commits.next()
        try await parts.settle()
        #expect(!request.isDone)
        #expect(parts.store.notes == 1)
        commit.succeed()
        try await request.value()
        #expect(parts.store.notes == 0)
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(parts.store.commits.count == 0)
    }

    /// The request was decided before a redemption ended, and its turn comes after it, without a wait.
    @Test func doesNotSendATokenThatWasReplacedBeforeItsTurn() async throws {
        try await parts.signIn("alice", "1").value()
        let request = try await parts.acquire(.sample("alice"), beforeReplacingTheTokenBy: "rt-2")
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-2")
        redemption.answer(.sample("alice", "3"))
        #expect(try await request.value().accessToken == Secret("at-3"))
    }

    @Test func sendsNothingIfTheNoteCannotBeWritten() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.fail()
        #expect(try await parts.acquire(.sample("alice")).error()?.code == .storeUnavailable)
        #expect(parts.provider.redemptions.count == 0)
        #expect(try await parts.refreshTokens() == ["rt-1"])
        // The note is not written later either, since nothing was sent.
        parts.store.fail(false)
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.notes == 0)
    }

    @Test func keepsTheResponseInMemoryIfItCannotBeWritten() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        parts.store.fail()
        redemption.answer(.sample("alice", "2"))
        #expect(try await request.error()?.code == .storeUnavailable)
        #expect(try await parts.refreshTokens() == ["rt-2"])
        #expect(parts.store.notes == 1, "a crash now must be noticed")
        parts.store.fail(false)
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(parts.store.notes == 0)
    }

    // MARK: Lost replies

    @Test func keepsTheNoteOfATokenThatMayHaveArrived() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        redemption.question.delivery?.recordSending()
        redemption.fail(TokenError(.networkUnavailable, "the connection was lost"))
        #expect(try await request.error()?.code == .networkUnavailable)
        #expect(parts.store.notes == 1)
    }

    @Test func deletesTheNoteOfATokenThatWasNeverSent() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        redemption.fail(TokenError(.networkUnavailable, "no connection"))
        #expect(try await request.error()?.code == .networkUnavailable)
        #expect(parts.store.notes == 0)
        #expect(parts.store.refreshTokens == ["rt-1"])
    }

    @Test func deletesTheNoteIfTheResponseHasNoNewRefreshToken() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        #expect(parts.store.notes == 1)
        var tokens = IssuedTokens.sample("alice", "2")
        tokens.refreshToken = nil
        redemption.answer(tokens)
        #expect(try await request.value().accessToken == Secret("at-2"))
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(parts.store.notes == 0)
    }

    @Test func reportsThatALostReplyMayHaveReplacedTheToken() async throws {
        try await parts.signIn("alice", "1").value()
        try await parts.interruptEveryRedemption()
        let request = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        redemption.question.delivery?.recordSending()
        redemption.fail(.invalidGrant)
        let error = try #require(try await request.error())
        #expect(error.code == .interactionRequired)
        #expect(error.message.contains("no answer came"))
    }

    /// Whether the request before the stop has arrived is as unknown as before.
    @Test func keepsTheNoteOfALostReplyIfTheTokenCannotBeSentAgain() async throws {
        try await parts.signIn("alice", "1").value()
        try await parts.interruptEveryRedemption()
        let request = await parts.acquire(.sample("alice"))
        await parts.provider.redemptions.next().fail(TokenError(.networkUnavailable, "no connection"))
        #expect(try await request.error()?.code == .networkUnavailable)
        #expect(parts.store.notes == 1)
    }

    @Test func reportsNoLostReplyOnceTheTokenHasBeenRedeemed() async throws {
        try await parts.signIn("alice", "1").value()
        try await parts.interruptEveryRedemption()
        let first = await parts.acquire(.sample("alice"))
        await parts.provider.redemptions.next().answer(.sample("alice", "2"))
        try await first.value()
        let second = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        redemption.question.delivery?.recordSending()
        redemption.fail(.invalidGrant)
        let error = try #require(try await second.error())
        #expect(error.code == .interactionRequired)
        #expect(!error.message.contains("no answer came"))
    }

    // MARK: A sign-out during a redemption

    private func isOfSignOut(_ error: TokenError) -> Bool {
        (error.code, error.message) == (TokenSaver.signedOutMeanwhile.code, TokenSaver.signedOutMeanwhile.message)
    }

    @Test func sendsNothingAfterASignOutBeforeTheNoteIsWritten() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let request = await parts.acquire(.sample("alice"))
        let note = await parts.store.commits.next()
        parts.store.hold(false)
        let removal = await parts.signOut("alice")
        note.succeed()
        try await removal.value()
        #expect(try await request.error().map(isOfSignOut) == true)
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.notes == 0)
        #expect(parts.store.refreshTokens == [])
    }

    @Test func savesNothingAfterASignOutWhileTheTokenIsSent() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        try await parts.signOut("alice").value()
        redemption.answer(.sample("alice", "2"))
        #expect(try await request.error().map(isOfSignOut) == true)
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
        #expect(parts.store.notes == 0)
    }

    /// Without an ID token, only the records of the account would say whose the access token is.
    @Test func reportsASignOutAlsoIfTheResponseHasNoIDToken() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        try await parts.signOut("alice").value()
        var tokens = IssuedTokens.sample("alice", "2")
        tokens.idToken = nil
        redemption.answer(tokens)
        #expect(try await request.error().map(isOfSignOut) == true)
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.notes == 0)
    }

    @Test func keepsNothingAfterASignOutWhileTheResponseIsSaved() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        parts.store.hold()
        redemption.answer(.sample("alice", "2"))
        let commit = await parts.store.commits.next()
        let removal = await parts.signOut("alice")
        parts.store.hold(false)
        commit.succeed()
        try await removal.value()
        _ = try await request.error()
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
        #expect(parts.store.notes == 0)
    }

    /// The family's refresh token stays for the other app. Its redemption must not sign the first app in again, nor be lost.
    @Test func savesOnlyTheTokenOfTheFamilyAfterASignOutOfOneOfItsApps() async throws {
        try await parts.signInOtherAppOfFamily("1").value()
        let request = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-1")
        #expect(try await parts.signOut("alice", extent: .app).value())
        redemption.answer(.familySample("2"))
        #expect(try await request.error().map(isOfSignOut) == true)
        #expect(try await parts.refreshTokens() == ["rt-2", "rt-2"], "the other app's own, and the family's")
        #expect(parts.store.notes == 0)
        #expect(try await parts.acquire(.sample("alice", force: false)).error()?.code == .interactionRequired)
        #expect(parts.provider.redemptions.count == 0)
    }

    /// The app has a copy of the family's refresh token, and the sign-out removes that copy only.
    @Test func renewsTheTokenOfTheFamilyAfterASignOutOfTheAppWhoseCopyWasSent() async throws {
        try await parts.signInOtherAppOfFamily("1").value()
        let first = await parts.acquire(.sample("alice"))
        await parts.provider.redemptions.next().answer(.familySample("2"))
        try await first.value()
        #expect(try await parts.refreshTokens() == ["rt-2", "rt-2", "rt-2"])
        let second = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-2")
        #expect(try await parts.signOut("alice", extent: .app).value())
        redemption.answer(.familySample("3"))
        #expect(try await second.error().map(isOfSignOut) == true)
        #expect(try await parts.refreshTokens() == ["rt-3", "rt-3"], "the other app's own, and the family's")
        #expect(parts.store.notes == 0)
    }

    @Test func sendsNoTokenOfAFamilyAfterASignOutOfTheApp() async throws {
        try await parts.signInOtherAppOfFamily("1").value()
        parts.store.hold()
        let request = await parts.acquire(.sample("alice"))
        let note = await parts.store.commits.next()
        parts.store.hold(false)
        let removal = await parts.signOut("alice", extent: .app)
        note.succeed()
        try await removal.value()
        #expect(try await request.error().map(isOfSignOut) == true)
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.notes == 0)
        #expect(try await parts.refreshTokens() == ["rt-1", "rt-1"])
    }

    @Test func keepsTheTokenOfALaterSignIn() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        try await parts.signOut("alice").value()
        try await parts.signIn("alice", "2").value()
        redemption.answer(.sample("alice", "3"))
        try await request.value()
        #expect(try await parts.refreshTokens() == ["rt-2"])
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(parts.store.notes == 0)
    }

    // MARK: Tokens that have left memory

    /// The cached token is still valid, also if it is in the store only when its renewal fails.
    @Test func fallsBackToATokenThatHasLeftMemory() async throws {
        let (request, redemption) = try await parts.beginRenewal()
        try await parts.pack("alice")
        redemption.fail(TokenError(.networkUnavailable, "no connection"))
        #expect(try await request.value().accessToken == Secret("at-1"))
    }

    @Test func doesNotFallBackToATokenThatHasBeenRemoved() async throws {
        let (request, redemption) = try await parts.beginRenewal()
        try await parts.pack("alice")
        try await parts.signOut("alice").value()
        redemption.fail(TokenError(.networkUnavailable, "no connection"))
        #expect(try await request.error()?.code == .networkUnavailable)
    }

    // MARK: Refusals

    @Test func removesATokenThatIsRejectedForGood() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        redemption.question.delivery?.recordSending()
        var refusal = TokenError.invalidGrant
        refusal.details.subError = "bad_token"
        redemption.fail(refusal)
        #expect(try await request.error()?.code == .interactionRequired)
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
        #expect(parts.store.notes == 0)
    }

    /// A file may have named Mallory's refresh token as Alice's.
    @Test func refusesARefreshThatNamesAnotherAccount() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        redemption.answer(.sample("mallory", "2"))
        #expect(try await request.error()?.code == .interactionRequired)
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
        #expect(parts.store.notes == 0)
    }

    @Test func keepsATokenWhoseRefusalMayBeTemporaryAndDeletesItsNote() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        redemption.question.delivery?.recordSending()
        redemption.fail(.invalidGrant)
        #expect(try await request.error()?.code == .interactionRequired)
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(parts.store.notes == 0)
    }

    @Test func throttlesRequestsAfterAnOverload() async throws {
        try await parts.signIn("alice", "1").value()
        let request = AcquireTokenSilent.sample("alice")
        let first = await parts.acquire(request)
        let redemption = await parts.provider.redemptions.next()
        redemption.question.delivery?.recordSending()
        var overload = TokenError.refusal("temporarily_unavailable", .serverError)
        overload.details.httpStatus = 503
        redemption.fail(overload)
        #expect(try await first.error()?.code == .serverError)
        let second = try #require(try await parts.acquire(request).error())
        #expect(second.details.isThrottled)
        parts.clock.advance(by: 61)
        let third = await parts.acquire(request)
        await parts.provider.redemptions.next().answer(.sample("alice", "2"))
        try await third.value()
    }
}

extension IssuedTokens {
    /// The tokens of alice for an app of the family `1`.
    fileprivate static func familySample(_ token: String) -> IssuedTokens {
        var tokens = IssuedTokens.sample("alice", token)
        tokens.familyID = FamilyID("1")
        return tokens
    }
}

extension Parts {
    /// Signs alice in to another app, whose refresh token its family shares.
    fileprivate func signInOtherAppOfFamily(_ token: String) throws -> Pending<TokenResult> {
        var parameters = TokenParameters.sample()
        parameters.clientID = try .sample(1)
        return start { [parameters] parts async throws(TokenError) in
            try await parts.core.saver.save(
                .familySample(token), from: .signIn, parameters, at: parameters.authority)
        }
    }

    /// Signs alice in with the access token `at-1` and asks for it when it should be renewed, but is valid.
    fileprivate func beginRenewal() async throws -> (
        request: Pending<TokenResult>, redemption: ScriptedProvider.Redemption
    ) {
        let signIn = start { parts async throws(TokenError) in
            let parameters = TokenParameters.sample()
            var tokens = IssuedTokens.sample("alice", "1")
            tokens.refreshIn = 60
            return try await parts.core.saver.save(tokens, from: .signIn, parameters, at: parameters.authority)
        }
        try await signIn.value()
        clock.advance(by: 120)
        let request = acquire(.sample("alice", force: false))
        return (request, await provider.redemptions.next())
    }

    /// Removes the tokens of a user's accounts from memory.
    fileprivate func pack(_ user: String) throws {
        let accounts = core.memory.cache.partition(.standard).accounts(with: .sample(user))
        try #require(!accounts.isEmpty)
        for account in accounts { core.memory.pack(account, in: .standard) }
    }

    /// Sets the state after a start with a note for every refresh token in the store.
    fileprivate func interruptEveryRedemption() throws {
        let tokens = core.memory.cache.everything().compactMap { change in
            switch change {
            case .put(let stored) where stored.key.kind == .refreshToken: stored.key
            default: nil
            }
        }
        core.notes.load(Set(tokens))
    }
}
