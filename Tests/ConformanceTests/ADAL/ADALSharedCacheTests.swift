internal import ADALCompat
internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import MSALCompat
internal import TestSupport
internal import Testing
internal import TokenModel

/// The entries of the cache that ADAL 2.7 and MSAL use in common.
@Suite(.bounded) struct ADALSharedCacheTests {
    private static let (alice, bob) = (ADALApp.alice, ADALApp.bob)
    private static let interactionRequired = MSALError.interactionRequired.rawValue

    // Mirrors: 33 ADAcquireTokenTests testAcquireToken_whenMrrtInCacheWrittenByMSAL_shouldBeAbleToFindAndUseIt
    // Mirrors: 49 MSIDLegacyAccessorSSOIntegrationTests, a refresh token in the secondary format only
    @Test func usesTheRefreshTokenOfAnMSALAppByItsUsersName() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            let result = try await ADALApp(f).acquire(ADUserIdentifier(id: Self.alice))
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.tokenCacheItem?.userInformation?.userId == Self.alice)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: 49 MSIDLegacyAccessorSSOIntegrationTests, a family refresh token in the secondary format only
    @Test func usesTheFamilysRefreshTokenOfAnMSALApp() async throws {
        try await AgentFixture.with(settings: .family(of: "app-1", "app-2")) { f in
            try await f.signIn(Self.alice, f.parameters("app-1"))
            let result = try await ADALApp(f, "app-2").silent(Self.alice)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.tokenCacheItem?.familyId == "1")
        }
    }

    // Mirrors: 49 MSIDLegacyAccessorSSOIntegrationTests, a refresh token in both formats: there is one, the newest
    @Test func usesTheNewestRefreshTokenOfAnyApp() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            let neighbour = try MSALNeighbour(f)
            _ = try await neighbour.silent(neighbour.account(Self.alice))
            f.letTokensExpire()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
            #expect(Set(app.refreshes.map { $0["refresh_token"] }).count == 2)
            #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
        }
    }

    // Mirrors: 49 MSIDLegacyAccessorSSOIntegrationTests, a family's refresh token is none of an app that is no member
    @Test func usesTheFamilyRefreshTokenForMembersOnly() async throws {
        try await AgentFixture.with(settings: .family(of: "app-1")) { f in
            let loner = ADALApp(f, "app-9")
            try await loner.signIn(Self.bob)
            try await ADALApp(f, "app-1").signIn()
            expectInputNeeded(try await loner.silent(Self.alice))
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: 49 MSIDLegacyAccessorSSOIntegrationTests, an access token in the secondary format is not returned
    @Test func doesNotReturnAnAccessTokenOfMSALs() async throws {
        try await AgentFixture.with { f in
            let scopes = ["\(ADALApp.graph)/.default"]
            let modern = try await f.signIn(Self.alice, f.parameters(scopes: scopes))
            let result = try await ADALApp(f).silent(Self.alice)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.accessToken != modern.accessToken.reveal())
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: 48 MSIDLegacyAccessorSSOIntegrationTests, what a sign-in saves is there for both
    // Mirrors: 52 MSIDDefaultAccessorSSOIntegrationTests, a refresh token from the legacy format
    @Test func signsInForMSALToo() async throws {
        try await AgentFixture.with { f in
            let user = try #require(try await ADALApp(f).signIn().tokenCacheItem?.userInformation)
            let neighbour = try MSALNeighbour(f)
            let account = try #require(try neighbour.accounts.first)
            #expect(account.identifier == user.homeAccountId)
            #expect(account.username == Self.alice)
            #expect(try await neighbour.silent(account).account.identifier == user.homeAccountId)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: 48 MSIDLegacyAccessorSSOIntegrationTests, the family's refresh token is there for both
    @Test func signsInForMSALsMembersOfTheFamilyToo() async throws {
        try await AgentFixture.with(settings: .family(of: "app-1", "app-2")) { f in
            try await ADALApp(f, "app-1").signIn()
            let neighbour = try MSALNeighbour(f, "app-2")
            #expect(await neighbour.refusal(of: try neighbour.account(Self.alice)) == nil)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: 48 MSIDLegacyAccessorSSOIntegrationTests, a token for one resource stays in the primary format
    @Test func keepsATokenForOneResourceFromMSAL() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.tokenReply = ["resource": nil]
            try await ADALApp(f).signIn()
            let neighbour = try MSALNeighbour(f)
            #expect(await neighbour.refusal(of: try neighbour.account(Self.alice)) == Self.interactionRequired)
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: 48 MSIDLegacyAccessorSSOIntegrationTests, without a home account id in the legacy format only
    // Mirrors: 52 MSIDDefaultAccessorSSOIntegrationTests, an account by its legacy id, and one that only the legacy format has
    @Test func findsAnAccountByNameUntilItsIdentifierIsKnown() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.tokenReply = ["client_info": nil]
            let user = try await ADALApp(f).signIn().tokenCacheItem?.userInformation
            #expect(user?.homeAccountId == nil)
            let neighbour = try MSALNeighbour(f)
            #expect(try neighbour.accounts.map(\.username) == [Self.alice])
            #expect(try neighbour.accounts.first?.identifier == nil)
            f.emulator.control.settings.tokenReply = [:]
            let result = try await neighbour.silent(neighbour.account(Self.alice))
            #expect(result.account.identifier?.contains(".") == true)
            #expect(try neighbour.accounts.map(\.identifier) == [result.account.identifier])
            #expect(f.signIns == 1)
            // ADAL keeps using its access token, and uses the new refresh token of the account.
            #expect(try await ADALApp(f).silent().status == AD_SUCCEEDED)
            f.letTokensExpire()
            let renewed = try await ADALApp(f).silent()
            #expect(renewed.tokenCacheItem?.userInformation?.homeAccountId == result.account.identifier)
        }
    }

    // Mirrors: ADTokenCacheItem+MSIDTokens tokenCacheKey, whose user is the `userId` of the item's user information
    @Test(
        arguments: [
            ("common", ["preferred_username": "al@contoso.com"]),
            ("adfs", ["upn": nil, "unique_name": nil, "email": "al@contoso.com", "sub": "Alice-Sub"]),
        ] as [(String, [String: JSON])])
    func findsAUserByTheUserIDOfAResult(tenant: String, claims: [String: JSON]) async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.idTokenClaims = claims
            let app = ADALApp(f, tenant: tenant)
            let signedIn = try await app.signIn()
            let userID = try #require(signedIn.tokenCacheItem?.userInformation?.userId)
            #expect(userID != "al@contoso.com")
            #expect(try await app.silent(userID).accessToken == signedIn.accessToken)
            // The name that MSAL has for the user is one, too.
            #expect(try await app.silent("al@contoso.com").accessToken == signedIn.accessToken)
            let cache = app.cache
            #expect(try await offPool { cache.removeAll(forUserId: userID, clientId: "app-1", error: nil) })
            #expect(try await app.items().isEmpty)
        }
    }

    // Mirrors: 48 MSIDLegacyAccessorSSOIntegrationTests, the account of the one format and the user of the other
    @Test func findsAUserByTheUserIDOfAResultAfterARedemptionOfMSAL() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.idTokenClaims = ["preferred_username": "al@contoso.com"]
            let app = ADALApp(f)
            try await app.signIn()
            let neighbour = try MSALNeighbour(f)
            let account = try neighbour.account(Self.alice)
            #expect(account.username == "al@contoso.com")
            _ = try await neighbour.silent(account)
            f.letTokensExpire()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: 50 MSIDLegacyAccessorSSOIntegrationTests, no user and several accounts
    @Test func countsOnlyAccountsThatADALKnows() async throws {
        try await AgentFixture.with { f in
            for user in [Self.alice, Self.bob] { try await f.signIn(user, f.parameters()) }
            // ADAL finds neither, so that a sign-in is required.
            expectInputNeeded(try await ADALApp(f).silent())
            try await ADALApp(f).signIn("carol@contoso.com")
            let result = try await ADALApp(f).silent()
            #expect(result.tokenCacheItem?.userInformation?.userId == "carol@contoso.com")
            #expect(try await ADALApp(f).silent(Self.alice).status == AD_SUCCEEDED)
            let several = try await ADALApp(f).silent()
            #expect(several.error?.code == ADErrorCode.ERROR_CACHE_MULTIPLE_USERS.rawValue)
        }
    }

    // Mirrors: 50 MSIDLegacyAccessorSSOIntegrationTests, an outdated refresh token is not removed
    @Test func keepsTheRefreshTokenThatReplacedTheRefusedOne() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.emulator.control.inject(
                Fault {
                    $0.grant = .refreshToken; $0.hold = true; $0.error = "invalid_grant"; $0.suberror = "bad_token"
                })
            async let refused = app.silent(Self.alice, forceRefresh: true)
            await f.emulator.control.waitForHeld(atLeast: 1)
            try await app.signIn()
            f.emulator.control.release()
            _ = try await refused
            f.letTokensExpire()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 50 MSIDLegacyAccessorSSOIntegrationTests, removal in the secondary format
    @Test func removesARejectedRefreshTokenForMSALToo() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            f.failRefresh("invalid_grant", suberror: "bad_token")
            expectInputNeeded(try await ADALApp(f).silent(Self.alice))
            f.letTokensExpire()
            let neighbour = try MSALNeighbour(f)
            #expect(await neighbour.refusal(of: try neighbour.account(Self.alice)) == Self.interactionRequired)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: 50 MSIDLegacyAccessorSSOIntegrationTests, clearing both formats
    @Test func signsOutForMSALToo() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await f.signIn(Self.alice, f.parameters())
            try await app.signIn()
            let cache = app.cache
            #expect(try await offPool { cache.removeAll(forUserId: Self.alice, clientId: "app-1", error: nil) })
            #expect(try MSALNeighbour(f).accounts.isEmpty)
            #expect(try await app.items().isEmpty)
        }
    }

    // Mirrors: 50 MSIDLegacyAccessorSSOIntegrationTests, a different authority
    @Test func usesARefreshTokenAtAnotherTenant() async throws {
        try await AgentFixture.with { f in
            let home = try await ADALApp(f).signIn()
            let guest = try await ADALApp(f, tenant: "fabrikam.com").silent(Self.alice)
            #expect(guest.status == AD_SUCCEEDED)
            #expect(guest.authority == "\(f.emulator.url)/fabrikam.com")
            #expect(guest.accessToken != home.accessToken)
            #expect(try await ADALApp(f).silent(Self.alice).accessToken == home.accessToken)
            // The account is the same in every tenant.
            let user = guest.tokenCacheItem?.userInformation
            #expect(user?.homeAccountId == home.tokenCacheItem?.userInformation?.homeAccountId)
            #expect(user?.tenantId == f.emulator.control.tenantID("fabrikam.com"))
        }
    }
}

/// An MSAL app that shares the cache with ADAL apps.
struct MSALNeighbour {
    let application: MSALPublicClientApplication

    init(_ f: AgentFixture, _ clientID: String = "app-1") throws {
        let authority = try MSALAuthority(url: #require(URL(string: "\(f.emulator.url)/common")))
        let config = MSALPublicClientApplicationConfig(
            clientId: clientID, redirectUri: "http://localhost", authority: authority)
        config.knownAuthorities = [authority]
        application = try MSALPublicClientApplication(
            configuration: config, client: f.agent, presenter: SignInPresenter(method: .deviceCode) { _ in })
    }

    var accounts: [MSALAccount] { get throws { try application.allAccounts() } }

    func account(_ username: String) throws -> MSALAccount { try application.account(forUsername: username) }

    func silent(_ account: MSALAccount) async throws -> MSALResult {
        try await application.acquireTokenSilent(
            with: MSALSilentTokenParameters(scopes: ["User.Read"], account: account))
    }

    /// The code of the error of a silent request; nil if it succeeds.
    func refusal(of account: MSALAccount) async -> Int? {
        do {
            _ = try await silent(account)
            return nil
        } catch {
            return (error as NSError).code
        }
    }
}
