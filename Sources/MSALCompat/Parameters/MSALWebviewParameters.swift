public import Foundation

#if canImport(AppKit)
    public import AppKit
#endif

/// How the sign-in page is shown. Here it always opens in the system browser, or as a device code without a display.
open class MSALWebviewParameters: NSObject, NSCopying {
    /// What MSAL presents on; kept and not used.
    open var parentViewController: UIViewController
    /// Whether the web view forgets its session. Kept and not used: the system browser has its own.
    open var prefersEphemeralWebBrowserSession = false
    /// Which web view. Kept and not used.
    open var webviewType = MSALWebviewType.default

    /// Presents on `parentViewController`; off Apple's platforms, a stand-in: `UIViewController()`.
    public init(authPresentationViewController parentViewController: UIViewController) {
        self.parentViewController = parentViewController
    }

    convenience init(copying other: MSALWebviewParameters) {
        self.init(authPresentationViewController: other.parentViewController)
        prefersEphemeralWebBrowserSession = other.prefersEphemeralWebBrowserSession
        webviewType = other.webviewType
    }

    /// A copy with the same members.
    open func copy(with zone: NSZone? = nil) -> Any { MSALWebviewParameters(copying: self) }
}
