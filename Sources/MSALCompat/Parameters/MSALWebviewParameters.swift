public import AppleTypes
public import Foundation

/// What MSAL presents the sign-in page on: UIKit's view controller, AppKit's on macOS, a stand-in elsewhere. Inert: the page
/// opens in the system browser.
public typealias MSALViewController = UIViewController

/// How the sign-in page is shown. Here it always opens in the system browser, or as a device code without a display.
open class MSALWebviewParameters: NSObject, NSCopying {
    /// What MSAL presents on; kept and not used.
    open var parentViewController: UIViewController
    #if !canImport(AppKit)
        /// How MSAL presents the page. Inert: kept and not used.
        open var presentationStyle = UIModalPresentationStyle.fullScreen
    #endif
    /// Whether the web view forgets its session. Kept and not used: the system browser has its own.
    open var prefersEphemeralWebBrowserSession = false
    /// Which web view. Kept and not used.
    open var webviewType = MSALWebviewType.default
    /// The app's own web view to show the page in. Inert: kept and not used.
    open var customWebview: WKWebView?

    /// Presents on `parentViewController`; off Apple's platforms, a stand-in: `UIViewController()`.
    public init(authPresentationViewController parentViewController: UIViewController) {
        self.parentViewController = parentViewController
    }

    convenience init(copying other: MSALWebviewParameters) {
        self.init(authPresentationViewController: other.parentViewController)
        #if !canImport(AppKit)
            presentationStyle = other.presentationStyle
        #endif
        prefersEphemeralWebBrowserSession = other.prefersEphemeralWebBrowserSession
        webviewType = other.webviewType
        customWebview = other.customWebview
    }

    /// A copy with the same members.
    open func copy(with zone: NSZone? = nil) -> Any { MSALWebviewParameters(copying: self) }
}
