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

        /// The end of a sentence whose subject is the setting.
        package var reason: String {
            switch self {
            case .notAURL: "is not the URL of a proxy"
            case .unsupportedScheme: "names a proxy of a kind that is not supported"
            }
        }

        /// A sentence without its full stop.
        package var remedy: String {
            "write it as in http://proxy.example:3128, with \(schemes.joined(separator: ", "))"
        }
    }

    private static let schemes = ["http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"]

    package let text: String

    package init(_ url: String) throws(Defect) {
        let parts = url.ranges(of: "://").first.map { (url[..<$0.lowerBound].lowercased(), url[$0.upperBound...]) }
        let (scheme, rest) = parts ?? ("http", url[...])
        let server = rest.prefix { !"/?#".contains($0) }
        let host = server.lastIndex(of: "@").map { server[server.index(after: $0)...] } ?? server
        let isHost = !host.isEmpty && host.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._:[]".utf8.contains($0) }
        guard isHost, host.first != ":" else { throw .notAURL }
        guard Self.schemes.contains(scheme) else { throw .unsupportedScheme }
        text = "\(scheme)://\(host)"
    }
}
