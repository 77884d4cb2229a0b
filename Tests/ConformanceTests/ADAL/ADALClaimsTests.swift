internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// Claims requests of `acquireToken`, and those that are refused.
@Suite(.bounded) struct ADALClaimsTests {
    private static let claims = "%7B%22access_token%22%3A%7B%22polids%22%3A%7B%7D%7D%7D"
    private static let decoded = #"{"access_token":{"polids":{}}}"#

    /// `acquireToken` with a claims request.
    private func acquire(
        _ app: ADALApp, _ prompt: ADPromptBehavior = AD_PROMPT_AUTO, claims: String?, query: String? = nil,
        capabilities: [String]? = nil
    ) async throws -> ADAuthenticationResult {
        let context = try app.context()
        context.clientCapabilities = capabilities
        return await context.acquireToken(
            withResource: app.resource, clientId: app.clientID, redirectUri: try ADALApp.redirectURI(),
            promptBehavior: prompt, userIdentifier: ADUserIdentifier(id: ADALApp.alice), extraQueryParameters: query,
            claims: claims)
    }

    /// The claims of the requests for the sign-in page.
    private func pageClaims(_ f: AgentFixture) -> [String?] {
        f.emulator.control.requests.filter { $0.counter == .authorize }.map { $0.parameters["claims"] }
    }

    // Mirrors: 65 ADAcquireTokenTests testAcquireToken_whenClaimsIsNotProperlyEncoded_shouldReturnError,
    //   testAcquireToken_whenClaimsIsNotProperJSON_shouldReturnError, testAcquireToken_whenDuplicateClaimsIsPassedInEQP_shouldReturnError
    @Test(
        arguments: [(#"{"access_token":{}}"#, nil), ("%7Bno+JSON%7D", nil), (claims, "claims=%7B%7D")]
            as [(String, String?)])
    func refusesClaimsThatCannotBeSent(claims: String, query: String?) async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.emulator.control.resetCounts()
            let result = try await acquire(app, claims: claims, query: query)
            #expect(result.status == AD_FAILED)
            #expect(result.error?.domain == ADAuthenticationErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_DEVELOPER_INVALID_ARGUMENT.rawValue)
            #expect(f.emulator.control.counts.requests.isEmpty)
        }
    }

    // Mirrors: 65 ADAcquireTokenTests testAcquireToken_whenClaimsIsNil_shouldNotSkipCache,
    //   testAcquireToken_whenClaimsIsEmpty_shouldNotSkipCache, …_whenCapabilitiesSet_andPromptAuto_…_shouldNotSkipAccessTokenCache
    @Test(arguments: [nil, "", " "]) func usesTheCacheWithoutClaims(claims: String?) async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let signedIn = try await app.signIn()
            let result = try await acquire(app, claims: claims, capabilities: ["cp1"])
            #expect(result.accessToken == signedIn.accessToken)
            #expect(f.redemptions == 0)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: 65 ADAcquireTokenTests
    //   testAcquireToken_whenClaimsIsPassedViaOverloadedAcquireToken_andPromptAuto_andInValidMRRT_shouldSkipAccessTokenCache_andShowUI
    @Test func showsThePageForClaimsThatARefreshDoesNotMeet() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let signedIn = try await app.signIn()
            f.failRefresh("invalid_grant", suberror: "bad_token")
            let result = try await acquire(app, claims: Self.claims)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.accessToken != signedIn.accessToken)
            #expect(app.refreshes.map { $0["claims"] } == [Self.decoded])
            #expect(pageClaims(f) == [nil, Self.decoded])
        }
    }

    // Mirrors: 65 ADAcquireTokenTests testAcquireToken_whenClaimsIsPassedViaOverloadedAcquireToken_andPromptAlways_shouldSkipCache,
    //   testAcquireTokenInteractive_whenCapabilitiesAndClaimsPassed_shouldPassClaimsToServer
    @Test func sendsClaimsAndCapabilitiesToThePage() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            let result = try await acquire(app, AD_PROMPT_ALWAYS, claims: Self.claims, capabilities: ["cp1"])
            #expect(result.status == AD_SUCCEEDED)
            #expect(app.refreshes.isEmpty)
            let merged = #"{"access_token":{"polids":{},"xms_cc":{"values":["cp1"]}}}"#
            #expect(pageClaims(f) == [nil, merged])
        }
    }

    @Test func answersTheChallengeToARevokedToken() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let signedIn = try await acquire(app, AD_PROMPT_ALWAYS, claims: nil, capabilities: ["CP1"])
            f.emulator.control.revokeTokens(refreshTokens: .valid)
            let refusal = try await f.emulator.graph(try #require(signedIn.accessToken))
            let header = try #require(refusal.headers["www-authenticate"])
            let challenge = try #require(
                ADAuthenticationParameters(fromResponseAuthenticateHeader: header, error: nil))
            let base64 = try #require(challenge.extractedParameters?["claims"] as? String)
            let json = String(decoding: try #require(Data(base64Encoded: base64)), as: UTF8.self)
            let claims = try #require(json.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let renewed = try await acquire(app, claims: claims, capabilities: ["CP1"])
            #expect(try await f.emulator.graph(try #require(renewed.accessToken)).status == 200)
            #expect(try await app.silent(ADALApp.alice).accessToken == renewed.accessToken)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: 65 ADAcquireTokenTests testAcquireTokenSilent_whenCapabilitiesSet_andValidMRRT_andCustomClaimsPassed_shouldSkipAccessTokenCache
    @Test func sendsClaimsAndCapabilitiesWithARefresh() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let signedIn = try await app.signIn()
            let context = try app.context()
            context.clientCapabilities = ["cp1"]
            let result = await context.acquireTokenSilent(
                withResource: ADALApp.graph, clientId: "app-1", redirectUri: try ADALApp.redirectURI(),
                userId: ADALApp.alice, claims: Self.claims)
            #expect(result.accessToken != signedIn.accessToken)
            let merged = #"{"access_token":{"polids":{},"xms_cc":{"values":["cp1"]}}}"#
            #expect(app.refreshes.map { $0["claims"] } == [merged])
        }
    }
}
