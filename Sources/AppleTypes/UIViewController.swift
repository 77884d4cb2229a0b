#if canImport(UIKit)
    @_exported public import UIKit
#elseif canImport(AppKit)
    @_exported public import AppKit

    /// On macOS, MSAL presents on an `NSViewController`.
    public typealias UIViewController = NSViewController
#else
    public import class Foundation.NSObject

    /// Stands in for UIKit's class where there is no UIKit, so that code written for MSAL or ADAL compiles.
    ///
    /// It shows nothing: the sign-in page opens in the system browser.
    open class UIViewController: NSObject {
        /// A stand-in.
        public override init() {}
    }
#endif
