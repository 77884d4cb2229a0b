internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The choice between the refresh token of the app and that of its family.
@Suite(.bounded) struct SilentFamilyTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: S3 MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_
    //   whenAccessAndFociRefreshTokensInCache_andNoAppRefreshToken_shouldReturnATAndFociRT
    @Test func returnsACachedTokenWithOnlyAFamilyRefreshToken() async throws {
        try await AgentFixture.with(settings: .family { $0.rotation = .none }) { f in
            let account = try await f.msalApp("family-1").signIn(Self.alice).account
            let app = try f.msalApp("family-2")
            let first = try await app.token(account)
            let second = try await app.token(account)
            #expect(second.accessToken == first.accessToken)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: S26 MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_
    //   whenExpiredAccessTokenInCache_andFamilyRefreshTokenInCache_shouldRefreshToken
    @Test func renewsAnExpiredTokenWithTheFamilyRefreshToken() async throws {
        try await AgentFixture.with(settings: .family { $0.rotation = .none }) { f in
            let account = try await f.msalApp("family-1").signIn(Self.alice).account
            let app = try f.msalApp("family-2")
            let first = try await app.token(account)
            f.expireTokens()
            let second = try await app.token(account)
            #expect(second.accessToken != first.accessToken)
            #expect(f.redeemed.map { $0.parameters["client_id"] } == ["family-2", "family-2"])
        }
    }

    // Mirrors: S27 MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_
    //   whenFamilyRefreshTokenInCache_andNoAppRefresh_ClientMismatch_shouldSkip; MSALAcquireTokenTests
    //   testAcquireTokenSilent_whenFRTUsedAndServerReturnsClientMismatch_shouldUpdateAppMetadata
    @Test func triesTheFamilyTokenOnceForAnAppOutsideTheFamily() async throws {
        try await AgentFixture.with(settings: .family()) { f in
            try await f.msalApp("family-1").signIn(Self.alice)
            let stranger = try f.msalApp("stranger")
            // The agent does not know yet whether the app belongs to the family.
            let account = try await stranger.found(username: Self.alice)
            let error = await stranger.refusal(account)
            #expect(error?.isInteractionRequired == true)
            #expect(error?.userInfo[MSALOAuthSubErrorKey] as? String == "client_mismatch")
            #expect(f.redemptions == 1)
            f.expireTokens()
            #expect(await stranger.refusal(account)?.isInteractionRequired == true)
            #expect(f.redemptions == 1)
            #expect(try await stranger.listed().isEmpty)
        }
    }

    // Mirrors: S28 MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_
    //   whenRevokedAppRefreshTokenInCache_shouldFallbackToFamilyRefreshToken; M13 MSALAcquireTokenTests
    //   testAcquireTokenSilent_whenMRRTUsedAndServerReturnsInvalidGrant_ShouldUseFRTToRefreshAccessToken
    @Test func usesTheFamilyTokenAfterTheAppsTokenIsRejected() async throws {
        try await AgentFixture.with(settings: .family()) { f in
            let app = try f.msalApp("family-1")
            let account = try await app.signIn(Self.alice).account
            try await f.msalApp("family-2").signIn(Self.alice)
            f.expireTokens()
            f.emulator.control.inject(.error("invalid_grant", suberror: "bad_token", grant: .refreshToken))
            try await app.token(account)
            let sent = f.redeemed.compactMap { $0.parameters["refresh_token"] }
            #expect(sent.count == 2)
            #expect(Set(sent).count == 2)
            #expect(f.signIns == 2)
        }
    }

    // Mirrors: MSIDSilentTokenRequest isErrorRecoverableByUserInteraction: another refresh token does not help
    @Test(arguments: [("invalid_scope", -42005), ("invalid_client", -42003)])
    func sendsNoOtherTokenAfterAnErrorOfTheRequest(oauthError: String, inner: Int) async throws {
        try await AgentFixture.with(settings: .family()) { f in
            let app = try f.msalApp("family-1")
            let account = try await app.signIn(Self.alice).account
            try await f.msalApp("family-2").signIn(Self.alice)
            f.expireTokens()
            f.emulator.control.inject(.error(oauthError, grant: .refreshToken))
            #expect(await app.refusal(account)?.internalCode == inner)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: S29 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenRevokedFamilyRefreshTokenInCache_andNoMRRT_shouldFail
    @Test func requiresInteractionAfterTheFamilyTokenIsRejected() async throws {
        try await AgentFixture.with(settings: .family()) { f in
            let account = try await f.msalApp("family-1").signIn(Self.alice).account
            let app = try f.msalApp("family-2")
            f.emulator.control.inject(.error("invalid_grant", suberror: "bad_token", grant: .refreshToken))
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: D7 MSIDDefaultAccessorSSOIntegrationTests
    //   testGetRefreshTokenWithAccount_whenFamilyIdProvided_andOnlyClientTokenInPrimaryAccessor_shouldReturnNil
    @Test func doesNotUseTheRefreshTokenOfAnotherApp() async throws {
        try await AgentFixture.with(settings: .family()) { f in
            let account = try await f.msalApp("outsider").signIn(Self.alice).account
            let app = try f.msalApp("family-1")
            #expect(try await app.listed().isEmpty)
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            #expect(f.redemptions == 0)
        }
    }
}
