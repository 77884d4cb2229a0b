internal import PosixFiles
package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif
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
    let kind: ProxyPlace.Kind
    let host: String
    let port: Int
    let user: String?
    let password: Secret?

    /// Parses `http://user:password@host:port`, the same with another scheme of ``ProxyPlace/Kind``, or `host:port`.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112). The message does not contain the URL, which may have a password.
    init(_ url: String, setting: String) throws(TokenError) {
        do throws(ProxyPlace.Defect) { try self.init(url) } catch {
            throw TokenError(.invalidDeveloperParameter, "\(setting) \(error.reason); \(error.remedy)")
        }
    }

    private init(_ url: String) throws(ProxyPlace.Defect) {
        kind = try ProxyPlace(url).kind
        let parts = URLComponents(string: url.contains("://") ? url : "http://" + url)
        guard let parts, let host = parts.host else { throw .notAURL }
        self.host = host.withoutBrackets
        self.port = parts.port ?? kind.defaultPort
        self.user = parts.user
        self.password = parts.password.map { Secret($0) }
    }
}

extension ProxyPlace.Kind {
    fileprivate var defaultPort: Int {
        switch self {
        case .http: 80
        case .https: 443
        case .socks4, .socks4a, .socks5, .socks5h: 1080
        }
    }
}

/// The hosts that are reached without a proxy, as listed in `NO_PROXY`, which is read as by curl 7.86 and later.
///
/// A name matches itself and its subdomains, with or without a leading `.` or `*.` and a trailing `.`; an address matches itself, and a
/// network (`10.0.0.0/8`) its addresses; `:port` restricts an entry to one port; `*` matches everything.
struct DirectHosts: Sendable {
    private let entries: [Entry]

    init(_ list: String) {
        entries = list.lowercased().split { $0 == "," || $0.isWhitespace }.map(Entry.init)
    }

    func contains(_ url: URLParts) -> Bool {
        let (host, port) = (url.host.withoutTrailingDot, url.port ?? (url.scheme == "https" ? 443 : 80))
        let address = AddressRange.bytes(of: host)
        return entries.contains { entry in
            guard entry.port == nil || entry.port == port else { return false }
            if entry.host == "*" { return true }
            // Of an address, no end is a domain.
            if let address { return entry.range?.contains(address) == true }
            return entry.host == host || host.hasSuffix("." + entry.host)
        }
    }

    private struct Entry: Sendable {
        let host: String
        let range: AddressRange?
        let port: Int?

        init(_ text: Substring) {
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
            self.host = String(host).withoutTrailingDot
            self.range = AddressRange(self.host)
            self.port = port
        }
    }
}

/// An IP address, or the addresses that begin with the same bits (RFC 4632 section 3.1, RFC 4291 section 2.3).
private struct AddressRange: Sendable {
    private let first: [UInt8]
    /// The number of bits that are compared.
    private let length: Int

    /// Parses an address, or an address and a length, such as `10.0.0.0/8`; nil for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let start = parts.first, let bytes = Self.bytes(of: String(start)) else { return nil }
        let longest = bytes.count * 8
        let length = parts.count == 1 ? longest : Int(parts[1])
        guard let length, (0...longest).contains(length) else { return nil }
        (self.first, self.length) = (bytes, length)
    }

    func contains(_ address: [UInt8]) -> Bool {
        guard address.count == first.count else { return false }
        let (bytes, bits) = length.quotientAndRemainder(dividingBy: 8)
        guard address.prefix(bytes).elementsEqual(first.prefix(bytes)) else { return false }
        return bits == 0 || (address[bytes] ^ first[bytes]) >> (8 - bits) == 0
    }

    /// The bytes of an IPv4 or IPv6 address without brackets; nil for any other text.
    static func bytes(of address: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, address, &bytes) == 1 { return Array(bytes.prefix(4)) }
        return inet_pton(AF_INET6, address, &bytes) == 1 ? bytes : nil
    }
}

extension String {
    /// The host name without the dot that marks it as complete (RFC 1034 section 3.1).
    fileprivate var withoutTrailingDot: String { hasSuffix(".") ? String(dropLast()) : self }
}
