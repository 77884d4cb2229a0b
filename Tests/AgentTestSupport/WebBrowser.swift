internal import TestSupport

/// What a browser does, as far as a sign-in needs one.
package enum WebBrowser {
    /// Opens a page and follows it wherever it leads.
    package static func open(_ url: String) async throws {
        _ = try await WebClient.browse(to: url)
    }
}
