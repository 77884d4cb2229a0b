internal import Foundation
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

    @Test func hasItsMessageWhereAppsLookForTheTextOfAnError() {
        do throws(TokenError) {
            throw TokenError(.timedOut, "the agent did not answer in time")
        } catch {
            #expect(error.localizedDescription == "the agent did not answer in time")
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

    /// What the code says if the agent has not found out more.
    @Test(
        arguments: [
            (.unauthorizedClient, .app), (.invalidClient, .app), (.accountNotFound, .account),
            (.ambiguousAccount, .account), (.mismatchedAccount, .account), (.interactionRequired, .account),
            (.authorityValidation, .authority), (.invalidScope, .scope), (.declinedScopes, .scope),
            (.invalidDeveloperParameter, .request), (.frameTooLarge, .request), (.cacheBadFormat, .request),
            (.invalidGrant, .provider), (.serverError, .provider), (.protectionPolicyRequired, .provider),
            (.networkUnavailable, .network), (.accessDenied, .user), (.userCanceled, .user),
            (.sessionCanceled, .user), (.storeUnavailable, .store), (.requestDenied, .policy),
            (.agentUnavailable, .agent), (.peerNotAuthorized, .agent), (.timedOut, nil), (.cancelled, nil),
        ] as [(TokenError.Code, TokenError.Reason?)])
    func namesThePartThatUsuallyCausesAFailure(code: TokenError.Code, reason: TokenError.Reason?) {
        #expect(TokenError(code, "failed").reason == reason)
    }

    /// Entra refuses with the name of a declined sign-in if a policy of the tenant does not let the user in.
    @Test(
        arguments: [
            (.accessDenied, 53003, .provider), (.accessDenied, 65004, .user), (.accessDenied, 0, .user),
            (.interactionRequired, 50076, .provider), (.authorizationFailed, 0, .provider),
            (.invalidScope, 70011, .scope), (.unauthorizedClient, 700_016, .app),
        ] as [(TokenError.Code, Int32, TokenError.Reason)])
    func namesThePartThatAProviderRefuses(code: TokenError.Code, number: Int32, reason: TokenError.Reason) {
        var error = TokenError(code, "refused")
        error.details.oauthError = code == .accessDenied ? "access_denied" : "refused"
        error.details.stsErrorCodes = number == 0 ? [] : [number]
        #expect(error.reason == reason)
    }

    @Test func saysNameNumberAndMessage() {
        #expect(TokenError(.timedOut, "too late").description == "timedOut (-53006): too late")
    }
}
