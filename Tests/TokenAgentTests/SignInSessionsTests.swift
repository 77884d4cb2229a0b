internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// The ends of sign-in sessions, and their results.
@Suite(.bounded) struct SignInSessionsTests {
    private let parts = Parts()

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

    /// Those that have expired do not count as sign-ins of the process.
    @Test func keepsTheErrorsOfFewExpiredSessionsOfAProcess() async throws {
        let process = ConnectionID(number: 1, processID: 7)
        var ids: [String] = []
        for _ in 1...9 {
            ids.append(try await parts.beginDeviceCode(expiresIn: 1, for: process))
            try await parts.timers.advance(by: 1)
        }
        let other = try await parts.beginDeviceCode(expiresIn: 1)
        try await parts.timers.advance(by: 1)
        #expect(try await parts.completeDeviceCode(ids[8], for: process).error()?.code == .sessionCanceled)
        for id in ids.prefix(8) {
            #expect(try await parts.completeDeviceCode(id, for: process).error()?.code == .timedOut)
        }
        #expect(try await parts.completeDeviceCode(other).error()?.code == .timedOut)
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

    @Test func limitsTheNumberOfSessionsOfAProcess() async throws {
        var ids: [String] = []
        for number in 1...8 {
            ids.append(try await parts.beginDeviceCode(for: ConnectionID(number: UInt64(number), processID: 7)))
        }
        let next = ConnectionID(number: 9, processID: 7)
        #expect(await parts.refusal(of: next)?.code == .interactionInProgress, "also with another connection")
        #expect(await parts.refusal(of: ConnectionID(number: 10, processID: 8)) == nil)
        #expect(await parts.refusal(of: ConnectionID(number: 11, processID: nil)) == nil)
        await parts.cancel(ids[0])
        #expect(await parts.refusal(of: next) == nil)
        _ = try await parts.beginDeviceCode(for: next)
        try await parts.timers.advance(by: 900)
        #expect(await parts.refusal(of: next) == nil, "those that have expired do not count")
    }

    /// One process in a sandbox can start any number of others.
    @Test(arguments: ["com.example.Mail", nil]) func countsTheProcessesOfASandboxAsOne(app: String?) async throws {
        func connection(_ number: Int, _ app: String?) -> ConnectionID {
            ConnectionID(number: UInt64(number), processID: Int32(number), sandbox: SandboxedApp(id: app))
        }
        for number in 1...8 { _ = try await parts.beginDeviceCode(for: connection(number, app)) }
        #expect(await parts.refusal(of: connection(9, app))?.code == .interactionInProgress)
        #expect(await parts.refusal(of: connection(10, "com.example.Other")) == nil)
        #expect(await parts.refusal(of: ConnectionID(number: 11, processID: 11)) == nil)
    }

    @Test func limitsTheNumberOfSessions() async throws {
        for number in 1...64 {
            _ = try await parts.beginDeviceCode(for: ConnectionID(number: UInt64(number), processID: Int32(number)))
        }
        let next = ConnectionID(number: 65, processID: 65)
        #expect(await parts.refusal(of: next)?.code == .interactionInProgress)
        await parts.close(ConnectionID(number: 1, processID: 1))
        #expect(await parts.refusal(of: next) == nil)
    }

    /// Sessions count before the provider has answered, however many are begun at once, and also if their connection has closed.
    @Test func countsSessionsThatAreBeingBegun() async throws {
        let (connection, other) = (ConnectionID(number: 1, processID: 7), ConnectionID(number: 2, processID: 7))
        var ids: [String] = []
        for _ in 0..<8 { ids.append(try await parts.reserve(connection)) }
        #expect(await parts.refusal(of: connection)?.code == .interactionInProgress)
        await parts.close(connection)
        #expect(await parts.refusal(of: other)?.code == .interactionInProgress)
        await parts.cancelReservation(ids[0])
        #expect(await parts.refusal(of: other) == nil)
    }

    @Test func countsSessionsWhoseTokensAreRequestedAlsoIfTheirConnectionHasClosed() async throws {
        let (connection, other) = (ConnectionID(number: 1, processID: 7), ConnectionID(number: 2, processID: 7))
        var waits: [Pending<TokenResult>] = []
        for _ in 1...8 {
            let id = try await parts.beginDeviceCode(for: connection)
            waits.append(await parts.completeDeviceCode(id, for: connection))
        }
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        var polls = [await parts.provider.redemptions.next()]
        for _ in 2...8 { polls.append(await parts.provider.redemptions.next()) }
        await parts.close(connection)
        #expect(await parts.refusal(of: other)?.code == .interactionInProgress)
        for poll in polls { poll.fail(.refusal("access_denied", .accessDenied)) }
        for wait in waits { #expect(try await wait.error()?.code == .accessDenied) }
        #expect(await parts.refusal(of: other) == nil)
    }

    @Test func endsTheSessionsOfAConnectionThatHasClosed() async throws {
        let connection = ConnectionID(number: 1, processID: 7)
        let (awaited, idle) = (
            try await parts.beginDeviceCode(for: connection), try await parts.beginDeviceCode(for: connection)
        )
        let other = try await parts.beginDeviceCode()
        let waiting = await parts.completeDeviceCode(awaited, for: connection)
        try await parts.settle()
        await parts.close(connection)
        #expect(try await waiting.error()?.code == .sessionCanceled)
        for id in [awaited, idle] {
            #expect(try await parts.completeDeviceCode(id).error()?.code == .sessionCanceled)
        }
        #expect(parts.timers.count == 1, "that of the other connection's")
        await parts.cancel(other)
    }

    /// The call may have waited for the store meanwhile. Another one can wait for the session still.
    @Test func leavesASessionIfTheConnectionOfTheCallHasClosed() async throws {
        let id = try await parts.beginDeviceCode()
        let gone = await parts.completeWithoutConnection(id)
        try await parts.settle()
        try #require(gone.isDone)
        #expect(try await gone.error()?.code == .sessionCanceled)
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        #expect(try await waiting.value().accessToken == Secret("at-1"))
    }

    /// Its error is for a call on that connection.
    @Test func forgetsAnExpiredSessionWhoseConnectionCloses() async throws {
        let connection = ConnectionID(number: 1, processID: 7)
        let id = try await parts.beginDeviceCode(expiresIn: 4, for: connection)
        try await parts.timers.advance(by: 4)
        #expect(parts.timers.count == 1, "that of the error")
        await parts.close(connection)
        #expect(parts.timers.count == 0)
        #expect(try await parts.completeDeviceCode(id).error()?.code == .sessionCanceled)
    }

    @Test func beginsNoSessionForAConnectionThatHasClosed() async throws {
        let connection = ConnectionID(number: 1, processID: 7)
        let id = try await parts.reserve(connection)
        let begun = await parts.start { parts async throws(TokenError) in
            try await parts.signIns.begin(BeginDeviceCode(parameters: .sample()), as: id)
        }
        let call = await parts.provider.deviceCodes.next()
        await parts.close(connection)
        call.answer(.sample(expiresIn: 900))
        #expect(try await begun.error()?.code == .sessionCanceled)
        #expect(parts.timers.count == 0)
        // A request may have waited for the store while its connection closed.
        let error = await #expect(throws: TokenError.self) { try await parts.reserveAgain(connection) }
        #expect(error?.code == .sessionCanceled)
    }

    /// Not as cancelled ones: an app shows nothing for a sign-in that its user or itself has cancelled.
    @Test(arguments: [TokenError.Code.cancelled, .storeUnavailable])
    func endsEverySessionWithTheReasonWhenTheAgentStopsOrIsLocked(code: TokenError.Code) async throws {
        let ids = [try await parts.beginDeviceCode(), try await parts.beginDeviceCode()]
        let waits = [await parts.completeDeviceCode(ids[0]), await parts.completeDeviceCode(ids[1])]
        let id = try await parts.reserve(.sample)
        let begun = await parts.start { parts async throws(TokenError) in
            try await parts.signIns.begin(BeginDeviceCode(parameters: .sample()), as: id)
        }
        let call = await parts.provider.deviceCodes.next()
        try await parts.settle()
        let reason = TokenError(code, "the reason")
        await parts.cancelEverySignIn(reason)
        for wait in waits { #expect(try await wait.error() == reason) }
        call.answer(.sample(expiresIn: 900))
        #expect(try await begun.error() == reason)
        #expect(parts.timers.count == 0)
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

    /// The response names nobody by an identifier; ADAL's name of the user is then the subject.
    @Test(arguments: [("Alice", true), ("bob", false), (nil, false)])
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

    /// An app of ADAL names its user by the ID that it has got, perhaps before a rename.
    @Test func takesAUserOfAFormerNameForTheSame() async throws {
        let reference = AccountReference(username: "alice@contoso.com")
        for name in ["alice@contoso.com", "alicia@contoso.com"] {
            let id = try await parts.beginDeviceCode(
                account: reference, .sample(["https://r/.default"], version: .v1))
            let waiting = await parts.completeDeviceCode(id)
            try await parts.settle()
            try await parts.timers.advance(by: 5)
            var tokens = IssuedTokens.sample("alice", name)
            let claims = #"{"ver":"1.0","oid":"alice","sub":"alice","tid":"tenant","upn":"\#(name)"}"#
            tokens.idToken = "e30.\(Base64URL.encode(Data(claims.utf8)))."
            await parts.provider.redemptions.next().answer(tokens)
            #expect(try await waiting.error()?.code == nil)
        }
    }

    /// In a tenant, it is the user who was deleted and created again. In another one, it is another person.
    @Test(arguments: [("tenant", true), ("other", false)])
    func takesAUserOfTheSameNameForTheSameInOneTenantOnly(tenant: String, isSame: Bool) async throws {
        let reference = AccountReference(
            homeAccountID: HomeAccountID(uid: "deleted", utid: tenant), username: "alice@contoso.com")
        let id = try await parts.beginDeviceCode(account: reference)
        let waiting = await parts.completeDeviceCode(id)
        try await parts.settle()
        try await parts.timers.advance(by: 5)
        await parts.provider.redemptions.next().answer(.sample("alice", "1"))
        #expect(try await waiting.error()?.code == (isSame ? nil : .mismatchedAccount))
    }

    /// Only the response of the page names the account to which the app has to apply the policy.
    @Test func namesTheAccountOfAProtectionPolicy() async throws {
        let begun = try await parts.start { parts async throws(TokenError) in
            let id = try parts.reserve()
            return try await parts.signIns.begin(BeginInteractive(parameters: .sample()), as: id)
        }.value()
        let state = try #require(begun.authorizationURL.split(separator: "&").first { $0.hasPrefix("state=") })
        let user = Base64URL.encode(Data(#"{"uid":"alice","utid":"tenant"}"#.utf8))
        let response = "\(begun.redirectURI)?code=code&\(state)&client_info=\(user)"
        let signIn = await parts.completeInteractive(begun.sessionID, responseURL: response)
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 1)
        await parts.provider.redemptions.next().fail(TokenError(.protectionPolicyRequired, "protect the data"))
        let error = try await signIn.error()
        #expect(error?.code == .protectionPolicyRequired)
        #expect(error?.details.homeAccountID == .sample("alice"))
    }

    @Test func namesTheRedirectURIOfAnExpiredBrowserSignIn() async throws {
        let begun = try await parts.start { parts async throws(TokenError) in
            let id = try parts.reserve()
            return try await parts.signIns.begin(BeginInteractive(parameters: .sample()), as: id)
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
    /// Reserves a session for a connection that was opened before.
    fileprivate func reserveAgain(_ connection: ConnectionID) throws(TokenError) -> String {
        try signIns.reserve(for: connection)
    }

    /// The error of one more session of a connection; nil if it can begin.
    fileprivate func refusal(of connection: ConnectionID) -> TokenError? {
        do throws(TokenError) {
            cancelReservation(try reserve(connection))
            return nil
        } catch {
            return error
        }
    }

    fileprivate func cancelReservation(_ id: String) { signIns.cancelReservation(id) }

    fileprivate func completeInteractive(_ id: String, responseURL: String? = nil) -> Pending<TokenResult> {
        start { parts async throws(TokenError) in
            let request = CompleteInteractive(sessionID: id, responseURL: responseURL)
            return try await parts.signIns.complete(request, for: .sample)
        }
    }

    /// Waits for the result on a connection that is not open.
    fileprivate func completeWithoutConnection(_ id: String) -> Pending<TokenResult> {
        start { parts async throws(TokenError) in
            let connection = ConnectionID(number: 9, processID: 9)
            return try await parts.signIns.complete(CompleteDeviceCode(sessionID: id), for: connection)
        }
    }

    fileprivate func close(_ connection: ConnectionID) { signIns.connectionClosed(connection) }

    fileprivate func cancel(_ id: String) { signIns.cancel(id) }

    fileprivate func cancelEverySignIn(_ reason: TokenError) { signIns.cancelAll(reason) }
}
