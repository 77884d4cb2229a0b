internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The entries of the cache that an MSAL app uses after a sign-in with ADAL or MSAL.
@Suite(.bounded) struct SharedCacheTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: D1 MSIDDefaultAccessorSSOIntegrationTests
    //   testSaveTokensWithFactory_whenMultiResourceResponse_savesTokensOnlyToDefaultAccessor; L8
    //   MSIDLegacyAccessorSSOIntegrationTests
    //   testGetAccessTokenForAccount_whenAccessTokensInSecondaryCache_shouldNotReturnToken
    @Test func doesNotShowAnAccessTokenOfMSALToADAL() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice)
            let served = try await LegacyApp(f).silent(Self.alice)
            #expect(served.status == AD_SUCCEEDED)
            #expect(served.accessToken != signedIn.accessToken)
            #expect(f.redemptions == 1)
            #expect(try await app.token(signedIn.account).accessToken == signedIn.accessToken)
        }
    }

    // Mirrors: D2 MSIDDefaultAccessorSSOIntegrationTests
    //   testSaveTokensWithFactory_whenMultiResourceFOCIResponse_savesTokensOnlyToDefaultAccessor
    @Test func servesTheFamilyAfterASignInOfAMember() async throws {
        try await AgentFixture.with(settings: .family()) { f in
            let (app, other) = (try f.msalApp("family-1"), try f.msalApp("family-2"))
            let account = try await app.signIn(Self.alice).account
            try await other.token(account)
            // The refresh token of the first app was replaced by the new one of the family.
            f.expireTokens()
            try await app.token(account)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: D4 MSIDDefaultAccessorSSOIntegrationTests testSaveTokensWithRequestParams_
    //   whenNoRefreshTokenReturnedInResponse_shouldOnlySaveAccessAndIDTokensToPrimaryCacheReturnYES
    @Test func keepsTheOldRefreshTokenIfTheReplyHasNone() async throws {
        try await AgentFixture.with(settings: .with { $0.rotation = .none }) { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            for _ in 1...2 {
                f.expireTokens()
                try await app.token(account)
            }
            let sent = f.redeemed.compactMap { $0.parameters["refresh_token"] }
            #expect(sent.count == 2 && Set(sent).count == 1)
        }
    }

    // Mirrors: D5 MSIDDefaultAccessorSSOIntegrationTests
    //   testGetRefreshTokenWithAccount_whenNoFamilyId_andTokenInSecondaryAccessor_shouldReturnToken
    @Test func redeemsARefreshTokenOfADALForMSAL() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await LegacyApp(f).signIn(Self.alice)
            let app = try f.msalApp()
            let identifier = try #require(signedIn.tokenCacheItem?.userInformation?.homeAccountId)
            let result = try await app.token(try app.found(identifier: identifier))
            #expect(result.account.identifier == identifier)
            #expect(f.redemptions == 1)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: D6 MSIDDefaultAccessorSSOIntegrationTests
    //   testGetRefreshTokenWithAccount_whenFamilyIdProvided_andTokensInBothAccessors_shouldReturnTokenFromPrimary
    @Test func usesTheRefreshTokenOfTheLatestSignIn() async throws {
        try await AgentFixture.with { f in
            try await LegacyApp(f).signIn(Self.alice)
            f.emulator.control.revokeTokens()
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            try await app.token(account, scopes: ["Mail.Read"])
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: D8 MSIDDefaultAccessorSSOIntegrationTests
    //   testGetRefreshToken_whenNoHomeAccountId_onlyLegacyUserId_andTokenInPrimaryCache_shouldReturnToken
    @Test func findsTheRefreshTokenOfAnAccountByItsNameAlone() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.msalApp().signIn(Self.alice).account
            let named = NamedAccount(username: Self.alice.uppercased(), identifier: nil)
            let account = MSALAccount(external: named)
            #expect(account.identifier == nil)
            let result = try await f.msalApp().token(account, scopes: ["Mail.Read"])
            #expect(result.account.identifier == signedIn.identifier)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: D18 MSIDDefaultAccessorSSOIntegrationTests
    //   testValidateAndRemoveRefreshToken_whenTokenProvided_butTokenFromSecondaryCache_shouldRemoveToken
    @Test func removesARejectedRefreshTokenForADALToo() async throws {
        try await AgentFixture.with { f in
            let legacy = try LegacyApp(f)
            try await legacy.signIn(Self.alice)
            let app = try f.msalApp()
            let account = try await app.found(username: Self.alice)
            f.emulator.control.revokeTokens()
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            f.expireTokens()
            #expect(try await legacy.silent(Self.alice).needsUser)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: msal.md 5.6: a missing scope means the scopes asked for
    @Test func assumesTheRequestedScopesIfTheReplyHasNone() async throws {
        try await AgentFixture.with(settings: .with { $0.tokenReply = ["scope": nil] }) { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice, scopes: ["User.Read", "Mail.Read"])
            #expect(Set(signedIn.scopes).isSuperset(of: ["User.Read", "Mail.Read"]))
            try await app.token(signedIn.account, scopes: ["mail.read"])
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: msal.md 4.10: `expires_in` missing means an hour
    @Test func assumesALifetimeOfOneHour() async throws {
        try await AgentFixture.with(settings: .with { $0.tokenReply = ["expires_in": nil] }) { f in
            let signedIn = try await f.msalApp().signIn(Self.alice)
            #expect(signedIn.expiresOn == Date(timeIntervalSince1970: TimeInterval(f.clock.now + 3600)))
        }
    }
}

/// An account of an external account provider.
final class NamedAccount: NSObject, MSALAccountProtocol {
    let username: String?
    let identifier: String?
    let environment = "login.windows.net"
    let accountClaims: [String: Any]?
    let tenantProfiles: [MSALTenantProfile]? = nil
    let homeAccountId: MSALAccountId? = nil
    let isSSOAccount = false

    init(username: String?, identifier: String?, claims: [String: String]? = nil) {
        (self.username, self.identifier, accountClaims) = (username, identifier, claims)
    }
}
