/// How much a sign-out takes away.
open class MSALSignoutParameters: MSALParameters {
    /// How the sign-out page is shown: a copy of what the initialiser was given.
    public let webviewParameters: MSALWebviewParameters
    /// Whether to open the authority's sign-out page in the system browser too. False unless set.
    open var signoutFromBrowser = false
    /// Whether to remove every app's tokens for the account, and the account itself. False unless set: this app's only.
    open var wipeAccount = false
    /// Whether to remove everything in the sharing group. False unless set.
    open var wipeCacheForAllAccounts = false
    /// More query parameters for the sign-out page.
    open var extraQueryParameters: [String: String]?

    /// A sign-out of this app. `webviewParameters` are copied.
    public init(webviewParameters: MSALWebviewParameters) {
        self.webviewParameters = MSALWebviewParameters(copying: webviewParameters)
    }
}
