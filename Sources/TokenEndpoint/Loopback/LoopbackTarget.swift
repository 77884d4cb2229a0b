internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where the browser is to come back to, before the port is known.
struct LoopbackTarget: Sendable {
    /// As the redirect URI spells it.
    let host: String
    /// The one the app insists on; nil for any free one.
    let port: Int?
    /// The path to expect.
    let path: String
    /// Path and query as the redirect URI spells them; empty when it has none.
    private let rest: String

    /// The app's own URI, when a browser that follows it ends up on this machine; `http://localhost` otherwise.
    init(_ redirectURI: String?) {
        guard let redirectURI, BrowserRedirect.isUsable(redirectURI), let uri = URLComponents(string: redirectURI),
            let host = uri.host
        else {
            self.init(host: "localhost", port: nil, path: "/", rest: "")
            return
        }
        let query = uri.percentEncodedQuery.map { "?" + $0 } ?? ""
        self.init(
            host: host, port: uri.port == 0 ? nil : uri.port,
            path: uri.percentEncodedPath.isEmpty ? "/" : uri.percentEncodedPath, rest: uri.percentEncodedPath + query)
    }

    private init(host: String, port: Int?, path: String, rest: String) {
        self.host = host
        self.port = port
        self.path = path
        self.rest = rest
    }

    /// The addresses to bind: the first must succeed.
    var addresses: [String] { host.contains(":") ? ["::1", "127.0.0.1"] : ["127.0.0.1", "::1"] }

    func uri(port: Int) -> String {
        let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "http://\(host):\(port)\(rest)"
    }
}
