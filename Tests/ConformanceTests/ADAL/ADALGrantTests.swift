internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// Tokens for a refresh token or an assertion that the app holds.
@Suite(.bounded) struct ADALGrantTests {
    private static let alice = ADALApp.alice

    private static func assertion(_ name: String) -> String { "<Assertion><NameID>\(name)</NameID></Assertion>" }

    // Mirrors: 30 ADAcquireTokenTests testAcquireToken_whenRefreshTokenIsPassedIn_shouldStoreTokensIfSucceed
    @Test func keepsTheTokensOfARefreshTokenOfTheAppsOwn() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let result = try await app.redeem(try await app.forgottenRefreshToken())
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.multiResourceRefreshToken)
            #expect(result.authority == app.authority)
            #expect(result.tokenCacheItem?.userInformation?.userId == Self.alice)
            #expect(try await app.silent(Self.alice).accessToken == result.accessToken)
            #expect(f.redemptions == 1)
            #expect(try await ADALApp(f, resource: "https://other").silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: MSIDAADTokenResponse initWithJSONDictionary:refreshToken:error:, for a refresh token that the app passes in
    @Test func keepsARefreshTokenOfTheAppsOwnIfTheResponseHasNone() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let token = try await app.forgottenRefreshToken()
            f.emulator.control.settings.rotation = .none
            let result = try await app.redeem(token)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.multiResourceRefreshToken)
            f.letTokensExpire()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
            #expect(app.refreshes.map { $0["refresh_token"] } == [token, token])
        }
    }

    // Mirrors: 30 ADAcquireTokenTests testAcquireToken_whenRefreshTokenIsPassedIn_shouldStoreTokensIfSucceed, beside a good token
    @Test func doesNotAskTheCacheForARefreshTokenOfTheAppsOwn() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let token = try await app.forgottenRefreshToken()
            let cached = try await app.signIn()
            let result = try await app.redeem(token)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.accessToken != cached.accessToken)
        }
    }

    // Mirrors: 31 ADAcquireTokenTests testAcquireToken_whenRefreshTokenRejected_shouldNotDeleteTokenInCacheWithSameCacheKey
    @Test func removesNothingWhenARefreshTokenOfTheAppsOwnIsRefused() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.failRefresh("invalid_grant", suberror: "bad_token")
            let result = try await app.redeem("made up")
            #expect(result.status == AD_FAILED)
            #expect(result.tokenCacheItem == nil)
            #expect(result.error?.domain == ADOAuthServerErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_SERVER_REFRESH_TOKEN_REJECTED.rawValue)
            #expect(result.error?.protocolCode == "invalid_grant")
            #expect(result.error?.userInfo[ADSuberrorKey] as? String == "bad_token")
            f.letTokensExpire()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 32 ADAcquireTokenTests testAcquireToken_whenRefreshTokenAndUserIdMismatch_shouldSucceed
    @Test func redeemsARefreshTokenOfAnotherUser() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let result = try await app.redeem(try await app.forgottenRefreshToken(), userID: ADALApp.bob)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.tokenCacheItem?.userInformation?.userId == Self.alice)
            expectInputNeeded(try await app.silent(ADALApp.bob))
        }
    }

    @Test(arguments: ["", " "]) func refusesABlankRefreshToken(token: String) async throws {
        try await AgentFixture.with { f in
            let result = try await ADALApp(f).redeem(token)
            #expect(result.error?.domain == ADAuthenticationErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_DEVELOPER_INVALID_ARGUMENT.rawValue)
        }
    }

    @Test(arguments: [AD_SAML1_1, AD_SAML2]) func keepsTheTokensOfAnAssertion(type: ADAssertionType) async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let result = try await app.redeem(assertion: Self.assertion(Self.alice), type, userID: Self.alice)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.tokenCacheItem?.userInformation?.userId == Self.alice)
            let sent = try #require(f.emulator.control.requests.first { $0.counter == .assertion }?.parameters)
            #expect(sent["resource"] == ADALApp.graph)
            #expect(sent["scope"] == "openid")
            // The cache is used first from now on, as before a sign-in.
            let again = try await app.redeem(assertion: Self.assertion(Self.alice), type, userID: Self.alice)
            #expect(again.accessToken == result.accessToken)
            f.letTokensExpire()
            #expect(try await app.redeem(assertion: "<x/>", type, userID: Self.alice).status == AD_SUCCEEDED)
            #expect(f.emulator.control.counts[.assertion] == 1)
        }
    }

    @Test func reportsARejectedAssertion() async throws {
        try await AgentFixture.with { f in
            let result = try await ADALApp(f).redeem(assertion: "<Assertion/>")
            #expect(result.error?.domain == ADOAuthServerErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_SERVER_OAUTH.rawValue)
            #expect(result.error?.protocolCode == "invalid_grant")
        }
    }

    /// ADAL 2.7 loses the error, and reports that there is no response.
    @Test func reportsAnOutageDuringTheRedemptionOfAnAssertion() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            f.emulator.control.inject(
                Fault {
                    $0.grant = .saml2Bearer
                    $0.drop = true
                    $0.count = 0
                })
            let lost = try await app.redeem(assertion: Self.assertion(Self.alice), userID: Self.alice)
            #expect(lost.status == AD_FAILED)
            #expect(lost.error?.domain == NSURLErrorDomain)
            #expect(lost.error?.code == NSURLErrorNetworkConnectionLost)
            f.emulator.control.clearFaults()
            f.emulator.control.inject(
                Fault {
                    $0.grant = .saml2Bearer
                    $0.status = 503
                })
            let busy = try await app.redeem(assertion: Self.assertion(Self.alice), userID: Self.alice)
            #expect(busy.error?.domain == ADHTTPErrorCodeDomain)
            #expect(busy.error?.code == 503)
        }
    }

    @Test func reportsAnAssertionAboutAnotherUser() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let result = try await app.redeem(assertion: Self.assertion(ADALApp.bob), userID: Self.alice)
            #expect(result.error?.domain == ADAuthenticationErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_SERVER_WRONG_USER.rawValue)
            // The tokens are saved, as those of a sign-in of Bob.
            #expect(try await app.silent(ADALApp.bob).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 67 ADAcquireTokenTests testAssertionBadAssertion
    @Test(arguments: ["", " \n"]) func refusesABlankAssertion(assertion: String) async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.emulator.control.resetCounts()
            let result = try await app.redeem(assertion: assertion, userID: Self.alice)
            #expect(result.error?.domain == ADAuthenticationErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_DEVELOPER_INVALID_ARGUMENT.rawValue)
            #expect(f.emulator.control.counts.requests.isEmpty)
        }
    }

    @Test func refusesAnAssertionOfAnUnknownType() async throws {
        try await AgentFixture.with { f in
            let result = try await ADALApp(f).redeem(assertion: "<Assertion/>", ADAssertionType(7))
            #expect(result.error?.code == ADErrorCode.ERROR_DEVELOPER_INVALID_ARGUMENT.rawValue)
        }
    }
}
