internal import ADALCompat
internal import Foundation
internal import Testing
internal import TokenModel

@Suite struct ADALErrorTableTests {
    private static let library: [(TokenError.Code, Int)] = [
        (.internalError, -1), (.unsupportedFunctionality, -1), (.invalidDeveloperParameter, 100),
        (.accountRequired, 100), (.authorityValidation, 101), (.accountNotFound, 200), (.workplaceJoinRequired, 201),
        (.mismatchedAccount, 204), (.ambiguousAccount, 300), (.cacheBadFormat, 302), (.interactionInProgress, 400),
        (.userCanceled, 403), (.sessionCanceled, 403), (.cancelled, 403), (.malformedMessage, -1),
        (.frameTooLarge, -1), (.unsupportedProtocolVersion, -1), (.agentUnavailable, -1), (.peerNotAuthorized, -1),
        (.timedOut, -1), (.storeUnavailable, -1), (.unrecognized(-59999), -1),
    ]

    private static let server: [(TokenError.Code, Int)] = [
        (.interactionRequired, 200), (.serverOAuth, 202), (.invalidRequest, 202), (.invalidClient, 202),
        (.invalidGrant, 202), (.invalidScope, 202), (.unauthorizedClient, 202), (.declinedScopes, 202),
        (.serverError, 202), (.invalidState, 202), (.refreshTokenRejected, 203), (.accessDenied, 211),
        (.authorizationFailed, 211), (.serverInvalidResponse, 212), (.protectionPolicyRequired, 213),
    ]

    @Test(arguments: library) func reportsTheLibrarysOwnErrors(code: TokenError.Code, expected: Int) {
        let error = ADAuthenticationError(TokenError(code, "why"))
        #expect(error.domain == ADAuthenticationErrorDomain)
        #expect(error.code == expected)
        #expect(error.errorDetails == "why")
        #expect(error.protocolCode == nil)
    }

    @Test(arguments: server) func reportsTheServersErrors(code: TokenError.Code, expected: Int) {
        let error = ADAuthenticationError(TokenError(code, "why"))
        #expect(error.domain == ADOAuthServerErrorDomain)
        #expect(error.code == expected)
    }

    @Test func hasARowForEachCodeOfTheAgent() {
        let rows = Set((Self.library + Self.server).map(\.0.number))
        let others: Set = [TokenError.Code.unhandledHTTPResponse.number, TokenError.Code.networkUnavailable.number]
        #expect(rows.union(others).isSuperset(of: TokenError.Code.table.map(\.number)))
    }

    @Test func carriesWhatTheServerSaid() throws {
        var details = TokenError.Details()
        details.oauthError = "invalid_grant"
        details.errorDescription = "AADSTS70000: no"
        details.subError = "bad_token"
        details.username = "alice@contoso.com"
        details.httpHeaders = ["Retry-After": "5"]
        let error = ADAuthenticationError(TokenError(.invalidGrant, "why", details: details))
        #expect(error.protocolCode == "invalid_grant")
        #expect(error.errorDetails == "AADSTS70000: no")
        #expect(error.userInfo[ADSuberrorKey] as? String == "bad_token")
        #expect(error.userInfo[ADUserIdKey] as? String == "alice@contoso.com")
        #expect(error.userInfo[ADHTTPHeadersKey] as? [String: String] == ["Retry-After": "5"])
        #expect(error.userInfo[NSUnderlyingErrorKey] == nil)
    }

    @Test(arguments: [
        (TokenError.Code.unhandledHTTPResponse, 503), (.unhandledHTTPResponse, 429), (.unhandledHTTPResponse, 404),
        (.serverError, 500),
    ])
    func reportsAnHTTPStatusAsTheCode(code: TokenError.Code, status: Int) {
        var details = TokenError.Details()
        details.httpStatus = Int32(status)
        // A body that says why does not make the failure the server's "no", which only 200, 400 and 401 can be.
        details.oauthError = "temporarily_unavailable"
        for error in [
            ADAuthenticationError(TokenError(code, "why", details: details)),
            ADAuthenticationError.silent(TokenError(code, "why", details: details)),
        ] {
            #expect(error.domain == ADHTTPErrorCodeDomain)
            #expect(error.code == status)
        }
    }

    @Test func readsTheBodyOfABadRequestAsAnOAuthError() {
        var details = TokenError.Details()
        details.httpStatus = 400
        details.oauthError = "temporarily_unavailable"
        let error = ADAuthenticationError(TokenError(.serverError, "why", details: details))
        #expect(error.domain == ADOAuthServerErrorDomain)
    }

    @Test(arguments: [(Int32?.some(-1001), -1001), (nil, NSURLErrorNotConnectedToInternet)])
    func reportsANetworkFailureInFoundationsWords(code: Int32?, expected: Int) {
        var details = TokenError.Details()
        details.networkErrorCode = code
        let error = ADAuthenticationError.silent(TokenError(.networkUnavailable, "why", details: details))
        #expect(error.domain == NSURLErrorDomain)
        #expect(error.code == expected)
    }

    @Test func keepsTheAgentsErrorUnderneathWhereADALHasNoCode() {
        let cause = TokenError(.agentUnavailable, "no agent is running")
        let error = ADAuthenticationError(cause)
        #expect(error.userInfo[NSUnderlyingErrorKey] as? TokenError == cause)
        #expect(error.localizedDescription == "no agent is running")
    }
}
