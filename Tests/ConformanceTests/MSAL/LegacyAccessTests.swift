internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The entries of the cache that an ADAL app uses after a sign-in with MSAL or ADAL.
@Suite(.bounded) struct LegacyAccessTests {
    private static let alice = "alice@contoso.com"
    private static let bob = "bob@contoso.com"

    // Mirrors: L1 MSIDLegacyAccessorSSOIntegrationTests
    //   testSaveTokensWithFactory_whenMultiResourceResponse_savesTokensToBothAccessors
    @Test func listsAnAccountOfADALInMSAL() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await LegacyApp(f).signIn(Self.alice)
            let app = try f.msalApp()
            let account = try #require(try await app.listed().first)
            #expect(account.username == Self.alice)
            #expect(account.identifier == signedIn.tokenCacheItem?.userInformation?.homeAccountId)
            try await app.token(account)
        }
    }

    // Mirrors: L2 MSIDLegacyAccessorSSOIntegrationTests
    //   testSaveTokensWithFactory_whenMultiResourceFOCIResponse_savesTokensToBothAccessors, …_savesAppMetadata
    @Test func servesTheFamilyInMSALAfterASignInOfAMemberWithADAL() async throws {
        try await AgentFixture.with(settings: .family()) { f in
            try await LegacyApp(f, clientID: "family-1").signIn(Self.alice)
            try await LegacyApp(f, clientID: "stranger").signIn(Self.bob)
            let member = try f.msalApp("family-2")
            try await member.token(try member.found(username: Self.alice))
            // The response of ADAL's sign-in said that this app belongs to no family.
            #expect(try await f.msalApp("stranger").listed().map(\.username) == [Self.bob])
            #expect(Set(try await f.msalApp("family-1").listed().map(\.username)) == [Self.alice])
        }
    }

    // Mirrors: L3 MSIDLegacyAccessorSSOIntegrationTests
    //   testSaveTokens_withNoHomeAccountIdForSecondaryFormat_shouldSaveToLegacyFormatOnly
    @Test func findsASignInWithoutClientInfoByName() async throws {
        try await AgentFixture.with(settings: .with { $0.tokenReply = ["client_info": nil] }) { f in
            let legacy = try LegacyApp(f)
            let signedIn = try await legacy.signIn(Self.alice)
            #expect(signedIn.tokenCacheItem?.userInformation?.homeAccountId == nil)
            #expect(try await legacy.silent(Self.alice).accessToken == signedIn.accessToken)
            let app = try f.msalApp()
            let account = try await app.found(username: Self.alice)
            #expect(account.identifier == nil)
            f.emulator.control.settings.tokenReply = [:]
            let result = try await app.token(account)
            #expect(result.account.identifier != nil)
            #expect(try await app.listed().map(\.identifier) == [result.account.identifier])
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: L4 MSIDLegacyAccessorSSOIntegrationTests
    //   testSaveTokensWithFactory_whenNotMultiresourceResponse_savesTokensOnlyToPrimaryAccessor
    @Test func doesNotUseARefreshTokenForOneResourceInMSAL() async throws {
        try await AgentFixture.with(settings: .with { $0.tokenReply = ["resource": nil] }) { f in
            let legacy = try LegacyApp(f)
            let signedIn = try await legacy.signIn(Self.alice)
            #expect(!signedIn.multiResourceRefreshToken)
            f.expireTokens()
            #expect(try await legacy.silent(Self.alice).status == AD_SUCCEEDED)
            #expect(f.redemptions == 1)
            let app = try f.msalApp()
            let everybody = MSALAccountEnumerationParameters()
            everybody.returnOnlySignedInAccounts = false
            let account = try #require(try await app.listed(everybody).first)
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: L5 MSIDLegacyAccessorSSOIntegrationTests
    //   testGetRefreshTokenWithAccount_whenNoFamilyId_andTokenInSecondaryAccessor_shouldReturnToken
    @Test func redeemsARefreshTokenOfMSALForADAL() async throws {
        try await AgentFixture.with { f in
            let account = try await f.msalApp().signIn(Self.alice).account
            let served = try await LegacyApp(f).silent(account.username)
            #expect(served.status == AD_SUCCEEDED)
            #expect(served.tokenCacheItem?.userInformation?.homeAccountId == account.identifier)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: L6 MSIDLegacyAccessorSSOIntegrationTests testGetRefreshTokenWithAccount_
    //   whenFamilyIdProvidedNoUserID_andMultipleTokensInCache_shouldReturnNilAndFillError
    @Test func requiresANameIfSeveralUsersOfAFamilyAreSignedIn() async throws {
        try await AgentFixture.with(settings: .family()) { f in
            for user in [Self.alice, Self.bob] { try await LegacyApp(f, clientID: "family-1").signIn(user) }
            let other = try LegacyApp(f, clientID: "family-2")
            let result = try await other.silent()
            #expect(result.error?.code == ADErrorCode.ERROR_CACHE_MULTIPLE_USERS.rawValue)
            #expect(try await other.silent(Self.bob).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: L7 MSIDLegacyAccessorSSOIntegrationTests
    //   testGetAccessTokenWithAccount_whenNoUserID_andOnlyOneTokenInCache_shouldReturnToken,
    //   testGetAccessTokenWithAccount_whenNoUserID_andMultipleTokensInCache_shouldReturnNilAndFillError
    @Test func findsTheOnlyUserWithoutAName() async throws {
        try await AgentFixture.with { f in
            let legacy = try LegacyApp(f)
            let signedIn = try await legacy.signIn(Self.alice)
            #expect(try await legacy.silent().accessToken == signedIn.accessToken)
            try await legacy.signIn(Self.bob)
            #expect(try await legacy.silent().error?.code == ADErrorCode.ERROR_CACHE_MULTIPLE_USERS.rawValue)
        }
    }

    // Mirrors: L9 MSIDLegacyAccessorSSOIntegrationTests
    //   testClearCacheForAccount_whenTokensInCacheInMultipleAccessors_shouldRemoveCorrectTokens
    @Test func removesTheAppsTokensOfBothLibrariesAndNoOthers() async throws {
        try await AgentFixture.with { f in
            let (legacy, other) = (try LegacyApp(f), try LegacyApp(f, clientID: "app-2"))
            for app in [legacy, other] { try await app.signIn(Self.alice) }
            try await legacy.signIn(Self.bob)
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.emulator.control.resetCounts()
            try await offPool { try app.remove(account) }
            #expect(try await legacy.silent(Self.alice).needsUser)
            #expect(try await legacy.silent(Self.bob).status == AD_SUCCEEDED)
            #expect(try await other.silent(Self.alice).status == AD_SUCCEEDED)
            #expect(try await app.listed().map(\.username) == [Self.bob])
            #expect(f.emulator.control.counts.requests.isEmpty)
        }
    }
}
