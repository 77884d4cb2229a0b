internal import ADALCompat
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct ADALSilentErrorTests {
    @Test(arguments: [
        TokenError.Code.interactionRequired, .accountNotFound, .refreshTokenRejected, .invalidGrant,
    ])
    func asksForASignInWhenNothingElseHelps(code: TokenError.Code) {
        let error = ADAuthenticationError.silent(TokenError(code, "why"))
        #expect(error.domain == ADAuthenticationErrorDomain)
        #expect(error.code == 200)
        #expect(error.protocolCode == nil)
        #expect(error.userInfo[NSUnderlyingErrorKey] == nil)
    }

    @Test(arguments: [
        (TokenError.Code.invalidGrant, "invalid_grant"), (.interactionRequired, "interaction_required"),
        (.unauthorizedClient, "unauthorized_client"), (.serverError, "temporarily_unavailable"),
        (.workplaceJoinRequired, "interaction_required"),
    ])
    func reportsTheErrorOfTheRefreshAsTheUnderlyingError(code: TokenError.Code, said: String) throws {
        var details = TokenError.Details()
        details.oauthError = said
        details.errorDescription = "AADSTS50076"
        details.subError = "basic_action"
        let error = ADAuthenticationError.silent(TokenError(code, "why", details: details))
        #expect(error.domain == ADAuthenticationErrorDomain)
        #expect(error.code == 200)
        #expect(error.protocolCode == nil)
        #expect(error.userInfo[ADSuberrorKey] as? String == "basic_action")
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? ADAuthenticationError)
        #expect(cause.domain == ADOAuthServerErrorDomain)
        #expect(cause.code == 203)
        #expect(cause.protocolCode == said)
        #expect(cause.errorDetails == "AADSTS50076")
    }

    // Mirrors: ADAuthorityValidation checkAuthority:validateAuthority:completionBlock:, which precedes the lookup in the cache
    @Test(arguments: [("invalid_instance", 101), ("invalid_request", 200)])
    func tellsAnUnknownAuthorityFromARefusedRefreshToken(said: String, code: Int) {
        var details = TokenError.Details()
        (details.oauthError, details.httpStatus) = (said, 400)
        let error = ADAuthenticationError.silent(TokenError(.authorityValidation, "why", details: details))
        #expect(error.domain == ADAuthenticationErrorDomain)
        #expect(error.code == code)
    }

    @Test func passesAProtectionPolicyOnAsItIs() {
        var details = TokenError.Details()
        details.oauthError = "unauthorized_client"
        details.subError = "protection_policy_required"
        details.username = "alice@contoso.com"
        let error = ADAuthenticationError.silent(TokenError(.protectionPolicyRequired, "why", details: details))
        #expect(error.domain == ADOAuthServerErrorDomain)
        #expect(error.code == 213)
        #expect(error.protocolCode == "unauthorized_client")
        #expect(error.userInfo[ADUserIdKey] as? String == "alice@contoso.com")
    }

    @Test(arguments: [(TokenError.Code.ambiguousAccount, 300), (.agentUnavailable, -1), (.authorityValidation, 101)])
    func reportsErrorsThatASignInDoesNotHelp(code: TokenError.Code, expected: Int) {
        #expect(ADAuthenticationError.silent(TokenError(code, "why")).code == expected)
    }
}
