/// How the agent reads the environment and files that describe its network. `ssoctl doctor` reads them in the same way.
package enum NetworkEnvironment {
    /// The variables that may have the URL of a proxy. The first one with a value counts, as for curl.
    private static let proxyVariables = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

    /// The URL of the proxy for HTTPS, and the variable that has it; nil if there is none. Blank values count as none.
    ///
    /// - Parameter value: returns the value of a variable; nil if it is not set.
    package static func proxy(_ value: (String) -> String?) -> (variable: String, url: String)? {
        for name in proxyVariables {
            if let url = value(name)?.trimmedNonEmpty { return (name, url) }
        }
        return nil
    }
}

/// The scheme and the host of a proxy, without the password that its URL may have.
package struct ProxyPlace: Sendable, Equatable {
    /// The reason why a text is not the URL of a proxy that can be used. It does not contain the text, which may have a password.
    package enum Defect: Error {
        case notAURL
        case unsupportedScheme
        case noSuchPort
        /// The URL ends before the `@` behind the password.
        case unencodedPassword

        /// The end of a sentence whose subject is the setting.
        package var reason: String {
            switch self {
            case .notAURL: "is not the URL of a proxy"
            case .unsupportedScheme: "names a proxy of a kind that is not supported"
            case .noSuchPort: "names a port that does not exist"
            case .unencodedPassword: "has a user or a password with a character that ends a URL"
            }
        }

        /// A sentence without its full stop.
        package var remedy: String {
            switch self {
            case .notAURL, .unsupportedScheme:
                "write it as in http://proxy.example:3128, with \(Kind.allCases.map(\.rawValue).joined(separator: ", "))"
            case .noSuchPort: URLParts.portAdvice
            case .unencodedPassword: "write %23 for “#”, %2F for “/” and %3F for “?”"
            }
        }
    }

    /// The kinds of proxies, by the schemes of their URLs.
    package enum Kind: String, Sendable, CaseIterable {
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
        fileprivate init?(scheme: String) { self.init(rawValue: scheme == "socks" ? "socks4" : scheme) }
    }

    package let kind: Kind
    package let text: String

    package init(_ url: String) throws(Defect) {
        let parts = url.ranges(of: "://").first.map { (url[..<$0.lowerBound].lowercased(), url[$0.upperBound...]) }
        let (scheme, rest) = parts ?? ("http", url[...])
        let server = rest.prefix { !"/?#".contains($0) }
        guard !rest[server.endIndex...].contains("@") else { throw .unencodedPassword }
        let host = server.lastIndex(of: "@").map { server[server.index(after: $0)...] } ?? server
        guard let port = Self.port(of: host) else { throw .notAURL }
        guard let kind = Kind(scheme: scheme) else { throw .unsupportedScheme }
        // A name may have a colon without a port behind it.
        guard port.isEmpty || (port == ":" && host.first != "[") || Self.isPort(port.dropFirst()) else {
            throw .noSuchPort
        }
        self.kind = kind
        text = "\(scheme)://\(host)"
    }

    /// What follows a name, or an address in brackets: empty, or a colon and a port; nil if the text does not begin with either.
    private static func port(of host: Substring) -> Substring? {
        let isAddress = host.first == "["
        let name = isAddress ? host.dropFirst().prefix { $0 != "]" } : host.prefix { $0 != ":" }
        let marks = isAddress ? "-._:" : "-._"
        guard !name.isEmpty, name.utf8.allSatisfy({ $0.isASCIILetterOrDigit || marks.utf8.contains($0) }) else {
            return nil
        }
        let rest = host[name.endIndex...]
        guard isAddress else { return rest }
        let port = rest.dropFirst()
        return rest.first == "]" && (port.isEmpty || port.first == ":") ? port : nil
    }

    private static func isPort(_ text: Substring) -> Bool {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else { return false }
        return URLParts.isPort(number)
    }
}
