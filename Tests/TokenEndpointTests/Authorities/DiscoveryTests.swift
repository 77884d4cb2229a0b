internal import NIOHTTP1
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

@Suite(.bounded) struct DiscoveryTests {
    @Test(
        arguments: [
            (
                "https://login.microsoftonline.com/contoso.com", OAuthVersion.v2,
                "https://login.microsoftonline.com/contoso.com/oauth2/v2.0/"
            ),
            ("https://login.microsoftonline.us/common", .v1, "https://login.microsoftonline.us/common/oauth2/"),
        ])
    func knowsTheEndpointsOfMicrosoftsCloudsByConvention(url: String, version: OAuthVersion, base: String) async throws
    {
        try await EndpointFixture.with({ _ in .hangUp }) { fixture in
            let endpoints = try await fixture.endpoint.endpoints(of: Authority(url), version: version)
            let expected = Endpoints(
                token: base + "token", authorization: base + "authorize", deviceCode: base + "devicecode",
                endSession: base + "logout")
            #expect(endpoints == expected)
        }
    }

    /// The code of the sign-in page's provider would be sent to the token endpoint's (RFC 9700 section 4.4).
    @Test(
        arguments: [
            (.openID, "https://id.example/token", "https://accounts.example/authorize", true),
            (
                .openID, "https://id.example/token", "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
                false
            ),
            (.openID, "https://id.example/token", "https://victim.ciamlogin.com/t/oauth2/v2.0/authorize", false),
            (.openID, "https://id.example/token", "https://login.microsoftonline.com./common/authorize", false),
            (.openID, "https://id.example/token", "https://login.microsoftonline.com:8443/common/authorize", false),
            (.openID, "https://id.example/token", "https://login.live.com/oauth20_authorize.srf", false),
            (
                .openID, "https://login.microsoftonline.com/t/token", "https://login.microsoftonline.com/t/authorize",
                true
            ),
            (.openID, "https://login.microsoftonline.com/t/token", "https://login.windows.net/t/authorize", true),
            (.b2c, "https://id.example/token", "https://accounts.example/authorize", false),
            (.ciam, "https://id.example/token", "https://victim.ciamlogin.com/t/oauth2/v2.0/authorize", false),
            (.ciam, "https://t.ciamlogin.com/token", "https://t.ciamlogin.com/authorize", true),
            (.adfs, "https://fs.example/adfs/oauth2/token", "https://login.microsoftonline.com/authorize", false),
            (.entra, "https://id.example/token", "https://login.microsoftonline.com/authorize", false),
        ] as [(Authority.Kind, String, String, Bool)])
    func sendsNoCodeOfOneProviderToAnother(kind: Authority.Kind, token: String, page: String, isTaken: Bool) throws {
        let path = kind == .adfs ? "adfs" : kind == .b2c ? "tfp/t/b2c_1_p" : "t"
        let authority = try Authority("https://id.example/\(path)", kind: kind)
        for field in [
            "authorization_endpoint", "device_authorization_endpoint", "pushed_authorization_request_endpoint",
        ] {
            var fields = ["issuer": authority.url, "token_endpoint": token, "authorization_endpoint": token]
            fields[field] = page
            if kind == .entra { fields["issuer"] = nil }
            let document = JSONTree.object(fields.map { JSONTree.Member(name: $0, value: .text($1)) }).json
            let response = HTTPResponse(endpoint: "x", status: 200, body: Secret(document))
            let endpoints = try? Endpoints(response, of: authority, version: .v2)
            #expect((endpoints != nil) == isTaken, "\(field)")
        }
    }

    @Test func requestsTheDocumentOfOtherProvidersOnce() async throws {
        let document = """
            {"issuer":"x","token_endpoint":"https://t.example/token","authorization_endpoint":"https://t.example/a",\
            "device_authorization_endpoint":"https://t.example/d","end_session_endpoint":null}
            """
        try await EndpointFixture.with({ _ in .json(document) }) { fixture in
            for _ in 0..<2 {
                let endpoints = try await fixture.endpoint.endpoints(of: fixture.authority, version: .v2)
                #expect(
                    endpoints
                        == Endpoints(
                            token: "https://t.example/token", authorization: "https://t.example/a",
                            deviceCode: "https://t.example/d"))
            }
            #expect(fixture.server.received.map(\.uri) == ["/common/v2.0/.well-known/openid-configuration"])
        }
    }

    /// A provider may move its token endpoint while the agent runs.
    @Test(arguments: [(404, 2), (405, 2), (410, 2), (403, 1), (503, 1)])
    func readsTheDocumentAgainIfTheTokenEndpointIsGone(status: Int, documents: Int) async throws {
        try await EndpointFixture.with(EndpointFixture.token(.answer(status: status, body: ""))) { fixture in
            for _ in 0..<2 {
                let error = try await fixture.failure()
                #expect(error.details.httpStatus == Int32(status))
            }
            #expect(fixture.redeemed.count == 2)
            #expect(fixture.server.received.count { $0.path.hasSuffix("/openid-configuration") } == documents)
        }
    }

    /// A provider may name a wrong token endpoint for a moment: the refresh token is still that of the right one.
    @Test func readsTheDocumentAgainIfItNamesATokenEndpointThatMayNotGetTheGrant() async throws {
        let isWrong = Mutex(true)
        try await EndpointFixture.with(
            path: "/adfs",
            { request in
                guard request.path.contains("well-known") else { return .json(Answers.minimal) }
                let host = isWrong.withLock(\.self) ? "localhost:1" : request.headers.first(name: "Host") ?? ""
                let base = "http://\(host)"
                return .json(#"{"token_endpoint":"\#(base)/token","authorization_endpoint":"\#(base)/a"}"#)
            }
        ) { fixture in
            let request = try TokenRequest.sample(
                fixture.authority, allowedEndpoints: [fixture.authority.environment])
            #expect(try await fixture.failure(request).code == .interactionRequired)
            #expect(fixture.redeemed.isEmpty)
            isWrong.withLock { $0 = false }
            #expect(try await fixture.endpoint.redeem(request).accessToken == Secret("at"))
            #expect(try await fixture.endpoint.redeem(request).accessToken == Secret("at"))
            #expect(fixture.server.received.count { $0.path.hasSuffix("/openid-configuration") } == 2)
        }
    }

    @Test(
        arguments: [
            ("/common", nil, OAuthVersion.v2, "/common/v2.0/", "/common/oauth2/v2.0/token"),
            ("/common", nil, .v1, "/common/", "/common/oauth2/token"),
            ("/adfs", nil, .v2, "/adfs/", "/adfs/oauth2/token"),
            ("/tfp/t/p", nil, .v2, "/tfp/t/p/v2.0/", "/tfp/t/p/oauth2/v2.0/token"),
            ("/tenant", .ciam, .v2, "/tenant/v2.0/", "/tenant/oauth2/v2.0/token"),
        ] as [(String, Authority.Kind?, OAuthVersion, String, String)])
    func fallsBackToTheConventionWithoutADocument(
        path: String, kind: Authority.Kind?, version: OAuthVersion, base: String, token: String
    ) async throws {
        try await EndpointFixture.with(path: path, kind: kind, { _ in .answer(status: 404, body: "") }) { fixture in
            let endpoints = try await fixture.endpoint.endpoints(of: fixture.authority, version: version)
            #expect(endpoints.token == "http://\(fixture.authority.environment)\(token)")
            #expect(fixture.server.received.map(\.uri) == ["\(base).well-known/openid-configuration"])
        }
    }

    /// A document that is missing means that there is no such policy or tenant: the sign-in page would say so to the user only.
    @Test(
        arguments: [
            ("https://t.b2clogin.com/t/b2c_1_p", 404, nil, TokenError.Code.unhandledHTTPResponse),
            ("https://t.ciamlogin.com/t", 404, nil, .unhandledHTTPResponse),
            ("https://t.ciamlogin.com/t", 400, "invalid_tenant", .authorityValidation),
            ("https://entra.example/t", 400, "invalid_tenant", .authorityValidation),
            ("https://entra.example/t", 400, nil, .unhandledHTTPResponse),
        ] as [(String, Int, String?, TokenError.Code)])
    func usesNoConventionForAnUnknownTenant(
        url: String, status: Int, oauthError: String?, code: TokenError.Code
    ) throws {
        let body = oauthError.map { #"{"error":"\#($0)"}"# } ?? "<html>"
        let response = HTTPResponse(endpoint: "x", status: status, body: Secret(body))
        let authority = try Authority(url)
        let error = #expect(throws: TokenError.self) { try Endpoints(response, of: authority, version: .v2) }
        #expect(error?.code == code)
        #expect(error?.details.oauthError == oauthError)
    }

    @Test func usesNoConventionForAnOpenIDProvider() async throws {
        try await EndpointFixture.with(path: "/issuer", kind: .openID, { _ in .answer(status: 404, body: "") }) {
            fixture in
            let error = await failure { try await fixture.endpoint.endpoints(of: fixture.authority, version: .v2) }
            #expect(error?.code == .unhandledHTTPResponse)
        }
    }

    /// The message has the authority that the user has to name, such as that of a provider with two names.
    @Test(arguments: [(#""https://x""#, "belongs to another issuer, https://x"), ("null", "names no issuer")])
    func refusesTheDocumentOfAnotherOpenIDProvider(issuer: String, reason: String) async throws {
        let document = #"{"issuer":\#(issuer),"token_endpoint":"https://x/t","authorization_endpoint":"https://x/a"}"#
        try await EndpointFixture.with(path: "/issuer", kind: .openID, { _ in .json(document) }) { fixture in
            let error = await failure { try await fixture.endpoint.endpoints(of: fixture.authority, version: .v2) }
            #expect(error?.code == .serverInvalidResponse)
            #expect(error?.message.hasSuffix(reason) == true)
        }
    }

    @Test(arguments: ["", "/"], [nil, "false", "true", "7"])
    func readsTheIssuerOfAnOpenIDProvider(slash: String, isNamed: String?) async throws {
        try await EndpointFixture.with(
            path: "/issuer", kind: .openID,
            { request in
                let host = request.headers.first(name: "Host") ?? ""
                let named = isNamed.map { #","authorization_response_iss_parameter_supported":\#($0)"# } ?? ""
                return .json(
                    #"{"issuer":"http://\#(host)/issuer\#(slash)","token_endpoint":"https://x/t","#
                        + #""authorization_endpoint":"https://x/a"\#(named)}"#)
            }
        ) { fixture in
            let endpoints = try await fixture.endpoint.endpoints(of: fixture.authority, version: .v2)
            let issuer = Endpoints.ExpectedIssuer(fixture.authority.url + slash, isNamedInResponses: isNamed == "true")
            #expect(endpoints.issuer == issuer)
        }
    }

    /// AD FS of Windows Server 2016 names two issuers, and may be reached by another host name than the one in them.
    @Test(arguments: ["https://fs.contoso.com/adfs", nil]) func readsTheIssuerOfADFS(issuer: String?) throws {
        let named = issuer.map {
            #","issuer":"\#($0)","access_token_issuer":"http://fs.contoso.com/adfs/services/trust""#
        }
        let document = #"{"token_endpoint":"https://x/t","authorization_endpoint":"https://x/a"\#(named ?? "")}"#
        let response = HTTPResponse(endpoint: "x", status: 200, body: Secret(document))
        let authority = try Authority("https://sts.contoso.com/adfs")
        let endpoints = try Endpoints(response, of: authority, version: .v1)
        #expect(endpoints.issuer?.identifier == issuer)
        // AD FS sends no `iss` with its authorization responses.
        #expect(endpoints.issuer?.admits(nil) ?? true)
    }

    @Test(arguments: ["https://contoso.b2clogin.com/t-1/v2.0/", "https://d.contoso.com/tfp/t-1/p/v2.0/", nil])
    func readsTheIssuerOfAB2CPolicy(issuer: String?) throws {
        let named = issuer.map { #","issuer":"\#($0)""# } ?? ""
        let document = #"{"token_endpoint":"https://x/t","authorization_endpoint":"https://x/a"\#(named)}"#
        let response = HTTPResponse(endpoint: "x", status: 200, body: Secret(document))
        let endpoints = try Endpoints(
            response, of: Authority("https://contoso.b2clogin.com/contoso.com/p"), version: .v2)
        #expect(endpoints.issuer?.identifier == issuer)
        // B2C sends no `iss` with its authorization responses.
        #expect(endpoints.issuer?.admits(nil) ?? true)
    }

    /// Up to 256 documents are kept, of providers that apps choose.
    @Test(arguments: ["https://fs.contoso.com/adfs", "https://contoso.b2clogin.com/contoso.com/p"])
    func refusesAnIssuerThatIsTooLong(url: String) throws {
        for (length, isValid) in [(ValueLimits.text, true), (ValueLimits.text + 1, false)] {
            let issuer = String(repeating: "x", count: length)
            let document =
                #"{"token_endpoint":"https://x/t","authorization_endpoint":"https://x/a","issuer":"\#(issuer)"}"#
            let response = HTTPResponse(endpoint: "x", status: 200, body: Secret(document))
            let endpoints = try? Endpoints(response, of: Authority(url), version: .v2)
            #expect((endpoints != nil) == isValid)
        }
    }

    /// A policy's setting may change while the agent runs.
    @Test func readsTheDocumentAgainAfterAnIDTokenOfAnotherIssuer() async throws {
        let documents = Mutex(["https://x/1", "https://x/2", "https://x/3"])
        // {"iss":"https://x/2","aud":"app-1","exp":2000000000}
        let idToken = "e30.eyJpc3MiOiJodHRwczovL3gvMiIsImF1ZCI6ImFwcC0xIiwiZXhwIjoyMDAwMDAwMDAwfQ."
        try await EndpointFixture.with(
            path: "/tfp/t/p", kind: .b2c,
            { request in
                let base = "http://\(request.headers.first(name: "Host") ?? "")"
                guard request.path.contains("well-known") else {
                    return .json(#"{"access_token":"at","token_type":"Bearer","id_token":"\#(idToken)"}"#)
                }
                let issuer = documents.withLock { $0.removeFirst() }
                return .json(
                    #"{"issuer":"\#(issuer)","token_endpoint":"\#(base)/token","#
                        + #""authorization_endpoint":"\#(base)/a"}"#)
            }
        ) { fixture in
            let request = try TokenRequest.sample(fixture.authority)
            let error = await failure { try await fixture.endpoint.redeem(request) }
            #expect(error?.code == .serverInvalidResponse)
            #expect(try await fixture.endpoint.redeem(request).accessToken == Secret("at"))
            #expect(try await fixture.endpoint.redeem(request).accessToken == Secret("at"))
            #expect(documents.withLock { $0 } == ["https://x/3"])
        }
    }

    /// Windows Server 2012 R2 has no discovery document.
    @Test func knowsNoIssuerOfADFSWithoutADocument() throws {
        let response = HTTPResponse(endpoint: "x", status: 404, body: Secret("Not Found"))
        let authority = try Authority("https://fs.contoso.com/adfs")
        #expect(try Endpoints(response, of: authority, version: .v1).issuer == nil)
    }

    @Test(arguments: ["http://evil.example/token", "ftp://localhost/token", "token", "https://me@host/token"])
    func refusesADocumentWithAnEndpointWithoutTLS(token: String) async throws {
        let document = #"{"token_endpoint":"\#(token)","authorization_endpoint":"https://x/a"}"#
        try await EndpointFixture.with({ _ in .json(document) }) { fixture in
            let error = await failure { try await fixture.endpoint.endpoints(of: fixture.authority, version: .v2) }
            #expect(error?.code == .serverInvalidResponse)
        }
    }

    /// A browser or the agent itself would open them.
    @Test(
        arguments: [
            "authorization_endpoint", "device_authorization_endpoint", "pushed_authorization_request_endpoint",
        ], ["http://evil.example/p", "javascript:alert(1)", "https://x/a\\r\\nSet-Cookie: x=1"])
    func refusesADocumentWithAPageOrEndpointThatIsNotSafe(name: String, url: String) async throws {
        var fields = ["token_endpoint": "https://x/t", "authorization_endpoint": "https://x/a"]
        fields[name] = url
        let document = "{" + fields.map { #""\#($0)":"\#($1)""# }.joined(separator: ",") + "}"
        try await EndpointFixture.with({ _ in .json(document) }) { fixture in
            let error = await failure { try await fixture.endpoint.endpoints(of: fixture.authority, version: .v2) }
            #expect(error?.code == .serverInvalidResponse)
        }
    }

    /// Such a URL would end the header field of a redirect to it, or hide the parameters that are added to it.
    @Test(arguments: ["https://x/a\\r\\nSet-Cookie: x=1", "https://x/a b", "https://x/a#b", "https://x/ä"])
    func refusesAnAuthorizationEndpointThatIsNoURLOfAnEndpoint(endpoint: String) async throws {
        let document = #"{"token_endpoint":"https://x/t","authorization_endpoint":"\#(endpoint)"}"#
        try await EndpointFixture.with({ _ in .json(document) }) { fixture in
            let error = await failure { try await fixture.endpoint.endpoints(of: fixture.authority, version: .v2) }
            #expect(error?.code == .serverInvalidResponse)
        }
    }

    @Test func refusesLoopbackHTTPInADocumentFetchedOverTLS() throws {
        let document = #"{"token_endpoint":"http://localhost/t","authorization_endpoint":"https://x/a"}"#
        let response = HTTPResponse(endpoint: "x", status: 200, body: Secret(document))
        let authority = try Authority("https://login.example/common")
        #expect(throws: TokenError.self) { try Endpoints(response, of: authority, version: .v2) }
    }

    @Test(
        arguments: [
            ("https://login.windows.net/common", "https://login.windows.net", "login.windows.net%2Fcommon"),
            ("https://sts.contoso.com/t", "https://login.microsoftonline.com", "sts.contoso.com%2Ft"),
            ("http://localhost:80/t", "http://localhost", "localhost%2Ft"),
            ("https://localhost:8443/t", "https://localhost:8443", "localhost%3A8443%2Ft"),
        ])
    func asksATrustedHostAboutACloud(authority: String, host: String, named: String) throws {
        let authority = try Authority(authority)
        #expect(
            InstanceDiscovery.url(for: authority) == "\(host)/common/discovery/instance?api-version=1.1"
                + "&authorization_endpoint=\(authority.scheme)%3A%2F%2F\(named)%2Foauth2%2Fv2.0%2Fauthorize")
    }

    @Test func readsTheAliasesOfACloud() throws {
        let metadata = """
            {"tenant_discovery_endpoint":"x","metadata":[{"preferred_network":"login.one","preferred_cache":"sts.one",\
            "aliases":["Login.One","sts.one","login.one:8443"]}]}
            """
        let response = HTTPResponse(endpoint: "x", status: 200, body: Secret(metadata))
        #expect(
            try InstanceDiscovery.clouds(in: response, of: Authority("https://login.one/t")) == [
                CloudDirectory.Cloud(
                    aliases: ["login.one", "sts.one", "login.one:8443"], preferredNetwork: "login.one",
                    preferredCache: "sts.one")
            ])
    }

    @Test func believesALoopbackProviderAboutItselfOnly() async throws {
        let metadata = """
            {"metadata":[{"preferred_network":"localhost","preferred_cache":"localhost",\
            "aliases":["localhost","accounts.google.com","fs.contoso.example"]}]}
            """
        try await EndpointFixture.with({ _ in .json(metadata) }) { fixture in
            let clouds = try await fixture.endpoint.discoverClouds(
                of: fixture.authority, correlationID: CorrelationID())
            #expect(clouds == [InstanceDiscovery.singleHost(fixture.authority)])
        }
    }

    @Test(arguments: [ScriptedReply.answer(status: 404, body: ""), .json("hello"), .json("{}")])
    func treatsALoopbackProviderWithoutMetadataAsACloud(reply: ScriptedReply) async throws {
        try await EndpointFixture.with({ _ in reply }) { fixture in
            let clouds = try await fixture.endpoint.discoverClouds(
                of: fixture.authority, correlationID: CorrelationID())
            #expect(clouds == [InstanceDiscovery.singleHost(fixture.authority)])
            #expect(clouds.first?.aliases == ["127.0.0.1:\(fixture.server.port)"])
        }
    }

    @Test(
        arguments: [
            #"{"metadata":{}}"#, #"{"metadata":[7]}"#, #"{"metadata":[{}]}"#,
            #"{"metadata":[{"preferred_network":"a","preferred_cache":"a","aliases":[]}]}"#,
            #"{"metadata":[{"preferred_network":"a","preferred_cache":"a","aliases":"a"}]}"#,
            #"{"metadata":[{"preferred_network":"a","preferred_cache":"a","aliases":["a",7]}]}"#,
            #"{"metadata":[{"preferred_network":"a","preferred_cache":"a","aliases":["a/b"]}]}"#,
            #"{"metadata":[{"preferred_network":"a","preferred_cache":"a","aliases":["me@a"]}]}"#,
            #"{"metadata":[{"preferred_network":"a","preferred_cache":"a","aliases":["a b"]}]}"#,
            #"{"metadata":[{"preferred_network":"a","preferred_cache":7,"aliases":["a"]}]}"#,
        ])
    func refusesMetadataThatIsMalformed(metadata: String) async throws {
        try await EndpointFixture.with({ _ in .json(metadata) }) { fixture in
            let error = await failure {
                try await fixture.endpoint.discoverClouds(of: fixture.authority, correlationID: CorrelationID())
            }
            #expect(error?.code == .serverInvalidResponse)
        }
    }

    @Test func reportsAnUnknownAuthority() async throws {
        let body = #"{"error":"invalid_instance","error_description":"AADSTS50049"}"#
        try await EndpointFixture.with({ _ in .json(body, status: 400) }) { fixture in
            let error = await failure {
                try await fixture.endpoint.discoverClouds(of: fixture.authority, correlationID: CorrelationID())
            }
            #expect(error?.code == .authorityValidation)
            #expect(error?.details.oauthError == "invalid_instance")
        }
    }

    @Test func sendsNoRequestForOtherKindsOfProvider() async throws {
        try await EndpointFixture.with(path: "/adfs", { _ in .silence }) { fixture in
            let clouds = try await fixture.endpoint.discoverClouds(
                of: fixture.authority, correlationID: CorrelationID())
            #expect(clouds == [InstanceDiscovery.singleHost(fixture.authority)])
            #expect(fixture.server.received.isEmpty)
        }
    }
}
