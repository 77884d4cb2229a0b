internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

/// Pushed authorization requests (RFC 9126).
@Suite(.bounded) struct PushedRequestTests {
    private func options(_ rule: EmulatorSettings.PushedRequests, now: TestClock = TestClock()) -> EmulatorOptions {
        var settings = EmulatorSettings()
        settings.pushedRequests = rule
        var options = EmulatorOptions(settings: settings)
        options.now = { now.date }
        return options
    }

    private func push(_ app: App, _ extra: [String: String] = [:]) async throws -> Reply {
        let fields = [
            "client_id": app.clientID, "redirect_uri": app.redirectURI, "response_type": "code", "state": "pushed",
            "scope": App.scope, "login_hint": "alice@contoso.example",
        ]
        return try await HTTP.post(app.url("par"), form: fields.merging(extra) { $1 })
    }

    private func authorize(_ app: App, _ reference: String) async throws -> Reply {
        let query = Parameters(["client_id": app.clientID, "request_uri": reference]).encoded
        return try await HTTP.get("\(app.url("authorize"))?\(query)")
    }

    @Test(arguments: [EmulatorSettings.PushedRequests.offered, .required], ["common", "contoso.example"])
    func takesAPushedRequestOnce(rule: EmulatorSettings.PushedRequests, authority: String) async throws {
        try await withEmulator(options(rule)) { emulator in
            let app = App(emulator: emulator, authority: authority)
            let pushed = try await push(app)
            #expect(pushed.status == 201)
            #expect(pushed["expires_in"] == 60)
            let reference = try #require(pushed.text("request_uri"))
            let answer = try await authorize(app, reference)
            #expect(answer.redirect["state"] == "pushed")
            let tokens = try await app.redeem(code: answer.redirect["code"] ?? "")
            #expect(tokens.claims("id_token")["preferred_username"] == "alice@contoso.example")
            let again = try await authorize(app, reference)
            #expect(again.status == 400)
            #expect(again["error"] == "invalid_request_uri")
        }
    }

    @Test(arguments: [EmulatorSettings.PushedRequests.offered, .required])
    func takesAPushedRequestWhoseUserIsChosenOnAPage(rule: EmulatorSettings.PushedRequests) async throws {
        let clock = TestClock()
        try await withEmulator(options(rule, now: clock)) { emulator in
            for name in ["alice", "bob"] { emulator.control.addUser("\(name)@contoso.example") }
            let app = App(emulator: emulator)
            let reference = try #require(try await push(app, ["login_hint": ""]).text("request_uri"))
            let page = try await authorize(app, reference)
            #expect(page.headers["content-security-policy"]?.contains("form-action 'self' http://localhost;") == true)
            let links = page.body.matches(of: #/href="([^"]+)"/#).map { String($0.1) }
            let link = try #require(links.last).split(separator: "&amp;").joined(separator: "&")
            clock.advance(by: 120)
            let answer = try await HTTP.get(emulator.url + link)
            #expect(answer.redirect["state"] == "pushed")
            let tokens = try await app.redeem(code: answer.redirect["code"] ?? "")
            #expect(tokens.claims("id_token")["preferred_username"] == "bob@contoso.example")
            #expect(try await HTTP.get(emulator.url + link).status == 400)
        }
    }

    @Test(arguments: [false, true])
    func answersAPushedRequestWithTheErrorOfAFault(isAfterEffect: Bool) async throws {
        try await withEmulator(options(.required)) { emulator in
            let app = App(emulator: emulator)
            let reference = try #require(try await push(app).text("request_uri"))
            emulator.control.inject(
                Fault {
                    $0.endpoint = .authorize
                    $0.error = "access_denied"
                    $0.afterEffect = isAfterEffect
                })
            let answer = try await authorize(app, reference)
            #expect(answer.status == 302)
            #expect(answer.redirect["error"] == "access_denied")
            #expect(answer.redirect["state"] == "pushed")
        }
    }

    /// RFC 9126 section 4: what is beside the reference does not count.
    @Test func takesNoUserBesideAReference() async throws {
        try await withEmulator(options(.offered)) { emulator in
            let app = App(emulator: emulator)
            let reference = try #require(try await push(app).text("request_uri"))
            let fields = ["client_id": app.clientID, "request_uri": reference, "login_hint": "bob@contoso.example"]
            _ = try await HTTP.get("\(app.url("authorize"))?\(Parameters(fields).encoded)")
            #expect(emulator.control.users.map(\.username) == ["alice@contoso.example"])
        }
    }

    @Test func refusesAReferenceOfAnotherAppOrOfLongAgo() async throws {
        let clock = TestClock()
        try await withEmulator(options(.offered, now: clock)) { emulator in
            let app = App(emulator: emulator)
            let other = App(emulator: emulator, clientID: "another")
            let first = try #require(try await push(app).text("request_uri"))
            #expect(try await authorize(other, first).status == 400)
            let second = try #require(try await push(app).text("request_uri"))
            clock.advance(by: 60)
            #expect(try await authorize(app, second).status == 400)
        }
    }

    /// RFC 9126 section 2.1: the app gets the error of the authorization endpoint before it opens a browser.
    @Test(arguments: [
        (fields: ["redirect_uri": ""], code: 900144), (["redirect_uri": "http://localhost/other"], 50011),
        (["response_type": "token"], 70005), (["scope": ""], 900144), (["client_id": ""], 900144),
        (["code_challenge": "short"], 501491),
    ])
    func refusesToTakeARequestThatWouldFail(row: (fields: [String: String], code: Int)) async throws {
        try await withEmulator(options(.offered)) { emulator in
            let app = App(emulator: emulator)
            emulator.control.settings.redirectURIs[app.clientID] = [app.redirectURI]
            let reply = try await push(app, row.fields)
            #expect(reply.status == 400)
            #expect(reply["error_codes"] == [.number(row.code)])
            #expect(reply["request_uri"] == nil)
            #expect(try await push(app).status == 201)
        }
    }

    @Test func refusesWhatWasNotPushedIfItHasToBe() async throws {
        try await withEmulator(options(.required)) { emulator in
            let reply = try await App(emulator: emulator).authorize()
            #expect(reply.status == 400)
        }
    }

    @Test(arguments: [(EmulatorSettings.PushedRequests.unsupported, 404), (.confidentialOnly, 401)])
    func refusesToTakeARequest(rule: EmulatorSettings.PushedRequests, status: Int) async throws {
        try await withEmulator(options(rule)) { emulator in
            let app = App(emulator: emulator)
            let pushed = try await push(app)
            #expect(pushed.status == status)
            let answer = try await app.authorize()
            #expect(answer.redirect["code"] != nil)
        }
    }

    @Test(
        arguments: [
            (EmulatorSettings.PushedRequests.unsupported, false, false), (.offered, true, false),
            (.required, true, true),
            (.confidentialOnly, true, false),
        ])
    func saysInTheConfigurationWhatItTakes(
        rule: EmulatorSettings.PushedRequests, isOffered: Bool, isRequired: Bool
    ) async throws {
        try await withEmulator(options(rule)) { emulator in
            let reply = try await HTTP.get("\(emulator.url)/common/v2.0/.well-known/openid-configuration")
            let endpoint: JSON? = isOffered ? .string("\(emulator.url)/common/oauth2/v2.0/par") : Optional.none
            #expect(reply["pushed_authorization_request_endpoint"] == endpoint)
            let required: JSON? = isRequired ? .bool(true) : Optional.none
            #expect(reply["require_pushed_authorization_requests"] == required)
        }
    }
}
