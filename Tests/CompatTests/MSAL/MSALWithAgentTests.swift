internal import AgentClient
internal import AgentTestSupport
internal import CompatSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// MSAL's calls against a real agent and the emulator.
@Suite(.bounded) struct MSALWithAgentTests {
    private static let graph = "https://graph.microsoft.com"
    private static let alice = "alice@contoso.com"

    @Test func findsAnAccountOfAnADALAppByIdentifier() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let app = try f.msal()
            let account = try app.account(forIdentifier: try #require(signedIn.account.homeAccountID).text.uppercased())
            #expect(account.username == Self.alice)
            let result = try await app.acquireTokenSilent(with: silent(account))
            #expect(!result.accessToken.isEmpty)
            #expect(result.scopes.contains("User.Read"))
            #expect(result.account == account)
            #expect(result.account.tenantProfiles == nil)
            #expect(result.tenantProfile.claims?["preferred_username"] as? String == Self.alice)
            #expect(result.tenantProfile.claims?["alg"] == nil)
            #expect(result.authority.url.lastPathComponent == result.tenantProfile.tenantId)
            #expect(f.signIns == 1)
        }
    }

    @Test func findsAnAccountByName() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let app = try f.msal()
            let account = try app.account(forUsername: Self.alice.uppercased())
            #expect(try app.allAccounts() == [account])
            #expect(try await app.accountsFromDevice(for: MSALAccountEnumerationParameters()) == [account])
            #expect((try? app.account(forUsername: "nobody@contoso.com")) == nil)
            #expect((try? app.account(forIdentifier: "no.body")) == nil)
            #expect(try app.accounts(for: MSALAccountEnumerationParameters(identifier: "no.body")).isEmpty)
            let objectID = try #require(account.homeAccountId?.objectId)
            let byProfile = MSALAccountEnumerationParameters(tenantProfileIdentifier: objectID)
            #expect(try app.accounts(for: byProfile) == [account])
        }
    }

    @Test func listsSignedOutAccountsOnlyWhenAskedTo() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            let app = try f.msal()
            let account = try app.account(forUsername: Self.alice)
            #expect(account.accountClaims?["preferred_username"] as? String == Self.alice)
            try await offPool { try app.remove(account) }
            #expect(try app.allAccounts().isEmpty)
            let everybody = MSALAccountEnumerationParameters()
            everybody.returnOnlySignedInAccounts = false
            #expect(try app.accounts(for: everybody) == [account])
        }
    }

    @Test func signsInOnceThenAnswersFromTheCache() async throws {
        try await AgentFixture.with { f in
            let app = try f.msal()
            let first = try await app.acquireToken(with: interactive(Self.alice))
            #expect(first.account.username == Self.alice)
            let parameters = silent(first.account)
            parameters.correlationId = UUID()
            let (result, error) = await withCheckedContinuation { continuation in
                app.acquireTokenSilent(with: parameters) { continuation.resume(returning: ($0, $1)) }
            }
            #expect(error == nil)
            #expect(result?.accessToken == first.accessToken)
            #expect(result?.correlationId == parameters.correlationId)
            #expect(f.redemptions == 0)
            parameters.forceRefresh = true
            let fresh = try await app.acquireTokenSilent(with: parameters)
            #expect(fresh.accessToken != first.accessToken)
            #expect(f.redemptions == 1)
        }
    }

    @Test func keepsASignOutUntilTheNextSignIn() async throws {
        try await AgentFixture.with { f in
            let app = try f.msal()
            let account = try await app.acquireToken(with: interactive(Self.alice)).account
            let signout = MSALSignoutParameters(webviewParameters: Sample.webview)
            #expect(try await app.signout(with: account, signoutParameters: signout))
            let error = await appError { try await app.acquireTokenSilent(with: silent(account)) }
            #expect(error?.domain == MSALErrorDomain)
            #expect(error?.code == MSALError.interactionRequired.rawValue)
            // Removing nothing succeeds.
            try await offPool { try app.remove(account) }
            try await app.acquireToken(with: interactive(Self.alice))
            #expect(try app.allAccounts() == [account])
        }
    }

    @Test func wipesAnAccountForEveryApp() async throws {
        try await AgentFixture.with { f in
            let (one, other) = (try f.msal(), try f.msal(nil, "app-2"))
            let account = try await one.acquireToken(with: interactive(Self.alice)).account
            try await other.acquireToken(with: interactive(Self.alice))
            let signout = MSALSignoutParameters(webviewParameters: Sample.webview)
            try await one.signout(with: account, signoutParameters: signout)
            #expect(try other.allAccounts() == [account])
            signout.wipeAccount = true
            try await one.signout(with: account, signoutParameters: signout)
            #expect(try other.allAccounts().isEmpty)
        }
    }

    @Test func requiresInteractionAfterARejectedRefreshToken() async throws {
        try await AgentFixture.with { f in
            let app = try f.msal()
            let account = try await app.acquireToken(with: interactive(Self.alice)).account
            f.emulator.control.revokeTokens()
            let parameters = silent(account)
            parameters.forceRefresh = true
            let error = try #require(await appError { try await app.acquireTokenSilent(with: parameters) })
            #expect(error.code == MSALError.interactionRequired.rawValue)
            #expect(error.userInfo[MSALOAuthErrorKey] as? String == "invalid_grant")
            #expect(error.userInfo[MSALOAuthSubErrorKey] as? String == "bad_token")
            let beneath = error.userInfo[NSUnderlyingErrorKey] as? NSError
            #expect(beneath?.internalCode == MSALInternalError.internalErrorInvalidGrant.rawValue)
        }
    }

    @Test func reportsAThrottlingServerWithItsHeaders() async throws {
        try await AgentFixture.with { f in
            let app = try f.msal()
            let account = try await app.acquireToken(with: interactive(Self.alice)).account
            f.emulator.control.inject(.status(429, retryAfter: 30, count: 0))
            let parameters = silent(account, scopes: ["Other.Read"])
            let error = try #require(await appError { try await app.acquireTokenSilent(with: parameters) })
            #expect(error.code == MSALError.internal.rawValue)
            #expect(error.internalCode == MSALInternalError.internalErrorUnhandledResponse.rawValue)
            #expect(error.userInfo[MSALHTTPResponseCodeKey] as? String == "429")
            let headers = error.userInfo[MSALHTTPHeadersKey] as? [String: String]
            #expect(headers?.contains { $0.key.lowercased() == "retry-after" && $0.value == "30" } == true)
        }
    }

    @Test func cancelsTheSignInForTheApp() async throws {
        try await AgentFixture.with { f in
            let app = try f.msal()
            let currentSignIn = try #require(app.session).currentSignIn
            app.session?.presenter = SignInPresenter(method: .deviceCode) { _ in currentSignIn.cancel() }
            let error = await appError { try await app.acquireToken(with: interactive(Self.alice)) }
            #expect(error?.domain == MSALErrorDomain)
            #expect(error?.code == MSALError.userCanceled.rawValue)
        }
    }

    private func silent(_ account: MSALAccount, scopes: [String] = ["User.Read"]) -> MSALSilentTokenParameters {
        MSALSilentTokenParameters(scopes: scopes, account: account)
    }

    private func interactive(_ username: String) -> MSALInteractiveTokenParameters {
        let parameters = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview)
        parameters.loginHint = username
        return parameters
    }
}
