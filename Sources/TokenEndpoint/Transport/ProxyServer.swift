internal import Foundation
internal import TokenModel

/// An HTTP proxy that tunnels with `CONNECT` (RFC 9110 section 9.3.6).
struct ProxyServer: Sendable, Hashable {
    let host: String
    let port: Int
    let user: String?
    let password: Secret?

    /// Reads `http://user:password@host:port` or `host:port`.
    ///
    /// - Throws: `invalidDeveloperParameter`; the message leaves out the URL, since a password may be in it.
    init(_ url: String, setting: String) throws(TokenError) {
        let parts = URLComponents(string: url.contains("://") ? url : "http://" + url)
        guard let parts, let host = parts.host, !host.isEmpty else {
            throw TokenError(
                .invalidDeveloperParameter, "\(setting) is not the URL of a proxy, such as http://proxy:3128")
        }
        guard parts.scheme?.lowercased() == "http" else {
            throw TokenError(
                .invalidDeveloperParameter, "\(setting) names a proxy of a kind that is not supported; use http://")
        }
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        self.port = parts.port ?? 80
        self.user = parts.user
        self.password = parts.password.map { Secret($0) }
    }
}
