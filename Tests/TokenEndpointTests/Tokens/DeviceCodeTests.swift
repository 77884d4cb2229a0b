internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

@Suite(.bounded) struct DeviceCodeTests {
    /// A provider could have asked Microsoft for the code, and would get the tokens of the user who enters it there.
    @Test(
        arguments: [
            ("https://id.example/t", "https://id.example/device", true),
            ("https://id.example/t", "https://microsoft.com/devicelogin", false),
            ("https://id.example/t", "https://www.microsoft.com/link", false),
            ("https://id.example/t", "https://login.microsoftonline.com/common/oauth2/deviceauth", false),
            ("https://id.example/t", "https://victim.ciamlogin.com/device", false),
            ("https://id.example/t", "https://microsoft.com./devicelogin", false),
            ("https://id.example/t", "https://LOGIN.live.com:443/oauth20_remoteconnect.srf", false),
            ("https://id.example/t", "https://microsoft.com%2Fdevicelogin/", false),
            ("https://id.example/t", "https://microsoft%2Ecom/devicelogin", false),
            ("https://id.example/t", "https://microsoft.com\\\\.id.example/devicelogin", false),
            ("https://id.example/t", "https://notmicrosoft.com/devicelogin", true),
        ])
    func showsNoPageOfMicrosoftsForACodeOfAnotherProvider(authority: String, page: String, isShown: Bool) throws {
        #expect(try isShown == Self.shows(page, of: Authority(authority, kind: .openID)))
    }

    /// Whether a provider may name a page for its codes.
    private static func shows(_ page: String, of authority: Authority, in cloudHosts: Set<String> = []) -> Bool {
        let body = "{\"device_code\":\"d\",\"user_code\":\"u\",\"verification_uri\":\"\(page)\"}"
        let response = HTTPResponse(endpoint: "x", status: 200, body: Secret(body))
        return (try? DeviceCodeGrant(response, of: authority, in: cloudHosts)) != nil
    }

    /// A cloud that instance discovery has named is Microsoft's, as those that are built in.
    @Test(
        arguments: [
            ("https://login.cloud.example/device", true, true), ("https://sts.cloud.example/device", true, false),
            ("https://microsoft.com/devicelogincloud", true, false), ("https://aka.ms/devicelogin", true, false),
            ("https://accounts.example/device", false, false), ("https://cloud.example/device", false, false),
        ])
    func showsThePagesOfACloudThatMicrosoftHasNamed(page: String, isNamed: Bool, isOwn: Bool) throws {
        let authority = try Authority("https://login.cloud.example/common")
        let hosts: Set = ["login.cloud.example", "sts.cloud.example:443"]
        #expect(Self.shows(page, of: authority, in: hosts) == isNamed)
        #expect(Self.shows(page, of: authority) == isOwn)
    }

    /// The pages that Microsoft's clouds have named, and those of providers whose endpoints are at one host.
    @Test(
        arguments: [
            ("https://login.microsoftonline.com/common", "https://microsoft.com/devicelogin"),
            ("https://login.microsoftonline.com/common", "https://login.microsoft.com/device"),
            ("https://login.microsoftonline.com/common", "https://aka.ms/devicelogin"),
            ("https://login.microsoftonline.com/consumers", "https://www.microsoft.com/link"),
            ("https://login.microsoftonline.com/consumers", "https://login.live.com/oauth20_remoteconnect.srf"),
            ("https://login.microsoftonline.us/common", "https://microsoft.com/deviceloginus"),
            ("https://login.microsoftonline.us/common", "https://login.microsoftonline.us/device"),
            ("https://login.partner.microsoftonline.cn/common", "https://microsoft.com/deviceloginchina"),
            ("https://login.partner.microsoftonline.cn/common", "https://login.microsoftonline.cn/device"),
            ("https://login.chinacloudapi.cn/common", "https://aka.ms/deviceloginchina"),
            ("https://login.sovcloud-identity.fr/common", "https://login.sovcloud-identity.fr/device"),
            ("https://contoso.ciamlogin.com", "https://contoso.ciamlogin.com/device"),
            ("https://fs.contoso.com/adfs", "https://fs.contoso.com/adfs/oauth2/deviceauth"),
            ("https://fs.contoso.com:8443/adfs", "https://FS.contoso.com/adfs/oauth2/deviceauth"),
        ])
    func showsThePagesOfMicrosoftsProviders(authority: String, page: String) throws {
        #expect(try Self.shows(page, of: Authority(authority)))
    }

    /// The kind of an authority is what an app says: its provider may be anybody, and could have asked any other one for the code.
    @Test(
        arguments: [
            ("https://fs.contoso.com/adfs", nil, "https://accounts.example/device"),
            ("https://fs.contoso.com/adfs", nil, "https://fs.contoso.com.accounts.example/device"),
            ("https://fs.contoso.com/adfs", nil, "https://microsoft.com/devicelogin"),
            ("https://login.contoso.example/tenant", nil, "https://accounts.example/device"),
            ("https://login.contoso.example/tenant", .ciam, "https://accounts.example/device"),
            ("https://login.contoso.example/tenant/policy", .b2c, "https://accounts.example/device"),
            ("https://login.microsoftonline.com/common", nil, "https://accounts.example/device"),
        ] as [(String, Authority.Kind?, String)])
    func showsNoPageOfAnotherProviderForACodeOfOneWithAFixedHost(
        authority: String, kind: Authority.Kind?, page: String
    ) throws {
        #expect(try !Self.shows(page, of: Authority(authority, kind: kind)))
    }

    /// The page is the provider's own, but its text could lead to Microsoft's.
    @Test(arguments: ["https://id.example/t", "https://login.microsoftonline.com/common", "http://localhost:1/t"])
    func showsTheInstructionsOfMicrosoftOnly(authority: String) throws {
        let text = "To sign in, open https://microsoft.com/devicelogin and enter the code F7GHK2LMN."
        let isMicrosofts = authority.contains("microsoft")
        let page = isMicrosofts ? "https://microsoft.com/devicelogin" : "https://id.example/device"
        let body = """
            {"device_code":"d","user_code":"ABCD","verification_uri":"\(page)","message":"\(text)"}
            """
        let response = HTTPResponse(endpoint: "x", status: 200, body: Secret(body))
        let kind: Authority.Kind = isMicrosofts ? .entra : .openID
        let grant = try DeviceCodeGrant(response, of: Authority(authority, kind: kind))
        let own = "To sign in, open https://id.example/device in a browser and enter the code ABCD."
        #expect(grant.message == (authority.contains("id.example") ? own : text))
    }

    @Test(
        arguments: [
            ("WDJB-MJHT", true), ("F7GHK2LMN", true), ("019-450-730", true), ("wdjb-mjht", true),
            (String(repeating: "A", count: 16), true),
            ("F7GHK2LMN at microsoft.com/devicelogin", false), ("microsoft.com", false), ("\\u202eABCD", false),
            // A text in words, and letters that look like others.
            ("call 0123 456789", false), ("1234 5678", false), ("código1", false), ("АBCD", false), ("١٢٣٤", false),
            ("", false), (String(repeating: "A", count: 17), false),
        ])
    func showsNoCodeThatIsMoreThanACode(code: String, isShown: Bool) {
        let body = """
            {"device_code":"d","user_code":"\(code)","verification_uri":"https://id.example/device"}
            """
        let response = HTTPResponse(endpoint: "x", status: 200, body: Secret(body))
        let grant = try? DeviceCodeGrant(response, of: Authority("https://id.example/t", kind: .openID))
        #expect(grant?.userCode == (isShown ? code : nil))
    }

    private func script(_ body: String) -> ScriptedServer.Script {
        { $0.path.hasSuffix("/devicecode") ? .json(body) : .answer(status: 404, body: "") }
    }

    private func request(
        _ authority: Authority, version: OAuthVersion = .v2, scopes: ScopeSet = ScopeSet(["User.Read"])
    ) throws -> DeviceCodeRequest {
        DeviceCodeRequest(
            clientID: try #require(ClientID("app-1")), authority: authority, version: version, scopes: scopes,
            correlationID: CorrelationID())
    }

    @Test func requestsADeviceCode() async throws {
        let body = """
            {"device_code":"dc","user_code":"ABCD","verification_uri":"https://x/device","expires_in":"600",\
            "interval":2,"message":"Open\\u001b[2J https://x/device"}
            """
        try await EndpointFixture.with(script(body)) { fixture in
            let grant = try await fixture.endpoint.beginDeviceCode(request(fixture.authority))
            #expect(grant.deviceCode == Secret("dc"))
            #expect(grant.userCode == "ABCD")
            #expect(grant.verificationURL == "https://x/device")
            #expect(grant.message == "Open [2J https://x/device")
            #expect(grant.expiresIn == 600)
            #expect(grant.interval == 2)
            let form = try #require(fixture.server.received.last?.form)
            #expect(form["scope"] == "User.Read openid profile offline_access")
            #expect(form["client_id"] == "app-1")
        }
    }

    @Test func usesDefaultsForAnOlderEndpoint() async throws {
        let body = #"{"device_code":"dc","user_code":"ABCD","verification_url":"https://x","interval":"0"}"#
        try await EndpointFixture.with(script(body)) { fixture in
            let grant = try await fixture.endpoint.beginDeviceCode(
                request(fixture.authority, version: .v1, scopes: ScopeSet(resource: "r")))
            #expect(grant.verificationURL == "https://x")
            #expect(grant.message.contains("https://x") && grant.message.contains("ABCD"))
            #expect(grant.expiresIn == 900)
            #expect(grant.interval == 1)
            #expect(fixture.server.received.last?.path == "/common/oauth2/devicecode")
            #expect(fixture.server.received.last?.form?["resource"] == "r")
        }
    }

    @Test(arguments: [("3600", "60"), ("3601", "61"), ("999999999999", "999999999999"), ("1e18", "1e18")])
    func limitsTheTimesThatAProviderSets(lifetime: String, interval: String) async throws {
        let body = """
            {"device_code":"dc","user_code":"ABCD","verification_uri":"https://x","expires_in":\(lifetime),\
            "interval":\(interval)}
            """
        try await EndpointFixture.with(script(body)) { fixture in
            let grant = try await fixture.endpoint.beginDeviceCode(request(fixture.authority))
            #expect(grant.expiresIn == 3600)
            #expect(grant.interval == 60)
        }
    }

    @Test func reportsAProviderWithoutDeviceCodes() async throws {
        let document: ScriptedServer.Script = { _ in
            .json(#"{"token_endpoint":"https://x/t","authorization_endpoint":"https://x/a"}"#)
        }
        try await EndpointFixture.with(document) { fixture in
            let error = await failure { try await fixture.endpoint.beginDeviceCode(request(fixture.authority)) }
            #expect(error?.code == .unsupportedFunctionality)
        }
    }

    @Test func refusesAResponseWithoutACode() async throws {
        try await EndpointFixture.with(script(#"{"user_code":"ABCD"}"#)) { fixture in
            let error = await failure { try await fixture.endpoint.beginDeviceCode(request(fixture.authority)) }
            #expect(error?.code == .serverInvalidResponse)
        }
    }
}
