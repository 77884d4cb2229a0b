internal import PosixFiles
package import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The network settings: the proxy, the hosts that are reached without it, and the trusted certificate authorities.
///
/// `http_proxy` is not read: plain HTTP is used for this machine only, and never with a proxy.
package struct NetworkSettings: Sendable {
    /// The PEM file of the trusted certificate authorities; nil for those of the system.
    package let caFile: String?
    private let proxy: ProxyServer?
    private let direct: DirectHosts

    /// Reads `HTTPS_PROXY` or else `ALL_PROXY`, `NO_PROXY` and `SSL_CERT_FILE`. The lower-case name of each of the first three has
    /// precedence.
    ///
    /// - Parameters:
    ///   - caFile: `network.ca_file` of the configuration, which overrides `SSL_CERT_FILE`.
    ///   - proxy: `network.proxy` of the configuration, which overrides the variables.
    /// - Throws: `invalidDeveloperParameter` (-51112), with the name of the setting, if the file has no certificate or the
    ///   URL of the proxy cannot be used.
    package init(environment: [String: String], caFile: String? = nil, proxy: String? = nil) throws(TokenError) {
        self.proxy =
            if let url = proxy?.trimmedNonEmpty {
                try ProxyServer(url, setting: "network.proxy")
            } else if let (variable, url) = NetworkEnvironment.proxy({ environment[$0] }) {
                try ProxyServer(url, setting: variable)
            } else { nil }
        self.caFile =
            if let path = caFile?.trimmedNonEmpty {
                try Self.checked(path, setting: "network.ca_file")
            } else if let path = environment["SSL_CERT_FILE"]?.trimmedNonEmpty {
                try Self.checked(path, setting: "SSL_CERT_FILE")
            } else { nil }
        self.direct = DirectHosts(
            environment["no_proxy"]?.trimmedNonEmpty ?? environment["NO_PROXY"]?.trimmedNonEmpty ?? "")
    }

    /// Whether any request may go through a proxy.
    package var usesProxy: Bool { proxy != nil }

    /// The proxy for a URL; nil for none.
    func proxy(for url: URLParts) -> ProxyServer? {
        url.isLoopback || direct.contains(url) ? nil : proxy
    }

    private static func checked(_ path: String, setting: String) throws(TokenError) -> String {
        guard let file = try? FileDescriptor(readingRegular: path), (try? PEMCertificates.canBeRead(file)) == true
        else {
            throw TokenError(
                .invalidDeveloperParameter,
                "\(setting) names \(path), which cannot be read as PEM certificates; name another file, or remove "
                    + "the setting")
        }
        return path
    }
}

/// A proxy for requests to authorities.
struct ProxyServer: Sendable, Hashable {
    /// The scheme of the proxy's URL.
    enum Kind: String, Sendable, CaseIterable {
        /// Tunnels with `CONNECT` (RFC 9110 section 9.3.6).
        case http
        /// Tunnels with `CONNECT`; the connection to the proxy uses TLS.
        case https
        case socks4
        /// SOCKS 4 with host names resolved by the proxy.
        case socks4a
        case socks5
        /// SOCKS 5 (RFC 1928) with host names resolved by the proxy.
        case socks5h

        /// - Parameter scheme: the scheme of a URL, in lower case; `socks` is SOCKS 4, as for curl.
        init?(scheme: String) { self.init(rawValue: scheme == "socks" ? "socks4" : scheme) }

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

    /// Parses `http://user:password@host:port`, the same with another scheme of ``Kind``, or `host:port`.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112). The message does not contain the URL, which may have a password.
    init(_ url: String, setting: String) throws(TokenError) {
        let parts = URLComponents(string: url.contains("://") ? url : "http://" + url)
        // The host must not need encoding: FoundationEssentials accepts any text as a host, and encodes it.
        guard let parts, let host = parts.host, !host.isEmpty, parts.encodedHost == host else {
            throw TokenError(
                .invalidDeveloperParameter,
                "\(setting) is not the URL of a proxy; write it as in http://proxy.example:3128")
        }
        guard let kind = parts.scheme.flatMap({ Kind(scheme: $0.lowercased()) }) else {
            let kinds = Kind.allCases.map { "\($0.rawValue)://" }.joined(separator: ", ")
            throw TokenError(
                .invalidDeveloperParameter,
                "\(setting) names a proxy of a kind that is not supported; use one of \(kinds)")
        }
        guard parts.port.map(URLParts.isPort) ?? (parts.rangeOfPort == nil) else {
            throw TokenError(
                .invalidDeveloperParameter, "\(setting) names a port that does not exist; \(URLParts.portAdvice)")
        }
        self.kind = kind
        self.host = host.withoutBrackets
        self.port = parts.port ?? kind.defaultPort
        self.user = parts.user
        self.password = parts.password.map { Secret($0) }
    }
}

/// The hosts that are reached without a proxy, as listed in `NO_PROXY`.
///
/// A name matches itself and its subdomains, with or without a leading `.` or `*.`; an address matches itself; `:port`
/// restricts an entry to one port; `*` matches everything.
struct DirectHosts: Sendable {
    private let entries: [(host: String, port: Int?)]

    init(_ list: String) {
        entries = list.lowercased().split { $0 == "," || $0.isWhitespace }.map(Self.entry)
    }

    func contains(_ url: URLParts) -> Bool {
        let port = Self.entry(url.environment[...]).port ?? (url.scheme == "https" ? 443 : 80)
        return entries.contains { entry in
            guard entry.port == nil || entry.port == port else { return false }
            return entry.host == "*" || entry.host == url.host || url.host.hasSuffix("." + entry.host)
        }
    }

    private static func entry(_ text: Substring) -> (host: String, port: Int?) {
        var host = text
        var port: Int?
        // A text with several colons and without brackets is an IPv6 address.
        if let colon = text.lastIndex(of: ":"), text.hasPrefix("[") || text.firstIndex(of: ":") == colon,
            let number = Int(text[text.index(after: colon)...])
        {
            host = text[..<colon]
            port = number
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        if host.hasPrefix("*.") { host = host.dropFirst() }
        if host.hasPrefix(".") { host = host.dropFirst() }
        return (String(host), port)
    }
}
