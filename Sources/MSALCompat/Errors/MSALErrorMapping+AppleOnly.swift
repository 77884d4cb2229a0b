/// Numbers of Microsoft's libraries for what happens on Apple's devices only: redirect schemes, app extensions, the broker,
/// device registration. This version's agent sends none of them; should a newer one, apps see what MSAL shows.
extension MSALErrorMapping {
    /// Nil for a number that MSAL does not map either.
    init?(appleOnly number: Int32) {
        switch number {
        case -50142: self = .own(.serverInvalidRequestResetPasswordRequired)
        case -51116: self = .wrapped(.internalErrorNonHttpsRedirect)
        case -51118: self = .wrapped(.internalErrorRedirectSchemeNotRegistered)
        case -51119: self = .wrapped(.internalErrorInvalidRedirectURI)
        case -51501: self = .wrapped(.internalErrorUnexpectedHttpResponse)
        case -51720: self = .wrapped(.internalErrorNoViewController)
        case -51730: self = .wrapped(.internalErrorAttemptToOpenURLFromExtension)
        case -51731: self = .wrapped(.internalErrorUINotSupportedInExtension)
        case -51732: self = .wrapped(MSALError.insufficientDeviceStrength.rawValue)
        case -51733: self = .wrapped(MSALError.mdmEnrollmentCompletedNeedsRetry.rawValue)
        case -51734: self = .wrapped(.internalErrorInvalidASWebAuthenticationURL)
        // The broker's numbers, and those of device registration, run side by side but for a few.
        case -51809 ... -51800, -51814 ... -51811: self = .wrapped(Int(number) + 9100)
        case -51832 ... -51817: self = .wrapped(Int(number) + 9102)
        case -51833: self = .wrapped(.errorJITTroubleshootingRequired)
        case -51834: self = .wrapped(.errorJITTroubleshootingCreateController)
        case -51835: self = .wrapped(.errorJITTroubleshootingResultUnknown)
        case -51836: self = .wrapped(.errorJITTroubleshootingAcquireToken)
        case -51843 ... -51837: self = .wrapped(Int(number) + 9101)
        case -51844: self = .wrapped(.errorPSSOBiometricsNotEnrolled)
        case -51845: self = .wrapped(.errorPSSOBiometricsNotAvailable)
        default: return nil
        }
    }
}
