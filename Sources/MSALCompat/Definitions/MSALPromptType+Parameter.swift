extension MSALPromptType {
    /// The `prompt` parameter; nil sends none.
    var parameter: String? {
        switch self {
        case .selectAccount: "select_account"
        case .login: "login"
        case .consent: "consent"
        case .create: "create"
        case .promptIfNecessary: nil
        }
    }
}
