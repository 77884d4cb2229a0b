internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

@Suite(.bounded) struct DeviceCodeTests {
    private func start(_ app: App) async throws -> Reply {
        let field = app.isV1 ? "resource" : "scope"
        let value = app.isV1 ? "https://graph.example" : App.scope
        return try await HTTP.post(app.url("devicecode"), form: ["client_id": app.clientID, field: value])
    }

    private func poll(_ app: App, _ start: Reply) async throws -> Reply {
        app.isV1
            ? try await app.token(["grant_type": "device_code", "code": start.text("device_code") ?? ""])
            : try await app.token([
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                "device_code": start.text("device_code") ?? "",
            ])
    }

    @Test(arguments: [false, true])
    func waitsForItsApproval(isV1: Bool) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator, isV1: isV1)
            let start = try await start(app)
            #expect(start[isV1 ? "verification_url" : "verification_uri"] == "\(emulator.url)/devicelogin")
            #expect(start["interval"] == (isV1 ? "1" : 1))
            #expect(start["expires_in"] == (isV1 ? "900" : 900))
            #expect(start.text("message")?.contains(start.text("user_code") ?? "?") == true)
            let pending = try await poll(app, start)
            #expect(pending.status == 400)
            #expect(pending["error"] == "authorization_pending")
            #expect(
                emulator.control.approveDeviceCode(start.text("user_code"), username: "alice@contoso.example") == 1)
            let reply = try await poll(app, start)
            #expect(reply.claims("id_token")["name"] == "Alice")
            #expect(reply["refresh_token"] != nil)
            #expect(try await poll(app, start)["error_codes"] == [54005])
            #expect(emulator.control.counts[.deviceCode] == 3)
            #expect(emulator.control.counts.signIns == 1)
        }
    }

    /// RFC 8628 section 3.4.
    @Test func isBoundToItsApp() async throws {
        try await withEmulator { emulator in
            var app = App(emulator: emulator)
            let start = try await start(app)
            #expect(emulator.control.approveDeviceCode(start.text("user_code"), username: "alice@contoso.example") == 1)
            app.clientID = "another"
            let refused = try await poll(app, start)
            #expect(refused.status == 400 && refused["refresh_token"] == nil)
            app.clientID = App(emulator: emulator).clientID
            #expect(try await poll(app, start).status == 200)
        }
    }

    @Test(arguments: [(authority: "common", status: 400), ("openid/main", 200)])
    func needsAScopeAtEntra(row: (authority: String, status: Int)) async throws {
        try await withEmulator { emulator in
            let oauth = row.authority == "common" ? "/oauth2/v2.0" : ""
            let reply = try await HTTP.post(
                "\(emulator.url)/\(row.authority)\(oauth)/devicecode", form: ["client_id": "app"])
            #expect(reply.status == row.status)
            #expect(reply["error_codes"] == (row.status == 400 ? [900144] : nil))
        }
    }

    @Test(arguments: [(isV1: false, field: "code"), (true, "device_code")])
    func needsTheCodeInTheFieldOfItsVersion(row: (isV1: Bool, field: String)) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator, isV1: row.isV1)
            let code = try await start(app).text("device_code") ?? ""
            let reply = try await app.token(["grant_type": "device_code", row.field: code])
            #expect(reply["error_codes"] == [900144])
        }
    }

    @Test func isApprovedAtThePage() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let start = try await start(app)
            let page = "\(emulator.url)/devicelogin"
            #expect(try await HTTP.get(page).body.contains("<form"))
            #expect(try await HTTP.get("\(page)?code=NOSUCHONE").status == 400)
            let code = start.text("user_code") ?? ""
            let typed = code.lowercased().prefix(4) + "+" + code.dropFirst(4) + "+"
            #expect(try await HTTP.get("\(page)?code=\(typed)&user=bob@contoso.example").status == 200)
            #expect(try await poll(app, start).claims("id_token")["name"] == "Bob")
        }
    }

    /// `//devicelogin` in a link would be a host.
    @Test(arguments: ["/devicelogin", "//devicelogin"])
    func linksToThePageWhateverThePathOfTheRequest(path: String) async throws {
        try await withEmulator { emulator in
            let reply = try await HTTP.get("\(emulator.url)\(path)?code=NOSUCHONE")
            #expect(reply.status == 400 && reply.body.contains(#"<a href="/devicelogin">"#), "\(reply)")
        }
    }

    @Test func refusesADisabledUser() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let start = try await start(app)
            emulator.control.setDisabled(true, username: "alice@contoso.example")
            #expect(emulator.control.approveDeviceCode(username: "alice@contoso.example") == 1)
            let reply = try await poll(app, start)
            #expect(reply["error"] == "invalid_grant")
            #expect(reply["error_codes"] == [50057])
            #expect(emulator.control.counts.signIns == 0)
        }
    }

    @Test func isDecidedOnce() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let start = try await start(app)
            #expect(emulator.control.declineDeviceCode() == 1)
            #expect(emulator.control.approveDeviceCode(start.text("user_code")) == 0)
            #expect(try await poll(app, start)["error"] == "authorization_declined")
        }
    }

    /// RFC 8628 section 3.5.
    @Test func answersAPollAtAnOpenIDProviderByTheStandard() async throws {
        try await withEmulator { emulator in
            let provider = "\(emulator.url)/openid/main"
            let start = try await HTTP.post("\(provider)/devicecode", form: ["client_id": "app"])
            #expect(emulator.control.declineDeviceCode() == 1)
            let declined = try #require(start.text("device_code"))
            for (code, error) in [(declined, "access_denied"), ("no such code", "invalid_grant")] {
                let reply = try await HTTP.post(
                    "\(provider)/token",
                    form: [
                        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code,
                        "client_id": "app",
                    ])
                #expect(reply.status == 400)
                #expect(reply.text("error") == error)
            }
        }
    }

    /// As authorization codes and refresh tokens are.
    @Test(arguments: ["openid/main", "tfp/contoso.example/policy/oauth2/v2.0", "adfs/oauth2/v2.0"])
    func isBoundToItsIssuer(other: String) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let start = try await start(app)
            #expect(emulator.control.approveDeviceCode() == 1)
            let reply = try await HTTP.post(
                "\(emulator.url)/\(other)/token",
                form: [
                    "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": app.clientID,
                    "device_code": start.text("device_code") ?? "",
                ])
            #expect(reply.status == 400)
            #expect(reply["error"] == "invalid_grant")
            #expect(try await poll(app, start).status == 200)
        }
    }

    @Test func isApprovedAutomaticallyAtAPoll() async throws {
        try await withEmulator { emulator in
            emulator.control.settings.deviceCodeApprovedAtPoll = 3
            let app = App(emulator: emulator)
            let start = try await start(app)
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await poll(app, start).status) }
            #expect(statuses == [400, 400, 200])
        }
    }

    @Test func expires() async throws {
        let clock = TestClock()
        try await withEmulator(EmulatorOptions(now: { clock.date })) { emulator in
            let app = App(emulator: emulator)
            let start = try await start(app)
            clock.advance(by: 900)
            let page = try await HTTP.get("\(emulator.url)/devicelogin?code=\(start.text("user_code") ?? "")")
            #expect(page.status == 400 && page.body.contains("has expired"), "\(page)")
            #expect(emulator.control.approveDeviceCode() == 0)
            #expect(try await poll(app, start)["error"] == "expired_token")
        }
    }
}
