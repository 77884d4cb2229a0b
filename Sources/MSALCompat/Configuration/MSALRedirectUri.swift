public import Foundation
internal import TokenModel

/// The URL to which the sign-in page redirects the browser. Immutable.
open class MSALRedirectUri: NSObject, NSCopying {
    /// The redirect URI.
    public let url: URL
    /// Whether it has the form that Microsoft's broker on Apple's systems accepts: `msauth.<app>://auth`.
    public let brokerCapable: Bool

    /// Creates the default redirect URI, `msauth.<bundle ID or program>://auth`. No method takes this object: an app
    /// sets its redirect URI as a string.
    public override init() {
        url = URL(string: Self.defaultText) ?? URL(fileURLWithPath: "/")
        brokerCapable = true
    }

    /// Creates the redirect URI of the app, or the default one.
    ///
    /// Without an `Info.plist` in which a scheme is registered, any URL with a scheme is accepted:
    /// `msauth.<app>://auth`, a loopback URL, a scheme of the app.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42011, if it is not a URL with a scheme.
    init(_ custom: String?, isValidated: Bool) throws(NSError) {
        let text = custom?.trimmedNonEmpty ?? Self.defaultText
        guard let url = URL(string: text), !isValidated || url.scheme != nil else {
            throw MSALError.error(
                .internalErrorInvalidRedirectURI,
                "the redirect URI \(text) has no scheme; the default would be \(Self.defaultText)")
        }
        self.url = url
        self.brokerCapable = url.scheme?.hasPrefix("msauth.") == true && url.host == "auth"
    }

    /// `msauth.<bundle identifier or program name>://auth`.
    private static var defaultText: String {
        let program = Bundle.main.executableURL?.lastPathComponent ?? "app"
        let allowed = (Bundle.main.bundleIdentifier ?? program).map {
            $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) ? $0 : "-"
        }
        return "msauth.\(String(allowed))://auth"
    }

    /// Returns the object itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
