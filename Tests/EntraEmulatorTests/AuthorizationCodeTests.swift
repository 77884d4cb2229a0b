internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

@Suite(.bounded) struct AuthorizationCodeTests {
    /// The example of RFC 7636 appendix B.
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    @Test func carriesTheStateBack() async throws {
        try await withEmulator { emulator in
            let reply = try await App(emulator: emulator).authorize()
            #expect(reply.status == 302)
            #expect(reply.headers["location"]?.hasPrefix("http://localhost/callback?") == true)
            #expect(reply.redirect["state"] == "s 1")
        }
    }

    @Test(arguments: [
        (challenge: challenge, method: "S256", verifier: verifier, isAccepted: true),
        (challenge, "S256", "another verifier", false),
        (challenge, "S256", "", false),
        (verifier, "plain", verifier, true),
        (verifier, "", verifier, true),
        (verifier, "plain", "another verifier", false),
        ("", "", "not asked for", true),
    ])
    func bindsACodeToItsChallenge(
        row: (challenge: String, method: String, verifier: String, isAccepted: Bool)
    ) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let code = try await app.code(
                ["code_challenge": row.challenge, "code_challenge_method": row.method])
            let reply = try await app.redeem(code: code, ["code_verifier": row.verifier])
            #expect(reply.status == (row.isAccepted ? 200 : 400))
            if !row.isAccepted {
                #expect(reply["error"] == "invalid_grant")
                #expect(reply["error_codes"] == [501481])
            }
        }
    }

    /// Not every refusal has a number at Entra.
    @Test(arguments: [
        (challenge: challenge, method: "s256", number: ""), (challenge, "S512", ""),
        ("short", "plain", "AADSTS501491: "), (challenge + "=", "S256", "AADSTS501491: "),
        (String(repeating: "a", count: 129), "plain", "AADSTS501491: "),
    ])
    func refusesAChallengeThatItCannotCheck(row: (challenge: String, method: String, number: String)) async throws {
        try await withEmulator { emulator in
            let reply = try await App(emulator: emulator).authorize(
                ["code_challenge": row.challenge, "code_challenge_method": row.method])
            #expect(reply.redirect["error"] == "invalid_request")
            #expect(reply.redirect["error_description"]?.hasPrefix("\(row.number)The 'code_challenge") == true)
            #expect(reply.redirect["code"] == nil)
        }
    }

    /// The tenant of the code may be named where `common` was.
    @Test(arguments: [
        (issued: "contoso.example", redeemed: "fabrikam.example", isAccepted: false),
        ("common", "fabrikam.example", false), ("common", "consumers", false),
        ("common", "contoso.example", true), ("contoso.example", "common", true),
        ("fabrikam.example", "fabrikam.example", true), ("organizations", "common", true),
    ])
    func bindsACodeToItsTenant(row: (issued: String, redeemed: String, isAccepted: Bool)) async throws {
        try await withEmulator(EmulatorOptions(usernames: ["alice@contoso.example"])) { emulator in
            let code = try await App(emulator: emulator, authority: row.issued).code()
            let reply = try await App(emulator: emulator, authority: row.redeemed).redeem(code: code)
            #expect(reply.status == (row.isAccepted ? 200 : 400))
            #expect(reply["error_codes"] == (row.isAccepted ? nil : [700005]))
        }
    }

    /// As device codes and refresh tokens are.
    @Test(arguments: ["tfp/contoso.example/b2c_1_in", "adfs"])
    func bindsACodeToItsIssuer(other: String) async throws {
        try await withEmulator { emulator in
            var app = App(emulator: emulator)
            let code = try await app.code()
            app.authority = other
            let reply = try await app.redeem(code: code)
            #expect(reply.status == 400)
            #expect(reply["error"] == "invalid_grant")
            app.authority = "common"
            #expect(try await app.redeem(code: code).status == 200)
        }
    }

    /// RFC 6749 section 5.2.
    @Test func refusesAnotherRedirectURIAtAnOpenIDProviderByTheStandard() async throws {
        try await withEmulator { emulator in
            let provider = "\(emulator.url)/openid/main"
            let page = "\(provider)/authorize?client_id=app&response_type=code&redirect_uri=http%3A%2F%2Flocalhost"
            let code = try await HTTP.get(page).redirect["code"] ?? ""
            let reply = try await HTTP.post(
                "\(provider)/token",
                form: [
                    "grant_type": "authorization_code", "client_id": "app", "code": code,
                    "redirect_uri": "http://localhost/other",
                ])
            #expect(reply.status == 400)
            #expect(reply["error"] == "invalid_grant")
        }
    }

    @Test func redeemsACodeOnce() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let code = try await app.code()
            #expect(try await app.redeem(code: code).status == 200)
            let second = try await app.redeem(code: code)
            #expect(second.status == 400)
            #expect(second["error_codes"] == [54005])
        }
    }

    @Test(arguments: [
        (form: ["redirect_uri": "http://localhost/elsewhere"], status: 401, code: 500112),
        (["redirect_uri": ""], 400, 700009),
        (["client_id": "somebody-else"], 400, 700007),
        (["code": "made up"], 400, 70000),
        (["code": ""], 400, 900144),
        (["grant_type": ""], 400, 900144),
        (["grant_type": "magic"], 400, 70003),
        (["scope": "https://one.example/a https://two.example/b"], 400, 28000),
        (["scope": "openid https://one.example/a https://one.example/.default"], 400, 70011),
    ])
    func refusesWhatDoesNotFitTheCode(row: (form: [String: String], status: Int, code: Int)) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let reply = try await app.redeem(code: app.code(), row.form)
            #expect(reply.status == row.status)
            #expect(reply["error_codes"] == [.number(row.code)])
        }
    }

    @Test func refusesTheCodeOfAUserWhoHasBeenDisabled() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let code = try await app.code(["login_hint": "alice@contoso.example"])
            emulator.control.setDisabled(true, username: "alice@contoso.example")
            #expect(try await app.redeem(code: code)["error_codes"] == [50057])
        }
    }

    @Test func refusesAnExpiredCode() async throws {
        let clock = TestClock()
        try await withEmulator(EmulatorOptions(now: { clock.date })) { emulator in
            let app = App(emulator: emulator)
            let code = try await app.code()
            clock.advance(by: 601)
            #expect(try await app.redeem(code: code)["error_codes"] == [70008])
        }
    }

    @Test func describesAnErrorAsTheServicesDo() async throws {
        try await withEmulator { emulator in
            let correlationID = "0f8fad5b-d9cb-469f-a165-70867728950e"
            let reply = try await HTTP.post(
                App(emulator: emulator).url("token"),
                form: ["client_id": "x", "grant_type": "refresh_token", "refresh_token": "made up"],
                headers: ["client-request-id": correlationID])
            #expect(reply["correlation_id"] == .string(correlationID))
            #expect(reply.headers["client-request-id"] == correlationID)
            #expect(reply["trace_id"] == reply.headers["x-ms-request-id"].map(JSON.string))
            #expect(reply.text("error_description")?.hasPrefix("AADSTS70000: ") == true)
            #expect(reply.text("error_description")?.contains("Correlation ID: \(correlationID)") == true)
            #expect(Set(reply.fields.keys).isSuperset(of: ["timestamp", "trace_id", "error", "error_codes"]))
        }
    }
}
