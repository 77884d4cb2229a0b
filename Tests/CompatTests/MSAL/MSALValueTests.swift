// Written by Tests/APIParity/api_parity.py --write-values from msal.tsv; do not edit.
internal import MSALCompat
internal import TestSupport
internal import Testing

/// The values that MSAL's public header files give its names.
@Suite(.bounded) struct MSALValueTests {
    static let numbers: [(name: String, isRight: Bool)] = [
        row(MSALLogLevel.nothing, 0),
        row(MSALLogLevel.error, 1),
        row(MSALLogLevel.warning, 2),
        row(MSALLogLevel.info, 3),
        row(MSALLogLevel.verbose, 4),
        row(MSALWebviewType.`default`, 0),
        row(MSALWebviewType.authenticationSession, 1),
        row(MSALWebviewType.safariViewController, 2),
        row(MSALWebviewType.wkWebView, 3),
        row(MSALBrokeredAvailability.auto, 0),
        row(MSALBrokeredAvailability.none, 1),
        row(MSALPromptType.selectAccount, 0),
        row(MSALPromptType.login, 1),
        row(MSALPromptType.consent, 2),
        row(MSALPromptType.create, 3),
        row(MSALPromptType.promptIfNecessary, 4),
        row(MSALDeviceMode.`default`, 0),
        row(MSALDeviceMode.shared, 1),
        row(MSALPreferredAuthMethod.none, 0),
        row(MSALPreferredAuthMethod.QRPIN, 1),
        row(MSALAuthScheme.bearer, 0),
        row(MSALAuthScheme.pop, 1),
        row(MSALHttpMethod.GET, 0),
        row(MSALHttpMethod.HEAD, 1),
        row(MSALHttpMethod.POST, 2),
        row(MSALHttpMethod.PUT, 3),
        row(MSALHttpMethod.DELETE, 4),
        row(MSALHttpMethod.CONNECT, 5),
        row(MSALHttpMethod.OPTIONS, 6),
        row(MSALHttpMethod.TRACE, 7),
        row(MSALHttpMethod.PATCH, 8),
        row(MSALError.`internal`, -50_000),
        row(MSALError.workplaceJoinRequired, -50_001),
        row(MSALError.interactionRequired, -50_002),
        row(MSALError.serverDeclinedScopes, -50_003),
        row(MSALError.serverProtectionPoliciesRequired, -50_004),
        row(MSALError.userCanceled, -50_005),
        row(MSALError.serverError, -50_006),
        row(MSALError.insufficientDeviceStrength, -50_007),
        row(MSALError.mdmEnrollmentCompletedNeedsRetry, -50_008),
        row(MSALError.serverInvalidRequestResetPasswordRequired, -50_142),
        row(MSALLogMaskingLevel.settingsMaskAllPII, 0),
        row(MSALLogMaskingLevel.settingsMaskEUIIOnly, 1),
        row(MSALLogMaskingLevel.settingsMaskSecretsOnly, 2),
        row(MSALAudienceType.azureADAndPersonalMicrosoftAccountAudience, 0),
        row(MSALAudienceType.azureADMultipleOrgsAudience, 1),
        row(MSALAudienceType.azureADMyOrgOnlyAudience, 2),
        row(MSALAudienceType.personalMicrosoftAccountAudience, 3),
        row(MSALAzureCloudInstance.publicCloudInstance, 0),
        row(MSALAzureCloudInstance.chinaCloudInstance, 1),
        row(MSALAzureCloudInstance.germanyCloudInstance, 2),
        row(MSALAzureCloudInstance.usGovernmentCloudInstance, 3),
        row(MSALAzureCloudInstance.franceCloudInstance, 4),
        row(MSALAzureCloudInstance.delosCloudInstance, 5),
        row(MSALAzureCloudInstance.govSGCloudInstance, 6),
        row(MSALClaimsRequestTarget.idToken, 0),
        row(MSALClaimsRequestTarget.accessToken, 1),
    ]

    static let texts: [(name: String, value: String)] = [
        ("MSALOAuthErrorKey", MSALOAuthErrorKey),
        ("MSALOAuthSubErrorKey", MSALOAuthSubErrorKey),
        ("MSALOAuthSubErrorDescriptionKey", MSALOAuthSubErrorDescriptionKey),
        ("MSALErrorDescriptionKey", MSALErrorDescriptionKey),
        ("MSALSTSErrorCodesKey", MSALSTSErrorCodesKey),
        ("MSALInternalErrorCodeKey", MSALInternalErrorCodeKey),
        ("MSALHTTPHeadersKey", MSALHTTPHeadersKey),
        ("MSALCorrelationIDKey", MSALCorrelationIDKey),
        ("MSALHTTPResponseCodeKey", MSALHTTPResponseCodeKey),
        ("MSALDeclinedScopesKey", MSALDeclinedScopesKey),
        ("MSALDisplayableUserIdKey", MSALDisplayableUserIdKey),
        ("MSALGrantedScopesKey", MSALGrantedScopesKey),
        ("MSALInvalidResultKey", MSALInvalidResultKey),
        ("MSALBrokerVersionKey", MSALBrokerVersionKey),
        ("MSALHomeAccountIdKey", MSALHomeAccountIdKey),
        ("MSALErrorDomain", MSALErrorDomain),
        ("MSALThrottlingCacheHitKey", MSALThrottlingCacheHitKey),
        ("MSALWebAuthWillSwitchToBrokerApp", MSALWebAuthWillSwitchToBrokerApp),
        ("MSALWebAuthDidReceiveResponseFromBroker", MSALWebAuthDidReceiveResponseFromBroker),
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
