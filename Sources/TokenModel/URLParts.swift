#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The parts of a URL that an authority is made of, checked once.
package struct URLParts: Sendable, Equatable {
    /// In lower case.
    package let scheme: String
    /// In lower case, without brackets.
    package let host: String
    /// Host and port as in the authority component, in lower case.
    package let environment: String
    /// The path's segments as written, percent-encoded; empty ones dropped.
    package let segments: [String]

    /// - Throws: `invalidDeveloperParameter` when `url` has no scheme or no plain host, or names a user.
    package init(_ url: String) throws(TokenError) {
        if let plain = URLParts(plain: url) {
            self = plain
        } else {
            try self.init(parsing: url)
        }
    }

    /// The full parser.
    package init(parsing url: String) throws(TokenError) {
        let parts = URLComponents(string: url.trimmedNonEmpty ?? "")
        // First, so that no other message repeats a password.
        guard parts?.user == nil, parts?.password == nil else {
            throw TokenError(.invalidDeveloperParameter, "a URL with a user name in it is not an authority")
        }
        guard let parts, let scheme = parts.scheme?.lowercased(), let host = parts.host?.lowercased(), !host.isEmpty,
            // Nothing to decode: `a%2Fb` would be the host `a/b`, and the URL built from it would lead to `a`.
            parts.encodedHost?.lowercased() == host
        else { throw TokenError(.invalidDeveloperParameter, "\(url) is not a URL with a scheme and a host") }
        self.scheme = scheme
        self.host = host.withoutBrackets
        let literal = self.host.contains(":") ? "[\(self.host)]" : self.host
        let standard = (scheme == "https" && parts.port == 443) || (scheme == "http" && parts.port == 80)
        self.environment = parts.port.flatMap { standard ? nil : "\(literal):\($0)" } ?? literal
        self.segments = parts.percentEncodedPath.split(separator: "/").map(String.init)
    }

    init(scheme: String, host: String, environment: String, segments: [String]) {
        self.scheme = scheme
        self.host = host
        self.environment = environment
        self.segments = segments
    }

    package var isLoopback: Bool { Self.isLoopback(host: host) }

    /// Loopback names and addresses: `localhost`, `127.0.0.0/8` and `::1`.
    package static func isLoopback(host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets.first == "127" && octets.allSatisfy { UInt8($0) != nil }
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
