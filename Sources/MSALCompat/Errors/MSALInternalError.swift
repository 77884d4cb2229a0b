/// The reason of an error with the code `MSALError.internal`: the value of `MSALInternalErrorCodeKey`, which may also be
/// `MSALError.serverError` (-50006) or `MSALError.insufficientDeviceStrength` (-50007).
///
/// The numbers are those of MSAL. The codes of Apple's broker, of just-in-time registration and of platform single
/// sign-on exist so that code that names them compiles; they are not raised here.
@nonexhaustive(warn) public enum MSALInternalError: Int, Sendable {
    /// An argument of the app is not valid.
    case internalErrorInvalidParameter = -42000
    /// The scheme of the redirect URI is not registered for the app; not raised here.
    case internalErrorRedirectSchemeNotRegistered = -42001
    /// The redirect URI is not a URL with a scheme.
    case internalErrorInvalidRedirectURI = -42011
    /// OAuth `invalid_request`.
    case internalErrorInvalidRequest = -42002
    /// OAuth `invalid_client`.
    case internalErrorInvalidClient = -42003
    /// OAuth `invalid_grant`.
    case internalErrorInvalidGrant = -42004
    /// OAuth `invalid_scope`.
    case internalErrorInvalidScope = -42005
    /// OAuth `unauthorized_client`.
    case internalErrorUnauthorizedClient = -42006
    /// The HTTP status is not one of a token response.
    case internalErrorUnhandledResponse = -42007
    /// An error without a code of its own; see the underlying error.
    case internalErrorUnexpected = -42008
    /// HTTP 403 or 404, as an underlying error.
    case internalErrorUnexpectedHttpResponse = -42009
    /// The validation of the authority failed.
    case internalErrorFailedAuthorityValidation = -42010
    /// Another account signed in than the one requested.
    case internalErrorMismatchedUser = -42101
    /// Several accounts match.
    case internalErrorAmbiguousAccount = -42102
    /// An error of the authorization endpoint, or an OAuth error without a code of its own.
    case internalErrorAuthorizationFailed = -42104
    /// The request needs an account; not raised here: a silent request without one is `MSALError.interactionRequired`.
    case internalErrorAccountRequired = -42106
    /// The app cancelled the sign-in; not raised here: the code is `MSALError.userCanceled`.
    case internalErrorSessionCanceled = -42401
    /// Another sign-in is in progress in this process.
    case internalErrorInteractiveSessionAlreadyRunning = -42402
    /// There is no view controller to present on; not raised here.
    case internalErrorNoViewController = -42403
    /// A URL cannot be opened from an app extension; not raised here.
    case internalErrorAttemptToOpenURLFromExtension = -42404
    /// App extensions have no user interface; not raised here.
    case internalErrorUINotSupportedInExtension = -42405
    /// The `state` of the response is not that of the request; not raised here.
    case internalErrorInvalidState = -42501
    /// The response of the identity provider is not valid, or not for the app or its request.
    case internalErrorInvalidResponse = -42600
    /// A redirect to a URL that is not `https`; not raised here.
    case internalErrorNonHttpsRedirect = -42602
    /// Apple's broker; not raised here.
    case internalErrorBrokerResponseNotReceived = -42700
    /// Apple's broker; not raised here.
    case internalErrorBrokerNoResumeStateFound = -42701
    /// Apple's broker; not raised here.
    case internalErrorBrokerBadResumeStateFound = -42702
    /// Apple's broker; not raised here.
    case internalErrorBrokerMismatchedResumeState = -42703
    /// Apple's broker; not raised here.
    case internalErrorBrokerResponseHashMissing = -42704
    /// Apple's broker; not raised here.
    case internalErrorBrokerCorruptedResponse = -42705
    /// Apple's broker; not raised here.
    case internalErrorBrokerResponseDecryptionFailed = -42706
    /// Apple's broker; not raised here.
    case internalErrorBrokerResponseHashMismatch = -42707
    /// Apple's broker; not raised here.
    case internalErrorBrokerKeyFailedToCreate = -42708
    /// Apple's broker; not raised here.
    case internalErrorBrokerKeyNotFound = -42709
    /// Apple's broker; not raised here.
    case internalErrorBrokerUnknown = -42711
    /// Apple's broker; not raised here.
    case internalErrorBrokerApplicationTokenWriteFailed = -42712
    /// Apple's broker; not raised here.
    case internalErrorBrokerApplicationTokenReadFailed = -42713
    /// Apple's broker; not raised here.
    case internalBrokerNotAvailable = -42714
    /// Just-in-time registration; not raised here.
    case internalErrorJITLinkServerConfirmationError = -42715
    /// Just-in-time registration; not raised here.
    case internalErrorJITLinkAcquireTokenError = -42716
    /// Just-in-time registration; not raised here.
    case internalErrorJITLinkTokenAcquiredWrongTenant = -42717
    /// Just-in-time registration; not raised here.
    case internalErrorJITLinkError = -42718
    /// Just-in-time registration; not raised here.
    case internalErrorJITComplianceCheckResultNotCompliant = -42719
    /// Just-in-time registration; not raised here.
    case internalErrorJITComplianceCheckResultTimeout = -42720
    /// Just-in-time registration; not raised here.
    case internalErrorJITComplianceCheckResultUnknown = -42721
    /// Just-in-time registration; not raised here.
    case errorJITComplianceCheckInvalidLinkPayload = -42722
    /// Just-in-time registration; not raised here.
    case errorJITComplianceCheckCreateController = -42723
    /// Just-in-time registration; not raised here.
    case errorJITLinkConfigNotFound = -42724
    /// Just-in-time registration; not raised here.
    case errorJITInvalidLinkTokenConfig = -42725
    /// Just-in-time registration; not raised here.
    case errorJITWPJDeviceRegistrationFailed = -42726
    /// Just-in-time registration; not raised here.
    case errorJITWPJAccountIdentifierNil = -42727
    /// Just-in-time registration; not raised here.
    case errorJITWPJAcquireTokenError = -42728
    /// Just-in-time registration; not raised here.
    case errorJITRetryRequired = -42729
    /// Just-in-time registration; not raised here.
    case errorJITUnknownStatusWebCP = -42730
    /// Just-in-time registration; not raised here.
    case errorJITTroubleshootingCreateController = -42731
    /// Just-in-time registration; not raised here.
    case errorJITTroubleshootingAcquireToken = -42732
    /// Just-in-time registration; not raised here.
    case internalErrorJITLinkServerConfirmationTimeout = -42733
    /// Just-in-time registration; not raised here.
    case errorJITTroubleshootingRequired = -42734
    /// Just-in-time registration; not raised here.
    case errorJITTroubleshootingResultUnknown = -42735
    /// Platform single sign-on; not raised here.
    case errorDeviceNotPSSORegistered = -42736
    /// Platform single sign-on; not raised here.
    case errorPSSOKeyIdMismatch = -42737
    /// Just-in-time registration; not raised here.
    case errorJITErrorHandlingConfigNotFound = -42738
    /// Platform single sign-on; not raised here.
    case errorPSSOBiometricPolicyMismatch = -42739
    /// Platform single sign-on; not raised here.
    case errorPSSOInvalidPasskeyExtension = -42740
    /// Platform single sign-on; not raised here.
    case errorPSSOSaveLoginConfigFailure = -42741
    /// Platform single sign-on; not raised here.
    case errorPSSOPasskeyLAError = -42742
    /// Platform single sign-on; not raised here.
    case errorPSSOBiometricsNotAvailable = -42743
    /// Platform single sign-on; not raised here.
    case errorPSSOBiometricsNotEnrolled = -42744
    /// Apple's web sign-in; not raised here.
    case internalErrorInvalidASWebAuthenticationURL = -42745
}
