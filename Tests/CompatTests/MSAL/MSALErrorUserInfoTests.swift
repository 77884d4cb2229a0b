internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// The values in `userInfo`, with their keys and types.
@Suite(.bounded) struct MSALErrorUserInfoTests {
    @Test func fillsEveryKey() throws {
        let correlationID = CorrelationID()
        var details = TokenError.Details()
        details.oauthError = "invalid_grant"
        details.subError = "bad_token"
        details.errorDescription = "AADSTS50173: revoked"
        details.stsErrorCodes = [50173, 70000]
        details.httpStatus = 429
        details.httpHeaders = ["Retry-After": "7"]
        details.correlationID = correlationID
        details.homeAccountID = HomeAccountID("uid.utid")
        details.username = "anna@contoso.com"
        details.isThrottled = true
        let info = MSALError.error(for: TokenError(.interactionRequired, "sign in", details: details)).userInfo
        #expect(info[MSALOAuthErrorKey] as? String == "invalid_grant")
        #expect(info[MSALOAuthSubErrorKey] as? String == "bad_token")
        #expect(info[MSALErrorDescriptionKey] as? String == "AADSTS50173: revoked")
        #expect(info[MSALSTSErrorCodesKey] as? [NSNumber] == [50173, 70000])
        #expect(info[MSALHTTPHeadersKey] as? [String: String] == ["Retry-After": "7"])
        #expect(info[MSALCorrelationIDKey] as? String == correlationID.uuid.uuidString)
        #expect(info[MSALHomeAccountIdKey] as? String == "uid.utid")
        #expect(info[MSALDisplayableUserIdKey] as? String == "anna@contoso.com")
        #expect(info[MSALThrottlingCacheHitKey] as? NSNumber == 1)
        #expect(info[MSALHTTPResponseCodeKey] == nil)
        let unhandled = MSALError.error(for: TokenError(.unhandledHTTPResponse, "busy", details: details)).userInfo
        #expect(unhandled[MSALHTTPResponseCodeKey] as? String == "429")
        let underlying = try #require(info[NSUnderlyingErrorKey] as? NSError)
        #expect(underlying.userInfo[MSALInternalErrorCodeKey] as? NSNumber == -42004)
    }

    // Mirrors: MSIDSilentTokenRequest tryRefreshToken and MSALErrorConverter: the underlying error has the code of its OAuth error
    @Test(
        arguments: [
            ("interaction_required", -50002, nil), ("Interaction_Required", -50002, nil),
            ("login_required", -50000, -42104), ("consent_required", -50000, -42104), ("invalid_grant", -50000, -42004),
            ("access_denied", -50005, nil), ("unheard_of", -50000, -42104),
        ] as [(String, Int, Int?)])
    func hasTheServersErrorUnderARequiredInteraction(oauthError: String, code: Int, inner: Int?) throws {
        var details = TokenError.Details()
        (details.oauthError, details.subError, details.httpStatus) = (oauthError, "basic_action", 400)
        let error = MSALError.error(for: TokenError(.interactionRequired, "sign in", details: details))
        #expect(error.code == MSALError.interactionRequired.rawValue)
        let underlying = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(underlying.domain == MSALErrorDomain)
        #expect(underlying.code == code)
        #expect((underlying.userInfo[MSALInternalErrorCodeKey] as? NSNumber)?.intValue == inner)
        #expect(underlying.userInfo[MSALOAuthErrorKey] as? String == oauthError)
        #expect(underlying.userInfo[MSALOAuthSubErrorKey] as? String == "basic_action")
        #expect(underlying.userInfo[NSUnderlyingErrorKey] == nil)
    }

    // Mirrors: MSIDInteractiveAuthorizationCodeRequest: only MSIDSilentTokenRequest lays an error beneath a required interaction
    @Test func hasNoErrorUnderARequiredInteractionOfASignIn() {
        var details = TokenError.Details()
        (details.oauthError, details.subError) = ("interaction_required", "basic_action")
        let failure = TokenError(.interactionRequired, "sign in", details: details)
        let error = MSALError.error(for: failure, isOfSignIn: true)
        #expect(error.domain == MSALErrorDomain)
        #expect(error.code == MSALError.interactionRequired.rawValue)
        #expect(error.userInfo[MSALOAuthErrorKey] as? String == "interaction_required")
        #expect(error.userInfo[MSALOAuthSubErrorKey] as? String == "basic_action")
        #expect(error.userInfo[NSUnderlyingErrorKey] == nil)
        // Errors of the agent itself stay beneath the error that has no number of theirs.
        let missing = MSALError.error(for: TokenError(.agentUnavailable, "no agent"), isOfSignIn: true)
        #expect((missing.userInfo[NSUnderlyingErrorKey] as? TokenError)?.code == .agentUnavailable)
    }

    /// An app that waits as long as `Retry-After` says is not too early, whatever the age of the response.
    @Test func hasTheSecondsUntilTheProviderIsAskedAgain() {
        var details = TokenError.Details()
        details.httpStatus = 429
        details.httpHeaders = ["retry-after": "60", "Date": "today"]
        details.throttledUntil = 1_900_000_060
        details.reason = .throttled
        let first = TokenError(.unhandledHTTPResponse, "busy", details: details)
        // In the spelling by which apps look it up, whatever that of the server.
        let received = first.msalUserInfo(nil, now: 0)[MSALHTTPHeadersKey] as? [String: String]
        #expect(received == ["Retry-After": "60", "Date": "today"])
        details.isThrottled = true
        let error = TokenError(.unhandledHTTPResponse, "busy", details: details)
        let headers = error.msalUserInfo(nil, now: 1_900_000_018)[MSALHTTPHeadersKey] as? [String: String]
        #expect(headers == ["Retry-After": "42", "Date": "today"])
        // A refusal of the user's tokens is repeated as well, but a sign-in ends it.
        details.reason = .provider
        let refusal = TokenError(.interactionRequired, "sign in", details: details)
        #expect(refusal.msalUserInfo(nil)[MSALHTTPHeadersKey] as? [String: String] == received)
    }

    /// The end has passed by the clock of the app. An app cannot wait for fewer seconds than none.
    @Test func hasNoSecondsBelowZero() {
        var details = TokenError.Details()
        details.httpStatus = 429
        details.httpHeaders = ["Retry-After": "60"]
        details.throttledUntil = 1_900_000_060
        details.reason = .throttled
        details.isThrottled = true
        let error = TokenError(.unhandledHTTPResponse, "busy", details: details)
        let headers = error.msalUserInfo(nil, now: 1_900_000_100)[MSALHTTPHeadersKey] as? [String: String]
        #expect(headers == ["Retry-After": "0"])
    }

    /// The agent waits for a minute then.
    @Test func hasTheSecondsAlsoIfTheResponseNamesNone() {
        var details = TokenError.Details()
        details.httpStatus = 503
        details.throttledUntil = 1_900_000_060
        details.reason = .throttled
        let error = TokenError(.unhandledHTTPResponse, "busy", details: details)
        let headers = error.msalUserInfo(nil, now: 1_900_000_000)[MSALHTTPHeadersKey] as? [String: String]
        #expect(headers == ["Retry-After": "60"])
    }

    /// RFC 9110 section 5.2.
    @Test func joinsTheValuesOfOneHeaderField() {
        var details = TokenError.Details()
        details.httpHeaders = ["Warning": "110", "warning": "112"]
        let error = TokenError(.unhandledHTTPResponse, "busy", details: details)
        let headers = error.msalUserInfo(nil)[MSALHTTPHeadersKey] as? [String: String]
        #expect(headers == ["Warning": "110, 112"])
    }

    /// It has a code of Foundation's, unlike the other errors that the agent alone has.
    @Test func hasNoErrorUnderANetworkFailure() {
        let error = MSALError.error(for: TokenError(.networkUnavailable, "down"))
        #expect(error.userInfo[NSUnderlyingErrorKey] == nil)
    }

    @Test func omitsKeysOfUnknownValues() {
        let info = MSALError.error(for: TokenError(.interactionRequired, "sign in")).userInfo
        #expect(Set(info.keys) == [MSALErrorDescriptionKey, NSLocalizedDescriptionKey])
    }

    @Test func reportsGrantedScopesWithDeclinedOnes() throws {
        var details = TokenError.Details()
        details.grantedScopes = ["user.read"]
        details.declinedScopes = ["mail.read"]
        details.partialResult = Sample.result(scopes: ["user.read"])
        let info = MSALError.error(for: TokenError(.declinedScopes, "less", details: details)).userInfo
        #expect(info[MSALGrantedScopesKey] as? [String] == ["user.read"])
        #expect(info[MSALDeclinedScopesKey] as? [String] == ["mail.read"])
        let result = try #require(info[MSALInvalidResultKey] as? MSALResult)
        #expect(result.scopes == ["user.read"])
    }

    @Test(arguments: [(Int32(403), -42009), (404, -42009), (429, nil), (503, nil)])
    func reportsOnly403And404AsUnexpectedResponses(status: Int32, inner: Int?) {
        var details = TokenError.Details()
        details.httpStatus = status
        let error = MSALError.error(for: TokenError(.unhandledHTTPResponse, "HTTP", details: details))
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect((underlying?.userInfo[MSALInternalErrorCodeKey] as? NSNumber)?.intValue == inner)
        #expect((error.userInfo[MSALInternalErrorCodeKey] as? NSNumber)?.intValue == -42007)
    }

    @Test(arguments: [
        (MSALErrorDomain, "MSALErrorDomain"), (MSALOAuthErrorKey, "MSALOAuthErrorKey"),
        (MSALHTTPResponseCodeKey, "MSALHTTPResponseCodeKey"), (MSALHomeAccountIdKey, "MSALHomeAccountIdKey"),
        (MSALThrottlingCacheHitKey, "MSALThrottlingCacheHitKey"), (MSALInvalidResultKey, "MSALInvalidResultKey"),
    ]) func givesEachKeyItsNameAsItsValue(key: String, name: String) {
        #expect(key == name)
    }

    @Test func usesTheCodesOfMSAL() {
        #expect(MSALError.internal.rawValue == -50000)
        #expect(MSALError.serverInvalidRequestResetPasswordRequired.rawValue == -50142)
        #expect(MSALInternalError.internalErrorInvalidASWebAuthenticationURL.rawValue == -42745)
        #expect(MSALInternalError(rawValue: -42402) == .internalErrorInteractiveSessionAlreadyRunning)
    }
}
