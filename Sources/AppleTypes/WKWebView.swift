#if canImport(WebKit)
    @_exported public import WebKit
#else
    public import class Foundation.NSObject

    /// Stands in for WebKit's class where there is no WebKit. Inert: it shows nothing, because the sign-in page opens in the
    /// system browser.
    open class WKWebView: NSObject {
        /// A stand-in.
        public override init() {}
    }
#endif
