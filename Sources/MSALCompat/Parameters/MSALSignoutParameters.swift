internal import AppleTypes

/// How much a sign-out takes away.
open class MSALSignoutParameters: MSALParameters {
    /// How the sign-out page is shown: a copy of what the initialiser was given, else a placeholder, which on Apple's systems may be
    /// read on the main thread only.
    public var webviewParameters: MSALWebviewParameters { given ?? Self.placeholder }
    /// Whether to open the authority's sign-out page in the system browser too. False unless set.
    open var signoutFromBrowser = false
    /// Whether to remove every app's tokens for the account, and the account itself. False unless set: this app's only.
    open var wipeAccount = false
    /// Whether to remove everything in the sharing group. False unless set.
    open var wipeCacheForAllAccounts = false
    /// More query parameters for the sign-out page.
    open var extraQueryParameters: [String: String]?

    private let given: MSALWebviewParameters?
    /// Whether the app gave webview parameters, without which the browser's session cannot be ended.
    var hasWebviewParameters: Bool { given != nil }

    /// A sign-out of this app that leaves the browser alone: with `signoutFromBrowser` it fails with `MSALError.internal`
    /// (-50000), internal code -42000.
    public override init() {
        given = nil
    }

    /// A sign-out of this app. `webviewParameters` are copied.
    public init(webviewParameters: MSALWebviewParameters) {
        given = MSALWebviewParameters(copying: webviewParameters)
    }

    private static var placeholder: MSALWebviewParameters {
        #if canImport(UIKit) || canImport(AppKit)
            MSALWebviewParameters(authPresentationViewController: MainActor.assumeIsolated { UIViewController() })
        #else
            MSALWebviewParameters(authPresentationViewController: UIViewController())
        #endif
    }
}
