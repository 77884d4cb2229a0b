internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// `acquireToken`: the cache, then a refresh token, then the sign-in page.
@Suite(.bounded) struct ADALSignInTests {
    private static let (alice, bob) = (ADALApp.alice, ADALApp.bob)

    /// The parameters of the requests for the sign-in page.
    private func pages(_ f: AgentFixture) -> [[String: String]] {
        f.emulator.control.requests.filter { $0.counter == .authorize }.map(\.parameters)
    }

    // Mirrors: ADAcquireTokenTests' authorize requests with `nux=1`, and those of ADAuthenticationRequest+WebRequest
    @Test func sendsClientInformationToThePage() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            let page = try #require(pages(f).first)
            #expect(page["nux"] == "1")
            #expect(page["x-client-SKU"] == "sso-agent")
            #expect(page["x-client-Ver"]?.isEmpty == false)
            #expect(page["x-client-OS"]?.isEmpty == false)
            #expect(page["client-request-id"]?.isEmpty == false)
            // The parameters of MSAL.
            for name in ["login_req", "domain_req", "return-client-request-id"] { #expect(page[name] == nil) }
        }
    }

    @Test func usesTheCacheThenARefreshTokenThenASignIn() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let alice = ADUserIdentifier(id: Self.alice)
            let first = try await app.acquire(alice)
            #expect(try await app.acquire(alice).accessToken == first.accessToken)
            #expect((f.signIns, f.redemptions) == (1, 0))
            f.letTokensExpire()
            #expect(try await app.acquire(alice).status == AD_SUCCEEDED)
            #expect((f.signIns, f.redemptions) == (1, 1))
            f.letTokensExpire()
            f.failRefresh("invalid_grant", suberror: "bad_token")
            #expect(try await app.acquire(alice).status == AD_SUCCEEDED)
            #expect((f.signIns, f.redemptions) == (2, 2))
        }
    }

    @Test(arguments: [
        ("interaction_required", "basic_action"), ("unauthorized_client", "protection_policy_required"),
        ("invalid_client", nil), ("temporarily_unavailable", nil),
    ])
    func showsThePageAfterAnyErrorOfTheRefresh(error: String, suberror: String?) async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.failRefresh(error, suberror: suberror)
            #expect(try await app.acquire(ADUserIdentifier(id: Self.alice)).status == AD_SUCCEEDED)
            #expect(f.signIns == 2)
        }
    }

    @Test func doesNotShowThePageWhenTheServerIsDown() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.emulator.control.inject(.status(503, grant: .refreshToken))
            let result = try await app.acquire(ADUserIdentifier(id: Self.alice))
            #expect(result.error?.domain == ADHTTPErrorCodeDomain)
            #expect(result.error?.code == 503)
            #expect(f.signIns == 1)
        }
    }

    @Test(arguments: [
        (AD_PROMPT_AUTO, nil), (AD_PROMPT_ALWAYS, "login"), (AD_FORCE_PROMPT, "login"),
        (AD_PROMPT_REFRESH_SESSION, "refresh_session"),
    ])
    func sendsThePromptToThePage(prompt: ADPromptBehavior, sent: String?) async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            if prompt != AD_PROMPT_AUTO { try await app.signIn() }
            #expect(try await app.acquire(ADUserIdentifier(id: Self.alice), prompt).status == AD_SUCCEEDED)
            let page = try #require(pages(f).last)
            #expect(page["prompt"] == sent)
            #expect(page["resource"] == ADALApp.graph)
            #expect(page["response_type"] == "code")
        }
    }

    @Test(arguments: [(RequiredDisplayableId, true), (OptionalDisplayableId, true), (UniqueId, false)])
    func sendsDisplayableNamesAsLoginHints(type: ADUserIdentifierType, isHint: Bool) async throws {
        try await AgentFixture.with(usernames: [Self.alice]) { f in
            _ = try await ADALApp(f).acquire(ADUserIdentifier(id: " Alice@contoso.com ", type: type))
            #expect(pages(f).map { $0["login_hint"] } == [isHint ? Self.alice : nil])
        }
    }

    @Test func sendsAdditionalParametersToThePage() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            _ = try await app.acquire(
                ADUserIdentifier(id: Self.alice), query: "&domain_hint=contoso.com&nux=1&extra=a%26b")
            let page = try #require(pages(f).last)
            #expect(page["domain_hint"] == "contoso.com")
            #expect(page["nux"] == "1")
            #expect(page["extra"] == "a&b")
        }
    }

    @Test func refusesParametersThatAreNotEncodedBeforeItSendsARequest() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            let count = f.emulator.control.requests.count
            let result = try await app.acquire(ADUserIdentifier(id: Self.alice), query: "a=b c")
            #expect(result.error?.domain == ADAuthenticationErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_DEVELOPER_INVALID_ARGUMENT.rawValue)
            #expect(f.emulator.control.requests.count == count)
        }
    }

    @Test(arguments: [(RequiredDisplayableId, false), (OptionalDisplayableId, true)])
    func comparesWhoSignedIn(type: ADUserIdentifierType, isTaken: Bool) async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn(Self.bob)
            f.emulator.control.settings.tokenReply = ["client_info": nil]
            f.emulator.control.settings.idTokenClaims = ["upn": .string(Self.bob), "unique_name": .string(Self.bob)]
            let result = try await app.acquire(ADUserIdentifier(id: Self.alice, type: type))
            #expect(result.status == (isTaken ? AD_SUCCEEDED : AD_FAILED))
            #expect(result.error?.code == (isTaken ? nil : ADErrorCode.ERROR_SERVER_WRONG_USER.rawValue))
            // The tokens are saved in both cases, because Bob did sign in.
            #expect(try await app.silent(Self.bob).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 64 ADAcquireTokenTests testAcquireTokenInteractive_whenSystemErrorWhileAccessingTokenEndpoint_shouldSurfaceSystemError
    @Test func reportsALostConnectionToTheTokenEndpoint() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.grant = .authorizationCode
                    $0.drop = true
                    $0.count = 0
                })
            let result = try await ADALApp(f).acquire(ADUserIdentifier(id: Self.alice))
            #expect(result.status == AD_FAILED)
            #expect(result.error?.domain == NSURLErrorDomain)
            #expect(result.error?.code == NSURLErrorNetworkConnectionLost)
            #expect(result.error?.protocolCode == nil)
            #expect(pages(f).count == 1)
        }
    }

    @Test func reportsTheErrorsOfThePage() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .authorize; $0.error = "access_denied"; $0.errorDescription = "not me"
                })
            let result = try await ADALApp(f).acquire(ADUserIdentifier(id: Self.alice))
            #expect(result.status == AD_FAILED)
            #expect(result.error?.domain == ADOAuthServerErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_SERVER_AUTHORIZATION_CODE.rawValue)
            #expect(result.error?.protocolCode == "access_denied")
            #expect(result.error?.errorDetails?.contains("not me") == true)
        }
    }

    // Mirrors: MSIDAADV1Oauth2Factory verifyResponse: 202 for every error but that of a protection policy
    @Test(arguments: [
        "invalid_grant", "interaction_required", "login_required", "consent_required", "access_denied",
        "invalid_client", "server_error", "made_up",
    ])
    func reportsARefusedCode(error: String) async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(.error(error, grant: .authorizationCode))
            let result = try await ADALApp(f).acquire(ADUserIdentifier(id: Self.alice))
            #expect(result.status == AD_FAILED)
            #expect(result.error?.domain == ADOAuthServerErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_SERVER_OAUTH.rawValue)
            #expect(result.error?.protocolCode == error)
        }
    }

    @Test func sendsCapabilitiesWithoutBypassingTheCache() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let signedIn = try await app.signIn()
            let context = try app.context()
            context.clientCapabilities = ["cp1"]
            let redirect = try ADALApp.redirectURI()
            let cached = await context.acquireTokenSilent(
                withResource: ADALApp.graph, clientId: "app-1", redirectUri: redirect, userId: Self.alice)
            #expect(cached.accessToken == signedIn.accessToken)
            f.letTokensExpire()
            _ = await context.acquireTokenSilent(
                withResource: ADALApp.graph, clientId: "app-1", redirectUri: redirect, userId: Self.alice)
            #expect(app.refreshes.last?["claims"] == #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#)
        }
    }

    @Test func redeemsForClaimsBeforeASignIn() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            let result = await (try app.context()).acquireToken(
                withResource: ADALApp.graph, clientId: "app-1", redirectUri: try ADALApp.redirectURI(),
                promptBehavior: AD_PROMPT_AUTO, userIdentifier: ADUserIdentifier(id: Self.alice),
                extraQueryParameters: nil, claims: "%7B%22id_token%22%3A%7B%7D%7D")
            #expect(result.status == AD_SUCCEEDED)
            #expect(app.refreshes.map { $0["claims"] } == [#"{"id_token":{}}"#])
            #expect(f.signIns == 1)
        }
    }
}
