internal import Foundation

/// Whether a redirect URI is one of an app's own, as Entra compares them: as text, but for the port of this machine's own
/// addresses (RFC 8252 section 7.3).
struct RegisteredRedirect: Sendable {
    private let comparable: String

    init(_ uri: String) {
        guard var parts = URLComponents(string: uri), parts.scheme == "http", let host = parts.host,
            ["localhost", "127.0.0.1"].contains(host)
        else {
            comparable = uri
            return
        }
        parts.port = nil
        if parts.path == "/" { parts.path = "" }
        comparable = parts.string ?? uri
    }

    func matches(_ registered: String) -> Bool { comparable == RegisteredRedirect(registered).comparable }
}
