internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

@Suite(.bounded) struct OAuthErrorTests {
    @Test(
        arguments: [
            ("invalid_request", nil, TokenError.Code.invalidRequest),
            ("invalid_client", nil, .invalidClient),
            ("invalid_grant", "bad_token", .invalidGrant),
            ("invalid_scope", nil, .invalidScope),
            ("unauthorized_client", nil, .unauthorizedClient),
            ("unauthorized_client", "protection_policy_required", .protectionPolicyRequired),
            ("invalid_grant", "protection_policy_required", .invalidGrant),
            ("access_denied", nil, .accessDenied),
            ("authorization_declined", nil, .accessDenied),
            ("server_error", nil, .serverError),
            ("temporarily_unavailable", nil, .serverError),
            ("interaction_required", "basic_action", .interactionRequired),
            ("login_required", nil, .interactionRequired),
            ("consent_required", nil, .interactionRequired),
            ("authorization_pending", nil, .serverOAuth),
            ("slow_down", nil, .serverOAuth),
            ("expired_token", nil, .serverOAuth),
            ("something_new", nil, .serverOAuth),
        ] as [(String, String?, TokenError.Code)])
    func distinguishesErrorsByTheirOAuthName(name: String, subError: String?, code: TokenError.Code) async throws {
        let suffix = subError.map { #","suberror":"\#($0)""# } ?? ""
        let body = #"{"error":"\#(name)","error_description":"AADSTS1: no","error_codes":[50076,"50079"]\#(suffix)}"#
        try await EndpointFixture.with(EndpointFixture.token(.json(body, status: 400))) { fixture in
            let request = try TokenRequest.sample(fixture.authority)
            let error = try await fixture.failure(request)
            #expect(error.code == code)
            #expect(error.details.oauthError == name)
            #expect(error.details.subError == subError)
            #expect(error.details.errorDescription == "AADSTS1: no")
            #expect(error.details.stsErrorCodes == [50076, 50079])
            #expect(error.details.httpStatus == 400)
            #expect(error.details.correlationID == request.correlationID)
        }
    }

    /// An app has to learn that its user must sign in. Only an error is read so: a token may not have another character in place of its own.
    @Test(arguments: [(400, TokenError.Code.invalidGrant), (200, .serverInvalidResponse)])
    func readsAnErrorWhoseDescriptionIsNotUTF8(status: Int, code: TokenError.Code) {
        let json = #"{"error":"invalid_grant","error_description":"für Müller","error_codes":[50173]}"#
        let latin = json.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        let response = HTTPResponse(endpoint: "https://login.example/token", status: status, body: Secret(bytes: latin))
        let error = #expect(throws: TokenError.self) {
            try response.oauthObject(of: .common, isOfSignIn: false)
        }
        #expect(error?.code == code)
        guard status == 400 else { return }
        #expect(error?.details.errorDescription == "f\u{FFFD}r M\u{FFFD}ller")
        #expect(error?.details.stsErrorCodes == [50173])
    }

    // Mirrors: MSIDErrorCodeForOAuthError, which has no code for either; the sign-in that they require has just failed
    @Test(
        arguments: [
            (name: "login_required", code: .serverOAuth), ("consent_required", .serverOAuth),
            ("interaction_required", .interactionRequired), ("invalid_grant", .invalidGrant),
        ] as [(name: String, code: TokenError.Code)], [false, true])
    func requiresNoSignInAfterASignIn(row: (name: String, code: TokenError.Code), onAnotherDevice: Bool) async throws {
        let grant: Grant =
            onAnotherDevice
            ? .deviceCode(Secret("dc-1"))
            : .authorizationCode(code: Secret("c-1"), verifier: Secret("v"), redirectURI: "http://localhost")
        let reply = ScriptedReply.json(#"{"error":"\#(row.name)"}"#, status: 400)
        try await EndpointFixture.with(EndpointFixture.token(reply)) { fixture in
            let error = try await fixture.failure(TokenRequest.sample(fixture.authority, grant: grant))
            #expect(error.code == row.code)
        }
    }

    @Test(arguments: [("protection_policy_required", "a@b.example"), ("other", nil)])
    func namesTheUserOfAProtectionPolicyOnly(subError: String, username: String?) async throws {
        let body = """
            {"error":"unauthorized_client","suberror":"\(subError)","adi":"a@b.example","client_info":"\(Answers.clientInfo)"}
            """
        try await EndpointFixture.with(EndpointFixture.token(.json(body, status: 400))) { fixture in
            let error = try await fixture.failure()
            #expect(error.details.username == username)
            #expect(error.details.homeAccountID == username.flatMap { _ in HomeAccountID("u1.t1") })
        }
    }

    /// A message has no room for all.
    @Test func keeps64NumbersOfAnError() async throws {
        let numbers = (1...1000).map { "\($0)" }.joined(separator: ",")
        let body = #"{"error":"invalid_grant","error_codes":[\#(numbers)]}"#
        try await EndpointFixture.with(EndpointFixture.token(.json(body, status: 400))) { fixture in
            let error = try await fixture.failure()
            #expect(error.details.stsErrorCodes == Array(1...64))
        }
    }

    /// Apps and terminals get the description of an error.
    @Test func hidesAGrantThatAnErrorRepeats() async throws {
        let token = "0.AXkA-" + String(repeating: "secret/", count: 900)
        let start = token.prefix(64)
        let body = """
            {"error":"\(token)","suberror":"\(start)","error_description":"unknown token '\(token)', \(start) \(token)\(start)"}
            """
        let grants: [Grant] = [
            .refreshToken(Secret(token)), .deviceCode(Secret(token)),
            .authorizationCode(code: Secret("c-1"), verifier: Secret(token), redirectURI: "http://localhost"),
        ]
        for grant in grants {
            try await EndpointFixture.with(EndpointFixture.token(.json(body, status: 400))) { fixture in
                let error = try await fixture.failure(TokenRequest.sample(fixture.authority, grant: grant))
                #expect(error.details.oauthError == "…")
                #expect(error.details.subError == "…")
                #expect(error.details.errorDescription == "unknown token '…', … ……")
                #expect(error.message == "…: unknown token '…', … ……")
            }
        }
    }

    /// An assertion is sent encoded; a provider may decode it first.
    @Test(arguments: [true, false]) func hidesAnAssertionThatAnErrorRepeats(isEncoded: Bool) async throws {
        let assertion = Secret("<Assertion ID='_1'><NameID>alice@contoso.example</NameID></Assertion>")
        let repeated = (isEncoded ? Base64URL.encode(assertion) : assertion).reveal()
        let body = #"{"error":"invalid_grant","error_description":"not valid: \#(repeated)."}"#
        try await EndpointFixture.with(EndpointFixture.token(.json(body, status: 400))) { fixture in
            let grant = Grant.assertion(assertion, isSAML2: true)
            let error = try await fixture.failure(TokenRequest.sample(fixture.authority, grant: grant))
            #expect(error.details.errorDescription == "not valid: ….")
        }
    }

    @Test func hidesAGrantThatAHeaderFieldRepeats() async throws {
        let token = String(repeating: "secret", count: 8)
        let reply = ScriptedReply.answer(status: 500, headers: [("X-Body", "refresh_token=\(token)&a=b")], body: "")
        try await EndpointFixture.with(EndpointFixture.token(reply)) { fixture in
            let grant = Grant.refreshToken(Secret(token))
            let error = try await fixture.failure(TokenRequest.sample(fixture.authority, grant: grant))
            #expect(error.code == .unhandledHTTPResponse)
            #expect(error.details.httpHeaders.values.contains("refresh_token=…&a=b"))
        }
    }

    /// A text with many beginnings of a secret takes no longer than any other.
    @Test func hidesAGrantInLinearTime() {
        let almost = String(repeating: "a", count: 200_000)
        #expect((almost + "b").hiding([Secret(String(repeating: "a", count: 31) + "c" + almost)]) == almost + "b")
        #expect(almost.hiding([Secret(almost + "b")]) == "…")
        #expect("a-1 is short".hiding([Secret("a-1")]) == "a-1 is short")
    }

    @Test(arguments: [200, 401]) func readsAnErrorUnderTheseStatusesToo(status: Int) async throws {
        let reply = ScriptedReply.json(#"{"error":"invalid_grant"}"#, status: status)
        try await EndpointFixture.with(EndpointFixture.token(reply)) { fixture in
            let error = try await fixture.failure()
            #expect(error.code == .invalidGrant)
            #expect(fixture.redeemed.count == 1)
        }
    }

    /// A proxy or a captive portal may answer in place of the provider, with any body.
    @Test(
        arguments: [
            (400, TokenError.Code.serverInvalidResponse), (401, .serverInvalidResponse), (403, .unhandledHTTPResponse),
        ])
    func takesNoTokensOfAFailure(status: Int, code: TokenError.Code) async throws {
        let reply = ScriptedReply.json(Answers.minimal, status: status)
        try await EndpointFixture.with(EndpointFixture.token(reply)) { fixture in
            let error = try await fixture.failure()
            #expect(error.code == code)
        }
    }

    /// Some OpenID providers refuse a grant so. Any other error under this status may be a proxy's, and must not end the account.
    @Test(
        arguments: [
            (Authority.Kind.openID, "invalid_grant", TokenError.Code.invalidGrant),
            (.openID, "login_required", .unhandledHTTPResponse), (.entra, "invalid_grant", .unhandledHTTPResponse),
        ])
    func readsTheErrorOfAGrantUnderTheStatus403(
        kind: Authority.Kind, name: String, code: TokenError.Code
    ) throws {
        let authority = kind == .entra ? Authority.common : try Authority("https://id.example/main", kind: kind)
        let response = HTTPResponse(endpoint: "x", status: 403, body: Secret(#"{"error":"\#(name)"}"#))
        let error = #expect(throws: TokenError.self) { try response.oauthObject(of: authority, isOfSignIn: false) }
        #expect(error?.code == code)
    }

    /// Some OpenID providers refuse a revoked refresh token so. Without a sign-in, the app would get the same error for ever.
    @Test(
        arguments: [
            (Authority.Kind.openID, 400, "", true), (.openID, 401, " \r\n", true), (.openID, 400, "no", false),
            (.openID, 403, "", false), (.openID, 200, "", false), (.entra, 400, "", false),
        ])
    func requiresASignInAfterARefusalWithoutABody(
        kind: Authority.Kind, status: Int, body: String, isRequired: Bool
    ) throws {
        let authority = kind == .entra ? Authority.common : try Authority("https://id.example/main", kind: kind)
        let response = HTTPResponse(endpoint: "x", status: status, body: Secret(body))
        for grant in [Grant.refreshToken(Secret("rt-1")), .deviceCode(Secret("dc-1"))] {
            let request = try TokenRequest.sample(authority, grant: grant)
            let error = #expect(throws: TokenError.self) {
                try IssuedTokens(response, to: request, issuer: nil, now: 0)
            }
            #expect((error?.code == .interactionRequired) == (isRequired && !grant.isSignIn), "\(grant.isSignIn)")
        }
    }

    @Test func truncatesAndCleansTheTextsOfTheServer() async throws {
        let text = #"\u001b[31m\r\n\u202e"# + String(repeating: "ä", count: 5000)
        let reply = ScriptedReply.json(#"{"error":"invalid_grant","error_description":"\#(text)"}"#, status: 400)
        try await EndpointFixture.with(EndpointFixture.token(reply)) { fixture in
            let error = try await fixture.failure()
            let description = try #require(error.details.errorDescription)
            #expect(description.hasPrefix(" [31m   ä"))
            #expect(description.utf8.count == 4096)
            #expect(error.message.utf8.count <= 4096)
        }
    }

    // Mirrors: MSIDTokenResponseTests testInitWithJSONDictionary_whenErrorDescriptionUrlEncoded_shouldParseIt, where we differ
    @Test func passesTextsOnThatArePercentEncoded() async throws {
        let reply = ScriptedReply.json(#"{"error":"invalid_grant","error_description":"AADSTS1%3A%2Bno"}"#, status: 400)
        try await EndpointFixture.with(EndpointFixture.token(reply)) { fixture in
            let error = try await fixture.failure()
            #expect(error.details.errorDescription == "AADSTS1%3A%2Bno")
        }
    }

    @Test func keepsTheHeadersOfAnUnexpectedStatus() async throws {
        let headers =
            [("Retry-After", "17"), ("X-Note", "a\tb"), ("x-note", "c"), ("Set-Cookie", "fpc=secret")]
            + (0..<100).map { ("x-\($0)", "v") }
        let reply = ScriptedReply.answer(status: 429, headers: headers, body: "rt-1")
        try await EndpointFixture.with(EndpointFixture.token(reply)) { fixture in
            let error = try await fixture.failure()
            #expect(error.code == .unhandledHTTPResponse)
            #expect(error.details.httpStatus == 429)
            #expect(error.details.httpHeaders["Retry-After"] == "17")
            #expect(error.details.httpHeaders["X-Note"] == "a b")
            #expect(error.details.httpHeaders.count <= 64)
            #expect(error.details.httpHeaders["Set-Cookie"] == nil)
            #expect(!error.message.contains("rt-1"))
        }
    }
}
