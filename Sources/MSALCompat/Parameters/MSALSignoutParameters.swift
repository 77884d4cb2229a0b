/// The parameters of a sign-out.
open class MSALSignoutParameters: MSALParameters {
    /// How the sign-out page is shown: a copy of the argument of the initializer, else a placeholder. On Apple's systems, the placeholder may
    /// be read on the main thread only.
    public var webviewParameters: MSALWebviewParameters { given ?? MSALWebviewParameters() }
    /// Whether to open the sign-out page of the authority in the system browser too. False by default.
    ///
    /// The sign-out ends when the browser has been started. The page is not told where to send the user afterwards, unless
    /// `extraQueryParameters` has a `post_logout_redirect_uri`.
    open var signoutFromBrowser = false
    /// Whether to remove the account and every app's tokens of it. False by default: only this app's tokens are
    /// removed.
    open var wipeAccount = false
    /// Whether to remove all accounts and tokens of the sharing group. False by default.
    open var wipeCacheForAllAccounts = false
    /// Additional query parameters for the sign-out page.
    open var extraQueryParameters: [String: String]?

    private let given: MSALWebviewParameters?
    /// Whether the app passed webview parameters, without which the sign-out page is not opened.
    var hasWebviewParameters: Bool { given != nil }

    /// Creates parameters of a sign-out from this app. If `signoutFromBrowser` is then set, the sign-out fails with
    /// `MSALError.internal` (-50000), internal code -42000.
    public override init() {
        given = nil
    }

    /// Creates parameters of a sign-out from this app. `webviewParameters` are copied.
    public init(webviewParameters: MSALWebviewParameters) {
        given = MSALWebviewParameters(copying: webviewParameters)
    }
}
