internal import ADALCompat
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct ADALErrorTableTests {
    private static let library: [(TokenError.Code, Int)] = [
        (.internalError, -1), (.unsupportedFunctionality, -1), (.invalidDeveloperParameter, 100),
        (.accountRequired, 100), (.authorityValidation, 101), (.accountNotFound, 200), (.workplaceJoinRequired, 201),
        (.mismatchedAccount, 204), (.authorizationFailed, 211), (.ambiguousAccount, 300), (.cacheBadFormat, 302),
        (.interactionInProgress, 400), (.userCanceled, 403), (.sessionCanceled, 403), (.cancelled, 403),
        (.malformedMessage, -1),
        (.frameTooLarge, -1), (.unsupportedProtocolVersion, -1), (.agentUnavailable, -1), (.peerNotAuthorized, -1),
        (.timedOut, -1), (.storeUnavailable, -1), (.requestDenied, -1), (.unrecognized(-59999), -1),
    ]

    private static let server: [(TokenError.Code, Int)] = [
        (.interactionRequired, 200), (.serverOAuth, 202), (.invalidRequest, 202), (.invalidClient, 202),
        (.invalidGrant, 202), (.invalidScope, 202), (.unauthorizedClient, 202), (.declinedScopes, 202),
        (.serverError, 202), (.invalidState, 202), (.refreshTokenRejected, 203), (.accessDenied, 211),
        (.serverInvalidResponse, 212), (.protectionPolicyRequired, 213),
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

    /// The table of ADAL 2.7.18, row by row: the number of the error in its core, and the domain and code that it reports.
    /// Without the rows of errors that have no number there, or belong to Apple's systems only.
    private static let original: [(core: Int, code: TokenError.Code, domain: String, reported: Int)] = [
        (-51100, .internalError, ADAuthenticationErrorDomain, -1),
        (-51112, .invalidDeveloperParameter, ADAuthenticationErrorDomain, 100),
        (-51199, .unsupportedFunctionality, ADAuthenticationErrorDomain, -1),
        (-51201, .ambiguousAccount, ADAuthenticationErrorDomain, 300),
        (-51302, .cacheBadFormat, ADAuthenticationErrorDomain, 302),
        (-51411, .interactionRequired, ADOAuthServerErrorDomain, 200),
        (-51421, .serverOAuth, ADOAuthServerErrorDomain, 202),
        (-51422, .serverInvalidResponse, ADOAuthServerErrorDomain, 212),
        (-51423, .refreshTokenRejected, ADOAuthServerErrorDomain, 203),
        (-51431, .invalidRequest, ADOAuthServerErrorDomain, 202),
        (-51432, .invalidClient, ADOAuthServerErrorDomain, 202),
        (-51433, .invalidGrant, ADOAuthServerErrorDomain, 202),
        (-51434, .invalidScope, ADOAuthServerErrorDomain, 202),
        (-51436, .unhandledHTTPResponse, ADHTTPErrorCodeDomain, -1),
        (-51441, .invalidState, ADOAuthServerErrorDomain, 202),
        (-51461, .protectionPolicyRequired, ADOAuthServerErrorDomain, 213),
        (-51500, .authorityValidation, ADAuthenticationErrorDomain, 101),
        (-51600, .authorizationFailed, ADAuthenticationErrorDomain, 211),
        (-51611, .userCanceled, ADAuthenticationErrorDomain, 403),
        (-51612, .sessionCanceled, ADAuthenticationErrorDomain, 403),
        (-51622, .interactionInProgress, ADAuthenticationErrorDomain, 400),
    ]

    @Test(arguments: original) func reportsWhatTheOriginalReports(
        row: (core: Int, code: TokenError.Code, domain: String, reported: Int)
    ) {
        let error = ADAuthenticationError(TokenError(row.code, "why"))
        #expect(error.domain == row.domain)
        #expect(error.code == row.reported)
    }

    @Test(arguments: [TokenError.Code.accessDenied, .invalidRequest, .interactionRequired, .serverError])
    func reportsTheErrorsOfThePageAsRefusedAuthorizations(code: TokenError.Code) {
        var details = TokenError.Details()
        details.oauthError = "access_denied"
        let error = ADAuthenticationError(TokenError(code, "why", details: details))
        #expect(error.domain == ADOAuthServerErrorDomain)
        #expect(error.code == 211)
        #expect(error.protocolCode == "access_denied")
    }

    // Mirrors: ADAuthenticationContext errorFromDictionary:errorCode:
    @Test(arguments: [
        (TokenError.Code.invalidGrant, "protection_policy_required", 213),
        (.protectionPolicyRequired, "protection_policy_required", 213), (.invalidGrant, "bad_token", 211),
    ])
    func reportsAProtectionPolicyOfThePageWithAnyError(code: TokenError.Code, subError: String, reported: Int) {
        var details = TokenError.Details()
        (details.oauthError, details.subError, details.username) = ("made_up", subError, "alice@contoso.com")
        let error = ADAuthenticationError(TokenError(code, "why", details: details))
        #expect(error.domain == ADOAuthServerErrorDomain)
        #expect(error.code == reported)
        #expect(error.userInfo[ADSuberrorKey] as? String == subError)
        #expect(error.userInfo[ADUserIdKey] as? String == "alice@contoso.com")
    }

    /// A tenant that does not exist is found before a page is shown.
    @Test(arguments: [
        (TokenError.Code.interactionRequired, "interaction_required", ADOAuthServerErrorDomain, 202),
        (.accessDenied, "access_denied", ADOAuthServerErrorDomain, 202),
        (.protectionPolicyRequired, "unauthorized_client", ADOAuthServerErrorDomain, 213),
        (.authorityValidation, "invalid_tenant", ADAuthenticationErrorDomain, 101),
    ])
    func reportsARefusedGrantOfASignIn(code: TokenError.Code, said: String, domain: String, reported: Int) {
        var details = TokenError.Details()
        (details.oauthError, details.httpStatus) = (said, 400)
        let error = ADAuthenticationError(TokenError(code, "why", details: details))
        #expect(error.domain == domain)
        #expect(error.code == reported)
        #expect(error.protocolCode == said)
    }

    @Test(arguments: [
        (TokenError.Code.invalidGrant, "invalid_grant", 400, ADOAuthServerErrorDomain, 203),
        (.serverError, "temporarily_unavailable", 400, ADOAuthServerErrorDomain, 203),
        (.serverError, "temporarily_unavailable", 503, ADHTTPErrorCodeDomain, 503),
        (.protectionPolicyRequired, "unauthorized_client", 400, ADOAuthServerErrorDomain, 213),
        (.authorityValidation, "invalid_instance", 400, ADAuthenticationErrorDomain, 101),
        (.authorityValidation, "invalid_request", 400, ADOAuthServerErrorDomain, 203),
    ])
    func reportsARefusedRefreshTokenOfTheAppsOwn(
        code: TokenError.Code, said: String, status: Int32, domain: String, reported: Int
    ) {
        var details = TokenError.Details()
        (details.oauthError, details.httpStatus) = (said, status)
        let error = ADAuthenticationError.refreshing(TokenError(code, "why", details: details))
        #expect(error.domain == domain)
        #expect(error.code == reported)
        #expect(error.protocolCode == said)
    }

    @Test func hasARowForEachCodeOfTheAgent() {
        let rows = Set((Self.library + Self.server).map(\.0.number))
        let others: Set = [TokenError.Code.unhandledHTTPResponse.number, TokenError.Code.networkUnavailable.number]
        #expect(rows.union(others).isSuperset(of: TokenError.Code.table.map(\.number)))
    }

    @Test func reportsTheDetailsOfTheServersError() throws {
        var details = TokenError.Details()
        details.oauthError = "invalid_grant"
        details.httpStatus = 400
        details.errorDescription = "AADSTS70000: no"
        details.subError = "bad_token"
        details.username = "alice@contoso.com"
        details.httpHeaders = ["retry-after": "5", "x-ms-Request-ID": "a"]
        let error = ADAuthenticationError(TokenError(.invalidGrant, "why", details: details))
        #expect(error.domain == ADOAuthServerErrorDomain)
        #expect(error.code == 202)
        #expect(error.protocolCode == "invalid_grant")
        #expect(error.errorDetails == "AADSTS70000: no")
        #expect(error.userInfo[ADSuberrorKey] as? String == "bad_token")
        #expect(error.userInfo[ADUserIdKey] as? String == "alice@contoso.com")
        // Common names are in the spelling by which apps look them up.
        let headers = error.userInfo[ADHTTPHeadersKey] as? [String: String]
        #expect(headers == ["Retry-After": "5", "x-ms-Request-ID": "a"])
        #expect(error.userInfo[NSUnderlyingErrorKey] == nil)
    }

    @Test(arguments: [
        (TokenError.Code.unhandledHTTPResponse, 503), (.unhandledHTTPResponse, 429), (.unhandledHTTPResponse, 404),
        (.serverError, 500),
    ])
    func reportsAnHTTPStatusAsTheCode(code: TokenError.Code, status: Int) {
        var details = TokenError.Details()
        details.httpStatus = Int32(status)
        // Only the statuses 200, 400 and 401 have an OAuth error; the body of another status is not read.
        details.oauthError = "temporarily_unavailable"
        for error in [
            ADAuthenticationError(TokenError(code, "why", details: details)),
            ADAuthenticationError.silent(TokenError(code, "why", details: details)),
        ] {
            #expect(error.domain == ADHTTPErrorCodeDomain)
            #expect(error.code == status)
        }
    }

    @Test(arguments: [200, 400, 401] as [Int32])
    func readsTheBodyUnderTheStatusesOfAnOAuthError(status: Int32) {
        var details = TokenError.Details()
        details.httpStatus = status
        details.oauthError = "temporarily_unavailable"
        let error = ADAuthenticationError(TokenError(.serverError, "why", details: details))
        #expect(error.domain == ADOAuthServerErrorDomain)
    }

    @Test(arguments: [(Int32?.some(-1001), -1001), (nil, NSURLErrorNotConnectedToInternet)])
    func reportsANetworkFailureWithTheErrorOfFoundation(code: Int32?, expected: Int) {
        var details = TokenError.Details()
        details.networkErrorCode = code
        let error = ADAuthenticationError.silent(TokenError(.networkUnavailable, "why", details: details))
        #expect(error.domain == NSURLErrorDomain)
        #expect(error.code == expected)
        let reported: any Error = error
        #expect((reported as? URLError)?.code.rawValue == expected)
    }

    @Test func reportsTheErrorOfTheAgentIfADALHasNoCode() {
        let cause = TokenError(.agentUnavailable, "no agent is running")
        let error = ADAuthenticationError(cause)
        #expect(error.userInfo[NSUnderlyingErrorKey] as? TokenError == cause)
        #expect(error.localizedDescription == "no agent is running")
    }
}
