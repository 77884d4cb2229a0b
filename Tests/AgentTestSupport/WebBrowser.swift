internal import AsyncHTTPClient
internal import NIOCore

/// What a browser does, as far as a sign-in needs one.
package enum WebBrowser {
    /// Opens a page and follows it wherever it leads.
    package static func open(_ url: String) async throws {
        let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
        _ = try await response.body.collect(upTo: 1 << 20)
    }
}
