/// How much a sign-out takes away.
open class MSALSignoutParameters: MSALParameters {
    /// How a page would be shown: a copy of what the initialiser was given.
    public let webviewParameters: MSALWebviewParameters
    /// Whether to end the browser's session too. False unless set.
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
