internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

@Suite(.bounded) struct RefreshTokenTests {
    @Test(arguments: [
        (rotation: EmulatorSettings.Rotation.strict, isReplaced: true, statusOfReuse: 400),
        (.lenient, true, 200),
        (.none, false, 200),
    ])
    func rotates(row: (rotation: EmulatorSettings.Rotation, isReplaced: Bool, statusOfReuse: Int)) async throws {
        try await withEmulator { emulator in
            emulator.control.settings.rotation = row.rotation
            let app = App(emulator: emulator)
            let old = try await app.signIn().text("refresh_token")
            let reply = try await app.redeem(refreshToken: old)
            #expect(reply.status == 200)
            #expect((reply.text("refresh_token") != nil) == row.isReplaced)
            #expect(reply.text("refresh_token") != old)
            #expect(try await app.redeem(refreshToken: old).status == row.statusOfReuse)
        }
    }

    @Test func countsTheReuseOfAReplacedToken() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let old = try await app.signIn().text("refresh_token") ?? ""
            _ = try await app.redeem(refreshToken: old)
            let reused = try await app.redeem(refreshToken: old)
            #expect(reused["error"] == "invalid_grant")
            #expect(emulator.control.counts.reusedRefreshTokens == 1)
            #expect(emulator.control.counts.redemptions == [Fingerprint.of(old): 2])
        }
    }

    /// RFC 6749 section 6.
    @Test func grantsTheScopesOfTheSignInAfterANarrowerRequest() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let first = try await app.signIn()
            let narrow = try await app.redeem(refreshToken: first.text("refresh_token"), ["scope": "openid"])
            #expect(narrow["scope"] == "openid")
            let whole = try await app.redeem(refreshToken: narrow.text("refresh_token"))
            #expect(whole["scope"] == first["scope"])
        }
    }

    @Test func issuesADifferentAccessTokenEachTime() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let first = try await app.signIn()
            let second = try await app.redeem(refreshToken: first.text("refresh_token"))
            #expect(first.text("access_token") != second.text("access_token"))
        }
    }

    @Test func servesAnotherTenantAndAnotherResource() async throws {
        try await withEmulator { emulator in
            var app = App(emulator: emulator)
            let home = try await app.signIn(["login_hint": "alice@contoso.example"])
            app.authority = "fabrikam.example"
            let guest = try await app.redeem(
                refreshToken: home.text("refresh_token"), ["scope": "openid profile https://vault.example/.default"])
            #expect(guest["client_info"] == home["client_info"])
            let claims = guest.claims("id_token")
            #expect(claims["tid"] == .string(emulator.control.tenantID("fabrikam.example")))
            #expect(
                claims["oid"]
                    == .string(emulator.control.objectID(of: "alice@contoso.example", in: "fabrikam.example")))
            #expect(claims["oid"] != home.claims("id_token")["oid"])
            #expect(guest.claims("access_token")["aud"] == "https://vault.example")
        }
    }

    @Test(arguments: [
        (familyOfOther: "1" as String?, error: nil as JSON?, suberror: nil as JSON?),
        (nil, "invalid_grant", "client_mismatch"),
        ("2", "invalid_grant", "client_mismatch"),
    ])
    func sharesATokenWithinItsFamily(row: (familyOfOther: String?, error: JSON?, suberror: JSON?)) async throws {
        try await withEmulator { emulator in
            var app = App(emulator: emulator, clientID: EmulatorSettings.wellKnownFamilyApp)
            let signIn = try await app.signIn()
            #expect(signIn["foci"] == "1")
            app.clientID = "the-other-app"
            emulator.control.settings.familyApps["the-other-app"] = row.familyOfOther
            let reply = try await app.redeem(refreshToken: signIn.text("refresh_token"))
            #expect(reply["error"] == row.error)
            #expect(reply["suberror"] == row.suberror)
        }
    }

    @Test func comparesClientIDsRegardlessOfCase() async throws {
        try await withEmulator { emulator in
            var app = App(emulator: emulator, clientID: "First-App")
            emulator.control.settings.rotation = .none
            emulator.control.settings.familyApps = ["first-APP": "1", "Second-App": "1"]
            let signIn = try await app.signIn()
            #expect(signIn["foci"] == "1")
            for clientID in ["first-app", "second-app"] {
                app.clientID = clientID
                let reply = try await app.redeem(refreshToken: signIn.text("refresh_token"))
                #expect(reply.status == 200 && reply["foci"] == "1")
            }
            emulator.control.settings.familyApps = [:]
            app.clientID = "FIRST-APP"
            let reply = try await app.redeem(refreshToken: signIn.text("refresh_token"))
            #expect(reply.status == 200 && reply["foci"] == nil)
            emulator.control.settings.redirectURIs = ["first-app": []]
            let page = try await app.authorize()
            #expect(page.status == 400 && page.body.contains("AADSTS50011"))
        }
    }

    @Test func bindsATokenToItsAppWithoutAFamily() async throws {
        try await withEmulator { emulator in
            var app = App(emulator: emulator)
            let signIn = try await app.signIn()
            #expect(signIn["foci"] == nil)
            app.clientID = "another"
            #expect(try await app.redeem(refreshToken: signIn.text("refresh_token"))["error"] == "invalid_grant")
        }
    }

    @Test func refusesRevokedTokensAndDisabledUsers() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let alice = try await app.signIn(["login_hint": "alice@contoso.example"]).text("refresh_token")
            let bob = try await app.signIn(["login_hint": "bob@contoso.example"]).text("refresh_token")
            #expect(emulator.control.revokeTokens(of: "ALICE@contoso.example") == 1)
            let revoked = try await app.redeem(refreshToken: alice)
            #expect(revoked["suberror"] == "bad_token")
            #expect(revoked["error_codes"] == [50173])
            emulator.control.setDisabled(true, username: "bob@contoso.example")
            #expect(try await app.redeem(refreshToken: bob)["error_codes"] == [50057])
            emulator.control.setDisabled(false, username: "bob@contoso.example")
            #expect(try await app.redeem(refreshToken: bob).status == 200)
        }
    }

    /// Its reuse is reported as one, whatever was revoked since.
    @Test func revokesNoTokenThatWasReplaced() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let old = try await app.signIn().text("refresh_token")
            let new = try await app.redeem(refreshToken: old).text("refresh_token")
            #expect(emulator.control.revokeTokens() == 1)
            #expect(try await app.redeem(refreshToken: old)["error_codes"] == [70000])
            #expect(try await app.redeem(refreshToken: new)["error_codes"] == [50173])
            #expect(emulator.control.counts.reusedRefreshTokens == 1)
        }
    }

    @Test func refusesAnExpiredToken() async throws {
        let clock = TestClock()
        var options = EmulatorOptions(now: { clock.date })
        options.settings.refreshTokenLifetime = 60
        try await withEmulator(options) { emulator in
            let app = App(emulator: emulator)
            let token = try await app.signIn().text("refresh_token")
            clock.advance(by: 60)
            #expect(try await app.redeem(refreshToken: token)["error_codes"] == [70008])
        }
    }

    @Test func admitsTheAccountsOfTheRealmOnly() async throws {
        try await withEmulator { emulator in
            var app = App(emulator: emulator)
            let token = try await app.signIn(["login_hint": "eve@outlook.com"]).text("refresh_token")
            app.authority = "organizations"
            #expect(try await app.redeem(refreshToken: token)["error_codes"] == [50020])
            app.authority = "consumers"
            #expect(try await app.redeem(refreshToken: token).status == 200)
        }
    }
}
