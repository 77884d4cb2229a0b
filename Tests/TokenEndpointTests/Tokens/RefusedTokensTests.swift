internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// The refresh token of a response that is refused. It replaces the one of the request (RFC 6749 section 6).
@Suite(.bounded) struct RefusedTokensTests {
    private static let tokens =
        #""access_token":"at","refresh_token":"rt-2","foci":"1","client_info":"\#(Answers.clientInfo)""#

    /// - Returns: the error of a response, and the tokens that are recorded for its refresh token.
    private static func refuse(
        _ body: String, status: Int = 200
    ) throws -> (error: TokenError?, tokens: IssuedTokens?) {
        let response = HTTPResponse(endpoint: "the token endpoint", status: status, body: Secret(body))
        let (request, delivery) = (try TokenRequest.sample(.common), DeliveryTracker())
        let issued = Result { () throws(TokenError) in
            try IssuedTokens(response, to: request, issuer: nil, now: 0, delivery)
        }
        guard case .failure(let error) = issued else { return (nil, delivery.refusedTokens) }
        return (error, delivery.refusedTokens)
    }

    @Test(arguments: ["{\"x\":NaN,\(tokens)}", "{\(tokens),\"x\":\"\u{1}\"}", "{\(tokens)}\0", "{\(tokens)"])
    func areKeptOfAResponseThatIsNotJSON(body: String) throws {
        let (error, tokens) = try Self.refuse(body)
        #expect(error?.code == .serverInvalidResponse)
        #expect(tokens?.refreshToken == Secret("rt-2"))
        // These say whose it is.
        #expect(tokens?.homeAccountID == HomeAccountID("u1.t1"))
        #expect(tokens?.familyID == FamilyID("1"))
    }

    @Test(arguments: [201, 203, 206]) func areKeptOfASuccessWithAnotherStatus(status: Int) throws {
        let (error, tokens) = try Self.refuse("{\(Self.tokens)}", status: status)
        #expect(error?.code == .unhandledHTTPResponse)
        #expect(tokens?.refreshToken == Secret("rt-2"))
    }

    /// The response has no end, and the connection stays open.
    @Test(arguments: [false, true]) func areKeptWhenTheRequestEndsBeforeItsResponse(closes: Bool) async throws {
        let (answers, sent) = AsyncStream<Void>.makeStream()
        try await EndpointFixture.with(EndpointFixture.token(.stalled(body: "{\(Self.tokens)", sent: sent))) { f in
            let (request, delivery) = (try TokenRequest.sample(f.authority), DeliveryTracker())
            let redemption = Task { await failure { try await f.endpoint.redeem(request, delivery) } }
            for await _ in answers { break }
            if closes { await f.endpoint.close() } else { redemption.cancel() }
            let error = await redemption.value
            #expect(error?.code == .cancelled)
            #expect(delivery.refusedTokens?.refreshToken == Secret("rt-2"))
        }
    }

    /// The connection is lost before the end of the response, or the response is longer than any is.
    @Test(
        arguments: [
            ("{\(tokens)", 0, "rt-2"), (#"{"refresh_token":"rt-2","access_token":"a"#, 0, "rt-2"),
            (#"{"access_token":"at","refresh_token":"rt-"#, 0, nil), ("{\(tokens),\"x\":\"", 1 << 20, "rt-2"),
        ] as [(String, Int, String?)])
    func areKeptOfAResponseThatWasCut(start: String, filler: Int, refreshToken: String?) async throws {
        let body = start + String(repeating: "x", count: filler)
        try await EndpointFixture.with(EndpointFixture.token(.interrupted(body: body))) { f in
            let (request, delivery) = (try TokenRequest.sample(f.authority), DeliveryTracker())
            let error = await failure { try await f.endpoint.redeem(request, delivery) }
            #expect(error?.code == (filler == 0 ? .networkUnavailable : .serverInvalidResponse))
            #expect(delivery.mayHaveArrived)
            #expect(delivery.refusedTokens?.refreshToken == refreshToken.map { Secret($0) })
        }
    }

    /// The response is an error, as for Microsoft's libraries.
    @Test(arguments: ["{\(tokens),\"error\":\"odd\"}", "{\(tokens),\"error\":\"odd\",\"x\":NaN}"])
    func areKeptOfAnErrorWithTokens(body: String) throws {
        let (error, tokens) = try Self.refuse(body)
        #expect(error?.code == (body.contains("NaN") ? .serverInvalidResponse : .serverOAuth))
        #expect(tokens?.refreshToken == Secret("rt-2"))
        #expect(tokens?.homeAccountID == HomeAccountID("u1.t1"))
    }

    /// The error may repeat the refresh token of the request, whole or in part.
    @Test(arguments: [#"{"error":"odd","refresh_token":"rt-"}"#, #"{"error":"odd","refresh_token":"rt-","x":NaN}"#])
    func areNoneOfAnErrorWithoutTokens(body: String) throws {
        let (error, tokens) = try Self.refuse(body)
        #expect(error != nil)
        #expect(tokens == nil)
    }

    /// There was no response to the request then, as far as is known.
    @Test(arguments: ["<html>", #"{"access_token":"at","refresh_token":"rt"#, #"{"access_token":"at","x":NaN}"#])
    func areNoneWithoutARefreshToken(body: String) throws {
        let (error, tokens) = try Self.refuse(body)
        #expect(error?.code == .serverInvalidResponse)
        #expect(tokens == nil)
    }

    /// The provider has refused the grant. What it names a refresh token may be that of the request, whole or in part.
    @Test(arguments: [400, 401, 403, 500]) func areNoneOfARefusal(status: Int) throws {
        for body in ["{\(Self.tokens)}", "{\(Self.tokens),\"x\":NaN}", "{\(Self.tokens),\"error\":\"invalid_grant\"}"] {
            let (error, tokens) = try Self.refuse(body, status: status)
            #expect(error?.details.httpStatus == Int32(status))
            #expect(tokens == nil)
        }
    }

    @Test func areNoneOfAResponseThatIsValid() throws {
        let (error, tokens) = try Self.refuse("{\(Self.tokens)}")
        #expect(error == nil)
        #expect(tokens == nil)
    }
}
