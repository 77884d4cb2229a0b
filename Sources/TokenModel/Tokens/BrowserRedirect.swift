/// The redirect URI of a browser sign-in, and the redirect URI to register with the identity provider.
///
/// The agent listens on this machine only: an `http` URI on `localhost`, `127.0.0.1` or `[::1]` is used, with a free port if it names none.
/// Any other, such as `msauth.com.example.app://auth`, is replaced by `http://localhost` with a free port.
package struct BrowserRedirect: Sendable, Equatable {
    /// The app's redirect URI if it cannot be used on this system; nil if it is used, or the app has none.
    package let replaced: String?
    /// The redirect URI to register for the app. It has no port unless the app names one, since Entra ignores the port of a
    /// loopback URI.
    package let registration: String

    /// - Parameter redirectURI: the app's redirect URI; nil if it has none.
    package init(_ redirectURI: String?) {
        let isUsable = redirectURI.map(Self.isUsable) ?? false
        replaced = isUsable ? nil : redirectURI
        registration = isUsable ? redirectURI ?? Self.standard : Self.standard
    }

    /// The replacement for a redirect URI that cannot be used.
    package static let standard = "http://localhost"

    /// Whether `redirectURI` leads to a port of this machine on which the agent can listen. A URI that names a user does not: browsers
    /// leave the name out or warn of it.
    package static func isUsable(_ redirectURI: String) -> Bool {
        guard redirectURI.trimmedNonEmpty == redirectURI, let uri = try? URLParts(redirectURI), uri.scheme == "http"
        else {
            return false
        }
        return ["localhost", "127.0.0.1", "::1"].contains(uri.host)
    }

    /// Advice for a redirect URI that the identity provider refuses, which it reports on its page only, not to the app.
    package var remedy: String {
        "register \(registration) as a redirect URI of the app (Entra: Authentication, platform \"Mobile and desktop "
            + "applications\")"
    }

    /// A message for the developers of the app: which redirect URI is used, and what to register.
    package var notice: String {
        let own = replaced.map { "the redirect URI \($0) cannot be used on this system; " } ?? ""
        return "\(own)the sign-in page redirects to \(registration). If the page shows AADSTS50011, \(remedy)"
    }
}
