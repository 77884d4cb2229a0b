#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The redirect URI of a browser sign-in, and what has to be registered with the identity provider for it.
///
/// The agent can listen on this machine only, so an `http` URI on `localhost`, `127.0.0.1` or `[::1]` is used as it is. For any
/// other, such as `msauth.com.example.app://auth`, and for none, `http://localhost` on a free port stands in.
package struct BrowserRedirect: Sendable, Equatable {
    /// The app's own redirect URI, where it cannot be used on this system; nil when it is used, or when the app gave none.
    package let replaced: String?
    /// What has to be registered as a redirect URI of the app. Without a port, as Entra ignores a loopback URI's, unless the app
    /// names one.
    package let registration: String

    /// - Parameter redirectURI: the app's own; nil when it has none.
    package init(_ redirectURI: String?) {
        let isUsable = redirectURI.map(Self.isUsable) ?? false
        replaced = isUsable ? nil : redirectURI
        registration = isUsable ? redirectURI ?? Self.standard : Self.standard
    }

    /// What stands in for a redirect URI that cannot be used.
    package static let standard = "http://localhost"

    /// Whether a browser that follows `redirectURI` ends up at a port of this machine that the agent can listen on.
    package static func isUsable(_ redirectURI: String) -> Bool {
        guard let uri = URLComponents(string: redirectURI), uri.scheme?.lowercased() == "http", let host = uri.host
        else {
            return false
        }
        return ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host.lowercased())
    }

    /// What to do when the identity provider refuses the redirect URI. It says so on its page only, not to the app.
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
