internal import TestSupport

/// The part of a browser that a sign-in needs.
package enum WebBrowser {
    /// Opens a page and follows its redirects.
    package static func open(_ url: String) async throws {
        _ = try await WebClient.browse(to: url)
    }
}
