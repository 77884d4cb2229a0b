internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// Silent requests of ADAL that need no refresh, and those that require a sign-in.
@Suite(.bounded) struct ADALCachedTokenTests {
    private static let (alice, bob) = (ADALApp.alice, ADALApp.bob)
    /// An AD FS without ID tokens and without refresh tokens for several resources.
    private static var federation: EmulatorSettings {
        var settings = EmulatorSettings()
        settings.tokenReply = ["id_token": nil, "resource": nil]
        return settings
    }

    // Mirrors: 1 ADAcquireTokenTests testCachedWithNilUserId
    @Test func returnsATokenOfTheOnlyAccount() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let signedIn = try await app.signIn()
            let result = try await app.silent()
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.tokenCacheItem == signedIn.tokenCacheItem)
            #expect(result.authority == app.authority)
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: 2 ADAcquireTokenTests testCachedWithNilUserId_whenExpiredAccessToken_shouldRefreshUsingRT
    @Test func refreshesATokenWithoutAUser() async throws {
        try await AgentFixture.with(settings: Self.federation) { f in
            let app = ADALApp(f, tenant: "adfs")
            let signedIn = try await app.signIn()
            #expect(signedIn.tokenCacheItem?.isEmptyUser() == true)
            f.emulator.control.settings.rotation = .none
            var tokens = [signedIn.accessToken]
            for _ in 1...2 {
                f.letTokensExpire()
                let result = try await app.silent()
                #expect(result.status == AD_SUCCEEDED)
                #expect(result.tokenCacheItem?.userInformation == nil)
                #expect(!tokens.contains(result.accessToken))
                tokens.append(result.accessToken)
            }
            // The server issued no new refresh token, so that the one of the sign-in is kept.
            #expect(Set(app.refreshes.map { $0["refresh_token"] }).count == 1)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: 3 ADAcquireTokenTests testFailsWithNilUserIdAndMultipleCachedUsers
    @Test func refusesToChooseBetweenTwoAccounts() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            for user in [Self.alice, Self.bob] { try await app.signIn(user) }
            let result = try await app.silent()
            #expect(result.status == AD_FAILED)
            #expect(result.error?.domain == ADAuthenticationErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_CACHE_MULTIPLE_USERS.rawValue)
            #expect(result.tokenCacheItem == nil)
            #expect(result.authority == nil)
            #expect(try await app.silent(Self.bob).tokenCacheItem?.userInformation?.userId == Self.bob)
        }
    }

    // Mirrors: 3 ADAcquireTokenTests testFailsWithNilUserIdAndMultipleCachedUsers, counted for each kind of token by itself
    @Test func countsUsersByTheRequestedToken() async throws {
        try await AgentFixture.with { f in
            let (mail, files) = (ADALApp(f, resource: "https://mail"), ADALApp(f, resource: "https://files"))
            try await mail.signIn(Self.alice)
            try await files.signIn(Self.bob)
            #expect(try await mail.silent().tokenCacheItem?.userInformation?.userId == Self.alice)
            #expect(try await files.silent().tokenCacheItem?.userInformation?.userId == Self.bob)
            // Neither has an access token for a third resource, and both have a refresh token.
            let third = try await ADALApp(f, resource: "https://third").silent()
            #expect(third.error?.code == ADErrorCode.ERROR_CACHE_MULTIPLE_USERS.rawValue)
        }
    }

    // Mirrors: 4 ADAcquireTokenTests testCachedWithNoIdtoken
    @Test func usesATokenWithoutAUserForAnyUser() async throws {
        try await AgentFixture.with(settings: Self.federation) { f in
            let app = ADALApp(f, tenant: "adfs")
            let signedIn = try await app.signIn()
            let result = try await app.silent(Self.bob)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.accessToken == signedIn.accessToken)
            #expect(result.tokenCacheItem?.isEmptyUser() == true)
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: 4 ADAcquireTokenTests testCachedWithNoIdtoken, beside somebody with a name
    @Test func prefersTheTokenOfTheNamedUser() async throws {
        try await AgentFixture.with(settings: Self.federation) { f in
            let app = ADALApp(f, tenant: "adfs")
            try await app.signIn()
            f.emulator.control.settings.tokenReply = [:]
            let named = try await app.signIn(Self.bob)
            #expect(try await app.silent(Self.bob).accessToken == named.accessToken)
        }
    }

    // Mirrors: 5 ADAcquireTokenTests testSilentNothingCached
    @Test func asksForASignInWhenNothingIsThere() async throws {
        try await AgentFixture.with { f in
            for userID in [nil, Self.alice] {
                let cause = try await expectInputNeeded(ADALApp(f).silent(userID))
                #expect(cause == nil)
            }
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: 6 ADAcquireTokenTests testSilentItemCached
    @Test func answersWithTheCachedItem() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let signedIn = try await app.signIn()
            let result = try await app.silent(" ALICE@contoso.com ")
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.error == nil)
            #expect(result.tokenCacheItem == signedIn.tokenCacheItem)
            #expect(result.tokenCacheItem?.resource == ADALApp.graph)
            #expect(result.tokenCacheItem?.clientId == "app-1")
            #expect(result.tokenCacheItem?.accessTokenType == "Bearer")
            #expect(result.tokenCacheItem?.refreshToken == nil)
            #expect(result.authority == app.authority)
            #expect(!result.multiResourceRefreshToken)
            #expect(!result.extendedLifeTimeToken)
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: 7 ADAcquireTokenTests testSilentExpiredItemCached
    @Test func asksForASignInWhenAnExpiredTokenCannotBeRenewed() async throws {
        var settings = EmulatorSettings()
        settings.tokenReply = ["refresh_token": nil]
        try await AgentFixture.with(settings: settings) { f in
            let app = ADALApp(f)
            try await app.signIn()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
            f.letTokensExpire()
            let cause = try await expectInputNeeded(app.silent(Self.alice))
            #expect(cause == nil)
            #expect(f.redemptions == 0)
        }
    }

    @Test(arguments: [("organizations", "common"), ("common", "organizations")])
    func keepsOneTokenForAllWorkAccounts(asked: String, then: String) async throws {
        try await AgentFixture.with { f in
            let signedIn = try await ADALApp(f, tenant: asked).signIn()
            let app = ADALApp(f, tenant: then)
            let result = try await app.silent(Self.alice)
            #expect(result.accessToken == signedIn.accessToken)
            #expect(result.authority == app.authority)
        }
    }
}
