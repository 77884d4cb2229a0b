// Written by Tests/APIParity/api_parity.py --write-values from adal.tsv; do not edit.
internal import ADALCompat
internal import TestSupport
internal import Testing

/// The values that ADAL's public header files give its names.
@Suite(.bounded) struct ADALValueTests {
    static let numbers: [(name: String, isRight: Bool)] = [
        row(ADErrorCode.ERROR_SUCCEEDED, 0),
        row(ADErrorCode.ERROR_UNEXPECTED, -1),
        row(ADErrorCode.ERROR_DEVELOPER_INVALID_ARGUMENT, 100),
        row(ADErrorCode.ERROR_DEVELOPER_AUTHORITY_VALIDATION, 101),
        row(ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED, 200),
        row(ADErrorCode.ERROR_SERVER_WPJ_REQUIRED, 201),
        row(ADErrorCode.ERROR_SERVER_OAUTH, 202),
        row(ADErrorCode.ERROR_SERVER_REFRESH_TOKEN_REJECTED, 203),
        row(ADErrorCode.ERROR_SERVER_WRONG_USER, 204),
        row(ADErrorCode.ERROR_SERVER_NON_HTTPS_REDIRECT, 205),
        row(ADErrorCode.ERROR_SERVER_INVALID_ID_TOKEN, 206),
        row(ADErrorCode.ERROR_SERVER_MISSING_AUTHENTICATE_HEADER, 207),
        row(ADErrorCode.ERROR_SERVER_AUTHENTICATE_HEADER_BAD_FORMAT, 208),
        row(ADErrorCode.ERROR_SERVER_UNAUTHORIZED_CODE_EXPECTED, 209),
        row(ADErrorCode.ERROR_SERVER_UNSUPPORTED_REQUEST, 210),
        row(ADErrorCode.ERROR_SERVER_AUTHORIZATION_CODE, 211),
        row(ADErrorCode.ERROR_SERVER_INVALID_RESPONSE, 212),
        row(ADErrorCode.ERROR_SERVER_PROTECTION_POLICY_REQUIRED, 213),
        row(ADErrorCode.ERROR_CACHE_MULTIPLE_USERS, 300),
        row(ADErrorCode.ERROR_CACHE_VERSION_MISMATCH, 301),
        row(ADErrorCode.ERROR_CACHE_BAD_FORMAT, 302),
        row(ADErrorCode.ERROR_CACHE_NO_REFRESH_TOKEN, 303),
        row(ADErrorCode.ERROR_UI_MULTLIPLE_INTERACTIVE_REQUESTS, 400),
        row(ADErrorCode.ERROR_UI_NO_MAIN_VIEW_CONTROLLER, 401),
        row(ADErrorCode.ERROR_UI_NOT_SUPPORTED_IN_APP_EXTENSION, 402),
        row(ADErrorCode.ERROR_UI_USER_CANCEL, 403),
        row(ADErrorCode.ERROR_UI_NOT_ON_MAIN_THREAD, 404),
        row(ADErrorCode.ERROR_TOKENBROKER_UNKNOWN, 500),
        row(ADErrorCode.ERROR_TOKENBROKER_INVALID_REDIRECT_URI, 501),
        row(ADErrorCode.ERROR_TOKENBROKER_RESPONSE_HASH_MISMATCH, 502),
        row(ADErrorCode.ERROR_TOKENBROKER_RESPONSE_NOT_RECEIVED, 503),
        row(ADErrorCode.ERROR_TOKENBROKER_FAILED_TO_CREATE_KEY, 504),
        row(ADErrorCode.ERROR_TOKENBROKER_DECRYPTION_FAILED, 505),
        row(ADErrorCode.ERROR_TOKENBROKER_NOT_A_BROKER_RESPONSE, 506),
        row(ADErrorCode.ERROR_TOKENBROKER_NO_RESUME_STATE, 507),
        row(ADErrorCode.ERROR_TOKENBROKER_BAD_RESUME_STATE, 508),
        row(ADErrorCode.ERROR_TOKENBROKER_MISMATCHED_RESUME_STATE, 509),
        row(ADErrorCode.ERROR_TOKENBROKER_HASH_MISSING, 510),
        row(ADErrorCode.ERROR_TOKENBROKER_NOT_SUPPORTED_IN_EXTENSION, 511),
    ]

    static let texts: [(name: String, value: String)] = [
        ("ADAuthenticationErrorDomain", ADAuthenticationErrorDomain),
        ("ADBrokerResponseErrorDomain", ADBrokerResponseErrorDomain),
        ("ADKeychainErrorDomain", ADKeychainErrorDomain),
        ("ADHTTPErrorCodeDomain", ADHTTPErrorCodeDomain),
        ("ADOAuthServerErrorDomain", ADOAuthServerErrorDomain),
        ("ADHTTPHeadersKey", ADHTTPHeadersKey),
        ("ADSuberrorKey", ADSuberrorKey),
        ("ADBrokerVersionKey", ADBrokerVersionKey),
        ("ADUserIdKey", ADUserIdKey),
    ]

    @Test func numbersEachCaseAsTheOriginalDoes() {
        for row in Self.numbers { #expect(row.isRight, "\(row.name)") }
    }

    @Test func givesEachConstantItsOwnNameAsItsValue() {
        for (name, value) in Self.texts { #expect(value == name) }
    }

    private static func row<Case: RawRepresentable>(
        _ value: Case, _ expected: Case.RawValue
    ) -> (name: String, isRight: Bool) where Case.RawValue: Equatable {
        ("\(Case.self).\(value)", value.rawValue == expected)
    }
}
