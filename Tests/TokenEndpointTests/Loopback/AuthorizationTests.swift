internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

@Suite(.bounded) struct AuthorizationTests {
    private func request(
        version: OAuthVersion = .v2, scopes: ScopeSet = ScopeSet(["User.Read"]), account: HomeAccountID? = nil,
        extra: [String: String] = [:], kind: Authority.Kind = .entra
    ) throws -> AuthorizationRequest {
        try AuthorizationRequest(
            clientID: #require(ClientID("app-1")), version: version, scopes: scopes,
            redirectURI: "http://localhost:5/cb?x=1", state: "s&1", challenge: "ch", nonce: "n",
            prompt: "select_account", loginHint: "a+b@x", domainHint: "x", account: account, claims: #"{"a":null}"#,
            extraParameters: extra, kind: kind,
            correlationID: #require(CorrelationID("5E2A4C59-0A14-4B55-8F0E-63D5B0B9D1C5")))
    }

    @Test func buildsTheURLToOpen() throws {
        #expect(
            try request(extra: ["slice": "test", "state": "evil"]).url(endpoint: "https://h/authorize")
                == "https://h/authorize?client_id=app-1&response_type=code"
                + "&redirect_uri=http%3A%2F%2Flocalhost%3A5%2Fcb%3Fx%3D1"
                + "&scope=User.Read%20openid%20profile%20offline_access&state=s%261&nonce=n&code_challenge=ch"
                + "&code_challenge_method=S256&client_info=1&prompt=select_account&login_hint=a%2Bb%40x&domain_hint=x"
                + "&claims=%7B%22a%22%3Anull%7D&client-request-id=5e2a4c59-0a14-4b55-8f0e-63d5b0b9d1c5"
                + "&x-client-SKU=sso-agent&x-client-Ver=\(ProductVersion.text)&x-client-OS=\(system)"
                + "&return-client-request-id=true&slice=test")
    }

    @Test(arguments: [Authority.Kind.entra, .b2c, .ciam])
    func namesBothPartsOfTheAccountThatHasToSignIn(kind: Authority.Kind) throws {
        let account = try #require(HomeAccountID("uid.utid"))
        let url = try request(account: account, extra: ["login_req": "evil"], kind: kind).url(endpoint: "https://h/a")
        #expect(url.contains("&login_req=uid&domain_req=utid"))
        #expect(!url.contains("evil"))
        let subject = try #require(HomeAccountID("subject"))
        #expect(try !request(account: subject, kind: kind).url(endpoint: "https://h/a").contains("login_req"))
    }

    @Test func sendsADALsParametersToV1() throws {
        let url = try request(
            version: .v1, scopes: ScopeSet(resource: "https://r/"), account: HomeAccountID("uid.utid"), kind: .adfs
        ).url(endpoint: "https://h/a")
        #expect(url.contains("&x-client-SKU=sso-agent&x-client-Ver=\(ProductVersion.text)&x-client-OS=\(system)&nux=1"))
        for name in ["login_req", "domain_req", "return-client-request-id"] { #expect(!url.contains(name)) }
        let own = try request(
            version: .v1, scopes: ScopeSet(resource: "https://r/"), extra: ["nux": "0"]
        ).url(endpoint: "https://h/a")
        #expect(own.contains("nux=0") && !own.contains("nux=1"))
    }

    @Test func sendsMicrosoftsParametersToNoOtherProvider() throws {
        let url = try request(account: HomeAccountID("uid.utid"), kind: .openID).url(endpoint: "https://h/a")
        for name in ["client_info", "login_req", "domain_req", "return-client-request-id", "x-client-", "nux"] {
            #expect(!url.contains(name))
        }
    }

    #if canImport(Darwin)
        private let system = "darwin"
    #else
        private let system = "linux"
    #endif

    @Test func requestsAResourceInV1() throws {
        let url = try request(version: .v1, scopes: ScopeSet(resource: "https://r/")).url(endpoint: "https://h/a?p=1")
        #expect(url.hasPrefix("https://h/a?p=1&client_id="))
        #expect(url.contains("&resource=https%3A%2F%2Fr%2F&scope=openid&"))
        #expect(throws: TokenError.self) { try request(version: .v1) }
    }

    @Test(
        arguments: [
            "http://localhost/?code=c%2F1&state=s", "http://localhost/?state=s&code=c/1&session_state=x",
            "app://x#code=c%2F1&state=s", "http://localhost/?code=c%2F1&state=s#_",
        ])
    func findsTheCode(url: String) throws {
        #expect(try AuthorizationResponse(url: url, expectedState: "s", issuer: nil).code == Secret("c/1"))
    }

    @Test(
        arguments: [
            ("?code=c", TokenError.Code.invalidState), ("?code=c&state=t", .invalidState),
            ("?error=access_denied&state=t", .invalidState), ("", .invalidState),
            ("?state=s", .serverInvalidResponse), ("?state=s&code=", .serverInvalidResponse),
            ("?state=s&code=a&code=b", .serverInvalidResponse), ("?state=s&code=%f", .serverInvalidResponse),
            ("?state=s&error=access_denied", .accessDenied),
            ("?state=s&error=ACCESS_DENIED", .accessDenied),
            ("?state=s&error=login_required", .authorizationFailed),
            ("?state=s&error=consent_required", .authorizationFailed),
            ("?state=s&error=interaction_required", .interactionRequired),
            ("?state=s&error=invalid_request&code=c", .invalidRequest),
            ("?state=s&error=invalid_scope", .invalidScope),
            ("?state=s&error=unauthorized_client", .unauthorizedClient),
            ("?state=s&error=server_error", .serverError),
            ("?state=s&error=unheard_of", .authorizationFailed),
        ])
    func reportsTheReasonIfThereIsNoCode(query: String, code: TokenError.Code) async throws {
        let error = await failure {
            try AuthorizationResponse(url: "http://localhost" + query, expectedState: "s", issuer: nil)
        }
        #expect(error?.code == code)
    }

    /// No message could have a longer one.
    @Test(arguments: [(8, true), (ValueLimits.identifier, false)])
    func readsAnAccountWithAnIdentifierOfLimitedLength(length: Int, isRead: Bool) throws {
        let uid = String(repeating: "u", count: length)
        let info = Base64URL.encode(Secret(#"{"uid":"\#(uid)","utid":"t"}"#)).reveal()
        let url = "http://localhost/?code=c&state=s&client_info=\(info)"
        let account = try AuthorizationResponse(url: url, expectedState: "s", issuer: nil).account
        #expect(account == (isRead ? HomeAccountID(uid: uid, utid: "t") : nil))
    }

    /// RFC 9207 section 2.4, for responses with a code and with an error.
    @Test(
        arguments: [
            (named: nil, isRequired: false, isTaken: true), (nil, true, false),
            ("https://id.example/a?b=c", false, true), ("https://id.example/a?b=c", true, true),
            ("https://id.example/a", true, false), ("https://id.example/a?b=c/", false, false),
            ("HTTPS://id.example/a?b=c", false, false), ("", false, false),
        ] as [(named: String?, isRequired: Bool, isTaken: Bool)], ["code=c", "error=access_denied"])
    func requiresTheIssuerOfTheRequest(row: (named: String?, isRequired: Bool, isTaken: Bool), result: String) async {
        let issuer = Endpoints.ExpectedIssuer("https://id.example/a?b=c", isNamedInResponses: row.isRequired)
        var parameters = FormParameters()
        parameters.add("iss", row.named)
        let url = "http://localhost/?state=s&\(result)&\(parameters.encoded)"
        let error = await failure { try AuthorizationResponse(url: url, expectedState: "s", issuer: issuer) }
        let expected: TokenError.Code? = result.hasPrefix("code") ? nil : .accessDenied
        #expect(error?.code == (row.isTaken ? expected : .serverInvalidResponse))
    }

    @Test func readsNoIssuerThatIsNamedTwice() async {
        let issuer = Endpoints.ExpectedIssuer("https://a", isNamedInResponses: true)
        let url = "http://localhost/?state=s&code=c&iss=https%3A%2F%2Fa&iss=https%3A%2F%2Fb"
        let error = await failure { try AuthorizationResponse(url: url, expectedState: "s", issuer: issuer) }
        #expect(error?.code == .serverInvalidResponse)
    }

    @Test func keepsTheErrorOfTheAuthorizationEndpoint() async throws {
        let url =
            "http://localhost?state=s&error=access_denied&error_subcode=cancel&error_description=AADSTS65004%3a+no"
        let error = await failure { try AuthorizationResponse(url: url, expectedState: "s", issuer: nil) }
        #expect(error?.details.oauthError == "access_denied")
        #expect(error?.details.subError == "cancel")
        #expect(error?.details.errorDescription == "AADSTS65004: no")
        #expect(error?.details.stsErrorCodes == [65004])
        #expect(error?.details.correlationID == nil)
    }

    // Mirrors: ADAuthenticationContext errorFromDictionary:errorCode:
    @Test func keepsTheSubErrorAndTheUserOfThePage() async throws {
        let url =
            "http://localhost?state=s&error=invalid_grant&suberror=protection_policy_required&adi=alice%40contoso.com"
        let error = await failure { try AuthorizationResponse(url: url, expectedState: "s", issuer: nil) }
        #expect(error?.code == .invalidGrant)
        #expect(error?.details.subError == "protection_policy_required")
        #expect(error?.details.username == "alice@contoso.com")
    }

    /// A redirect has no other place for either of them.
    @Test(arguments: [
        ("AADSTS53003: Access has been blocked. Trace ID: t Correlation ID: ", true),
        ("no number. Correlation ID: ", false), ("AADSTS: no number. Correlation ID: ", false),
    ])
    func takesTheNumberAndTheCorrelationIDFromTheDescription(text: String, hasNumber: Bool) async throws {
        let identifier = "5B1C6A1E-9A0B-4E0C-8A3D-1F2E3D4C5B6A"
        for (suffix, isValid) in [("\(identifier) Timestamp: 2026-01-31 12:00:00Z", true), ("none", false)] {
            let description = (text + suffix).replacing(" ", with: "+").replacing(":", with: "%3A")
            let url = "http://localhost?state=s&error=access_denied&error_description=\(description)"
            let error = await failure { try AuthorizationResponse(url: url, expectedState: "s", issuer: nil) }
            #expect(error?.details.stsErrorCodes == (hasNumber ? [53003] : []))
            #expect(error?.details.correlationID == (isValid ? CorrelationID(identifier) : nil))
        }
    }
}
