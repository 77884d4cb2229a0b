/// What is left out of log messages. This package masks secrets and personal data at every level.
@nonexhaustive(warn) public enum MSALLogMaskingLevel: Int, Sendable {
    /// All personal data.
    case settingsMaskAllPII = 0
    /// Data that identifies the end user.
    case settingsMaskEUIIOnly = 1
    /// Secrets only.
    case settingsMaskSecretsOnly = 2
}
