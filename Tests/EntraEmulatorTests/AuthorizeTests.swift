internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

@Suite(.bounded) struct AuthorizeTests {
    static let two = EmulatorOptions(usernames: ["alice@contoso.example", "bob@outlook.com"])

    @Test(arguments: [
        (realm: "common", hint: "carol@fabrikam.example", username: "carol@fabrikam.example"),
        ("organizations", "", "alice@contoso.example"),
        ("consumers", "", "bob@outlook.com"),
        ("common", "BOB@outlook.com", "bob@outlook.com"),
    ])
    func signsInTheHintedOrOnlyUser(row: (realm: String, hint: String, username: String)) async throws {
        try await withEmulator(Self.two) { emulator in
            let app = App(emulator: emulator, authority: row.realm)
            let reply = try await app.signIn(["login_hint": row.hint])
            #expect(reply.claims("id_token")["preferred_username"] == .string(row.username))
            #expect(emulator.control.counts.signIns == 1)
        }
    }

    @Test(arguments: [
        ("common", "user@contoso.example"), ("consumers", "user@outlook.com"),
        ("fabrikam.example", "user@fabrikam.example"),
    ])
    func createsAUserIfThereIsNone(realm: String, username: String) async throws {
        try await withEmulator { emulator in
            let claims = try await App(emulator: emulator, authority: realm).signIn().claims("id_token")
            #expect(claims["preferred_username"] == .string(username))
        }
    }

    @Test func showsALinkForEachOfSeveralUsers() async throws {
        try await withEmulator(Self.two) { emulator in
            let page = try await App(emulator: emulator).authorize()
            #expect(page.status == 200)
            let links = page.body.matches(of: #/href="([^"]+)"/#).map { String($0.1) }
            #expect(links.count == 2)
            let link = try #require(links.last).split(separator: "&amp;").joined(separator: "&")
            let reply = try await HTTP.get(emulator.url + link)
            #expect(reply.redirect["code"] != nil)
            #expect(reply.redirect["state"] == "s 1")
        }
    }

    @Test(arguments: [
        (
            usernames: ["alice@contoso.example", "bob@contoso.example"], hint: "",
            error: "interaction_required" as String?
        ),
        ([], "", "login_required"),
        (["alice@contoso.example"], "", nil),
        (["alice@contoso.example", "bob@contoso.example"], "bob@contoso.example", nil),
    ])
    func showsNoPageWithPromptNone(row: (usernames: [String], hint: String, error: String?)) async throws {
        try await withEmulator(EmulatorOptions(usernames: row.usernames)) { emulator in
            let reply = try await App(emulator: emulator).authorize(["prompt": "none", "login_hint": row.hint])
            #expect(reply.status == 302)
            #expect(reply.redirect["error"] == row.error)
        }
    }

    @Test(arguments: [
        (authority: "common", prompt: "select_account", isAccepted: true), ("common", "refresh_session", true),
        ("common", "consent select_account", false), ("common", "none login", false), ("common", "unspecified", false),
        ("tfp/contoso.example/policy", "login consent", true), ("tfp/contoso.example/policy", "login none", false),
        ("tfp/contoso.example/policy", "unspecified", true),
    ])
    func refusesAPromptThatEntraRefuses(row: (authority: String, prompt: String, isAccepted: Bool)) async throws {
        try await withEmulator { emulator in
            let reply = try await App(emulator: emulator, authority: row.authority).authorize(["prompt": row.prompt])
            #expect((reply.redirect["code"] != nil) == row.isAccepted)
            #expect(reply.redirect["error"] == (row.isAccepted ? nil : "invalid_request"))
            let description = reply.redirect["error_description"] ?? ""
            #expect(row.isAccepted || description.hasPrefix("AADSTS90023: "), "\(description)")
        }
    }

    @Test(arguments: [
        (fields: ["response_type": "token"], error: "unsupported_response_type"),
        (["response_type": "code id_token"], "unsupported_response_type"),
        (["response_type": ""], "invalid_request"), (["response_mode": "web_message"], "invalid_request"),
        (["scope": ""], "invalid_request"),
        (["scope": "openid User.Read https://graph.microsoft.com/.default"], "invalid_scope"),
    ])
    func sendsErrorsToTheRedirectURI(row: (fields: [String: String], error: String)) async throws {
        try await withEmulator { emulator in
            let reply = try await App(emulator: emulator).authorize(row.fields)
            #expect(reply.redirect["error"] == row.error)
            #expect(reply.redirect["state"] == "s 1")
            let traceID = try #require(reply.headers["x-ms-request-id"])
            #expect(reply.redirect["error_description"]?.contains("Trace ID: \(traceID) ") == true)
        }
    }

    /// RFC 6749 sections 3.1 and 3.2.
    @Test(arguments: ["authorize", "token", "devicecode", "par"])
    func refusesARepeatedParameter(endpoint: String) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let fields = "client_id=a&scope=openid&response_type=code&redirect_uri=http%3A%2F%2Flocalhost&scope=email"
            let reply =
                try await endpoint == "authorize"
                ? HTTP.get("\(app.url(endpoint))?\(fields)") : HTTP.post(app.url(endpoint), fields)
            #expect(reply.status == 400)
            #expect(reply["error"] == "invalid_request")
            #expect(reply["error_codes"] == [9_000_411])
            #expect(reply.text("error_description")?.contains("The parameter 'scope' is duplicated.") == true)
        }
    }

    /// The redirect URI is one of the app: without the app, it is nobody's.
    @Test(arguments: ["redirect_uri", "client_id"])
    func redirectsToNoURIWithoutTheURIOrTheApp(parameter: String) async throws {
        try await withEmulator { emulator in
            let reply = try await App(emulator: emulator).authorize([parameter: ""])
            #expect(reply.status == 400)
            #expect(reply.headers["location"] == nil)
            #expect(reply["error"] == "invalid_request")
        }
    }

    /// A header field cannot hold control characters.
    @Test(arguments: ["\u{0}", "\u{1}", "\r\n", "\u{7F}"])
    func answersARequestWithControlCharacters(control: String) async throws {
        try await withEmulator { emulator in
            let fields = ["redirect_uri": "http://localhost/a\(control)b", "client-request-id": "c\(control)d"]
            let reply = try await App(emulator: emulator).authorize(fields)
            #expect(reply.headers["location"]?.hasPrefix("http://localhost/ab?code=") == true)
            #expect(reply.headers["client-request-id"] == "cd")
        }
    }

    @Test func answersInTheFragment() async throws {
        try await withEmulator { emulator in
            let reply = try await App(emulator: emulator).authorize(["response_mode": "fragment"])
            #expect(reply.headers["location"]?.hasPrefix("http://localhost/callback#") == true)
            #expect(reply.redirect["code"] != nil)
        }
    }

    /// Some letters form a character with what is behind them, and marks with what is before them.
    @Test(arguments: [
        (#""><script>"#, "&quot;&gt;&lt;script&gt;"),
        ("\u{D4E}\"\u{D4E}>\u{D4E}<script>", "\u{D4E}&quot;\u{D4E}&gt;\u{D4E}&lt;script&gt;"),
        ("\"\u{301}>&\u{301}", "&quot;\u{301}&gt;&amp;\u{301}"),
    ])
    func answersWithAForm(state: String, shown: String) async throws {
        try await withEmulator { emulator in
            let reply = try await App(emulator: emulator).authorize(["response_mode": "form_post", "state": state])
            #expect(reply.status == 200)
            #expect(reply.body.contains(#"action="http://localhost/callback""#))
            #expect(reply.body.contains(#"name="code""#))
            #expect(Array(reply.body.utf8).firstRange(of: Array("value=\"\(shown)\"".utf8)) != nil, "\(reply.body)")
            #expect(reply.headers["content-security-policy"]?.contains("form-action http://localhost;") == true)
        }
    }

    /// A browser applies the policy to the redirect that answers the form.
    @Test(arguments: [
        (redirectURI: "http://localhost:1234/callback", source: "http://localhost:1234"),
        ("https://app.contoso.example/x?y=1", "https://app.contoso.example"), ("http://[::1]:1234/callback", "http:"),
        ("msauth.com.contoso.notes://auth", "msauth.com.contoso.notes:"), ("urn:ietf:wg:oauth:2.0:oob", "urn:"),
    ])
    func letsTheFormsOfAPageLeadToTheApp(row: (redirectURI: String, source: String)) async throws {
        try await withEmulator { emulator in
            emulator.control.addUser("alice@contoso.example")
            emulator.control.addUser("bob@contoso.example")
            let reply = try await App(emulator: emulator).authorize(["redirect_uri": row.redirectURI])
            #expect(reply.status == 200)
            let policy = reply.headers["content-security-policy"] ?? ""
            #expect(policy.contains("; form-action 'self' \(row.source); "), "\(policy)")
            #expect(!reply.body.contains("<script"))
        }
    }

    /// A host with `;` or `,` would end the directive, or the policy; `*` would admit every host.
    @Test(arguments: [
        "http://a;script-src,b/x", "http://a,b/x", "http://*/x", "http://*.example/x", "http://a'b/x", "/relative",
    ])
    func admitsNothingForWhatIsNoHost(redirectURI: String) {
        #expect(Page.source(of: redirectURI) == "'none'")
    }

    @Test(arguments: ["http://localhost:8080", "https://a-b_c.example:1", "http://127.0.0.1"])
    func admitsTheOriginOfTheApp(origin: String) {
        #expect(Page.source(of: "\(origin)/callback?x=1") == origin)
    }

    @Test(arguments: [
        (target: "http://localhost/x", state: "", location: "http://localhost/x"),
        ("http://localhost/x", "a b", "http://localhost/x?state=a%20b"),
        ("http://localhost/x?y=1", "s", "http://localhost/x?y=1&state=s"),
    ])
    func redirectsToTheAppAfterASignOut(row: (target: String, state: String, location: String)) async throws {
        try await withEmulator { emulator in
            let fields = Parameters(["post_logout_redirect_uri": row.target, "state": row.state])
            let reply = try await HTTP.get("\(App(emulator: emulator).url("logout"))?\(fields.encoded)")
            #expect(reply.status == 302)
            #expect(reply.headers["location"] == row.location)
        }
    }

    @Test func refusesADisabledUser() async throws {
        try await withEmulator { emulator in
            emulator.control.setDisabled(true, username: "alice@contoso.example")
            let reply = try await App(emulator: emulator).authorize(["login_hint": "alice@contoso.example"])
            #expect(reply.redirect["error"] == "access_denied")
            #expect(reply.redirect["error_description"]?.hasPrefix("AADSTS50057") == true)
            #expect(emulator.control.counts.signIns == 0)
        }
    }

    @Test func refusesAnAccountThatTheRealmDoesNotAdmit() async throws {
        try await withEmulator { emulator in
            var app = App(emulator: emulator)
            app.authority = "consumers"
            let reply = try await app.authorize(["login_hint": "alice@contoso.example"])
            #expect(reply.redirect["error"] == "access_denied")
            #expect(reply.redirect["error_description"]?.hasPrefix("AADSTS50020") == true)
        }
    }
}
