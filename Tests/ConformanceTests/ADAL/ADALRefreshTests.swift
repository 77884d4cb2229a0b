internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// Refreshes of ADAL.
@Suite(.bounded) struct ADALRefreshTests {
    private static let alice = ADALApp.alice

    // Mirrors: 8 ADAcquireTokenTests testSilentBadRefreshToken
    @Test func removesARejectedRefreshTokenForOneResource() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.tokenReply = ["resource": nil]
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.failRefresh("invalid_grant", suberror: "bad_token")
            let cause = expectInputNeeded(try await app.silent(Self.alice))
            #expect(cause?.protocolCode == "invalid_grant")
            expectInputNeeded(try await app.silent(Self.alice))
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: 9 ADAcquireTokenTests testSilentExpiredATBadMRRT
    @Test func removesARejectedRefreshTokenForAllResources() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.failRefresh("invalid_grant", suberror: "bad_token")
            let cause = expectInputNeeded(try await app.silent(Self.alice))
            #expect(cause?.domain == ADOAuthServerErrorDomain)
            #expect(cause?.code == ADErrorCode.ERROR_SERVER_REFRESH_TOKEN_REJECTED.rawValue)
            f.letTokensExpire()
            let later = try await expectInputNeeded(app.silent(Self.alice))
            #expect(later == nil)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: 9 ADAcquireTokenTests testSilentExpiredATBadMRRT, where we differ: a refusal that may pass costs nothing
    @Test func keepsARefreshTokenThatIsNotSaidToBeBad() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.failRefresh("invalid_grant")
            expectInputNeeded(try await app.silent(Self.alice))
            f.letTokensExpire()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 10 ADAcquireTokenTests testSilentExpiredATRefreshMRRTNetwork
    @Test func renewsBothTokens() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let old = try await app.signIn()
            f.letTokensExpire()
            let result = try await app.silent(Self.alice)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.accessToken != old.accessToken)
            #expect(result.multiResourceRefreshToken)
            #expect(result.authority == app.authority)
            let item = try #require(result.tokenCacheItem)
            #expect(item.expiresOn == Date(timeIntervalSince1970: TimeInterval(f.clock.now + 3599)))
            #expect(item.userInformation?.homeAccountId == old.tokenCacheItem?.userInformation?.homeAccountId)
            #expect(try await app.silent(Self.alice).accessToken == item.accessToken)
            // The new refresh token is used from now on, also for other resources.
            #expect(try await ADALApp(f, resource: "https://other").silent(Self.alice).status == AD_SUCCEEDED)
            #expect(Set(app.refreshes.map { $0["refresh_token"] }).count == 2)
            #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
        }
    }

    // Mirrors: MSIDAADTokenResponse initWithJSONDictionary:refreshToken:error:, after which isMultiResource is true
    @Test func hasTheOldRefreshTokenForAllResourcesIfTheResponseHasNone() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.rotation = .none
            let app = ADALApp(f)
            try await app.signIn()
            for _ in 1...2 {
                f.letTokensExpire()
                #expect(try await app.silent(Self.alice).multiResourceRefreshToken)
            }
            #expect(try await !app.silent(Self.alice).multiResourceRefreshToken)
            #expect(Set(app.refreshes.map { $0["refresh_token"] }).count == 1)
        }
    }

    // Mirrors: 11 ADAcquireTokenTests testSilentExpiredATRefreshMRRTNetwork_whenRedeemingMRRT_withNSNumbersInParsedJSON
    @Test func readsNumbersThatAreNumbers() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.tokenReply = ["expires_in": 1800, "ext_expires_in": 5400]
            var app = ADALApp(f)
            app.extendedLifetime = true
            try await app.signIn()
            let item = try #require(try await app.silent(Self.alice).tokenCacheItem)
            #expect(item.expiresOn == Date(timeIntervalSince1970: TimeInterval(f.clock.now + 1800)))
            let extended = Date(timeIntervalSince1970: TimeInterval(f.clock.now + 5400))
            f.letTokensExpire()
            f.emulator.control.inject(.status(503, count: 0))
            #expect(try await app.silent(Self.alice).tokenCacheItem?.expiresOn == extended)
        }
    }

    // Mirrors: 12 ADAcquireTokenTests testMRRTNoNetworkConnection
    @Test func reportsAFailingNetworkAndKeepsTheRefreshToken() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.emulator.control.inject(
                Fault {
                    $0.grant = .refreshToken; $0.drop = true; $0.count = 0
                })
            let result = try await app.silent(Self.alice)
            #expect(result.status == AD_FAILED)
            #expect(result.error?.domain == NSURLErrorDomain)
            #expect(result.error?.protocolCode == nil)
            // ADAL's result has no correlation ID here, by which the identity provider finds the request in its logs.
            #expect(result.correlationId != nil)
            f.emulator.control.clearFaults()
            f.letTokensExpire()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 12 ADAcquireTokenTests testMRRTNoNetworkConnection, for the body of the request
    @Test func sendsWhatADALSends() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            let context = try app.context()
            let id = UUID()
            context.correlationId = id
            let result = await context.acquireTokenSilent(
                withResource: ADALApp.graph, clientId: " app-1 ", redirectUri: try ADALApp.redirectURI())
            #expect(result.correlationId == id)
            #expect(result.tokenCacheItem?.clientId == "app-1")
            var sent = try #require(app.refreshes.first)
            #expect(sent.removeValue(forKey: "refresh_token")?.isEmpty == false)
            #expect(
                sent == [
                    "grant_type": "refresh_token", "client_id": "app-1", "resource": ADALApp.graph,
                    "client_info": "1", "scope": "openid",
                ])
            let request = try #require(f.emulator.control.requests.first { $0.counter == .refreshToken })
            #expect(request.path == "/common/oauth2/token")
            #expect(request.headers["client-request-id"]?.lowercased() == id.uuidString.lowercased())
        }
    }

    // Mirrors: 17 ADAcquireTokenTests testRequestRetryOnUnusualHttpResponse, where we differ: a grant is sent once
    @Test func reportsAServerErrorAndKeepsTheRefreshToken() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.emulator.control.inject(.status(500, grant: .refreshToken))
            let result = try await app.silent(Self.alice)
            #expect(result.error?.domain == ADHTTPErrorCodeDomain)
            #expect(result.error?.code == 500)
            #expect(f.redemptions == 1)
            f.letTokensExpire()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 18 ADAcquireTokenTests testAdditionalServerProperties
    @Test func acceptsAResponseWithUnknownFields() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.tokenReply = ["arb": "property", "more": ["a": [1, nil]], "pwd_exp": "12"]
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            let result = try await app.silent(Self.alice)
            #expect(result.status == AD_SUCCEEDED)
            #expect(try await app.silent(Self.alice).accessToken == result.accessToken)
        }
    }

    // Mirrors: 26 ADAcquireTokenTests testAcquireTokenSilent_whenUserMismatch_shouldContinueWithoutError
    @Test func savesTheTokensOfTheUserThatTheServerNames() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let bob = try #require(try await app.signIn(ADALApp.bob).tokenCacheItem?.userInformation)
            try await app.signIn()
            f.emulator.control.settings.tokenReply = ["id_token": .string(bob.rawIdToken), "client_info": nil]
            let result = try await ADALApp(f, resource: "https://other").silent(Self.alice)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.tokenCacheItem?.userInformation?.userId == ADALApp.bob)
        }
    }

    // Mirrors: 35 ADAcquireTokenTests testSilentForceRefresh_whenMRRT
    @Test func renewsAGoodTokenWhenForced() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let old = try await app.signIn()
            let result = try await app.silent(Self.alice, forceRefresh: true)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.accessToken != old.accessToken)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: 35 ADAcquireTokenTests testSilentForceRefresh_whenNoMRRT
    @Test func requiresASignInToForceARefreshWithoutARefreshToken() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.tokenReply = ["refresh_token": nil]
            let app = ADALApp(f)
            let old = try await app.signIn()
            let cause = try await expectInputNeeded(app.silent(Self.alice, forceRefresh: true))
            #expect(cause == nil)
            // ADAL removes the valid token here.
            #expect(try await app.silent(Self.alice).accessToken == old.accessToken)
        }
    }

    // Mirrors: 35 ADAcquireTokenTests testSilentForceRefresh_whenSingleResourceRefreshToken
    @Test func renewsATokenForOneResourceWhenForced() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.tokenReply = ["resource": nil]
            let app = ADALApp(f)
            let old = try await app.signIn()
            let result = try await app.silent(Self.alice, forceRefresh: true)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.accessToken != old.accessToken)
            #expect(!result.multiResourceRefreshToken)
            // It cannot be used for other resources.
            expectInputNeeded(try await ADALApp(f, resource: "https://other").silent(Self.alice))
            #expect(f.redemptions == 1)
        }
    }
}
