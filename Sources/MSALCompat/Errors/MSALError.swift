/// The code of an error in `MSALErrorDomain`.
///
/// Compare with the raw value: `error.domain == MSALErrorDomain && error.code ==
/// MSALError.interactionRequired.rawValue`.
@nonexhaustive(warn) public enum MSALError: Int, Sendable {
    /// Anything without a code of its own; `MSALInternalErrorCodeKey` says what.
    case `internal` = -50000
    /// The device has to be registered first.
    case workplaceJoinRequired = -50001
    /// Only an interactive request can help.
    case interactionRequired = -50002
    /// Fewer scopes were granted than asked for; see `MSALGrantedScopesKey` and `MSALDeclinedScopesKey`.
    case serverDeclinedScopes = -50003
    /// An app protection policy has to be applied first.
    case serverProtectionPoliciesRequired = -50004
    /// The person, or the app, gave up the sign-in.
    case userCanceled = -50005
    /// The token endpoint failed; comes as `internal` with this as its internal code.
    case serverError = -50006
    /// Comes as `internal` with this as its internal code; not raised here.
    case insufficientDeviceStrength = -50007
    /// Comes as `internal` with this as its internal code; not raised here.
    case mdmEnrollmentCompletedNeedsRetry = -50008
    /// The password has to be reset first (Entra error 50142).
    case serverInvalidRequestResetPasswordRequired = -50142
}
