internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

@Suite(.bounded) struct TokenRequestFormTests {
    let entra = Authority.common

    @Test func requestsScopesWithTheReservedOnesInV2() throws {
        let form = try TokenRequest.sample(
            entra, claims: #"{"access_token":null}"#, redirectURI: "http://localhost", extra: ["slice": "test"]
        ).form()
        #expect(
            form.pairs.map { "\($0.name)=\($0.value)" } == [
                "client_id=app-1", "grant_type=refresh_token", "refresh_token=rt-1", "redirect_uri=http://localhost",
                "scope=User.Read openid profile offline_access", "client_info=1", #"claims={"access_token":null}"#,
                "slice=test",
            ])
    }

    @Test func requestsAResourceInV1WithItsTrailingSlash() throws {
        let form = try TokenRequest.sample(
            entra, version: .v1, scopes: ScopeSet(resource: "https://graph.windows.net/"), redirectURI: "app://x"
        ).form()
        #expect(
            form.pairs.map { "\($0.name)=\($0.value)" } == [
                "client_id=app-1", "grant_type=refresh_token", "refresh_token=rt-1",
                "resource=https://graph.windows.net/", "scope=openid", "client_info=1",
            ])
    }

    @Test(arguments: [["User.Read"], ["a/.default", "b/.default"], []])
    func refusesAV1RequestThatIsNotForOneResource(scopes: [String]) throws {
        let request = try TokenRequest.sample(entra, version: .v1, scopes: ScopeSet(scopes))
        #expect(throws: TokenError.self) { try request.form() }
    }

    @Test(
        arguments: [
            (OAuthVersion.v1, Authority.Kind.entra, "device_code", "code"),
            (.v2, .entra, "urn:ietf:params:oauth:grant-type:device_code", "device_code"),
            (.v1, .adfs, "urn:ietf:params:oauth:grant-type:device_code", "device_code"),
        ])
    func namesADeviceCodeAsTheEndpointDoes(
        version: OAuthVersion, kind: Authority.Kind, type: String, field: String
    ) throws {
        let authority = try Authority("https://sts.example/adfs", kind: kind)
        let form = try TokenRequest.sample(
            authority, grant: .deviceCode(Secret("dc")), version: version, scopes: ScopeSet(resource: "r")
        ).form()
        #expect(form["grant_type"] == type)
        #expect(form[field] == "dc")
    }

    @Test func sendsTheVerifierAndTheRedirectURIWithACode() throws {
        let form = try TokenRequest.sample(
            entra,
            grant: .authorizationCode(code: Secret("c"), verifier: Secret("v"), redirectURI: "http://localhost:5"),
            redirectURI: "http://localhost"
        ).form()
        #expect(form["code"] == "c")
        #expect(form["code_verifier"] == "v")
        #expect(form.pairs.filter { $0.name == "redirect_uri" }.map(\.value) == ["http://localhost:5"])
    }

    @Test func ignoresExtraParametersWithNamesOfTheProtocol() throws {
        let form = try TokenRequest.sample(entra, extra: ["client_id": "evil", "refresh_token": "x"]).form()
        #expect(form.pairs.filter { $0.name == "client_id" }.map(\.value) == ["app-1"])
        #expect(form.pairs.filter { $0.name == "refresh_token" }.map(\.value) == ["rt-1"])
    }

    /// Some providers read names in any case, and without blanks.
    @Test(arguments: ["CLIENT_ID", "Redirect_URI", "client_id ", "\tRefresh_Token\n"])
    func ignoresExtraParametersWithNamesThatCouldBeReadAsOnesOfTheProtocol(name: String) throws {
        let extra = [name: "evil", "Slice": "test"]
        let form = try TokenRequest.sample(entra, redirectURI: "http://localhost", extra: extra).form()
        let plain = try TokenRequest.sample(entra, redirectURI: "http://localhost").form()
        #expect(form.pairs.map(\.name) == plain.pairs.map(\.name) + ["Slice"])
    }
}
