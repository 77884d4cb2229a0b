internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// The ends of sign-in sessions, and their results.
@Suite(.bounded) struct SignInSessionsTests {
    private let parts = Parts()

    @Test func pollsUntilTheUserHasFinished() async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0, "it waits for the interval first")
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().fail(.refusal("authorization_pending", .serverOAuth))
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        #expect(try await waiting.value().accessToken == Secret("at-1"))
        #expect(parts.store.refreshTokens == ["rt-1"])
        #expect(parts.timers.count == 0)
    }

    @Test func pollsFiveSecondsLaterAfterSlowDown() async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().fail(.refusal("slow_down", .serverOAuth))
        try await parts.settle()
        try await parts.timers.advance(by: 9)
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        try await parts.timers.advance(by: 1)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        try await waiting.value()
    }

    @Test func continuesPollingAfterATemporaryOutage() async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().fail(TokenError(.networkUnavailable, "no route"))
        try await parts.settle()
        try await parts.timers.advance(by: 10)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        try await waiting.value()
    }

    @Test func endsAWaitWhenTheSessionIsCancelled() async throws {
        let id = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        await parts.cancel(id)
        #expect(try await waiting.error()?.code == .sessionCanceled)
        #expect(try await parts.completeDeviceCode(id).error()?.code == .sessionCanceled)
        #expect(parts.timers.count == 0)
    }

    @Test func endsAWaitWhenTheSessionExpires() async throws {
        let id = try await parts.beginDeviceCode(expiresIn: 4)
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 4)
        #expect(try await waiting.error()?.code == .timedOut)
    }

    @Test func keepsTheErrorOfAnExpiredSessionForALaterWait() async throws {
        let id = try await parts.beginDeviceCode()
        try await parts.timers.advance(by: 900)
        try await parts.timers.advance(by: 59)
        #expect(try await parts.completeDeviceCode(id).error()?.code == .timedOut)
        #expect(try await parts.completeDeviceCode(id).error()?.code == .sessionCanceled, "it is told once")
    }

    @Test func removesAnExpiredSessionThatNoCallWaitsFor() async throws {
        let id = try await parts.beginDeviceCode()
        try await parts.timers.advance(by: 900)
        try await parts.timers.advance(by: 60)
        #expect(try await parts.completeDeviceCode(id).error()?.code == .sessionCanceled)
    }

    @Test func admitsOneWaitingCallPerSession() async throws {
        let id = try await parts.beginDeviceCode()
        let first = await parts.completeDeviceCode(id)
        try await parts.settle()
        #expect(try await parts.completeDeviceCode(id).error()?.code == .interactionInProgress)
        #expect(!first.isDone)
        await parts.cancel(id)
        _ = try await first.error()
    }

    @Test func doesNotClaimASessionOfTheOtherMethod() async throws {
        let id = try await parts.beginDeviceCode()
        #expect(try await parts.completeInteractive(id).error()?.code == .sessionCanceled)
        // The right call can still wait for the session.
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        try await waiting.value()
    }

    @Test func limitsTheNumberOfSessions() async throws {
        var ids: [String] = []
        for _ in 0..<64 { ids.append(try await parts.beginDeviceCode()) }
        #expect(await parts.refusalOfFurtherSessions?.code == .interactionInProgress)
        await parts.cancel(ids[0])
        #expect(await parts.refusalOfFurtherSessions == nil)
        try await parts.timers.advance(by: 900)
        #expect(await parts.refusalOfFurtherSessions == nil, "those that have expired do not count")
    }

    @Test func cancelsEverySessionWhenTheAgentStops() async throws {
        let ids = [try await parts.beginDeviceCode(), try await parts.beginDeviceCode()]
        let waits = [await parts.completeDeviceCode(ids[0]), await parts.completeDeviceCode(ids[1])]
        try await parts.settle()
        await parts.cancelEverySignIn()
        for wait in waits { #expect(try await wait.error()?.code == .sessionCanceled) }
    }

    @Test func savesTheTokensOfAMismatchedAccountAndReportsIt() async throws {
        let id = try await parts.beginDeviceCode(account: .sample("alice"))
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().answer(.sample("bob", "1"))
        let error = try #require(try await waiting.error())
        #expect(error.code == .mismatchedAccount)
        #expect(error.details.partialResult?.accessToken == Secret("at-1"))
        #expect(parts.store.refreshTokens == ["rt-1"])
    }

    /// An app may know an account by its name only.
    @Test(arguments: [("Alice@contoso.com", true), ("bob@contoso.com", false), ("alice", false)])
    func comparesAnAccountThatIsNamedByItsUsername(username: String, isSame: Bool) async throws {
        let id = try await parts.beginDeviceCode(account: AccountReference(username: username))
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        #expect(try await waiting.error()?.code == (isSame ? nil : .mismatchedAccount))
    }

    /// The response names nobody by an identifier.
    @Test(arguments: [("alice@contoso.com", true), ("bob@contoso.com", false), (nil, false)])
    func comparesAnAccountWithoutAnIdentifierByItsUsername(username: String?, isSame: Bool) async throws {
        let reference = AccountReference(homeAccountID: .sample("alice"), username: username)
        let id = try await parts.beginDeviceCode(account: reference, .sample(["https://r/.default"], version: .v1))
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        var tokens = IssuedTokens.sample("alice", "1")
        tokens.homeAccountID = nil
        await parts.provider.redemptions.next().answer(tokens)
        #expect(try await waiting.error()?.code == (isSame ? nil : .mismatchedAccount))
    }

    @Test func namesTheRedirectURIOfAnExpiredBrowserSignIn() async throws {
        let begun = try await parts.start { parts async throws(TokenError) in
            try await parts.signIns.begin(BeginInteractive(parameters: .sample()))
        }.value()
        let waiting = await parts.completeInteractive(begun.sessionID)
        try await parts.settle()
        try await parts.timers.advance(by: begun.expiresIn)
        let error = try #require(try await waiting.error())
        #expect(error.code == .timedOut)
        #expect(error.message.contains(begun.redirectURI))
    }
}

extension Parts {
    fileprivate var refusalOfFurtherSessions: TokenError? { signIns.refusalOfFurtherSessions }

    /// Begins a device code sign-in with a polling interval of five seconds.
    fileprivate func beginDeviceCode(
        account: AccountReference = AccountReference(), _ parameters: TokenParameters = .sample(),
        expiresIn: Int64 = 900
    ) async throws -> String {
        let begun = start { parts async throws(TokenError) in
            try await parts.signIns.begin(BeginDeviceCode(parameters: parameters, account: account))
        }
        await provider.deviceCodes.next().answer(
            DeviceCodeGrant(
                deviceCode: Secret("code"), userCode: "ABCD", verificationURL: "https://example.com/device",
                message: "Enter ABCD", expiresIn: expiresIn, interval: 5))
        return try await begun.value().sessionID
    }

    fileprivate func completeDeviceCode(_ id: String) -> Pending<TokenResult> {
        start { parts async throws(TokenError) in
            try await parts.signIns.complete(CompleteDeviceCode(sessionID: id))
        }
    }

    fileprivate func completeInteractive(_ id: String) -> Pending<TokenResult> {
        start { parts async throws(TokenError) in
            try await parts.signIns.complete(CompleteInteractive(sessionID: id))
        }
    }

    fileprivate func cancel(_ id: String) { signIns.cancel(id) }

    fileprivate func cancelEverySignIn() { signIns.cancelAll() }
}
