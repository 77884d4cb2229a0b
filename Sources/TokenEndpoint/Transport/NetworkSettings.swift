package import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// How to get out of this network: a proxy, the hosts that need none, and whom to trust.
///
/// There is no `http_proxy`: plain HTTP goes to this machine only, and never through a proxy.
package struct NetworkSettings: Sendable {
    /// The PEM file of the certificate authorities to trust instead of the system's; nil for the system's.
    package let caFile: String?
    private let proxy: ProxyServer?
    private let direct: DirectHosts

    /// Reads `HTTPS_PROXY`, `NO_PROXY` (each also in lower case, which wins) and `SSL_CERT_FILE`.
    ///
    /// - Parameters:
    ///   - caFile: `network.ca_file` of the configuration; overrules `SSL_CERT_FILE`.
    ///   - proxy: `network.proxy` of the configuration; overrules `HTTPS_PROXY`.
    /// - Throws: `invalidDeveloperParameter`, naming the setting, when the file holds no certificate or the proxy's
    ///   URL cannot be used.
    package init(
        environment: [String: String], caFile: String? = nil, proxy: String? = nil
    ) throws(TokenError) {
        func variable(_ name: String) -> String? {
            environment[name.lowercased()]?.trimmedNonEmpty ?? environment[name]?.trimmedNonEmpty
        }
        self.proxy =
            if let url = proxy?.trimmedNonEmpty {
                try ProxyServer(url, setting: "network.proxy")
            } else if let url = variable("HTTPS_PROXY") {
                try ProxyServer(url, setting: "HTTPS_PROXY")
            } else { nil }
        self.caFile =
            if let path = caFile?.trimmedNonEmpty {
                try Self.checked(path, setting: "network.ca_file")
            } else if let path = environment["SSL_CERT_FILE"]?.trimmedNonEmpty {
                try Self.checked(path, setting: "SSL_CERT_FILE")
            } else { nil }
        self.direct = DirectHosts(variable("NO_PROXY") ?? "")
    }

    /// The proxy to take to a URL; nil for none.
    func proxy(for url: URLParts) -> ProxyServer? {
        url.isLoopback || direct.contains(url) ? nil : proxy
    }

    private static func checked(_ path: String, setting: String) throws(TokenError) -> String {
        guard let file = try? Data(contentsOf: URL(filePath: path)), beginsWithACertificate(file) else {
            throw TokenError(
                .invalidDeveloperParameter, "\(setting) names \(path), which cannot be read as PEM certificates")
        }
        return path
    }

    /// Whether the first PEM block of a certificate can be decoded. A bundle has hundreds; the TLS library reads them all when
    /// there is something to send.
    private static func beginsWithACertificate(_ file: Data) -> Bool {
        guard let begin = file.firstRange(of: Data("-----BEGIN CERTIFICATE-----".utf8)),
            let end = file[begin.upperBound...].firstRange(of: Data("-----END CERTIFICATE-----".utf8)),
            let der = Data(base64Encoded: file[begin.upperBound..<end.lowerBound], options: .ignoreUnknownCharacters)
        else { return false }
        // A certificate is a SEQUENCE (RFC 5280 section 4.1).
        return der.count > 64 && der.first == 0x30
    }
}
