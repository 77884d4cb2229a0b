/// A request that bothers nobody: a cached token, or a refreshed one.
open class MSALSilentTokenParameters: MSALTokenParameters {
    /// Whether to pass over a cached access token. False unless set.
    open var forceRefresh = false
    /// Inert: concerns Apple's SSO extension.
    open var allowUsingLocalCachedRtWhenSsoExtFailed = true

    /// Asks for a token of `account` for `scopes`.
    public init(scopes: [String], account: MSALAccount) {
        super.init(scopes: scopes)
        self.account = account
    }
}
