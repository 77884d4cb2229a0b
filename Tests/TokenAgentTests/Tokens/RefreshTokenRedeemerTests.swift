internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent
@testable internal import TokenCache
@testable internal import TokenEndpoint

/// One redemption: the refresh token that it sends, and the answer to its request.
@Suite(.bounded) struct RefreshTokenRedeemerTests {
    private let parts = Parts()

    /// The request was decided before a redemption ended, and its turn comes after it, without a wait.
    @Test func doesNotSendATokenThatWasReplacedBeforeItsTurn() async throws {
        try await parts.signIn("alice", "1").value()
        let request = try await parts.acquire(.sample("alice"), beforeReplacingTheTokenBy: "rt-2")
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-2")
        redemption.answer(.sample("alice", "3"))
        #expect(try await request.value().accessToken == Secret("at-3"))
    }

    // MARK: Refusals

    /// ADAL reads an OAuth error from a response with one of three statuses.
    @Test(
        arguments: [(nil, true), (200, true), (400, true), (401, true), (403, false), (500, false)]
            as [(Int32?, Bool)])
    func triesTheNextTokenForADALAfterAnOAuthErrorOnly(status: Int32?, isTried: Bool) {
        var error = TokenError.invalidGrant
        error.details.httpStatus = status
        #expect(error.allowsNextRefreshToken(.v1) == isTried)
        #expect(error.allowsNextRefreshToken(.v2))
        error.details.oauthError = nil
        #expect(!error.allowsNextRefreshToken(.v1))
    }

    /// As of an OpenID provider that gives no reason.
    @Test func asksForASignInAndKeepsTheTokenAfterARefusalWithoutAReason() async throws {
        try await parts.signIn("alice", "1").value()
        let request = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        redemption.question.delivery?.recordSending()
        var refusal = TokenError(.interactionRequired, "no reason")
        refusal.details.httpStatus = 400
        redemption.fail(refusal)
        let error = try #require(try await request.error())
        #expect(error.code == .interactionRequired && error.message == Refusal.unexplained)
        #expect(try await parts.refreshTokens() == ["rt-1"])
    }

    /// Also if the family's token is tried after it.
    @Test(arguments: [(true, "own"), (false, "shared")])
    func reportsTheRefusalOfTheAppsOwnTokenToADAL(isV1: Bool, reported: String) {
        let account = AccountKey(issuer: .microsoft, homeAccountID: .sample("alice"), username: nil)
        let own = RefreshTokenRecord(
            account: account, environment: "login.windows.net", clientID: .sample, familyID: nil,
            secret: Secret("own"))
        var shared = own
        (shared.familyID, shared.secret) = (FamilyID("1"), Secret("shared"))
        var attempt = RedemptionAttempt(
            RedemptionPlan(account: account, authority: .common, candidates: [own, shared], fallback: nil))
        for token in [own, shared] {
            attempt.sent = token
            attempt.noteRefusal(TokenError(.interactionRequired, token.secret.reveal()), isV1: isV1)
        }
        #expect(attempt.refusal?.error.message == reported)
        #expect(attempt.next == nil)
    }

    // MARK: Sign-ins during a refusal

    /// The sign-in is the app's own, or that of another app of its family.
    @Test(arguments: [false, true])
    func sendsTheTokenThatASignInHasSavedBeforeTheRefusalOfAnother(isOfFamily: Bool) async throws {
        let family = isOfFamily ? FamilyID.presumed : nil
        var (first, second, parameters) = (
            IssuedTokens.sample("alice", "1"), IssuedTokens.sample("alice", "2"), TokenParameters.sample()
        )
        (first.familyID, second.familyID) = (family, family)
        if isOfFamily { parameters.clientID = try .sample(1) }
        try await parts.save(first).value()
        let request = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        try await parts.save(second, parameters).value()
        redemption.question.delivery?.recordSending()
        redemption.fail(.invalidGrant)
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 1)
        let next = await parts.provider.redemptions.next()
        #expect(next.token == "rt-2")
        next.answer(.sample("alice", "3"))
        #expect(try await request.value().accessToken == Secret("at-3"))
        #expect(parts.store.notes == 0)
    }

    @Test func returnsTheAccessTokenThatASignInHasSavedBeforeTheRefusal() async throws {
        try await parts.signIn("alice", "1").value()
        parts.clock.advance(by: 7200)
        let request = await parts.acquire(.sample("alice", force: false))
        let redemption = await parts.provider.redemptions.next()
        try await parts.signIn("alice", "2").value()
        redemption.question.delivery?.recordSending()
        redemption.fail(.invalidGrant)
        #expect(try await request.value().accessToken == Secret("at-2"))
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.refreshTokens == ["rt-2"])
    }

    /// Each is refused once.
    @Test func asksForASignInIfTheTokenOfTheLastSignInIsRefusedToo() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        try await parts.signIn("alice", "2").value()
        redemption.fail(.invalidGrant)
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 1)
        await parts.provider.redemptions.next().fail(.invalidGrant)
        #expect(try await request.error()?.code == .interactionRequired)
        #expect(parts.provider.redemptions.count == 0)
    }

    /// A provider that sends another refresh token with each refusal could have the agent send requests without end.
    @Test func goesOnOnceIfEachRefusalBringsARefreshToken() async throws {
        let (request, first) = try await parts.beginRedemption()
        var redemption = first
        for number in 2...3 {
            redemption.question.delivery?.recordSending()
            redemption.question.delivery?.recordRefused(.sample("alice", "\(number)"))
            redemption.fail(.invalidGrant)
            if number == 2 { redemption = await parts.provider.redemptions.next() }
        }
        #expect(try await request.error()?.code == .interactionRequired)
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.refreshTokens == ["rt-3"])
    }

    // MARK: Changes of the cache

    /// The app may keep an archive that has the rejected refresh token.
    @Test(arguments: [("bad_token", true), (nil, false)] as [(String?, Bool)])
    func reportsWithAValidTokenThatTheRefreshTokenIsRemoved(subError: String?, isRemoved: Bool) async throws {
        let (request, redemption) = try await parts.beginRenewal()
        var refusal = TokenError.invalidGrant
        refusal.details.subError = subError
        redemption.question.delivery?.recordSending()
        redemption.fail(refusal)
        let token = try await request.value()
        #expect(token.accessToken == Secret("at-1") && token.isFromCache)
        #expect(token.hasChangedCache == isRemoved)
        #expect(try await parts.refreshTokens() == (isRemoved ? [] : ["rt-1"]))
        // The refusal that is repeated changes nothing.
        let next = try await parts.acquire(.sample("alice", force: false)).value()
        #expect(next.accessToken == Secret("at-1") && !next.hasChangedCache)
    }

    @Test func reportsWithAValidTokenThatTheRefreshTokenIsReplaced() async throws {
        let (request, redemption) = try await parts.beginRenewal()
        redemption.question.delivery?.recordRefused(.sample("alice", "2"))
        redemption.fail(TokenError(.serverInvalidResponse, "the ID token is not valid"))
        let token = try await request.value()
        #expect(token.accessToken == Secret("at-1") && token.hasChangedCache)
        #expect(try await parts.refreshTokens() == ["rt-2"])
    }

    /// The app's own refresh token is removed, and the family's cannot be sent.
    @Test func reportsWithALaterErrorThatARefreshTokenIsRemoved() async throws {
        var (tokens, other) = (IssuedTokens.sample("alice", "own"), TokenParameters.sample())
        tokens.familyID = .presumed
        try await parts.save(tokens).value()
        tokens.refreshToken = Secret("rt-shared")
        other.clientID = try .sample(1)
        try await parts.save(tokens, other).value()
        var rejection = TokenError.invalidGrant
        rejection.details.subError = "bad_token"
        let request = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-own")
        redemption.question.delivery?.recordSending()
        redemption.fail(rejection)
        let second = await parts.provider.redemptions.next()
        #expect(second.token == "rt-shared")
        second.fail(TokenError(.networkUnavailable, "no connection"))
        let error = try await request.error()
        #expect(error?.code == .networkUnavailable)
        #expect(error?.details.hasChangedCache == true)
    }

    // MARK: Lost responses

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

    /// Entra names the same OAuth error for a token that is not valid any more and for a question to the user.
    @Test(
        arguments: [
            (50_076, nil, false), (53_003, nil, false), (0, "consent_required", false), (0, nil, true),
            (0, "bad_token", true), (70_008, nil, true), (0, "basic_action", false), (999_999, "token_expired", true),
        ] as [(Int32, String?, Bool)])
    func reportsALostReplyForATokenThatIsNotValidOnly(number: Int32, subError: String?, isReported: Bool) {
        var error = TokenError(.invalidGrant, "invalid_grant")
        error.details.oauthError = "invalid_grant"
        error.details.subError = subError
        error.details.stsErrorCodes = number == 0 ? [] : [number]
        #expect(Refusal(error, wasInterrupted: true).reason.contains("no answer came") == isReported)
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
}

extension Parts {
    /// Signs alice in with the access token `at-1` and asks for it when it should be renewed, but is valid.
    func beginRenewal() async throws -> (
        request: Pending<TokenResult>, redemption: ScriptedProvider.Redemption
    ) {
        var tokens = IssuedTokens.sample("alice", "1")
        tokens.refreshIn = 60
        try await save(tokens).value()
        clock.advance(by: 120)
        let request = acquire(.sample("alice", force: false))
        return (request, await provider.redemptions.next())
    }

    /// Saves the tokens of a sign-in.
    fileprivate func save(
        _ tokens: IssuedTokens, _ parameters: TokenParameters = .sample()
    ) -> Pending<TokenResult> {
        start { parts async throws(TokenError) in
            try await parts.core.saver.save(tokens, from: .signIn, parameters, at: parameters.authority)
        }
    }
}
