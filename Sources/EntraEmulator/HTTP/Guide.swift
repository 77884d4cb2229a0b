/// What a user of the emulator has to know to sign in with it, as lines for a terminal and as its first page.
package struct Guide: Sendable {
    /// Scheme, host and port of the emulator, without a slash at the end.
    let url: String

    /// The authority that apps name.
    private var authority: String { "\(url)/organizations" }

    /// What the agent needs to accept the emulator, as lines.
    private var requirement: [String] {
        url.hasPrefix("https:")
            ? ["The agent has to trust the certificate: its configuration names the file,", "ca_file under [network]."]
            : [
                "The agent accepts it if its configuration has under [network]: allow_loopback_http = true",
                "or if it is started with: sso-agent --allow-loopback-http",
            ]
    }

    /// The commands with which an app signs in here.
    private var commands: [String] {
        ["ssoctl app add demo --client-id any --authority \(authority) --scope User.Read", "ssoctl sign-in demo"]
    }

    /// The lines for a terminal.
    package var lines: [String] {
        [
            "This is a fake identity provider, for tests: anybody signs in, without a password.",
            "The authority is \(authority), or the same with /common.",
            "Any client ID works.",
        ] + requirement + ["Then, in another terminal:", ""] + commands.map { "  \($0)" } + ["", "Ctrl-C stops it."]
    }

    /// The page at `/`.
    var page: Page {
        Page(
            title: "Entra emulator",
            content: """
                <p>A fake identity provider, for tests: anybody signs in, without a password. Any client ID works.</p>
                <p>The authority is <code>\(htmlEscaped(authority))</code>, or <code>\(htmlEscaped(url))/common</code>.</p>
                <p>\(htmlEscaped(requirement.joined(separator: " ")))</p>
                <pre>\(commands.map { htmlEscaped($0) }.joined(separator: "\n"))</pre>
                <p><a href="/organizations/v2.0/.well-known/openid-configuration">The endpoints</a>,
                <a href="/devicelogin">the page for device codes</a></p>
                """)
    }
}
