internal import NIOHTTP1

/// A page of the listener. It contains nothing of the request.
struct LoopbackPage: Sendable {
    let status: HTTPResponseStatus
    let html: String
    /// The URL to which the browser is redirected; nil if the page is shown.
    private let location: String?

    static let signedIn = LoopbackPage(.ok, "You are signed in", "You may close this window.")
    static let failed = LoopbackPage(
        .ok, "Sign-in failed", "You may close this window. The reason has been reported to the app.")
    static let rejected = LoopbackPage(
        .badRequest, "Sign-in failed", "This page does not belong to the sign-in in progress.")
    static let notFound = LoopbackPage(.notFound, "Not found", "This page does not exist.")
    static let tooLarge = LoopbackPage(.payloadTooLarge, "Sign-in failed", "The request is too large.")

    /// Redirects the browser to a URL that has no characters but those of a header field.
    static func redirect(to location: String) -> LoopbackPage {
        LoopbackPage(.found, "Sign in", "The sign-in page opens.", location: location)
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
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        ]
        if let location { headers.add(name: "Location", value: location) }
        return headers
    }

    private init(_ status: HTTPResponseStatus, _ title: String, _ text: String, location: String? = nil) {
        self.status = status
        self.location = location
        self.html = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(title)</title>
            <style>
            :root { color-scheme: light dark }
            body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto; padding: 0 1.5rem }
            h1 { font-size: 1.6rem; font-weight: 600 }
            </style>
            </head>
            <body>
            <h1>\(title)</h1>
            <p>\(text)</p>
            </body>
            </html>

            """
    }
}
