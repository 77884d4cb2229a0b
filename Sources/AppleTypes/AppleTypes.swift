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
    /// Isolated to the main actor, as UIKit's is: blocks of the main queue may capture a subclass. Inert: the sign-in page opens in the
    /// system browser, and no view is presented.
    @preconcurrency @MainActor open class UIViewController: NSObject {
        /// Creates a view controller without a view. May be called from any thread: most programs here have no other use for the class
        /// than to pass an object of it.
        public nonisolated override init() {}
    }

    /// Replaces AppKit's class where AppKit is missing, so that code written for MSAL on macOS compiles. Inert.
    public typealias NSViewController = UIViewController

    /// Replaces UIKit's type where UIKit is missing. Inert: no view controller is presented.
    @nonexhaustive(warn) public enum UIModalPresentationStyle: Int, Sendable {
        /// UIKit's value; has no effect here.
        case fullScreen = 0
        /// UIKit's value; has no effect here.
        case pageSheet = 1
        /// UIKit's value; has no effect here.
        case formSheet = 2
        /// UIKit's value; has no effect here.
        case currentContext = 3
        /// UIKit's value; has no effect here.
        case custom = 4
        /// UIKit's value; has no effect here.
        case overFullScreen = 5
        /// UIKit's value; has no effect here.
        case overCurrentContext = 6
        /// UIKit's value; has no effect here.
        case popover = 7
        /// UIKit's value; has no effect here.
        case none = -1
        /// UIKit's value; has no effect here.
        case automatic = -2
    }
#endif

#if !canImport(WebKit)
    /// Replaces WebKit's class where WebKit is missing. Isolated to the main actor, as WebKit's is. Inert: the sign-in page opens in the
    /// system browser.
    @preconcurrency @MainActor open class WKWebView: NSObject {
        /// Creates a web view that shows nothing. May be called from any thread.
        public nonisolated override init() {}
    }
#endif
