internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

@Suite(.bounded) struct IssuedTokensTests {
    @Test func readsEverythingThatEntraSends() async throws {
        let body = """
            {"token_type":"Bearer","scope":"User.Read openid","expires_in":3599,"ext_expires_in":7199,\
            "refresh_in":1800,"access_token":"at","refresh_token":"rt-2","id_token":"\(Answers.idToken)","foci":"1",\
            "client_info":"\(Answers.clientInfo)"}
            """
        try await EndpointFixture.with(EndpointFixture.token(.json(body))) { fixture in
            let response = try await fixture.endpoint.redeem(.sample(fixture.authority))
            #expect(response.accessToken == Secret("at"))
            #expect(response.tokenType == "Bearer")
            #expect(response.expiresIn == 3599)
            #expect(response.extendedExpiresIn == 7199)
            #expect(response.refreshIn == 1800)
            #expect(response.scopes == ScopeSet(["openid", "User.Read"]))
            #expect(response.refreshToken == Secret("rt-2"))
            #expect(response.idToken == Answers.idToken)
            #expect(response.familyID == FamilyID("1"))
            #expect(response.homeAccountID == HomeAccountID("u1.t1"))
            #expect(response.clientInfo == Answers.clientInfo)
        }
    }

    @Test(
        arguments: [
            (#""3599""#, 3599), ("3599", 3599), ("3599.0", 3599), (#""3599.0""#, 3599), (#"" 3599 ""#, 3599),
            ("null", 3600), (#""soon""#, 3600), ("[]", 3600), ("-5", 0), ("9e18", 3_162_240_000),
        ])
    func readsNumbersInEveryForm(written: String, seconds: Int64) async throws {
        let body = Answers.minimal.dropLast() + #","expires_in":\#(written)}"#
        try await EndpointFixture.with(EndpointFixture.token(.json(String(body)))) { fixture in
            let response = try await fixture.endpoint.redeem(.sample(fixture.authority))
            #expect(response.expiresIn == seconds)
        }
    }

    // Mirrors: MSIDTokenResponseTests testExpiryDate_whenExpiresOnOnly_shouldReturnDate, MSIDAADTokenResponseTests
    //   testExtendedExpiryDate_whenExtendedExpiresOnAvailable_shouldReturnDate
    @Test(
        arguments: [
            (#""expires_on":"1600","ext_expires_on":5000,"refresh_on":1300"#, 600, 4000, 300),
            (#""expires_in":60,"expires_on":1600,"ext_expires_in":90,"ext_expires_on":5000"#, 60, 90, nil),
            (#""expires_in":"soon","expires_on":900,"refresh_on":-9e18"#, 0, nil, 0),
            (#""expires_on":9e18"#, 3_162_240_000, nil, nil),
        ] as [(String, Int64, Int64?, Int64?)])
    func readsTimesWithoutDurations(written: String, expiresIn: Int64, extended: Int64?, refreshIn: Int64?) throws {
        let body = Secret(String(Answers.minimal.dropLast() + ",\(written)}"))
        let response = HTTPResponse(endpoint: "the token endpoint", status: 200, body: body)
        let tokens = try IssuedTokens(response, to: .sample(.common), issuer: nil, now: 1000)
        #expect(tokens.expiresIn == expiresIn)
        #expect(tokens.extendedExpiresIn == extended)
        #expect(tokens.refreshIn == refreshIn)
    }

    /// The machine sleeps between the request and the response. Within the time limit of 600 seconds it was awake, as far as is known.
    @Test(
        arguments: [
            (600, 5000, 7000, 900), (601, 4399, 6399, 299), (36_000, 0, 0, 0),
        ] as [(Int64, Int64, Int64, Int64)])
    func countsTheTimeForWhichAResponseHasWaited(
        passed: Int64, expiresIn: Int64, extended: Int64, refreshIn: Int64
    ) async throws {
        let clock = TestClock(1_800_000_000)
        let durations = #","expires_in":5000,"ext_expires_in":7000,"refresh_in":900}"#
        let body = String(Answers.minimal.dropLast() + durations)
        let script: ScriptedServer.Script = { request in
            guard request.path.hasSuffix("/token") else { return .answer(status: 404, body: "") }
            clock.advance(by: passed)
            return .json(body)
        }
        try await EndpointFixture.with(now: { clock.now }, script) { fixture in
            let response = try await fixture.endpoint.redeem(.sample(fixture.authority))
            #expect(response.expiresIn == expiresIn)
            #expect(response.extendedExpiresIn == extended)
            #expect(response.refreshIn == refreshIn)
        }
    }

    /// A time does not depend on that of the response, and a lifetime that is not named began with it.
    @Test(arguments: [(#","expires_on":9000}"#, 4000), ("}", 3500)] as [(String, Int64)])
    func countsTheTimeForWhichAResponseHasWaitedOnlyInDurations(ending: String, expiresIn: Int64) throws {
        let body = Secret(String(Answers.minimal.dropLast() + ending))
        let response = HTTPResponse(endpoint: "the token endpoint", status: 200, body: body)
        let tokens = try IssuedTokens(response, to: .sample(.common), issuer: nil, now: 5000, age: 100)
        #expect(tokens.expiresIn == expiresIn)
    }

    @Test(arguments: [#""\ud800""#, "1e999", #"{"a":[{"b":{}}]}"#, "123456789012345678901234567890123456789.5"])
    func ignoresUnknownMembersOfAnyKind(value: String) throws {
        let body = String(Answers.minimal.dropLast() + #","expires_in":60,"unknown":\#(value)}"#)
        let response = HTTPResponse(endpoint: "the token endpoint", status: 200, body: Secret(body))
        #expect(try IssuedTokens(response, to: .sample(.common), issuer: nil, now: 0).expiresIn == 60)
    }

    /// The second name, without the first label of the host, is that of earlier responses.
    @Test(
        arguments: [
            (
                #""cloud_instance_name":"microsoftonline.us","cloud_instance_host_name":"login.microsoftonline.us""#,
                "login.microsoftonline.us"
            ),
            (#""cloud_instance_name":"microsoftonline.us""#, "microsoftonline.us"),
            (#""cloud_instance_host_name":7"#, nil),
            (#""cloud_instance_host_name":"\#(String(repeating: "a", count: ValueLimits.identifier + 1))""#, nil),
        ] as [(String, String?)])
    func readsTheCloudOfTheUser(written: String, cloud: String?) throws {
        let body = Secret(String(Answers.minimal.dropLast() + ",\(written)}"))
        let response = HTTPResponse(endpoint: "the token endpoint", status: 200, body: body)
        let tokens = try IssuedTokens(response, to: .sample(.common), issuer: nil, now: 1000)
        #expect(tokens.cloudName == cloud)
    }

    /// A policy chooses its subjects, which could be the identifiers of other tenants' accounts.
    @Test(arguments: [OAuthVersion.v1, .v2])
    func takesNoSubjectOfAB2CPolicyForAnEntraAccount(version: OAuthVersion) throws {
        let authority = try Authority("https://login.microsoftonline.com/tfp/evil/b2c_1_p", kind: .b2c)
        var request = try TokenRequest.sample(authority)
        request.version = version
        let body = Secret(#"{"access_token":"at"}"#)
        let response = HTTPResponse(endpoint: "the token endpoint", status: 200, body: body)
        let error = #expect(throws: TokenError.self) { try IssuedTokens(response, to: request, issuer: nil, now: 0) }
        #expect(error?.message.contains("client_info") == true, "\(error?.message ?? "")")
    }

    @Test func treatsNullAsAbsent() async throws {
        let body = Answers.minimal.dropLast() + #","refresh_token":null,"scope":null,"id_token":null,"error":null}"#
        try await EndpointFixture.with(EndpointFixture.token(.json(String(body)))) { fixture in
            let response = try await fixture.endpoint.redeem(.sample(fixture.authority))
            #expect(response.refreshToken == nil)
            #expect(response.scopes == nil)
            #expect(response.idToken == nil)
            #expect(response.expiresIn == 3600)
        }
    }

    @Test(
        arguments: [
            ("", TokenError.Code.serverInvalidResponse), ("<html>", .serverInvalidResponse),
            ("[]", .serverInvalidResponse), ("{}", .internalError), (#"{"access_token":""}"#, .internalError),
            (#"{"access_token":7,"client_info":"x"}"#, .internalError),
            (String(repeating: "[", count: 1000), .serverInvalidResponse),
            (#"{"access_token":"at","x":"# + String(repeating: "[", count: 1000) + "}", .serverInvalidResponse),
            (
                #"{"access_token":"at","token_type":"mac","client_info":"\#(Answers.clientInfo)"}"#,
                .serverInvalidResponse
            ),
        ])
    func refusesAResponseThatIsNotValid(body: String, code: TokenError.Code) async throws {
        try await EndpointFixture.with(EndpointFixture.token(.json(body))) { fixture in
            let error = try await fixture.failure()
            #expect(error.code == code && error.reason == .provider)
            #expect(error.details.httpStatus == 200)
            #expect(error.details.correlationID != nil)
            #expect(error.message.contains("/common/oauth2/v2.0/token"))
            #expect(body.isEmpty || !error.message.contains(body))
        }
    }

    // Mirrors: MSIDOauth2Factory verifyResponse: ADAL needs an access token, MSAL any token
    @Test(arguments: [OAuthVersion.v1, .v2]) func takesAnIDTokenAloneForMSALOnly(version: OAuthVersion) throws {
        let body = #"{"id_token":"\#(Answers.idToken)","client_info":"\#(Answers.clientInfo)"}"#
        let response = HTTPResponse(endpoint: "the token endpoint", status: 200, body: Secret(body))
        let request = try TokenRequest.sample(.common, version: version)
        let issued = Result { () throws(TokenError) in
            try IssuedTokens(response, to: request, issuer: nil, now: 0)
        }
        switch issued {
        case .success(let tokens): #expect(version == .v2 && tokens.accessToken == nil)
        case .failure(let error): #expect(version == .v1 && error.code == .internalError)
        }
    }

    @Test(arguments: [#"{"access_token":"at"}"#, #"{"access_token":"at","client_info":"%%%"}"#])
    func needsClientInfoFromMicrosoftAndNotFromOthers(body: String) async throws {
        let response = HTTPResponse(
            endpoint: "the token endpoint", status: 200, body: Secret(body))
        let failure = try #require(throws: TokenError.self) {
            try IssuedTokens(response, to: .sample(.common), issuer: nil, now: 0)
        }
        #expect(failure.code == .internalError && failure.reason == .provider)
        try await EndpointFixture.with(EndpointFixture.token(.json(body))) { fixture in
            let taken = try await fixture.endpoint.redeem(.sample(fixture.authority))
            #expect(taken.homeAccountID == nil)
        }
    }

    @Test func needsNoClientInfoFromADFS() async throws {
        try await EndpointFixture.with(path: "/adfs", EndpointFixture.token(.json(#"{"access_token":"at"}"#))) {
            fixture in
            let response = try await fixture.endpoint.redeem(.sample(fixture.authority))
            #expect(response.homeAccountID == nil)
            #expect(fixture.redeemed.map(\.path) == ["/adfs/oauth2/token"])
        }
    }

    /// The rules are those of `IDTokenValidation`.
    @Test(arguments: ["app-1", "app-2"]) func refusesAnIDTokenThatIsNotForTheRequest(audience: String) throws {
        let claims = #"{"iss":"https://id.example/main","aud":"\#(audience)","sub":"s","exp":2000000000}"#
        let body = #"{"access_token":"at","id_token":"e30.\#(Base64URL.encode(Data(claims.utf8)))."}"#
        let response = HTTPResponse(endpoint: "x", status: 200, body: Secret(body))
        let request = try TokenRequest.sample(Authority("https://id.example/main", kind: .openID))
        let issued = Result { () throws(TokenError) in
            try IssuedTokens(response, to: request, issuer: "https://id.example/main", now: 1_800_000_000)
        }
        switch issued {
        case .success(let tokens): #expect(audience == "app-1" && tokens.accessToken == Secret("at"))
        case .failure(let error): #expect(audience == "app-2" && error.code == .serverInvalidResponse)
        }
    }

    /// The machine's clock is years ahead, and the provider's is in its response.
    @Test(arguments: [nil, "Fri, 15 Jan 2027 08:00:00 GMT", "Fri, 15 Jan 2027 10:00:00 GMT", "today"])
    func believesTheClockOfTheProviderToo(date: String?) throws {
        let claims = #"{"aud":"app-1","exp":1800003600}"#
        let body = #"{"access_token":"at","id_token":"e30.\#(Base64URL.encode(Data(claims.utf8)))."}"#
        let response = HTTPResponse(
            endpoint: "x", status: 200, fields: date.map { [(name: "date", value: $0)] } ?? [], body: Secret(body))
        let request = try TokenRequest.sample(Authority("https://fs.contoso.com/adfs"))
        let issued = try? IssuedTokens(response, to: request, issuer: nil, now: 1_900_000_000)
        #expect((issued != nil) == (date?.contains("08:00") ?? false))
    }
}
