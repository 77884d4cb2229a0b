internal import ADALCompat
internal import TestSupport
internal import Testing

@Suite(.bounded) struct ADALEnumTests {
    @Test func numbersItsEnumerationsAsTheOriginal() {
        #expect([AD_SAML1_1, AD_SAML2].map(\.rawValue) == [0, 1])
        #expect(
            [AD_PROMPT_AUTO, AD_PROMPT_ALWAYS, AD_PROMPT_REFRESH_SESSION, AD_FORCE_PROMPT].map(\.rawValue) == [
                0, 1, 2, 3,
            ])
        #expect([AD_CREDENTIALS_AUTO, AD_CREDENTIALS_EMBEDDED].map(\.rawValue) == [0, 1])
        #expect([AD_SUCCEEDED, AD_USER_CANCELLED, AD_FAILED].map(\.rawValue) == [0, 1, 2])
        #expect([UniqueId, OptionalDisplayableId, RequiredDisplayableId].map(\.rawValue) == [0, 1, 2])
        #expect(HTTP_UNAUTHORIZED.rawValue == 401)
        let levels = [
            ADAL_LOG_LEVEL_NO_LOG, ADAL_LOG_LEVEL_ERROR, ADAL_LOG_LEVEL_WARN, ADAL_LOG_LEVEL_INFO,
            ADAL_LOG_LEVEL_VERBOSE, ADAL_LOG_LAST,
        ]
        #expect(levels.map(\.rawValue) == [0, 1, 2, 3, 4, 4])
        #expect(ADPromptBehavior(2) == AD_PROMPT_REFRESH_SESSION)
        #expect(ADPromptBehavior(rawValue: 2) == AD_PROMPT_REFRESH_SESSION)
    }

    @Test(arguments: [
        (ADErrorCode.ERROR_SUCCEEDED, 0), (.ERROR_UNEXPECTED, -1), (.ERROR_DEVELOPER_INVALID_ARGUMENT, 100),
        (.ERROR_DEVELOPER_AUTHORITY_VALIDATION, 101), (.ERROR_SERVER_USER_INPUT_NEEDED, 200),
        (.ERROR_SERVER_WPJ_REQUIRED, 201), (.ERROR_SERVER_OAUTH, 202), (.ERROR_SERVER_REFRESH_TOKEN_REJECTED, 203),
        (.ERROR_SERVER_WRONG_USER, 204), (.ERROR_SERVER_NON_HTTPS_REDIRECT, 205), (.ERROR_SERVER_INVALID_ID_TOKEN, 206),
        (.ERROR_SERVER_MISSING_AUTHENTICATE_HEADER, 207), (.ERROR_SERVER_AUTHENTICATE_HEADER_BAD_FORMAT, 208),
        (.ERROR_SERVER_UNAUTHORIZED_CODE_EXPECTED, 209), (.ERROR_SERVER_UNSUPPORTED_REQUEST, 210),
        (.ERROR_SERVER_AUTHORIZATION_CODE, 211), (.ERROR_SERVER_INVALID_RESPONSE, 212),
        (.ERROR_SERVER_PROTECTION_POLICY_REQUIRED, 213), (.ERROR_CACHE_MULTIPLE_USERS, 300),
        (.ERROR_CACHE_VERSION_MISMATCH, 301), (.ERROR_CACHE_BAD_FORMAT, 302), (.ERROR_CACHE_NO_REFRESH_TOKEN, 303),
        (.ERROR_UI_MULTLIPLE_INTERACTIVE_REQUESTS, 400), (.ERROR_UI_NO_MAIN_VIEW_CONTROLLER, 401),
        (.ERROR_UI_NOT_SUPPORTED_IN_APP_EXTENSION, 402), (.ERROR_UI_USER_CANCEL, 403),
        (.ERROR_UI_NOT_ON_MAIN_THREAD, 404), (.ERROR_TOKENBROKER_UNKNOWN, 500),
        (.ERROR_TOKENBROKER_INVALID_REDIRECT_URI, 501), (.ERROR_TOKENBROKER_RESPONSE_HASH_MISMATCH, 502),
        (.ERROR_TOKENBROKER_RESPONSE_NOT_RECEIVED, 503), (.ERROR_TOKENBROKER_FAILED_TO_CREATE_KEY, 504),
        (.ERROR_TOKENBROKER_DECRYPTION_FAILED, 505), (.ERROR_TOKENBROKER_NOT_A_BROKER_RESPONSE, 506),
        (.ERROR_TOKENBROKER_NO_RESUME_STATE, 507), (.ERROR_TOKENBROKER_BAD_RESUME_STATE, 508),
        (.ERROR_TOKENBROKER_MISMATCHED_RESUME_STATE, 509), (.ERROR_TOKENBROKER_HASH_MISSING, 510),
        (.ERROR_TOKENBROKER_NOT_SUPPORTED_IN_EXTENSION, 511),
    ])
    func numbersItsErrorCodesAsTheOriginal(code: ADErrorCode, expected: Int) {
        #expect(code.rawValue == expected)
    }

    @Test func namesItsDomainsAndKeysByThemselves() {
        #expect(ADAuthenticationErrorDomain == "ADAuthenticationErrorDomain")
        #expect(ADBrokerResponseErrorDomain == "ADBrokerResponseErrorDomain")
        #expect(ADKeychainErrorDomain == "ADKeychainErrorDomain")
        #expect(ADHTTPErrorCodeDomain == "ADHTTPErrorCodeDomain")
        #expect(ADOAuthServerErrorDomain == "ADOAuthServerErrorDomain")
        #expect(ADHTTPHeadersKey == "ADHTTPHeadersKey")
        #expect(ADSuberrorKey == "ADSuberrorKey")
        #expect(ADBrokerVersionKey == "ADBrokerVersionKey")
        #expect(ADUserIdKey == "ADUserIdKey")
    }
}
