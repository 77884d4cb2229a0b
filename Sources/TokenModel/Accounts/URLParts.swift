#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The parts of a URL that make up an authority.
package struct URLParts: Sendable, Equatable {
    /// The scheme in lower case.
    package let scheme: String
    /// The host in lower case and in ASCII, without brackets.
    package let host: String
    /// The host and, unless it is the default, the port, in lower case.
    package let environment: String
    /// The port; nil for the default one. 0 is no server's, and any free port in a redirect URI.
    package let port: Int?
    /// The segments of the path as written, percent-encoded, without empty ones.
    package let segments: [String]

    /// - Throws: `invalidDeveloperParameter` (-51112) if `url` has no scheme, no host, an encoded host or one that is not in ASCII,
    ///   names a user, or has a port above 65535.
    package init(_ url: String) throws(TokenError) {
        if let plain = URLParts(plain: url) {
            self = plain
        } else {
            try self.init(parsing: url)
        }
    }

    /// Parses any URL, without the fast path.
    package init(parsing url: String) throws(TokenError) {
        let text = url.trimmedNonEmpty ?? ""
        let parts = URLComponents(string: text)
        // Checked first, so that no other message contains a password.
        guard parts?.user == nil, parts?.password == nil else {
            throw TokenError(.invalidDeveloperParameter, "a URL with a user name in it is not an authority")
        }
        guard Self.hasHostInASCII(text) else {
            throw TokenError(
                .invalidDeveloperParameter,
                "\(url) has a host with characters that are not ASCII, which the domain name system has in the form xn--…"
            )
        }
        // The encoded form: the other one of `xn--…` is in Unicode in programs that have all of Foundation.
        guard let parts, let scheme = parts.scheme?.lowercased(), let host = parts.encodedHost?.lowercased(),
            !host.withoutBrackets.isEmpty,
            // The host must not be encoded: `a%2Fb` would be the host `a/b`, and a URL with it would lead to `a`.
            !host.utf8.contains(UInt8(ascii: "%"))
        else { throw TokenError(.invalidDeveloperParameter, "\(url) is not a URL with a scheme and a host") }
        // A number that is too large even to be read is no port of `parts`. To look for one costs as much as the rest.
        guard parts.port.map({ $0 == 0 || Self.isPort($0) }) ?? (parts.rangeOfPort == nil) else {
            throw TokenError(.invalidDeveloperParameter, "\(url) names a port that does not exist; \(Self.portAdvice)")
        }
        self.scheme = scheme
        self.host = host.withoutBrackets
        let literal = self.host.contains(":") ? "[\(self.host)]" : self.host
        let standard = (scheme == "https" && parts.port == 443) || (scheme == "http" && parts.port == 80)
        self.port = standard ? nil : parts.port
        self.environment = port.map { "\(literal):\($0)" } ?? literal
        self.segments = parts.percentEncodedPath.split(separator: "/").map(String.init)
    }

    /// Whether a URL has no host, or one of ASCII characters. Foundation converts any other to `xn--…` in programs that have all of it, and
    /// encodes it with `%` in the rest, such as the agent.
    private static func hasHostInASCII(_ url: String) -> Bool {
        // The scheme with its colon, nothing, and the host with what follows it.
        let pieces = url.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count == 3, pieces[1].isEmpty else { return true }
        return pieces[2].prefix { !"/?#".utf8.contains($0) }.allSatisfy { $0 < 0x80 }
    }

    private init(scheme: String, host: String, environment: String, segments: [String]) {
        port = nil
        self.scheme = scheme
        self.host = host
        self.environment = environment
        self.segments = segments
    }

    package var isLoopback: Bool { Self.isLoopback(host: host) }

    /// The environment and the path in lower case, without empty segments: `login.contoso.com/tenant/oauth2/v2.0/token`.
    package var environmentAndPath: String {
        ([environment] + segments.map { $0.lowercased() }).joined(separator: "/")
    }

    /// Whether a host is this machine: `localhost`, `127.0.0.0/8` or `::1`.
    package static func isLoopback(host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets.first == "127" && octets.allSatisfy { UInt8($0) != nil }
    }

    /// Whether a number can be the port of a server (RFC 6335 section 6).
    package static func isPort(_ number: Int) -> Bool { (1...65535).contains(number) }

    /// The end of a message about another number.
    package static let portAdvice = "a port is a number from 1 to 65535"

    /// Whether a text can be an environment: it has no character that ends a host in a URL, or separates words.
    package static func isEnvironment(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"/\\?#@%<>\"{}|^`".utf8.contains($0) }
    }

    /// The host in an environment such as `localhost:8080` or `[::1]:8080`.
    package static func host(ofEnvironment environment: String) -> String {
        if environment.hasPrefix("["), let end = environment.firstIndex(of: "]") {
            return String(environment[environment.index(after: environment.startIndex)..<end])
        }
        return environment.split(separator: ":").first.map(String.init) ?? environment
    }
}

extension String {
    /// The address in a literal such as `[::1]`; any other text unchanged.
    package var withoutBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}

extension URLParts {
    /// Parses an `https` URL without a port, escapes, or capitals in the host, as nearly every authority is; nil for any
    /// other.
    ///
    /// A fast path: every request names an authority, and the full parser would be the most expensive part of a cache hit.
    package init?(plain url: String) {
        let scheme = "https"
        let opening = "\(scheme)://"
        guard url.utf8.starts(with: opening.utf8) else { return nil }
        let pieces = url.utf8.dropFirst(opening.utf8.count)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let segments = pieces.dropFirst().filter { !$0.isEmpty }
        guard let first = pieces.first, !first.isEmpty, first.allSatisfy(Self.isPlainInHost),
            segments.allSatisfy({ $0.allSatisfy(Self.isPlainInPath) })
        else { return nil }
        let host = String(Substring(first))
        self.init(
            scheme: scheme, host: host, environment: host, segments: segments.map { String(Substring($0)) })
    }

    static func isPlainInHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// The unreserved characters of RFC 3986 section 2.3.
    private static func isPlainInPath(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isPlainInHost(byte)
        }
    }
}
