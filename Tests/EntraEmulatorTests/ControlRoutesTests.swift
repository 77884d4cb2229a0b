internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

/// The control routes over HTTP.
@Suite(.bounded) struct ControlRoutesTests {
    @Test(arguments: [
        #"{"error":"invalid_grant","suberror":"bad_token","grant":"refresh_token"}"#,
        #"[{"error":"invalid_grant","suberror":"bad_token"},{"status":503}]"#,
    ])
    func takesFaults(body: String) async throws {
        try await withEmulator { emulator in
            #expect(try await HTTP.post("\(emulator.url)/control/faults", body).status == 204)
            let reply = try await App(emulator: emulator).redeem(refreshToken: "x")
            #expect(reply["suberror"] == "bad_token")
        }
    }

    @Test(arguments: [
        ("faults", "{"), ("faults", #"{"endpoint":"nowhere"}"#), ("users", "{}"), ("settings", #"{"rotation":"odd"}"#),
        ("faults", #"{"grnat":"refresh_token","drop":true}"#), ("faults", #"[{"drop":true},{"Drop":true}]"#),
        ("settings", #"{"rotaton":"lenient"}"#), ("settings", #"{"adfs":{"levl":"2012r2"}}"#),
        ("settings", #"{"clouds":[{"hosts":["login.us.example"],"domain":["us.example"]}]}"#),
        ("faults", #"{"status":-1}"#), ("faults", #"{"status":100}"#),
        ("faults", #"{"status":1000}"#), ("faults", #"{"delay_ms":-1}"#), ("faults", #"{"count":-1}"#),
        ("faults", #"{"delay_ms":86400001}"#),
        ("faults", #"{"retry_after":-1}"#), ("settings", #"{"device_code_interval":-1}"#),
        ("settings", #"{"device_code_lifetime":-1}"#), ("settings", #"{"refresh_token_lifetime":-1}"#),
        ("settings", #"{"device_code_approved_at_poll":0}"#),
        ("users", #"{"username":"alice@contoso.example","disabled":"yes"}"#), ("users", #"{"username":1}"#),
        ("users", #"{"username":"alice@contoso.example","disable":true}"#),
    ])
    func refusesAnInvalidBody(path: String, body: String) async throws {
        try await withEmulator { emulator in
            let reply = try await HTTP.post("\(emulator.url)/control/\(path)", body)
            #expect(reply.status == 400)
            #expect(try await App(emulator: emulator).authorize().status == 302)
        }
    }

    /// Without the name, each of these is about every user or code.
    @Test(arguments: [
        ("revoke", #"{"user":"alice@contoso.example"}"#), ("revoke", #"{"username":1}"#),
        ("revoke", #"{"refresh_tokens":"all"}"#),
        ("approve", #"{"code":"ABCDEFGHJ"}"#), ("decline", #"{"user_code":["ABCDEFGHJ"]}"#),
    ])
    func changesNothingForAMisspeltName(path: String, body: String) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let token = try await app.signIn(["login_hint": "bob@contoso.example"]).text("refresh_token")
            _ = try await HTTP.post(app.url("devicecode"), form: ["client_id": app.clientID, "scope": "openid"])
            #expect(try await HTTP.post("\(emulator.url)/control/\(path)", body).status == 400)
            #expect(try await app.redeem(refreshToken: token).status == 200)
            #expect(emulator.control.approveDeviceCode() == 1)
        }
    }

    @Test func refusesToWaitForWhatIsNoNumber() async throws {
        try await withEmulator { emulator in
            _ = try await App(emulator: emulator).authorize()
            let reply = try await HTTP.get("\(emulator.url)/control/wait?counter=authorize&at_least=2x")
            #expect(reply.status == 400)
        }
    }

    @Test(arguments: [false, true])
    func takesTheLargestLifetime(isV1: Bool) async throws {
        try await withEmulator { emulator in
            let body = #"{"access_token_lifetime":\#(Int.max)}"#
            #expect(try await HTTP.post("\(emulator.url)/control/settings", body).status == 200)
            let reply = try await App(emulator: emulator, isV1: isV1).signIn()
            #expect(reply["expires_in"] == (isV1 ? .string("\(Int.max)") : .number(.max)))
            #expect(reply.claims("access_token")["exp"] == .number(.max))
        }
    }

    @Test func changesTheNamedSettingsOnly() async throws {
        try await withEmulator { emulator in
            let reply = try await HTTP.post(
                "\(emulator.url)/control/settings", #"{"access_token_lifetime":0,"rotation":"lenient"}"#)
            #expect(reply["access_token_lifetime"] == 0)
            #expect(emulator.control.settings.rotation == .lenient)
            #expect(emulator.control.settings.extendedLifetime == EmulatorSettings().extendedLifetime)
            let nested = #"{"adfs":{"level":"2012r2"},"clouds":[{"hosts":["login.us.example"]}]}"#
            _ = try await HTTP.post("\(emulator.url)/control/settings", nested)
            #expect(emulator.control.settings.adfs.level == .windows2012R2)
            #expect(emulator.control.settings.adfs.registration == .onPremises)
            #expect(emulator.control.settings.clouds == [EmulatedCloud(hosts: ["login.us.example"])])
        }
    }

    @Test func makesAndDisablesUsers() async throws {
        try await withEmulator { emulator in
            let body = #"{"username":"alice@contoso.example","disabled":true}"#
            let reply = try await HTTP.post("\(emulator.url)/control/users", body)
            let alice = try #require(emulator.control.users.first)
            #expect(alice.isDisabled)
            #expect(reply["home_account_id"] == .string(alice.homeAccountID))
            #expect(try await HTTP.get("\(emulator.url)/control/users").body.contains("alice@contoso.example"))
        }
    }

    @Test(arguments: ["", " "])
    func refusesABlankUsername(username: String) async throws {
        try await withEmulator { emulator in
            let reply = try await HTTP.post("\(emulator.url)/control/users", #"{"username":"\#(username)"}"#)
            #expect(reply.status == 400)
            #expect(emulator.control.users.isEmpty)
        }
    }

    @Test func waitsAndReleases() async throws {
        try await withEmulator { emulator in
            _ = try await HTTP.post(
                "\(emulator.url)/control/faults", #"{"hold":true,"endpoint":"authorize"}"#)
            async let held = App(emulator: emulator).authorize()
            let counts = try await HTTP.get("\(emulator.url)/control/wait?held=1")
            #expect(counts["held"] == 1)
            #expect(try await HTTP.get("\(emulator.url)/control/wait?counter=authorize&at_least=1").status == 200)
            #expect(try await HTTP.post("\(emulator.url)/control/release", "")["released"] == 1)
            #expect(try await held.status == 302)
        }
    }

    @Test func revokesApprovesAndResets() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            _ = try await app.signIn()
            let revoked = try await HTTP.post("\(emulator.url)/control/revoke", "")
            #expect(revoked["revoked"] == 1)
            _ = try await HTTP.post(app.url("devicecode"), form: ["client_id": app.clientID, "scope": "openid"])
            #expect(try await HTTP.post("\(emulator.url)/control/approve", "")["approved"] == 1)
            #expect(try await HTTP.post("\(emulator.url)/control/reset", "").status == 204)
            let counts = try await HTTP.get("\(emulator.url)/control/counts")
            #expect(counts["requests"] == [:])
            #expect(emulator.control.users.isEmpty)
        }
    }

    @Test func isNeitherCountedNorAffectedByFaults() async throws {
        try await withEmulator { emulator in
            emulator.control.inject(
                Fault {
                    $0.drop = true; $0.count = 0
                })
            let counts = try await HTTP.get("\(emulator.url)/control/counts")
            #expect(counts.status == 200)
            #expect(try await HTTP.get("\(emulator.url)/control/nothing").status == 404)
            #expect(emulator.control.requests.isEmpty)
        }
    }
}
