internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel

@testable internal import TokenAgent
@testable internal import TokenEndpoint

/// The order of the steps in which a refresh token is sent, and what becomes of its note, the token and the response.
@Suite(.bounded) struct RefreshTokenSenderTests {
    private let parts = Parts()

    // MARK: The order of the steps

    @Test func notesATokenDurablyBeforeItIsSent() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let sending = await parts.send()
        let note = await parts.store.commits.next()
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        note.succeed()
        let redemption = await parts.provider.redemptions.next()
        #expect(parts.store.notes == 1)
        #expect(redemption.token == "rt-1")
        redemption.answer(.sample("alice", "2"))
        await parts.store.commits.next().succeed()
        #expect(try await sending.value().accessToken == Secret("at-2"))
    }

    @Test func savesAResponseAndDeletesItsNoteInOneCommitBeforeAnswering() async throws {
        let (sending, redemption) = try await parts.beginSending()
        parts.store.hold()
        redemption.answer(.sample("alice", "2"))
        let commit = await parts.store.commits.next()
        try await parts.settle()
        #expect(!sending.isDone)
        #expect(parts.store.notes == 1)
        commit.succeed()
        try await sending.value()
        #expect(parts.store.notes == 0)
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(parts.store.commits.count == 0)
    }

    @Test func keepsTheResponseInMemoryIfItCannotBeWritten() async throws {
        let (sending, redemption) = try await parts.beginSending()
        parts.store.fail()
        redemption.answer(.sample("alice", "2"))
        let error = try await sending.error()
        #expect(error?.code == .storeUnavailable)
        #expect(error?.details.hasChangedCache == true)
        #expect(try await parts.refreshTokens() == ["rt-2"])
        #expect(parts.store.notes == 1, "a crash now must be noticed")
        parts.store.fail(false)
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(parts.store.notes == 0)
    }

    // MARK: Tokens that were not sent

    @Test func sendsNothingIfTheNoteCannotBeWritten() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.fail()
        let error = try await parts.send().error()
        #expect(error?.code == .storeUnavailable)
        #expect(error?.details.hasChangedCache == false)
        #expect(parts.provider.redemptions.count == 0)
        #expect(try await parts.refreshTokens() == ["rt-1"])
        // The note is not written later either, since nothing was sent.
        parts.store.fail(false)
        try await parts.timers.advance(by: 5)
        try await parts.settle()
        #expect(parts.store.notes == 0)
    }

    @Test func writesNothingIfTheStoreIsBeingLocked() async throws {
        try await parts.signIn("alice", "1").value()
        let locking = await parts.start { parts async throws(TokenError) in
            parts.core.commits.beginClosing(TokenError(.storeUnavailable, "the store is being locked"))
        }
        try await locking.value()
        parts.store.hold()
        #expect(try await parts.send().error()?.code == .storeUnavailable)
        #expect(parts.store.commits.count == 0)
        #expect(parts.provider.redemptions.count == 0)
    }

    @Test func sendsNoTokenToAnotherProviderThanItsIssuer() async throws {
        try await parts.signIn("alice", "1").value()
        let other = try Authority("https://contoso.ciamlogin.com")
        let error = try await parts.send(to: other).error()
        #expect(error?.code == .interactionRequired)
        #expect(error?.details.reason == .authority)
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.notes == 0)
        #expect(parts.store.refreshTokens == ["rt-1"])
    }

    /// An app may give the user any name, and whoever owns a domain can have it vouch for any host.
    @Test func validatesAnADFSWithTheDomainOfTheUserInTheCache() async throws {
        let parameters = TokenParameters.sample(authority: try Authority("https://fs.contoso.com/adfs"))
        try await parts.signIn("alice", "1", parameters).value()
        let account = AccountReference(homeAccountID: .sample("alice"), username: "x@attacker.example")
        let request = await parts.acquire(
            AcquireTokenSilent(parameters: parameters, account: account, forceRefresh: true))
        let federation = await parts.provider.federations.next()
        #expect(federation.question == "contoso.com")
        federation.fail(TokenError(.authorityValidation, "another host"))
        #expect(try await request.error()?.code == .authorityValidation)
    }

    @Test func deletesTheNoteOfATokenThatWasNeverSentBeforeReporting() async throws {
        let (sending, redemption) = try await parts.beginSending()
        parts.store.hold()
        redemption.fail(TokenError(.networkUnavailable, "no connection"))
        let deletion = await parts.store.commits.next()
        try await parts.settle()
        #expect(!sending.isDone)
        #expect(parts.store.notes == 1)
        deletion.succeed()
        #expect(try await sending.error()?.code == .networkUnavailable)
        #expect(parts.store.notes == 0)
        #expect(parts.store.refreshTokens == ["rt-1"])
    }

    /// Whether the request before the stop has arrived is as unknown as before.
    @Test func keepsTheNoteOfALostReplyIfTheTokenCannotBeSentAgain() async throws {
        try await parts.signIn("alice", "1").value()
        try await parts.interruptEveryRedemption()
        let sending = await parts.send()
        await parts.provider.redemptions.next().fail(TokenError(.networkUnavailable, "no connection"))
        #expect(try await sending.error()?.code == .networkUnavailable)
        #expect(parts.store.notes == 1)
    }

    // MARK: The scopes of a response

    /// `email` opens nothing, and a provider need not name it among the granted scopes.
    @Test(
        arguments: [
            (["User.Read", "email"], []), (["User.Read", "Mail.Read", "email"], ["Mail.Read"]),
        ] as [([String], [String])])
    func reportsTheScopesThatWereDeclined(requested: [String], declined: [String]) async throws {
        var response = IssuedTokens.sample("alice", "1")
        response.scopes = ScopeSet(["User.Read"])
        let (tokens, parameters) = (response, TokenParameters.sample(requested))
        let saving = await parts.start { parts async throws(TokenError) in
            try await parts.core.saver.save(tokens, from: .signIn, parameters, at: parameters.authority)
        }
        let error = try await saving.error()
        #expect(error?.code == (declined.isEmpty ? nil : .declinedScopes))
        #expect((error?.details.declinedScopes ?? []) == declined)
        #expect(parts.store.refreshTokens == ["rt-1"])
    }

    // MARK: A lost response

    @Test func keepsTheNoteOfATokenThatMayHaveArrived() async throws {
        let (sending, redemption) = try await parts.beginSending()
        parts.store.hold()
        redemption.question.delivery?.recordSending()
        redemption.fail(TokenError(.networkUnavailable, "the connection was lost"))
        #expect(try await sending.error()?.code == .networkUnavailable)
        try await parts.settle()
        #expect(parts.store.commits.count == 0)
        #expect(parts.store.notes == 1)
        #expect(parts.store.refreshTokens == ["rt-1"])
    }

    /// The first request may have arrived, the second was not sent.
    @Test func keepsTheNoteOfALostResponseIfTheTokenIsNotSentAgain() async throws {
        let (sending, redemption) = try await parts.beginSending()
        redemption.question.delivery?.recordSending()
        redemption.fail(TokenError(.networkUnavailable, "the connection was lost"))
        #expect(try await sending.error()?.code == .networkUnavailable)
        let next = await parts.send()
        await parts.provider.redemptions.next().fail(TokenError(.networkUnavailable, "no connection"))
        #expect(try await next.error()?.code == .networkUnavailable)
        #expect(parts.store.notes == 1)
        let last = await parts.acquire(.sample("alice"))
        let refused = await parts.provider.redemptions.next()
        refused.question.delivery?.recordSending()
        refused.fail(.invalidGrant)
        #expect(try await last.error()?.message.contains("no answer came") == true)
        #expect(parts.store.notes == 0)
    }

    /// An import may have taken the token out of memory meanwhile.
    @Test func keepsTheNoteOfALostResponseWhoseTokenHasLeftMemory() async throws {
        let (sending, redemption) = try await parts.beginSending()
        try await parts.pack("alice")
        redemption.question.delivery?.recordSending()
        redemption.fail(TokenError(.networkUnavailable, "the connection was lost"))
        #expect(try await sending.error()?.code == .networkUnavailable)
        let next = await parts.acquire(.sample("alice"))
        let refused = await parts.provider.redemptions.next()
        refused.question.delivery?.recordSending()
        refused.fail(.invalidGrant)
        #expect(try await next.error()?.message.contains("no answer came") == true)
    }

    /// No response to the new token was lost. It may leave memory, since it is not the one that is being redeemed.
    @Test(arguments: [false, true]) func keepsNoNoteOfATokenThatASignInHasReplaced(hasLeftMemory: Bool) async throws {
        let (sending, redemption) = try await parts.beginSending()
        try await parts.signIn("alice", "2").value()
        if hasLeftMemory { try await parts.pack("alice") }
        redemption.question.delivery?.recordSending()
        redemption.fail(TokenError(.networkUnavailable, "the connection was lost"))
        #expect(try await sending.error()?.code == .networkUnavailable)
        let next = await parts.acquire(.sample("alice"))
        let refused = await parts.provider.redemptions.next()
        #expect(refused.token == "rt-2")
        refused.question.delivery?.recordSending()
        refused.fail(.invalidGrant)
        #expect(try await next.error()?.message.contains("no answer came") == false)
    }

    // MARK: Refusals and other responses

    @Test func deletesTheNoteIfTheResponseHasNoNewRefreshToken() async throws {
        let (sending, redemption) = try await parts.beginSending()
        #expect(parts.store.notes == 1)
        var tokens = IssuedTokens.sample("alice", "2")
        tokens.refreshToken = nil
        redemption.answer(tokens)
        #expect(try await sending.value().accessToken == Secret("at-2"))
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(parts.store.notes == 0)
    }

    @Test func savesARefusalAndDeletesItsNoteInOneCommitBeforeReporting() async throws {
        let (sending, redemption) = try await parts.beginSending()
        parts.store.hold()
        redemption.question.delivery?.recordSending()
        redemption.fail(.badToken)
        let commit = await parts.store.commits.next()
        try await parts.settle()
        #expect(!sending.isDone)
        #expect(parts.store.notes == 1)
        #expect(parts.store.refreshTokens == ["rt-1"])
        commit.succeed()
        #expect(try await sending.error()?.details.subError == "bad_token")
        #expect(parts.store.notes == 0)
        #expect(parts.store.refreshTokens == [])
        #expect(parts.store.commits.count == 0)
    }

    /// The provider has replaced the refresh token, although its response is of no use to the app.
    @Test func savesTheRefreshTokenOfAnInvalidResponse() async throws {
        let (sending, redemption) = try await parts.beginSending()
        redemption.question.delivery?.recordSending()
        redemption.question.delivery?.recordRefused(.sample("alice", "2"))
        redemption.fail(TokenError(.serverInvalidResponse, "the ID token is not valid"))
        let error = try await sending.error()
        #expect(error?.code == .serverInvalidResponse)
        #expect(error?.details.hasChangedCache == true)
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(parts.store.notes == 0)
    }

    /// The token endpoint has replaced the refresh token, although the cache cannot read the response.
    @Test func savesTheRefreshTokenOfAResponseThatTheCacheRefuses() async throws {
        let (sending, redemption) = try await parts.beginSending()
        var tokens = IssuedTokens.sample("alice", "2")
        tokens.idToken = "no token"
        redemption.answer(tokens)
        let error = try await sending.error()
        #expect(error?.code == .serverInvalidResponse && error?.details.hasChangedCache == true)
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(parts.store.notes == 0)
    }

    /// The provider may have replaced alice's token by the one that is not saved. That is known at once, and not at the next start only.
    @Test func keepsTheNoteOfAnInvalidResponseThatNamesAnotherUser() async throws {
        let (sending, redemption) = try await parts.beginSending()
        redemption.question.delivery?.recordSending()
        redemption.question.delivery?.recordRefused(.sample("mallory", "2"))
        redemption.fail(TokenError(.serverInvalidResponse, "the ID token is not valid"))
        let error = try await sending.error()
        #expect(error?.code == .serverInvalidResponse && error?.details.hasChangedCache == false)
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(parts.store.notes == 1)
        let next = await parts.acquire(.sample("alice"))
        let refused = await parts.provider.redemptions.next()
        refused.question.delivery?.recordSending()
        refused.fail(.invalidGrant)
        #expect(try await next.error()?.message.contains("no answer came") == true)
        #expect(parts.store.notes == 0)
    }

    @Test func removesATokenThatIsRejectedForGood() async throws {
        let (sending, redemption) = try await parts.beginSending()
        redemption.question.delivery?.recordSending()
        redemption.fail(.badToken)
        #expect(try await sending.error()?.code == .interactionRequired)
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
        #expect(parts.store.notes == 0)
    }

    /// A file may have named Mallory's refresh token as Alice's.
    @Test func refusesARefreshThatNamesAnotherAccount() async throws {
        let (sending, redemption) = try await parts.beginSending()
        redemption.answer(.sample("mallory", "2"))
        let error = try await sending.error()
        #expect(error?.code == .interactionRequired)
        #expect(error?.details.hasChangedCache == true)
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
        #expect(parts.store.notes == 0)
    }

    @Test func keepsATokenWhoseRefusalMayBeTemporaryAndDeletesItsNote() async throws {
        let (sending, redemption) = try await parts.beginSending()
        redemption.question.delivery?.recordSending()
        redemption.fail(.invalidGrant)
        let error = try await sending.error()
        #expect(error?.code == .interactionRequired)
        #expect(error?.details.hasChangedCache == false)
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(parts.store.notes == 0)
    }

    // MARK: Grants of apps

    @Test func sendsAGrantOfAnAppWithoutANote() async throws {
        parts.store.hold()
        let sending = await parts.start { parts async throws(TokenError) in
            try await parts.core.sender.send(
                RedeemGrant(parameters: .sample(), kind: .refreshToken, grant: Secret("rt-1")))
        }
        let redemption = await parts.provider.redemptions.next()
        #expect(parts.store.commits.count == 0)
        var tokens = IssuedTokens.sample("alice", "2")
        tokens.refreshToken = nil
        redemption.answer(tokens)
        await parts.store.commits.next().succeed()
        #expect(try await sending.value().accessToken == Secret("at-2"))
        #expect(parts.store.refreshTokens == ["rt-1"], "the response has none in its place")
        #expect(parts.store.notes == 0)
    }
}

extension TokenError {
    /// A refusal of a refresh token that will never be accepted again.
    fileprivate static var badToken: TokenError {
        var error = invalidGrant
        error.details.subError = "bad_token"
        return error
    }
}

extension AgentCore {
    fileprivate var sender: RefreshTokenSender { RefreshTokenSender(self) }

    /// Sends alice's refresh token, which is in use meanwhile.
    ///
    /// - Parameter authority: where it is sent to; nil for its issuer.
    fileprivate func send(to authority: Authority?) async throws(TokenError) -> TokenResult {
        let request = AcquireTokenSilent.sample("alice")
        guard case .redeem(var plan) = memory.cache.decide(request, now: now()), let token = plan.candidates.first
        else {
            throw TokenError(.internalError, "there is no refresh token to send")
        }
        plan.authority = authority ?? plan.authority
        let result = try await tokensInUse.exclusive(token.secret) { () async throws(TokenError) in
            try await sender.send(token, plan, request.parameters, username: nil)
        }
        guard let result else { throw TokenError(.internalError, "the refresh token was replaced before it was sent") }
        return result
    }
}

extension Parts {
    /// Sends alice's refresh token as `RefreshTokenRedeemer` does, but without a turn.
    fileprivate func send(to authority: Authority? = nil) -> Pending<TokenResult> {
        start { parts async throws(TokenError) in try await parts.core.send(to: authority) }
    }

    /// Signs alice in with the refresh token `rt-1` and sends it.
    ///
    /// - Returns: the result of sending it, and the redemption as the token endpoint has received it.
    fileprivate func beginSending() async throws -> (
        sending: Pending<TokenResult>, redemption: ScriptedProvider.Redemption
    ) {
        try await signIn("alice", "1").value()
        let sending = send()
        return (sending, await provider.redemptions.next())
    }
}
