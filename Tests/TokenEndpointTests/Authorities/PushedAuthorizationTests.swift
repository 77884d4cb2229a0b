internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// Pushed authorization requests (RFC 9126).
@Suite(.bounded) struct PushedAuthorizationTests {
    private func request() throws -> AuthorizationRequest {
        try AuthorizationRequest(
            clientID: #require(ClientID("app 1")), version: .v2, scopes: ScopeSet(["User.Read"]),
            redirectURI: "http://localhost:5", state: "s", challenge: "ch", loginHint: "alice@contoso.com",
            kind: .openID, correlationID: CorrelationID())
    }

    /// The URL of the sign-in page at a provider whose endpoint for pushed requests answers with `reply`.
    private func page(
        _ reply: ScriptedReply, isRequired: Bool = false, _ check: (String, [ReceivedRequest]) throws -> Void
    ) async throws {
        try await EndpointFixture.with({ $0.path == "/par" ? reply : .answer(status: 404, body: "") }) { fixture in
            var endpoints = Endpoints(token: "https://x/t", authorization: "https://x/a?p=1")
            endpoints.pushedAuthorization = "http://127.0.0.1:\(fixture.server.port)/par"
            endpoints.requiresPushedAuthorization = isRequired
            let page = try await fixture.endpoint.authorizationPage(for: request(), at: endpoints)
            try check(page, fixture.server.received)
        }
    }

    @Test(arguments: [200, 201])
    func leavesTheClientIDAndAReferenceInTheURL(status: Int) async throws {
        try await page(.json(#"{"request_uri":"urn:x:1&2","expires_in":60}"#, status: status)) { page, received in
            #expect(page == "https://x/a?p=1&client_id=app%201&request_uri=urn%3Ax%3A1%262")
            let form = try #require(received.last?.form)
            for (name, value) in [
                ("client_id", "app 1"), ("state", "s"), ("code_challenge", "ch"), ("response_type", "code"),
                ("redirect_uri", "http://localhost:5"), ("login_hint", "alice@contoso.com"),
            ] {
                #expect(form[name] == value)
            }
            #expect(received.map(\.method) == ["POST"])
        }
    }

    @Test(
        arguments: [
            ScriptedReply.json(#"{"error":"invalid_client"}"#, status: 401),
            .json(#"{"error":"unauthorized_client"}"#, status: 400), .answer(status: 404, body: ""),
            .answer(status: 405, body: ""), .answer(status: 403, body: "no"),
        ])
    func sendsTheParametersInTheURLWhereTheAppMayNotPushThem(reply: ScriptedReply) async throws {
        try await page(reply) { page, _ in
            #expect(page.hasPrefix("https://x/a?p=1&client_id=app%201&response_type=code"))
            #expect(page.contains("&state=s&"))
        }
        await #expect(throws: TokenError.self, "a provider that requires it gets no other request") {
            try await self.page(reply, isRequired: true) { _, _ in }
        }
    }

    @Test(
        arguments: [
            (ScriptedReply.json(#"{"error":"invalid_request"}"#, status: 400), TokenError.Code.invalidRequest),
            (.json(#"{"error":"access_denied"}"#, status: 400), .accessDenied),
            (.json("{}", status: 201), .serverInvalidResponse),
            (.json(#"{"request_uri":"a\r\nb"}"#, status: 201), .serverInvalidResponse),
            (.json(#"{"request_uri":""}"#, status: 201), .serverInvalidResponse),
            (.answer(status: 302, headers: [("Location", "/elsewhere")], body: ""), .unhandledHTTPResponse),
            (.answer(status: 500, body: ""), .unhandledHTTPResponse),
        ])
    func reportsTheProvidersErrors(reply: ScriptedReply, code: TokenError.Code) async throws {
        let error = await #expect(throws: TokenError.self) { try await page(reply) { _, _ in } }
        #expect(error?.code == code)
    }

    @Test func learnsTheEndpointFromTheDiscoveryDocument() async throws {
        let document = """
            {"token_endpoint":"https://x/t","authorization_endpoint":"https://x/a",\
            "pushed_authorization_request_endpoint":"https://x/par","require_pushed_authorization_requests":true}
            """
        try await EndpointFixture.with({ _ in .json(document) }) { fixture in
            let endpoints = try await fixture.endpoint.endpoints(of: fixture.authority, version: .v2)
            #expect(endpoints.pushedAuthorization == "https://x/par")
            #expect(endpoints.requiresPushedAuthorization)
        }
    }

    @Test(arguments: ["http://evil.example/par", "https://x/par#a", "par"])
    func pushesNothingOutOfTLS(endpoint: String) async throws {
        let document = """
            {"token_endpoint":"https://x/t","authorization_endpoint":"https://x/a",\
            "pushed_authorization_request_endpoint":"\(endpoint)"}
            """
        try await EndpointFixture.with({ _ in .json(document) }) { fixture in
            let error = await failure { try await fixture.endpoint.endpoints(of: fixture.authority, version: .v2) }
            #expect(error?.code == .serverInvalidResponse)
        }
    }
}
