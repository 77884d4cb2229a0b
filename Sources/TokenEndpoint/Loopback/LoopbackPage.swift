internal import Crypto
internal import NIOHTTP1

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A page of the listener. It contains nothing of the request and no script, and the browser may load nothing for it.
struct LoopbackPage: Sendable {
    let status: HTTPResponseStatus
    let html: String
    /// The URL to which the browser is redirected; nil if the page is shown.
    private let location: String?

    static let signedIn = LoopbackPage(
        .ok, "You are signed in", "You can close this window and go back to the app.", mark: .success)
    static let failed = LoopbackPage(
        .ok, "Sign-in failed", "The app has been told the reason. You can close this window and go back to it.",
        mark: .failure)
    static let rejected = LoopbackPage(
        .badRequest, "Sign-in failed",
        "This page does not belong to the sign-in in progress. Go back to the app, and sign in again.", mark: .failure)
    static let notFound = LoopbackPage(.notFound, "Not found", "This page does not exist.", mark: .failure)
    static let tooLarge = LoopbackPage(
        .payloadTooLarge, "Sign-in failed", "The request is too large.", mark: .failure)

    /// Redirects the browser to a URL that has no characters but those of a header field.
    static func redirect(to location: String) -> LoopbackPage {
        LoopbackPage(.found, "Sign in", "The sign-in page opens.", mark: .success, location: location)
    }

    init(_ kind: LoopbackInbox.RequestKind) {
        self =
            switch kind {
            case .signedIn: .signedIn
            case .failed: .failed
            case .rejected: .rejected
            case .notFound: .notFound
            }
    }

    var headers: HTTPHeaders {
        var headers: HTTPHeaders = [
            "Content-Type": "text/html; charset=utf-8",
            "Content-Length": "\(html.utf8.count)",
            "Connection": "close",
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": Self.policy,
        ]
        if let location { headers.add(name: "Location", value: location) }
        return headers
    }

    private init(_ status: HTTPResponseStatus, _ title: String, _ text: String, mark: Mark, location: String? = nil) {
        self.status = status
        self.location = location
        self.html = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <main>
            \(mark.svg)
            <h1>\(title)</h1>
            <p>\(text)</p>
            </main>
            <footer>A page of sso-agent on this computer</footer>
            </body>
            </html>

            """
    }
}

/// The appearance of the page.
extension LoopbackPage {
    /// The picture above the title. It repeats what the title says, so that screen readers skip it.
    private enum Mark: String {
        case success
        case failure

        var svg: String {
            let path = self == .success ? "M14 25l7 7 14-15" : "M16 16l16 16M32 16L16 32"
            return """
                <svg class="\(rawValue)" viewBox="0 0 48 48" width="48" height="48" aria-hidden="true">\
                <circle cx="24" cy="24" r="22"/><path d="\(path)"/></svg>
                """
        }
    }

    /// The only style that the browser applies is this one, which the policy names by its digest.
    private static let policy: String = {
        let digest = Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString()
        return "default-src 'none'; style-src 'sha256-\(digest)'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'"
    }()

    private static let style = """

        :root { color-scheme: light dark; --page: #f3f4f6; --card: #fff; --text: #1b1f24; --quiet: #545d68;
          --line: #d5dae0; --good: #1a7f37; --bad: #b42318 }
        @media (prefers-color-scheme: dark) { :root { --page: #0e1116; --card: #181d24; --text: #e8ebef;
          --quiet: #a4aebb; --line: #303843; --good: #4cc46a; --bad: #ff8f85 } }
        * { box-sizing: border-box }
        body { margin: 0; min-height: 100vh; padding: 1.5rem; display: flex; flex-direction: column; align-items: center;
          justify-content: center; gap: 1.25rem; background: var(--page); color: var(--text);
          font: 1.0625rem/1.5 system-ui, sans-serif; text-align: center }
        main { width: 100%; max-width: 27rem; padding: 2.25rem 2rem; border: 1px solid var(--line); border-radius: 12px;
          background: var(--card) }
        h1 { margin: 1rem 0 .5rem; font-size: 1.5rem; line-height: 1.25; font-weight: 600 }
        h1, p { text-wrap: balance }
        p { margin: 0 }
        footer { color: var(--quiet); font-size: .875rem }
        svg { fill: none; stroke: currentColor; stroke-width: 3; stroke-linecap: round; stroke-linejoin: round }
        .success { color: var(--good) }
        .failure { color: var(--bad) }

        """
}
