internal import ADALCompat
internal import AgentClient
internal import AgentTestSupport
internal import CompatSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// ADAL's calls against a real agent and the emulator.
@Suite(.bounded) struct ADALWithAgentTests {
    private static let graph = "https://graph.microsoft.com"
    private static let alice = "alice@contoso.com"

    @Test func findsAnAccountOfAnMSALAppByName() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn(Self.alice, f.parameters())
            let result = try await silent(f, userID: signedIn.account.username)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.accessToken?.isEmpty == false)
            #expect(result.multiResourceRefreshToken)
            let user = try #require(result.tokenCacheItem?.userInformation)
            #expect(user.userId == Self.alice)
            #expect(user.homeAccountId == signedIn.account.homeAccountID?.text)
            let again = try await silent(f, userID: Self.alice.uppercased())
            #expect(again.accessToken == result.accessToken)
            #expect(!again.multiResourceRefreshToken)
            #expect(again.authority == "\(f.emulator.url)/common")
            #expect(f.signIns == 1)
        }
    }

    @Test func signsInOnceThenAnswersFromTheCache() async throws {
        try await AgentFixture.with { f in
            let first = try await interactive(f, ADUserIdentifier(id: Self.alice))
            let second = try await interactive(f, ADUserIdentifier(id: Self.alice))
            #expect(first.status == AD_SUCCEEDED)
            #expect(second.accessToken == first.accessToken)
            #expect(f.signIns == 1)
            let third = try await interactive(f, ADUserIdentifier(id: Self.alice), AD_PROMPT_ALWAYS)
            #expect(third.status == AD_SUCCEEDED)
            #expect(f.signIns == 2)
        }
    }

    @Test func asksForASignInWhenNobodyIsSignedIn() async throws {
        try await AgentFixture.with { f in
            for userID in [nil, Self.alice] {
                let result = try await silent(f, userID: userID)
                #expect(result.status == AD_FAILED)
                #expect(result.error?.domain == ADAuthenticationErrorDomain)
                #expect(result.error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue)
            }
        }
    }

    @Test func usesTheOnlyUserAndRefusesToChooseBetweenTwo() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            #expect(try await silent(f).tokenCacheItem?.userInformation?.userId == Self.alice)
            try await f.signIn("bob@contoso.com", f.parameters(resource: Self.graph))
            let result = try await silent(f)
            #expect(result.error?.domain == ADAuthenticationErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_CACHE_MULTIPLE_USERS.rawValue)
            #expect(try await interactive(f, nil).error?.code == ADErrorCode.ERROR_CACHE_MULTIPLE_USERS.rawValue)
        }
    }

    @Test func reportsTheRejectionAsTheUnderlyingErrorOfARequiredSignIn() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            f.emulator.control.revokeTokens()
            let error = try #require(try await silent(f, userID: Self.alice, forceRefresh: true).error)
            #expect(error.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue)
            #expect(error.userInfo[ADSuberrorKey] as? String == "bad_token")
            let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? ADAuthenticationError)
            #expect(cause.domain == ADOAuthServerErrorDomain)
            #expect(cause.code == ADErrorCode.ERROR_SERVER_REFRESH_TOKEN_REJECTED.rawValue)
            #expect(cause.protocolCode == "invalid_grant")
        }
    }

    @Test func reportsAThrottledServerWithItsHeaders() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            f.emulator.control.inject(.status(429, retryAfter: 30, count: 0))
            let result = try await silent(f, userID: Self.alice, resource: "https://other")
            #expect(result.error?.domain == ADHTTPErrorCodeDomain)
            #expect(result.error?.code == 429)
            let headers = result.error?.userInfo[ADHTTPHeadersKey] as? [String: String]
            #expect(headers?.contains { $0.key.lowercased() == "retry-after" && $0.value == "30" } == true)
        }
    }

    @Test func refusesAnotherUserThanTheOneRequested() async throws {
        try await AgentFixture.with(usernames: [Self.alice]) { f in
            let somebodyElse = ADUserIdentifier(id: "11111111-1111-1111-1111-111111111111", type: UniqueId)
            let result = try await interactive(f, somebodyElse)
            #expect(result.status == AD_FAILED)
            #expect(result.error?.domain == ADAuthenticationErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_SERVER_WRONG_USER.rawValue)
            let anybody = ADUserIdentifier(id: Self.alice, type: OptionalDisplayableId)
            #expect(try await interactive(f, anybody).status == AD_SUCCEEDED)
        }
    }

    /// A blank user ID names nobody, as in the other calls.
    @Test func admitsAnybodyForABlankUserID() async throws {
        try await AgentFixture.with(usernames: [Self.alice]) { f in
            let result = try await interactive(f, ADUserIdentifier(id: " ", type: RequiredDisplayableId))
            #expect(result.status == AD_SUCCEEDED)
        }
    }

    @Test func findsAnAccountByItsObjectID() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let object = f.emulator.control.objectID(of: Self.alice, in: "contoso.com")
            let result = try await interactive(f, ADUserIdentifier(id: object, type: UniqueId))
            #expect(result.tokenCacheItem?.userInformation?.uniqueId == object)
            #expect(f.signIns == 1)
        }
    }

    /// Users of different tenants may have one. Which of them is meant is not known, and one must not get the token of another.
    @Test func usesTheTokensOfNoneOfSeveralAccountsWithOneObjectID() async throws {
        try await AgentFixture.with { f in
            let environment = try Authority("\(f.emulator.url)/common").environment
            func entry(_ tenant: String, _ fields: String) -> String {
                #"{"home_account_id": "user.\#(tenant)", "environment": "\#(environment)", \#(fields)}"#
            }
            func account(_ tenant: String) -> String {
                let names = #""local_account_id": "object-1", "username": "\#(tenant)@contoso.com""#
                return entry(tenant, #""realm": "\#(tenant)", \#(names), "authority_type": "MSSTS""#)
            }
            func token(_ tenant: String) -> String {
                entry(tenant, #""client_id": "app-1", "credential_type": "RefreshToken", "secret": "rt-\#(tenant)""#)
            }
            let cache = """
                {"Account": {"1": \(account("tenant-1")), "2": \(account("tenant-2"))},
                 "RefreshToken": {"1": \(token("tenant-1")), "2": \(token("tenant-2"))}}
                """
            let report = try await f.agent.importCache(Secret(cache), format: .msalJSON)
            #expect(report.refreshTokens == 2)
            let context = try f.adal()
            context.presenter = SignInPresenter(method: .browser, browserCommands: ["false"])
            let result = await context.acquireToken(
                withResource: Self.graph, clientId: "app-1", redirectUri: try redirectURI(),
                promptBehavior: AD_PROMPT_AUTO, userIdentifier: ADUserIdentifier(id: "object-1", type: UniqueId),
                extraQueryParameters: nil)
            #expect(result.status == AD_FAILED)
            #expect(f.redemptions == 0)
        }
    }

    @Test func endsWithACancellationWhenTheAppGivesUp() async throws {
        try await AgentFixture.with { f in
            let context = try f.adal()
            let currentSignIn = context.currentSignIn
            context.presenter = SignInPresenter(method: .deviceCode) { _ in currentSignIn.cancel() }
            let result = await context.acquireToken(
                withResource: Self.graph, clientId: "app-1", redirectUri: try redirectURI())
            #expect(result.status == AD_USER_CANCELLED)
            #expect(result.error?.code == ADErrorCode.ERROR_UI_USER_CANCEL.rawValue)
        }
    }

    @Test func signsOutOfOneAppOrOfAll() async throws {
        try await AgentFixture.with { f in
            for app in ["app-1", "app-2"] { try await f.signIn(Self.alice, f.parameters(app, resource: Self.graph)) }
            let cache = ADKeychainTokenCache()
            cache.agent = f.agent
            #expect(
                try await offPool { cache.removeAll(forUserId: " ALICE@contoso.com", clientId: "app-1", error: nil) })
            #expect(try await silent(f, userID: Self.alice).status == AD_FAILED)
            #expect(try await silent(f, userID: Self.alice, app: "app-2").status == AD_SUCCEEDED)
            #expect(try await offPool { cache.wipeAllItems(forUserId: Self.alice, error: nil) })
            #expect(try await silent(f, userID: Self.alice, app: "app-2").status == AD_FAILED)
            // Removing nothing succeeds.
            #expect(try await offPool { cache.wipeAllItems(forUserId: Self.alice, error: nil) })
            #expect(try await offPool { cache.removeAll(forClientId: "app-2", error: nil) })
        }
    }

    /// ADAL deletes an app's tokens. What the app has not used stays as it is, also for its family.
    @Test func leavesTheAccountsOfOtherAppsWhenItRemovesAllOfItsOwn() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters("app-1", resource: Self.graph))
            try await f.signIn("bob@contoso.com", f.parameters("app-2", resource: Self.graph))
            let cache = ADKeychainTokenCache()
            cache.agent = f.agent
            #expect(try await offPool { cache.removeAll(forClientId: "app-1", error: nil) })
            #expect(try await silent(f, userID: Self.alice).status == AD_FAILED)
            let removed = RemoveAccount(
                clientID: try #require(ClientID("app-1")), account: .init(username: "bob@contoso.com"))
            // A sign-out that changes something would mean that none was recorded.
            #expect(try await f.agent.removeAccount(removed).removed)
        }
    }

    private func redirectURI() throws -> URL { try #require(URL(string: "http://localhost")) }

    private func silent(
        _ f: AgentFixture, userID: String? = nil, app: String = "app-1", resource: String = Self.graph,
        forceRefresh: Bool = false
    ) async throws -> ADAuthenticationResult {
        await (try f.adal()).acquireTokenSilent(
            withResource: resource, clientId: app, redirectUri: try redirectURI(), userId: userID,
            forceRefresh: forceRefresh)
    }

    private func interactive(
        _ f: AgentFixture, _ identifier: ADUserIdentifier?, _ prompt: ADPromptBehavior = AD_PROMPT_AUTO
    ) async throws -> ADAuthenticationResult {
        await (try f.adal()).acquireToken(
            withResource: Self.graph, clientId: "app-1", redirectUri: try redirectURI(), promptBehavior: prompt,
            userIdentifier: identifier, extraQueryParameters: nil)
    }
}
