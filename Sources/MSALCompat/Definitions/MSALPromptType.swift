/// What the sign-in page asks the person (the `prompt` parameter, OpenID Connect Core 1.0 section 3.1.2.1).
@nonexhaustive(warn) public enum MSALPromptType: UInt, Sendable {
    /// Which account to use: `select_account`.
    case selectAccount = 0
    /// To sign in again: `login`.
    case login = 1
    /// To consent again: `consent`.
    case consent = 2
    /// To make an account: `create`.
    case create = 3
    /// Only what is needed; no `prompt` is sent.
    case promptIfNecessary = 4

    /// What is used when the app says nothing: `promptIfNecessary`.
    public static var `default`: MSALPromptType { .promptIfNecessary }
}
