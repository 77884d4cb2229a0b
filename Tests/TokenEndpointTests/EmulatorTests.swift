internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// Complete sign-ins with the emulator, over HTTP.
@Suite(.bounded) struct EmulatorTests {
    @Test(arguments: [OAuthVersion.v1, .v2]) func signsInThroughTheBrowserAndRefreshes(version: OAuthVersion)
        async throws
    {
        try await withEmulator { endpoint, authority in
            let scopes = ScopeSet(resource: "https://graph.example")
            let state = PKCE.randomText()
            let pkce = PKCE.make()
            let redirect = try await LoopbackRedirect.listen(
                redirectURI: nil, state: state, userID: geteuid())
            defer { redirect.close() }
            let authorization = try AuthorizationRequest(
                clientID: #require(ClientID("app-1")), version: version, scopes: scopes,
                redirectURI: redirect.redirectURI, state: state, challenge: pkce.challenge,
                loginHint: "ada@contoso.example", correlationID: CorrelationID())
            let url = try await endpoint.endpoints(of: authority, version: version).authorization
            _ = try await WebClient.browse(to: authorization.url(endpoint: url))
            let answer = try await AuthorizationResponse(
                url: redirect.response(), expectedState: state, issuer: nil)
            let grant = Grant.authorizationCode(
                code: answer.code, verifier: pkce.verifier, redirectURI: redirect.redirectURI)
            let signedIn = try await endpoint.redeem(.sample(authority, grant: grant, version: version, scopes: scopes))
            try await expectRotation(of: signedIn, endpoint, authority, version, scopes)
        }
    }

    @Test(arguments: [OAuthVersion.v1, .v2]) func signsInWithADeviceCode(version: OAuthVersion) async throws {
        try await withEmulator { endpoint, authority in
            let scopes = ScopeSet(resource: "https://graph.example")
            let grant = try await endpoint.beginDeviceCode(
                DeviceCodeRequest(
                    clientID: #require(ClientID("app-1")), authority: authority, version: version, scopes: scopes,
                    correlationID: CorrelationID()))
            #expect(grant.message.contains(grant.userCode))
            let poll = try TokenRequest.sample(
                authority, grant: .deviceCode(grant.deviceCode), version: version, scopes: scopes)
            let error = await failure { try await endpoint.redeem(poll) }
            #expect(error == nil || error?.details.oauthError == "authorization_pending")
        }
    }

    @Test func discoversTheCloudOfTheEmulator() async throws {
        try await withEmulator { endpoint, authority in
            let clouds = try await endpoint.discoverClouds(of: authority, correlationID: CorrelationID())
            var directory = CloudDirectory()
            _ = directory.learn(clouds, about: authority.environment)
            #expect(directory.knows(authority.environment))
            let clock = try await endpoint.probe(authority).get()
            #expect(clock.secondsSince1970 != nil)
        }
    }

    private func expectRotation(
        of response: IssuedTokens, _ endpoint: TokenEndpointClient, _ authority: Authority, _ version: OAuthVersion,
        _ scopes: ScopeSet
    ) async throws {
        let account = try #require(response.homeAccountID)
        let refreshToken = try #require(response.refreshToken)
        let refreshed = try await endpoint.redeem(
            .sample(authority, grant: .refreshToken(refreshToken), version: version, scopes: scopes))
        #expect(refreshed.homeAccountID == account)
        #expect(refreshed.accessToken != nil && refreshed.accessToken != response.accessToken)
        #expect(refreshed.refreshToken != nil && refreshed.refreshToken != refreshToken)
        #expect(refreshed.idToken.flatMap { IDTokenClaims(idToken: $0) }?.tenantID == account.tenantID)
    }

    private func withEmulator(_ body: (TokenEndpointClient, Authority) async throws -> Void) async throws {
        let emulator = try await Emulator.start()
        let endpoint = try TokenEndpointClient(
            network: NetworkSettings(environment: [:]), allowsLoopbackHTTP: true, now: { 0 })
        try await withCleanup {
            try await body(endpoint, Authority(emulator.url + "/common"))
        } cleanUp: {
            await endpoint.close()
            await emulator.stop()
        }
    }
}
