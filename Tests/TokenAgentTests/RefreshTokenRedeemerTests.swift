internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent
@testable internal import TokenEndpoint

/// Sending refresh tokens, and the fate of their notes and responses.
@Suite(.bounded) struct RefreshTokenRedeemerTests {
    private let parts = Parts()

    // MARK: One redemption, from start to end

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

    // MARK: No answer

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

    // MARK: At the same time

    @Test func sharesOneRedemptionAmongEqualRequests() async throws {
        try await parts.signIn("alice", "1").value()
        var requests: [Pending<TokenResult>] = []
        for _ in 0..<3 { requests.append(await parts.acquire(.sample("alice"))) }
        let redemption = await parts.provider.redemptions.next()
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        redemption.answer(.sample("alice", "2"))
        for request in requests { #expect(try await request.value().accessToken == Secret("at-2")) }
    }

    @Test func neverSendsOneTokenTwiceAtTheSameTime() async throws {
        try await parts.signIn("alice", "1").value()
        let first = await parts.acquire(.sample("alice", .sample(["Mail.Read"])))
        let redemption = await parts.provider.redemptions.next()
        let second = await parts.acquire(.sample("alice", .sample(["Files.Read"])))
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        redemption.answer(.sample("alice", "2"))
        try await first.value()
        // The second redemption sends the token that the first one has saved.
        let next = await parts.provider.redemptions.next()
        #expect(next.token == "rt-2")
        next.answer(.sample("alice", "3"))
        try await second.value()
        #expect(parts.store.refreshTokens == ["rt-3"])
        #expect(parts.store.notes == 0)
    }

    @Test func redeemsTokensOfTwoAccountsAtTheSameTime() async throws {
        try await parts.signIn("alice", "1").value()
        try await parts.signIn("bob", "2").value()
        let requests = [await parts.acquire(.sample("alice")), await parts.acquire(.sample("bob"))]
        let redemptions = [await parts.provider.redemptions.next(), await parts.provider.redemptions.next()]
        #expect(Set(redemptions.map(\.token)) == ["rt-1", "rt-2"])
        for redemption in redemptions {
            redemption.answer(redemption.token == "rt-1" ? .sample("alice", "3") : .sample("bob", "4"))
        }
        for request in requests { try await request.value() }
        #expect(parts.store.refreshTokens == ["rt-3", "rt-4"])
    }

    @Test func waitsWithAnAppsGrantForTheSameCachedToken() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        let grant = await parts.start { parts async throws(TokenError) in
            try await parts.redeemer.redeem(
                RedeemGrant(parameters: .sample(), kind: .refreshToken, grant: Secret("rt-1")))
        }
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        redemption.answer(.sample("alice", "2"))
        try await request.value()
        await parts.provider.redemptions.next().fail(.invalidGrant)
        #expect(try await grant.error()?.code == .interactionRequired)
        #expect(try await parts.refreshTokens() == ["rt-2"])
    }

    @Test func redeemsDuringAnImportButCommitsAfterIt() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        let gate = Mailbox<Void>()
        let importing = await parts.start { parts async throws(TokenError) in
            await parts.core.commits.exclusivelyWait(for: gate)
        }
        redemption.answer(.sample("alice", "2"))
        try await parts.settle()
        #expect(!request.isDone)
        #expect(parts.store.refreshTokens == ["rt-1"])
        gate.put(())
        try await importing.value()
        try await request.value()
        #expect(parts.store.refreshTokens == ["rt-2"])
    }

    @Test func sendsNothingDuringAnImport() async throws {
        try await parts.signIn("alice", "1").value()
        let gate = Mailbox<Void>()
        let importing = await parts.start { parts async throws(TokenError) in
            await parts.core.commits.exclusivelyWait(for: gate)
        }
        let request = await parts.acquire(.sample("alice"))
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        gate.put(())
        try await importing.value()
        await parts.provider.redemptions.next().answer(.sample("alice", "2"))
        try await request.value()
    }

    // MARK: Signing out meanwhile

    @Test func sendsNothingAfterASignOutBeforeTheNoteIsWritten() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let request = await parts.acquire(.sample("alice"))
        let note = await parts.store.commits.next()
        parts.store.hold(false)
        let removal = await parts.signOut("alice")
        note.succeed()
        try await removal.value()
        #expect(try await request.error() == TokenSaver.signedOutMeanwhile)
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.notes == 0)
        #expect(parts.store.refreshTokens == [])
    }

    @Test func savesNothingAfterASignOutWhileTheTokenIsSent() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        try await parts.signOut("alice").value()
        redemption.answer(.sample("alice", "2"))
        #expect(try await request.error() == TokenSaver.signedOutMeanwhile)
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
        #expect(try await request.error() == TokenSaver.signedOutMeanwhile)
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

    @Test func keepsATokenWhoseRefusalMayBeTemporaryAndDeletesItsNote() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        redemption.question.delivery?.recordSending()
        redemption.fail(.invalidGrant)
        #expect(try await request.error()?.code == .interactionRequired)
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(parts.store.notes == 0)
    }

    @Test func throttlesRequestsAfterARefusal() async throws {
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

extension ScriptedProvider.Redemption {
    /// The refresh token that was sent.
    fileprivate var token: String? {
        guard case .refreshToken(let secret) = question.request.grant else { return nil }
        return secret.reveal()
    }
}

extension CommitQueue {
    /// Runs exclusively, as an import does, until the test opens the gate.
    fileprivate func exclusivelyWait(for gate: Mailbox<Void>) async {
        try? await exclusively { () async throws(TokenError) in await gate.next() }
    }
}

extension Parts {
    /// Sets the state after a start with a note for every refresh token in the store.
    fileprivate func interruptEveryRedemption() throws {
        let tokens = try core.memory.cache.everything().compactMap { change in
            switch change {
            case .put(let stored) where stored.key.kind == .refreshToken: stored.key
            default: nil
            }
        }
        core.notes.load(Set(tokens))
    }
}
