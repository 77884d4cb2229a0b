internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A proxy through which requests reach authorities.
struct ProxyServer: Sendable, Hashable {
    /// The scheme of the proxy's URL.
    enum Kind: String, Sendable, CaseIterable {
        /// Tunnels with `CONNECT` (RFC 9110 section 9.3.6).
        case http
        /// The same, over TLS.
        case https
        case socks4
        /// SOCKS 4 whose proxy resolves host names.
        case socks4a
        case socks5
        /// SOCKS 5 (RFC 1928) whose proxy resolves host names.
        case socks5h

        var defaultPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            case .socks4, .socks4a, .socks5, .socks5h: 1080
            }
        }
    }

    let kind: Kind
    let host: String
    let port: Int
    let user: String?
    let password: Secret?

    /// Reads `http://user:password@host:port`, the same with another scheme of ``Kind``, or `host:port`.
    ///
    /// - Throws: `invalidDeveloperParameter`; the message leaves out the URL, since a password may be in it.
    init(_ url: String, setting: String) throws(TokenError) {
        let parts = URLComponents(string: url.contains("://") ? url : "http://" + url)
        // Nothing to encode: FoundationEssentials takes any text for a host, and would encode it.
        guard let parts, let host = parts.host, !host.isEmpty, parts.encodedHost == host else {
            throw TokenError(
                .invalidDeveloperParameter, "\(setting) is not the URL of a proxy, such as http://proxy:3128")
        }
        guard let kind = parts.scheme.flatMap({ Kind(rawValue: $0.lowercased()) }) else {
            let kinds = Kind.allCases.map { "\($0.rawValue)://" }.joined(separator: ", ")
            throw TokenError(
                .invalidDeveloperParameter,
                "\(setting) names a proxy of a kind that is not supported; use one of \(kinds)")
        }
        self.kind = kind
        self.host = host.withoutBrackets
        self.port = parts.port ?? kind.defaultPort
        self.user = parts.user
        self.password = parts.password.map { Secret($0) }
    }
}
