internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// The table from the agent's codes to MSAL's, row by row.
@Suite(.bounded) struct MSALErrorTableTests {
    struct Row: Sendable {
        let code: TokenError.Code
        let msal: Int
        let inner: Int?

        init(_ code: TokenError.Code, _ msal: Int, _ inner: Int? = nil) {
            (self.code, self.msal, self.inner) = (code, msal, inner)
        }
    }

    static let rows: [Row] = [
        Row(.internalError, -50000, -42008),
        Row(.invalidDeveloperParameter, -50000, -42000),
        Row(.accountRequired, -50000, -42106),
        Row(.unsupportedFunctionality, -50000, -42008),
        Row(.interactionRequired, -50002),
        Row(.mismatchedAccount, -50000, -42101),
        Row(.ambiguousAccount, -50000, -42102),
        Row(.cacheBadFormat, -50000, -42008),
        Row(.serverOAuth, -50000, -42104),
        Row(.serverInvalidResponse, -50000, -42600),
        Row(.refreshTokenRejected, -50000, -42008),
        Row(.invalidRequest, -50000, -42002),
        Row(.invalidClient, -50000, -42003),
        Row(.invalidGrant, -50000, -42004),
        Row(.invalidScope, -50000, -42005),
        Row(.unauthorizedClient, -50000, -42006),
        Row(.declinedScopes, -50003),
        Row(.accessDenied, -50005),
        Row(.serverError, -50000, -50006),
        Row(.invalidState, -50000, -42501),
        Row(.protectionPolicyRequired, -50004),
        Row(.authorizationFailed, -50000, -42104),
        Row(.unhandledHTTPResponse, -50000, -42007),
        Row(.authorityValidation, -50000, -42010),
        Row(.userCanceled, -50005),
        Row(.sessionCanceled, -50005),
        Row(.interactionInProgress, -50000, -42402),
        Row(.workplaceJoinRequired, -50001),
        Row(.malformedMessage, -50000, -42008),
        Row(.frameTooLarge, -50000, -42008),
        Row(.unsupportedProtocolVersion, -50000, -42008),
        Row(.agentUnavailable, -50000, -42008),
        Row(.peerNotAuthorized, -50000, -42008),
        Row(.timedOut, -50000, -42008),
        Row(.cancelled, -50000, -42008),
        Row(.storeUnavailable, -50000, -42008),
        Row(.requestDenied, -50000, -42008),
        Row(.accountNotFound, -50000, -42008),
        Row(.unrecognized(-51999), -50000, -42008),
    ]

    @Test(arguments: rows) func mapsEachCode(row: Row) {
        let error = MSALError.error(for: TokenError(row.code, "why"))
        #expect(error.domain == MSALErrorDomain)
        #expect(error.code == row.msal)
        #expect((error.userInfo[MSALInternalErrorCodeKey] as? NSNumber)?.intValue == row.inner)
        #expect(error.userInfo[MSALErrorDescriptionKey] as? String == "why")
        #expect(error.localizedDescription == "why")
    }

    @Test func mapsEveryCode() {
        let rows = Set(Self.rows.map(\.code)).union([.networkUnavailable])
        let missing = TokenError.Code.table.map(\.code).filter { !rows.contains($0) }
        #expect(missing.isEmpty)
    }

    @Test(arguments: [Int32(-1009), -1001, -1003]) func reportsNetworkFailuresWithTheirDomainAndCode(number: Int32) {
        var details = TokenError.Details()
        details.networkErrorCode = number
        let error = MSALError.error(for: TokenError(.networkUnavailable, "down", details: details))
        #expect(error.domain == NSURLErrorDomain)
        #expect(error.code == Int(number))
        #expect(error.userInfo[MSALInternalErrorCodeKey] == nil)
        let thrown: any Error = error
        #expect((thrown as? URLError)?.code.rawValue == Int(number))
    }

    /// Casts on Linux are those of Apple's systems, but for a code that Foundation does not know there: `URLError` would trap.
    @Test func isURLErrorOnlyOfItsDomainAndWithACodeThatFoundationKnows() {
        var details = TokenError.Details()
        details.networkErrorCode = -7
        let unknown: any Error = MSALError.error(for: TokenError(.networkUnavailable, "down", details: details))
        let other: any Error = MSALError.error(for: TokenError(.interactionRequired, "why"))
        #if !canImport(ObjectiveC)
            #expect(!(unknown is URLError))
        #endif
        #expect((unknown as NSError).code == -7)
        #expect(!(other is URLError))
        #expect(!(other is CancellationError))
    }

    @Test func reportsANetworkFailureWithoutACodeAsOffline() {
        #expect(MSALError.error(for: TokenError(.networkUnavailable, "down")).code == NSURLErrorNotConnectedToInternet)
    }

    @Test(arguments: [
        (TokenError.Code.agentUnavailable, true), (.timedOut, true), (.storeUnavailable, true),
        (.unrecognized(-60000), true), (.invalidGrant, false), (.internalError, false),
    ]) func reportsConditionsOfTheAgentAsUnderlyingErrors(code: TokenError.Code, isUnderlying: Bool) {
        let failure = TokenError(code, "why")
        let underlying = MSALError.error(for: failure).userInfo[NSUnderlyingErrorKey] as? TokenError
        #expect(underlying == (isUnderlying ? failure : nil))
    }

    @Test(arguments: [
        (TokenError.Code.invalidRequest, Int32?(400), -50142), (.invalidRequest, nil, -50000),
        (.invalidGrant, 400, -50000), (.serverOAuth, 400, -50000),
        (.interactionRequired, 400, -50002),
    ])
    func reportsAPasswordResetWithItsOwnCodeForAnInvalidRequest(code: TokenError.Code, status: Int32?, expected: Int) {
        var details = TokenError.Details()
        details.httpStatus = status
        details.stsErrorCodes = [50142]
        #expect(MSALError.error(for: TokenError(code, "why", details: details)).code == expected)
    }

    // Mirrors: MSIDErrorCodeForOAuthErrorWithSubErrorCode, for the page, and MSIDErrorCodeForOAuthError
    @Test(
        arguments: [
            (.invalidGrant, "invalid_grant", "insufficient_device_strength", nil, -50000, -50007),
            (.invalidGrant, "invalid_grant", "Insufficient_Device_Strength", nil, -50000, -50007),
            (.invalidGrant, "invalid_grant", "insufficient_device_strength", 400, -50000, -42004),
            (.invalidGrant, "invalid_grant", "transfer_token_expired", nil, -50005, nil),
            (.invalidGrant, "invalid_grant", "transfer_token_expired", 400, -50000, -42004),
            (.invalidGrant, "invalid_grant", "bad_token", nil, -50000, -42004),
            (.authorizationFailed, "tokenTransferFailedOTC", nil, nil, -50005, nil),
            (.serverOAuth, "tokenTransferFailedOTC", nil, 400, -50005, nil),
            (.interactionRequired, "tokenTransferFailedOTC", nil, 400, -50002, nil),
            (.protectionPolicyRequired, "unauthorized_client", "protection_policy_required", nil, -50000, -42006),
            (.protectionPolicyRequired, "unauthorized_client", "protection_policy_required", 400, -50004, nil),
        ] as [(TokenError.Code, String, String?, Int32?, Int, Int?)])
    func readsTheSubErrorsThatMSALReads(
        code: TokenError.Code, oauthError: String, subError: String?, status: Int32?, expected: Int, inner: Int?
    ) {
        var details = TokenError.Details()
        (details.oauthError, details.subError, details.httpStatus) = (oauthError, subError, status)
        let error = MSALError.error(for: TokenError(code, "why", details: details))
        #expect(error.domain == MSALErrorDomain)
        #expect(error.code == expected)
        #expect((error.userInfo[MSALInternalErrorCodeKey] as? NSNumber)?.intValue == inner)
        #expect(error.userInfo[MSALOAuthSubErrorKey] as? String == subError)
    }

    /// The rows of MSAL's table for conditions of Apple's devices.
    static let appleOnly: [(number: Int32, msal: Int, inner: Int?)] =
        [
            (-50142, -50142, nil), (-51116, -50000, -42602), (-51118, -50000, -42001), (-51119, -50000, -42011),
            (-51501, -50000, -42009), (-51720, -50000, -42403), (-51730, -50000, -42404), (-51731, -50000, -42405),
            (-51732, -50000, -50007), (-51733, -50000, -50008), (-51734, -50000, -42745), (-51833, -50000, -42734),
            (-51834, -50000, -42731), (-51835, -50000, -42735), (-51836, -50000, -42732), (-51844, -50000, -42744),
            (-51845, -50000, -42743),
        ]
        + [
            -42700, -42701, -42702, -42703, -42704, -42705, -42706, -42707, -42708, -42709, nil, -42711, -42712, -42713,
            -42714, nil, nil, -42715, -42716, -42717, -42718, -42719, -42720, -42721, -42722, -42723, -42724, -42725,
            -42726, -42727, -42728, -42729, -42730,
        ].enumerated().compactMap { offset, inner in inner.map { (-51800 - Int32(offset), -50000, $0) } }
        + (0...6).map { (-51837 - Int32($0), -50000, -42736 - $0) }

    @Test(arguments: appleOnly) func mapsTheNumbersOfApplesDevices(row: (number: Int32, msal: Int, inner: Int?)) {
        let error = MSALError.error(for: TokenError(TokenError.Code(number: row.number), "why"))
        #expect(error.domain == MSALErrorDomain)
        #expect(error.code == row.msal)
        #expect((error.userInfo[MSALInternalErrorCodeKey] as? NSNumber)?.intValue == row.inner)
        #expect(error.userInfo[NSUnderlyingErrorKey] == nil)
        if let inner = row.inner, inner > -50000 { #expect(MSALInternalError(rawValue: inner) != nil) }
    }

    /// Numbers that MSAL does not map, or maps to an error without a name.
    @Test(arguments: [Int32(-51120), -51815, -51816, -51900, -51903, -52001, -51111, -51702])
    func mapsUnknownNumbersToUnexpected(number: Int32) {
        let error = MSALError.error(for: TokenError(TokenError.Code(number: number), "why"))
        #expect(error.code == -50000)
        #expect((error.userInfo[MSALInternalErrorCodeKey] as? NSNumber)?.intValue == -42008)
    }
}
