internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// The errors of calls whose task is cancelled, as SwiftUI cancels the task of a view that disappears.
@Suite(.bounded) struct MSALCancellationTests {
    private static let alice = "alice@contoso.com"
    private static let graph = "https://graph.microsoft.com"

    @Test func endsASilentRequestWithTheErrorOfTheCancelledTask() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn(Self.alice, f.parameters()).account
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let call = Task {
                let parameters = MSALSilentTokenParameters(scopes: ["User.Read"], account: MSALAccount(account))
                parameters.forceRefresh = true
                return try await f.msal().acquireTokenSilent(with: parameters)
            }
            await f.emulator.control.waitForHeld(atLeast: 1)
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            f.emulator.control.release()
            // The agent has finished the request, and the app can send the next one.
            let parameters = MSALSilentTokenParameters(scopes: ["User.Read"], account: MSALAccount(account))
            parameters.forceRefresh = true
            #expect(try await !f.msal().acquireTokenSilent(with: parameters).accessToken.isEmpty)
        }
    }

    @Test func endsASilentRequestAtTheTimeLimitOfTheApp() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn(Self.alice, f.parameters()).account
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let session = try #require(try f.msal().session)
            let parameters = MSALSilentTokenParameters(scopes: ["User.Read"], account: MSALAccount(account))
            parameters.forceRefresh = true
            let error = await appError {
                try await session.acquireTokenSilent(
                    try session.silentRequest(parameters), limit: TimeLimit(seconds: 0.05))
            }
            #expect(error?.domain == NSURLErrorDomain)
            #expect(error?.code == NSURLErrorTimedOut)
            f.emulator.control.release()
        }
    }

    enum Call: CaseIterable, Sendable { case token, accounts, currentAccount, signout }

    /// The error is an `NSError` as well, as every error of the original is: on Linux, an app that catches nothing else, which compiles,
    /// would crash.
    @Test(arguments: Call.allCases)
    func endsACallOfAnAlreadyCancelledTaskTheSameWay(call: Call) async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let (app, account) = (try MSALApplicationTests.application(), MSALAccount(Sample.account()))
            switch call {
            case .token: try await app.acquireTokenSilent(with: MSALApplicationTests.silent())
            case .accounts: _ = try await app.accountsFromDevice(for: MSALAccountEnumerationParameters())
            case .currentAccount: _ = try await app.currentAccount(with: nil)
            case .signout: try await app.signout(with: account, signoutParameters: MSALSignoutParameters())
            }
        }
        let error = await #expect(throws: NSError.self) { try await task.value }
        let thrown: (any Error)? = error
        #expect(thrown is CancellationError)
    }

    @Test func cancelsTheSignInOfACancelledTask() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .authorize
                    $0.hold = true
                })
            let call = Task {
                try await f.msal().acquireToken(
                    with: MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview))
            }
            await f.emulator.control.waitForHeld(atLeast: 1)
            call.cancel()
            let error = await #expect(throws: NSError.self) { try await call.value }
            #expect(error?.domain == MSALErrorDomain)
            #expect(error?.code == MSALError.userCanceled.rawValue)
            f.emulator.control.release()
        }
    }

    /// ADAL's async form does not throw; its result has the status of a cancelled request, which apps do not show as an
    /// error.
    @Test func reportsACancelledTaskAsACancelledADALRequest() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let context = try f.adal()
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let redirectURI = try url("http://localhost")
            let call = Task {
                let result = await context.acquireTokenSilent(
                    withResource: Self.graph, clientId: "app-1", redirectUri: redirectURI, userId: Self.alice,
                    forceRefresh: true)
                return (result.status, result.error?.domain, result.error?.code)
            }
            await f.emulator.control.waitForHeld(atLeast: 1)
            call.cancel()
            let (status, domain, code) = await call.value
            #expect(status == AD_USER_CANCELLED)
            #expect(domain == ADAuthenticationErrorDomain)
            #expect(code == ADErrorCode.ERROR_UI_USER_CANCEL.rawValue)
            f.emulator.control.release()
        }
    }
}
