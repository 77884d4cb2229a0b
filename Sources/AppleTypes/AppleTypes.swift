#if canImport(UIKit)
    @_exported public import UIKit
#elseif canImport(AppKit)
    @_exported public import AppKit
#else
    public import class Foundation.NSObject
#endif

#if canImport(WebKit)
    @_exported public import WebKit
#endif

#if canImport(AppKit) && !canImport(UIKit)
    /// On macOS, MSAL presents on an `NSViewController`.
    public typealias UIViewController = NSViewController
#endif

#if !canImport(UIKit) && !canImport(AppKit)
    /// Replaces UIKit's class where UIKit is missing, so that code written for MSAL or ADAL compiles.
    ///
    /// Inert: the sign-in page opens in the system browser, and no view is presented.
    open class UIViewController: NSObject {
        /// Creates a view controller without a view.
        public override init() {}
    }

    /// Replaces UIKit's type where UIKit is missing. Inert: no view controller is presented.
    @nonexhaustive(warn) public enum UIModalPresentationStyle: Int, Sendable {
        /// Inert.
        case fullScreen = 0
        /// Inert.
        case pageSheet = 1
        /// Inert.
        case formSheet = 2
        /// Inert.
        case currentContext = 3
        /// Inert.
        case custom = 4
        /// Inert.
        case overFullScreen = 5
        /// Inert.
        case overCurrentContext = 6
        /// Inert.
        case popover = 7
        /// Inert.
        case none = -1
        /// Inert.
        case automatic = -2
    }
#endif

#if !canImport(WebKit)
    /// Replaces WebKit's class where WebKit is missing. Inert: the sign-in page opens in the system browser.
    open class WKWebView: NSObject {
        /// Creates a web view that shows nothing.
        public override init() {}
    }
#endif
