internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// Silent requests that return a cached token, and those that refresh it.
@Suite(.bounded) struct SilentCacheTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: S1 MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_whenNoAccountProvided_shouldReturnError
    @Test func requiresInteractionWithoutAnAccountAndSendsNothing() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.emulator.control.resetCounts()
            let error = await app.refusal(account) { $0.account = nil }
            #expect(error?.isInteractionRequired == true)
            #expect(f.emulator.control.counts.requests.isEmpty)
        }
    }

    // Mirrors: S2 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenAccessAndRefreshTokensInCache_shouldReturnATAndRT
    @Test func returnsAValidTokenWithoutTheNetwork() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice)
            f.emulator.control.resetCounts()
            let result = try await app.token(signedIn.account)
            #expect(result.accessToken == signedIn.accessToken)
            #expect(result.idToken == signedIn.idToken)
            #expect(result.expiresOn == signedIn.expiresOn)
            #expect(!result.extendedLifeTimeToken)
            #expect(f.emulator.control.counts.requests.isEmpty)
        }
    }

    // Mirrors: S6 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenNoAccessTokenFound_shouldRefreshToken
    @Test func redeemsTheRefreshTokenWithoutAnAccessTokenAndSavesTheResult() async throws {
        try await AgentFixture.with { f in
            try await LegacyApp(f).signIn(Self.alice)
            let app = try f.msalApp()
            let account = try await app.found(username: Self.alice)
            let first = try await app.token(account)
            #expect(f.redemptions == 1)
            let second = try await app.token(account)
            #expect(second.accessToken == first.accessToken)
            #expect(f.redemptions == 1)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: S7 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenNoMatchingAccessTokenFound_shouldRefreshToken
    @Test func ignoresATokenOfOtherScopes() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice)
            let result = try await app.token(signedIn.account, scopes: ["Mail.Read"])
            #expect(result.accessToken != signedIn.accessToken)
            #expect(result.scopes.contains("Mail.Read"))
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: S8 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenExpiredAccessTokenInCache_shouldRefreshToken
    @Test func renewsAnExpiredToken() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice)
            f.expireTokens()
            let result = try await app.token(signedIn.account)
            #expect(result.accessToken != signedIn.accessToken)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: S13 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenATExpiresIn50WithinExpirationBuffer100_shouldReAcquireToken
    @Test(arguments: [(50, 100.0, 1), (150, 100.0, 0), (299, 300.0, 1), (301, 300.0, 0)])
    func treatsATokenWithinTheBufferAsExpired(lifetime: Int, buffer: Double, redemptions: Int) async throws {
        try await AgentFixture.with(settings: .with { $0.accessTokenLifetime = lifetime }) { f in
            let app = try f.msalApp { $0.tokenExpirationBuffer = buffer }
            let account = try await app.signIn(Self.alice).account
            try await app.token(account)
            #expect(f.redemptions == redemptions)
        }
    }

    // Mirrors: S14 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenExpiredAccessTokenInCache_andTenantedAuthority_shouldRefreshToken
    @Test func renewsAnExpiredTokenAtItsTenant() async throws {
        try await AgentFixture.with { f in
            let tenant = f.emulator.control.tenantID("contoso.com")
            let app = try f.msalApp(realm: tenant)
            let signedIn = try await app.signIn(Self.alice)
            f.expireTokens()
            let result = try await app.token(signedIn.account)
            #expect(result.accessToken != signedIn.accessToken)
            #expect(result.authority.url.lastPathComponent == tenant)
            #expect(f.redeemed.last?.path.hasPrefix("/\(tenant)/") == true)
        }
    }

    // Mirrors: S15 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenExpiredAccessTokenInCache_andNoRefreshTokenFound_shouldReturnError
    @Test func requiresInteractionForAnExpiredTokenWithoutARefreshToken() async throws {
        try await AgentFixture.with(settings: .with { $0.tokenReply = ["refresh_token": nil] }) { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: S16 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenAccessTokenInCache_andForceRefreshYES_shouldRefreshToken
    @Test func bypassesAValidTokenToForceARefresh() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice)
            let result = try await app.token(signedIn.account) { $0.forceRefresh = true }
            #expect(result.accessToken != signedIn.accessToken)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: S17 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenAccessTokenInCache_andForceRefreshYES_andNoRefreshTokenFound_shouldReturnError
    @Test func failsAForcedRefreshWithoutARefreshTokenThoughTheTokenIsValid() async throws {
        try await AgentFixture.with(settings: .with { $0.tokenReply = ["refresh_token": nil] }) { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            #expect(await app.refusal(account) { $0.forceRefresh = true }?.isInteractionRequired == true)
            try await app.token(account)
        }
    }

    // Mirrors: S18 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenAccessTokenInCache_andForceRefreshYES_andNoATReturned_shouldReturnError
    @Test func failsIfTheReplyHasNoToken() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.emulator.control.settings.tokenReply = ["access_token": nil, "id_token": nil]
            let error = await app.refusal(account) { $0.forceRefresh = true }
            #expect(error?.internalCode == MSALInternalError.internalErrorUnexpected.rawValue)
        }
    }

    // Mirrors: S19 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenExpiredAccessTokenInCache_andDifferentAccountReturn_shouldReturnValidResult
    // There the app gets the other account's token, and has to compare the accounts.
    @Test func failsIfARefreshNamesAnotherAccount() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            let tenant = f.emulator.control.tenantID("contoso.com")
            f.emulator.control.settings.tokenReply = [
                "client_info": .string(clientInfo(uid: "someone-else", utid: tenant))
            ]
            f.expireTokens()
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            f.emulator.control.settings.tokenReply = [:]
            #expect(await app.refusal(account)?.isInteractionRequired == true, "the refresh token is removed")
        }
    }

    // Mirrors: S24 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenNonExpiredAccessTokenInCache_andClaims_shouldRefreshToken
    @Test func bypassesAValidTokenForClaims() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice)
            let json = #"{"access_token":{"nbf":{"essential":true,"value":"1600000000"}}}"#
            let result = try await app.token(signedIn.account) {
                $0.claimsRequest = MSALClaimsRequest(jsonString: json, error: nil)
            }
            #expect(result.accessToken != signedIn.accessToken)
            #expect(f.redeemed.map { $0.parameters["claims"] } == [json])
        }
    }

    // Mirrors: MSALAcquireTokenTests testAcquireTokenSilent_whenClaimsEmpty_shouldNotSkipAccessToken,
    //   testAcquireTokenSilent_whenCapabilitiesSet_shouldNotSkipAccessToken
    @Test func returnsAValidTokenDespiteAnEmptyClaimsRequestOrCapabilities() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp { $0.clientApplicationCapabilities = ["llt", "cp1"] }
            let signedIn = try await app.signIn(Self.alice)
            let result = try await app.token(signedIn.account) { $0.claimsRequest = MSALClaimsRequest() }
            #expect(result.accessToken == signedIn.accessToken)
            try await app.token(signedIn.account) { $0.forceRefresh = true }
            let sent = f.redeemed.map { $0.parameters["claims"] }
            #expect(sent == [#"{"access_token":{"xms_cc":{"values":["llt","cp1"]}}}"#])
        }
    }

    // Mirrors: M38 MSALAcquireTokenTests
    //   testAcquireTokenSilent_whenATAvailableAndExpired_andMixedCaseInputScope_shouldReturnToken
    @Test func countsScopesInAnotherCaseAsGranted() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.settings.tokenReply = ["scope": "user.read openid profile offline_access"]
            let result = try await app.token(account, scopes: ["User.Read"])
            #expect(result.scopes.contains("user.read"))
            let again = try await app.token(account, scopes: ["USER.READ"])
            #expect(again.accessToken == result.accessToken)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: M38 MSALAcquireTokenTests
    //   testAcquireTokenSilent_whenATAvailableAndExtendedLifetimeTokenEnabled_shouldReturnTokenWithExtendedFlagBeingNo
    @Test func doesNotMarkAValidTokenAsExtended() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp { $0.extendedLifetimeEnabled = true }
            let signedIn = try await app.signIn(Self.alice)
            f.emulator.control.inject(.status(503, grant: .refreshToken, count: 0))
            let result = try await app.token(signedIn.account)
            #expect(result.accessToken == signedIn.accessToken)
            #expect(!result.extendedLifeTimeToken)
        }
    }

    // Mirrors: S32 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenAT_RefreshInExpires_shouldRefreshToken,
    //   testAcquireTokenSilent_whenAccessATNotRefreshExpired_shouldReturnATAndRT
    @Test(arguments: [(Int64(50), 0), (200, 1)])
    func renewsATokenAfterItsRefreshTime(after: Int64, redemptions: Int) async throws {
        try await AgentFixture.with(settings: .with { $0.refreshIn = 100 }) { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice)
            f.clock.advance(by: after)
            let result = try await app.token(signedIn.account)
            #expect((result.accessToken != signedIn.accessToken) == (redemptions == 1))
            #expect(f.redemptions == redemptions)
        }
    }
}

/// `client_info` in the encoding of the token endpoint.
func clientInfo(uid: String, utid: String) -> String {
    Base64URL.encode(Data(#"{"uid":"\#(uid)","utid":"\#(utid)"}"#.utf8))
}
