internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// Refresh tokens that a family of client IDs shares.
@Suite(.bounded) struct ADALFamilyTests {
    private static let alice = ADALApp.alice

    // Mirrors: 19 ADAcquireTokenTests testAcquireRefreshFamilyTokenNetwork
    @Test func keepsTheRefreshTokenOfAMemberForTheFamily() async throws {
        try await AgentFixture.with(settings: .family(of: "app-2")) { f in
            let (one, two) = (ADALApp(f, "app-1"), ADALApp(f, "app-2"))
            try await one.signIn()
            f.emulator.control.settings.familyApps["app-1"] = "1"
            f.letTokensExpire()
            let result = try await one.silent(Self.alice)
            #expect(result.tokenCacheItem?.familyId == "1")
            // As MSIDLegacyAccessToken, which is saved without it.
            #expect(try await one.silent(Self.alice).tokenCacheItem?.familyId == nil)
            #expect(try await two.silent(Self.alice).status == AD_SUCCEEDED)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: 20 ADAcquireTokenTests testAcquireTokenUsingFRT
    @Test func usesTheFamilysRefreshTokenWhenItIsAllThereIs() async throws {
        try await AgentFixture.with(settings: .family(of: "app-1", "app-2")) { f in
            try await ADALApp(f, "app-1").signIn()
            let app = ADALApp(f, "app-2")
            let result = try await app.silent(Self.alice)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.tokenCacheItem?.familyId == "1")
            #expect(result.multiResourceRefreshToken)
            #expect(app.refreshes.last?["client_id"] == "app-2")
        }
    }

    // Mirrors: 20 ADAcquireTokenTests testAcquireTokenUsingFRT, when that is refused
    @Test func saysWhyTheFamilysRefreshTokenIsRefusedWhenItIsAllThereIs() async throws {
        try await AgentFixture.with(settings: .family(of: "app-1", "app-2")) { f in
            try await ADALApp(f, "app-1").signIn()
            f.failRefresh("interaction_required", suberror: "basic_action")
            let cause = expectInputNeeded(try await ADALApp(f, "app-2").silent(Self.alice))
            #expect(cause?.code == ADErrorCode.ERROR_SERVER_REFRESH_TOKEN_REJECTED.rawValue)
            #expect(cause?.protocolCode == "interaction_required")
            f.letTokensExpire()
            f.failRefresh("unauthorized_client", suberror: "protection_policy_required")
            let error = try await ADALApp(f, "app-2").silent(Self.alice).error
            #expect(error?.code == ADErrorCode.ERROR_SERVER_PROTECTION_POLICY_REQUIRED.rawValue)
        }
    }

    // Mirrors: 21 ADAcquireTokenTests testAcquireTokenMRRTFailFRTFallback
    @Test func fallsBackOnTheFamilysRefreshToken() async throws {
        try await AgentFixture.with(settings: .family(of: "app-2")) { f in
            let app = ADALApp(f, "app-1")
            try await app.signIn()
            try await ADALApp(f, "app-2").signIn()
            f.emulator.control.settings.familyApps["app-1"] = "1"
            f.letTokensExpire()
            f.failRefresh("invalid_grant", suberror: "bad_token")
            let result = try await app.silent(Self.alice)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.tokenCacheItem?.familyId == "1")
            // Its own refresh token was sent first.
            let tried = app.refreshes.map { $0["refresh_token"] }
            #expect(Set(tried).count == 2)
            // Both are replaced: the refresh token of the app and that of the family.
            f.letTokensExpire()
            for clientID in ["app-1", "app-2"] {
                #expect(try await ADALApp(f, clientID).silent(Self.alice).status == AD_SUCCEEDED)
            }
            #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
        }
    }

    // Mirrors: 21 ADAcquireTokenTests testAcquireTokenMRRTFailFRTFallback, after errors that end MSAL's request
    @Test(
        arguments: [
            ("invalid_scope", nil), ("invalid_client", nil), ("server_error", nil),
            ("unauthorized_client", "protection_policy_required"),
        ] as [(String, String?)])
    func fallsBackOnTheFamilysRefreshTokenAfterEveryOAuthError(error: String, suberror: String?) async throws {
        try await AgentFixture.with(settings: .family(of: "app-2")) { f in
            let app = ADALApp(f, "app-1")
            try await app.signIn()
            try await ADALApp(f, "app-2").signIn()
            f.emulator.control.settings.familyApps["app-1"] = "1"
            f.letTokensExpire()
            f.failRefresh(error, suberror: suberror)
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
            #expect(Set(app.refreshes.map { $0["refresh_token"] }).count == 2)
        }
    }

    // Mirrors: 21 ADAcquireTokenTests testAcquireTokenMRRTFailFRTFallback, when the server is down
    @Test func sendsNoOtherRefreshTokenToAServerThatIsDown() async throws {
        try await AgentFixture.with(settings: .family(of: "app-2")) { f in
            let app = ADALApp(f, "app-1")
            try await app.signIn()
            try await ADALApp(f, "app-2").signIn()
            f.letTokensExpire()
            var fault = Fault.error("server_error", grant: .refreshToken)
            fault.status = 503
            f.emulator.control.inject(fault)
            #expect(try await app.silent(Self.alice).error?.code == 503)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: 21 ADAcquireTokenTests testAcquireTokenMRRTFailFRTFallback, when that fails too
    @Test func reportsTheErrorOfTheAppsRefreshToken() async throws {
        try await AgentFixture.with(settings: .family(of: "app-2")) { f in
            let app = ADALApp(f, "app-1")
            try await app.signIn()
            try await ADALApp(f, "app-2").signIn()
            f.letTokensExpire()
            f.failRefresh("interaction_required", suberror: "basic_action")
            let cause = expectInputNeeded(try await app.silent(Self.alice))
            #expect(cause?.protocolCode == "interaction_required")
            #expect(f.redemptions == 2)
        }
    }

    // Mirrors: 22 ADAcquireTokenTests testFRTFailFallbackToMRRT
    @Test func triesTheFamilysFirstForAMember() async throws {
        try await AgentFixture.with(settings: .family(of: "app-1", "app-2")) { f in
            let app = ADALApp(f, "app-1")
            try await app.signIn()
            try await ADALApp(f, "app-2").signIn()
            f.letTokensExpire()
            f.failRefresh("invalid_grant", suberror: "bad_token")
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
            #expect(f.redemptions == 2)
            #expect(Set(app.refreshes.map { $0["refresh_token"] }).count == 2)
        }
    }

    // Mirrors: 23 ADAcquireTokenTests testFociMRRTWithNoFRT
    @Test func makesTheFamilysRefreshTokenOfAMembers() async throws {
        try await AgentFixture.with(settings: .family(of: "app-1", "app-2")) { f in
            let (one, two) = (ADALApp(f, "app-1"), ADALApp(f, "app-2"))
            try await one.signIn()
            try await two.signIn()
            f.letTokensExpire()
            // The family token is rejected and removed; the app's own token is refused for now and kept.
            f.failRefresh("invalid_grant", suberror: "bad_token")
            f.failRefresh("interaction_required")
            expectInputNeeded(try await one.silent(Self.alice))
            f.letTokensExpire()
            #expect(try await one.silent(Self.alice).tokenCacheItem?.familyId == "1")
            #expect(f.redemptions == 3)
            #expect(try await ADALApp(f, "app-3").silent(Self.alice).status == AD_FAILED)
            f.emulator.control.settings.familyApps["app-4"] = "1"
            #expect(try await ADALApp(f, "app-4").silent(Self.alice).status == AD_SUCCEEDED)
        }
    }
}
