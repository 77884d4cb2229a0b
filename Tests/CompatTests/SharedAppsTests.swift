internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import MSALCompat
internal import TestSupport
internal import Testing
internal import TokenModel

/// Two apps with two libraries and one agent, through the public API.
@Suite(.bounded) struct SharedAppsTests {
    private static let app = "11111111-2222-4333-8444-555555555555"
    private static let graph = "https://graph.microsoft.com"

    /// Signs a user in by the agent, without a library.
    private func signIn(_ f: AgentFixture, _ username: String) async throws -> MSALAccount {
        let result = try await f.signIn(username, f.parameters(Self.app))
        return try f.msal(nil, Self.app).account(forIdentifier: #require(result.account.homeAccountID?.text))
    }

    private func signIn(_ context: ADAuthenticationContext, _ userID: String) async throws -> ADAuthenticationResult {
        await context.acquireToken(
            withResource: Self.graph, clientId: Self.app, redirectUri: try #require(URL(string: "http://localhost")),
            userId: userID)
    }

    private func silent(_ context: ADAuthenticationContext, _ userID: String) async throws -> ADAuthenticationResult {
        await context.acquireTokenSilent(
            withResource: Self.graph, clientId: Self.app, redirectUri: try #require(URL(string: "http://localhost")),
            userId: userID)
    }

    @Test func findsAnMSALAccountInADALByItsUsername() async throws {
        try await AgentFixture.with { f in
            let account = try await signIn(f, "alice@contoso.com")
            let served = try await silent(f.adal(), #require(account.username))
            #expect(served.status == AD_SUCCEEDED)
            #expect(served.accessToken?.isEmpty == false)
            #expect(served.tokenCacheItem?.userInformation?.homeAccountId == account.identifier)
            #expect(served.tokenCacheItem?.refreshToken == nil)
            #expect(f.signIns == 1)
        }
    }

    @Test func findsAnADALUserInMSALByItsHomeAccountID() async throws {
        try await AgentFixture.with { f in
            let result = try await signIn(f.adal(), "bob@contoso.com")
            let identifier = try #require(result.tokenCacheItem?.userInformation?.homeAccountId)
            let application = try f.msal(nil, Self.app)
            let account = try application.account(forIdentifier: identifier)
            #expect(account.username == "bob@contoso.com")
            #expect(account.homeAccountId?.objectId.map { identifier.hasPrefix($0) } == true)
            let token = try await application.acquireTokenSilent(
                with: MSALSilentTokenParameters(scopes: ["User.Read"], account: account))
            #expect(token.account.identifier == identifier)
            #expect(f.signIns == 1)
        }
    }

    @Test func findsAnADALUserInMSALByItsUserID() async throws {
        try await AgentFixture.with { f in
            let result = try await signIn(f.adal(), "bob@contoso.com")
            let userID = try #require(result.tokenCacheItem?.userInformation?.userId)
            let account = try f.msal(nil, Self.app).account(forUsername: userID)
            #expect(account.identifier == result.tokenCacheItem?.userInformation?.homeAccountId)
        }
    }

    /// The v1 endpoint has no personal accounts.
    @Test func meansTheSameAccountInBothLibrariesByANameThatAPersonalAccountHasToo() async throws {
        try await AgentFixture.with { f in
            let name = "alice@contoso.com"
            f.emulator.control.settings.idTokenClaims = ["preferred_username": .string(name)]
            let (work, personal) = (try await signIn(f, name), try await signIn(f, "alice@outlook.com"))
            #expect(try f.msal(nil, Self.app).account(forUsername: name).identifier == work.identifier)
            let served = try await silent(f.adal(), name)
            #expect(served.tokenCacheItem?.userInformation?.homeAccountId == work.identifier)
            let consumers = try MSALAADAuthority(url: url("\(f.emulator.url)/consumers"))
            #expect(try f.msal(consumers, Self.app).account(forUsername: name).identifier == personal.identifier)
        }
    }

    /// Otherwise an app that knows the name only would find the deleted user at each start, and ask for a sign-in.
    @Test(arguments: ["00000000-0000-4000-8000-000000000001", "ffffffff-0000-4000-8000-000000000001"])
    func findsTheUserByNameWhoWasCreatedAgain(objectID: String) async throws {
        try await AgentFixture.with { f in
            let name = "alice@contoso.com"
            let deleted = try await signIn(f, name)
            let tenant = try #require(deleted.homeAccountId?.tenantId)
            let information = Data(#"{"uid":"\#(objectID)","utid":"\#(tenant)"}"#.utf8).base64EncodedString()
            f.emulator.control.settings.tokenReply = ["client_info": .string(information.replacing("=", with: ""))]
            f.emulator.control.settings.idTokenClaims = ["oid": .string(objectID)]
            f.clock.advance(by: 60)
            _ = try await signIn(f, name)
            #expect(try f.msal(nil, Self.app).account(forUsername: name).identifier == "\(objectID).\(tenant)")
        }
    }

    @Test func listsTheAccountsOfBothLibraries() async throws {
        try await AgentFixture.with { f in
            let application = try f.msal(nil, Self.app)
            #expect(try application.allAccounts().isEmpty)
            _ = try await signIn(f, "alice@contoso.com")
            _ = try await signIn(f.adal(), "bob@contoso.com")
            #expect(
                Set(try application.allAccounts().compactMap(\.username)) == ["alice@contoso.com", "bob@contoso.com"])
        }
    }

    @Test func showsClaimsOnlyToTheAppTheyWereIssuedTo() async throws {
        var settings = EmulatorSettings()
        settings.familyApps = [Self.app: "1", "another-app": "1"]
        try await AgentFixture.with(settings: settings) { f in
            let application = try f.msal(nil, Self.app)
            _ = try await signIn(f, "alice@contoso.com")
            let own = try #require(application.allAccounts().first)
            #expect(own.accountClaims?["preferred_username"] as? String == "alice@contoso.com")
            let seen = try #require(f.msal(nil, "another-app").allAccounts().first)
            #expect(seen.identifier == own.identifier)
            #expect(seen.accountClaims == nil)
        }
    }

    @Test func removesAnAccountForTheOtherLibrary() async throws {
        try await AgentFixture.with { f in
            let application = try f.msal(nil, Self.app)
            let account = try await signIn(f, "alice@contoso.com")
            try await offPool { try application.remove(account) }
            #expect(try application.allAccounts().isEmpty)
            let refused = try await silent(f.adal(), "alice@contoso.com")
            #expect(refused.status == AD_FAILED)
            #expect(refused.error?.domain == ADAuthenticationErrorDomain)
            #expect(refused.error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue)
            let failure =
                await #expect(throws: (any Error).self) {
                    try await application.acquireTokenSilent(
                        with: MSALSilentTokenParameters(scopes: ["User.Read"], account: account))
                } as NSError?
            #expect(failure?.domain == MSALErrorDomain)
            #expect(failure?.code == MSALError.interactionRequired.rawValue)
        }
    }

    @Test func requiresANameInADALIfSeveralUsersAreSignedIn() async throws {
        try await AgentFixture.with { f in
            let context = try f.adal()
            for user in ["alice@contoso.com", "bob@contoso.com"] { _ = try await signIn(context, user) }
            let result = await context.acquireTokenSilent(
                withResource: Self.graph, clientId: Self.app,
                redirectUri: try #require(URL(string: "http://localhost")))
            #expect(result.status == AD_FAILED)
            #expect(result.error?.code == ADErrorCode.ERROR_CACHE_MULTIPLE_USERS.rawValue)
        }
    }

    @Test func reportsTheSameFromBlocksAndAsyncForms() async throws {
        try await AgentFixture.with { f in
            let application = try f.msal(nil, Self.app)
            let account = try await signIn(f, "alice@contoso.com")
            let parameters = MSALSilentTokenParameters(scopes: ["User.Read"], account: account)
            let token = await withCheckedContinuation { continuation in
                application.acquireTokenSilent(with: parameters) { result, _ in
                    continuation.resume(returning: result?.accessToken)
                }
            }
            #expect(try await application.acquireTokenSilent(with: parameters).accessToken == token)
        }
    }
}
