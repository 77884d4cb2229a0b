internal import Crypto
internal import Foundation
internal import NIOHTTP1

/// A page for the user. The browser loads nothing for it, and applies only the style and the script that its policy names.
struct Page: Sendable {
    /// The title of the window, and the heading.
    var title: String
    /// HTML below the heading.
    var content: String
    /// The sources (Content Security Policy Level 3) to which the forms of the page may lead, redirects included.
    var formTargets = ["'self'"]
    /// A script, which the page has to work without.
    var script: String?

    func response(status: HTTPResponseStatus = .ok) -> Response {
        .text(
            html, type: "text/html; charset=utf-8", status: status,
            headers: [
                "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
            ])
    }

    private var policy: String {
        var directives = ["default-src 'none'", "style-src \(Self.digest(of: Self.style))", "base-uri 'none'"]
        if let script { directives.append("script-src \(Self.digest(of: script))") }
        directives += ["form-action \(formTargets.joined(separator: " "))", "frame-ancestors 'none'"]
        return directives.joined(separator: "; ")
    }

    private var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title)</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <header><strong>Entra emulator</strong> For tests. It asks for no password: never type one here.</header>
        <main>
        <h1>\(title)</h1>
        \(content)
        </main>
        \(script.map { "<script>\($0)</script>" } ?? "")
        </body>
        </html>

        """
    }

    /// The source of the only inline element with this text.
    private static func digest(of text: String) -> String {
        "'sha256-\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString())'"
    }

    private static let style = """

        :root { color-scheme: light dark; --page: #f3f4f6; --card: #fff; --text: #1b1f24; --quiet: #545d68;
          --line: #d5dae0; --field: #7b8694; --accent: #0b5cad; --on-accent: #fff; --note: #fff4d6; --on-note: #5c4300 }
        @media (prefers-color-scheme: dark) { :root { --page: #0e1116; --card: #181d24; --text: #e8ebef;
          --quiet: #a4aebb; --line: #303843; --field: #7f8b99; --accent: #7ab8ff; --on-accent: #0b1a2b;
          --note: #3a2f10; --on-note: #ffe7a8 } }
        * { box-sizing: border-box }
        body { margin: 0; min-height: 100vh; background: var(--page); color: var(--text);
          font: 1rem/1.5 system-ui, sans-serif }
        header { padding: .625rem 1.5rem; background: var(--note); color: var(--on-note); font-size: .875rem;
          text-align: center }
        main { width: calc(100% - 2rem); max-width: 27rem; margin: 8vh auto 2rem; padding: 2rem; background: var(--card);
          border: 1px solid var(--line); border-radius: 12px; overflow-wrap: anywhere }
        h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; font-weight: 600 }
        p { margin: 0 0 1.25rem }
        ul { list-style: none; margin: 0 0 1.5rem; padding: 0; border: 1px solid var(--line); border-radius: 8px }
        li + li { border-top: 1px solid var(--line) }
        li a { display: block; padding: .75rem 1rem; color: inherit; text-decoration: none }
        li a strong { color: var(--accent) }
        li a:hover strong { text-decoration: underline }
        li span { display: block; color: var(--quiet) }
        a { color: var(--accent) }
        label { display: block; margin-bottom: .25rem; font-weight: 600 }
        input { width: 100%; margin-bottom: 1rem; padding: .625rem .75rem; border: 1px solid var(--field);
          border-radius: 6px; background: var(--card); color: var(--text); font: inherit }
        ::placeholder { color: var(--quiet); opacity: 1 }
        button { margin: 0 .375rem .25rem 0; padding: .625rem 1.25rem; border: 1px solid var(--accent); border-radius: 6px; background: var(--accent);
          color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer }
        code, pre { font-family: ui-monospace, monospace; font-size: .875rem }
        pre { margin: 0 0 1.25rem; white-space: pre-wrap }
        button.quiet { background: transparent; color: var(--accent) }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }

        """
}

extension Page {
    /// Fields of a form that the user does not see.
    static func hiddenFields(_ fields: [String: String]) -> String {
        fields.sorted { $0.key < $1.key }.map { name, value in
            #"<input type="hidden" name="\#(htmlEscaped(name))" value="\#(htmlEscaped(value))">"#
        }.joined(separator: "\n")
    }

    /// The source that matches a URI: its origin, or the scheme if it is no web page, or if its host is an address of IPv6, which no
    /// source can name. `'none'` if it has no scheme, or a host that the policy could take for anything but a host: `;` and `,` end a
    /// directive, and `*` stands for any name.
    static func source(of uri: String) -> String {
        guard let parts = URLComponents(string: uri), let scheme = parts.scheme else { return "'none'" }
        let host = ["http", "https"].contains(scheme) ? parts.encodedHost ?? "" : ""
        guard !host.isEmpty, !host.hasPrefix("[") else { return "\(scheme):" }
        guard host.utf8.allSatisfy(isPlainInHost) else { return "'none'" }
        return "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
    }

    /// Whether a byte occurs in names of hosts.
    private static func isPlainInHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._".utf8.contains(byte)
        }
    }
}
