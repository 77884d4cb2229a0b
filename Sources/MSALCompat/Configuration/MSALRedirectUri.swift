public import Foundation
internal import TokenModel

/// Where the sign-in page sends the person back to. Immutable.
open class MSALRedirectUri: NSObject, NSCopying {
    /// The redirect URI.
    public let url: URL
    /// Whether it has a form that Microsoft's broker would accept: `msauth.<app>://auth`.
    public let brokerCapable: Bool

    /// The default redirect URI, `msauth.<bundle ID or program>://auth`. No method takes one: an app sets its redirect URI as text.
    public override init() {
        url = URL(string: Self.defaultText) ?? URL(fileURLWithPath: "/")
        brokerCapable = true
    }

    /// The app's redirect URI, or the default made of the app's name.
    ///
    /// Off Apple's platforms there is no `Info.plist` in which a scheme is registered, so any URL with a scheme is
    /// accepted: `msauth.<app>://auth`, a loopback URL, a scheme of the app's own.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42011, when it is not a URL with a scheme.
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

    /// `msauth.<bundle identifier, or the program's name>://auth`.
    private static var defaultText: String {
        let program = Bundle.main.executableURL?.lastPathComponent ?? "app"
        let allowed = (Bundle.main.bundleIdentifier ?? program).map {
            $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) ? $0 : "-"
        }
        return "msauth.\(String(allowed))://auth"
    }

    /// The same object: it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
