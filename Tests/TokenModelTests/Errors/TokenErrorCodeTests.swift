internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct TokenErrorCodeTests {
    @Test func givesEachCodeOneNumberAndOneName() {
        let table = TokenError.Code.table
        #expect(Set(table.map(\.code)).count == table.count)
        #expect(Set(table.map(\.number)).count == table.count)
        #expect(Set(table.map(\.name)).count == table.count)
        for (code, number, name) in table {
            #expect(code.number == number)
            #expect(TokenError.Code(number: number) == code)
            #expect(code.name == name)
            #expect("\(code)" == name)
        }
    }

    @Test(arguments: [0, 1, -59999, .min, .max] as [Int32])
    func keepsANumberItDoesNotKnow(number: Int32) {
        let code = TokenError.Code(number: number)
        #expect(code == .unrecognized(number))
        #expect(code.number == number)
        #expect(code.name == "unrecognized")
    }

    @Test(arguments: [("invalid_grant", true), ("invalid_client", false), (nil, false)] as [(String?, Bool)])
    func takesARefreshTokenForInvalidIfTheGrantIs(error: String?, isRejected: Bool) {
        var details = TokenError.Details()
        (details.oauthError, details.subError) = (error, "bad_token")
        #expect((details.rejection == .refreshToken) == isRejected)
    }

    @Test func saysNameNumberAndMessage() {
        #expect(TokenError(.timedOut, "too late").description == "timedOut (-53006): too late")
    }
}
