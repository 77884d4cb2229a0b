// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals
// Notifications of embedded web views and of Apple's broker. The names exist; nothing here posts them. Swift imports the
// original's as `NSNotification.Name`s where their names end in "Notification", and the others as `String!`.

public import AppleTypes
public import Foundation

/// The view controller on which MSAL presents the sign-in page: UIKit's, AppKit's on macOS, a stand-in elsewhere.
/// Inert: the page opens in the system browser.
public typealias MSALViewController = UIViewController

/// How the sign-in page is shown. It always opens in the system browser here, or is replaced by a device code without a
/// display.
open class MSALWebviewParameters: NSObject, NSCopying {
    /// The view controller on which MSAL presents the page. Stored and not used.
    open var parentViewController: UIViewController
    #if !canImport(AppKit)
        /// How MSAL presents the page. Inert: stored and not used.
        open var presentationStyle = UIModalPresentationStyle.fullScreen
    #endif
    /// Whether the web view has a session of its own. Stored and not used: the system browser keeps its session.
    open var prefersEphemeralWebBrowserSession = false
    /// The kind of web view. Stored and not used.
    open var webviewType = MSALWebviewType.default
    /// The app's own web view for the page. Inert: stored and not used.
    open var customWebview: WKWebView?

    /// Creates parameters with a view controller of their own, as apps on macOS do with MSAL 1; MSAL 2 requires one that has a window. On
    /// Apple's systems, call it on the main thread.
    public convenience override init() {
        #if canImport(UIKit) || canImport(AppKit)
            self.init(authPresentationViewController: MainActor.assumeIsolated { UIViewController() })
        #else
            self.init(authPresentationViewController: UIViewController())
        #endif
    }

    /// Creates parameters with a view controller; on Linux, a stand-in: `UIViewController()`.
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

    /// Returns a copy with the same values.
    open func copy(with zone: NSZone? = nil) -> Any { MSALWebviewParameters(copying: self) }
}

/// The kind of web view that shows the sign-in page.
///
/// Every kind means the system browser here, or a device code without a display. The numbers are those of iOS.
@nonexhaustive(warn) public enum MSALWebviewType: Int, Sendable {
    /// The default of the platform.
    case `default` = 0
    /// An authentication session.
    case authenticationSession = 1
    /// A Safari view controller.
    case safariViewController = 2
    /// An embedded web view.
    case wkWebView = 3
}

extension NSNotification.Name {
    /// A web view started to load. Inert: never posted.
    public static let MSALWebAuthDidStartLoad: NSNotification.Name! = .init(MSALWebAuthDidStartLoadNotification)

    /// A web view finished loading. Inert: never posted.
    public static let MSALWebAuthDidFinishLoad: NSNotification.Name! = .init(MSALWebAuthDidFinishLoadNotification)

    /// A web view failed to load. Inert: never posted.
    public static let MSALWebAuthDidFail: NSNotification.Name! = .init(MSALWebAuthDidFailNotification)

    /// Web authentication ended. Inert: never posted.
    public static let MSALWebAuthDidComplete: NSNotification.Name! = .init(MSALWebAuthDidCompleteNotification)
}

/// A web view started to load. Inert: never posted.
public let MSALWebAuthDidStartLoadNotification = "MSALWebAuthDidStartLoadNotification"

/// A web view finished loading. Inert: never posted.
public let MSALWebAuthDidFinishLoadNotification = "MSALWebAuthDidFinishLoadNotification"

/// A web view failed to load. Inert: never posted.
public let MSALWebAuthDidFailNotification = "MSALWebAuthDidFailNotification"

/// Web authentication ended. Inert: never posted.
public let MSALWebAuthDidCompleteNotification = "MSALWebAuthDidCompleteNotification"

/// The broker app is about to open. Inert: never posted.
public let MSALWebAuthWillSwitchToBrokerApp: String! = "MSALWebAuthWillSwitchToBrokerApp"

/// The broker app answered. Inert: never posted.
public let MSALWebAuthDidReceiveResponseFromBroker: String! = "MSALWebAuthDidReceiveResponseFromBroker"
