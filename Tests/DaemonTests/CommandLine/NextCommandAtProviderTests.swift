internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// What `ssoctl` says after a refusal or a failure of the identity provider, and after a name that does not fit.
@Suite(.bounded) struct NextCommandAtProviderTests {
    /// A fault of the authorization endpoint.
    private static func refusal(_ error: String, _ description: String) -> Fault {
        Fault {
            $0.endpoint = .authorize
            ($0.error, $0.errorDescription) = (error, description)
        }
    }

    @Test func hasTheNumberOfARefusalInTheBrowser() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            for (error, number, reason, next) in [
                ("access_denied", 53003, "provider", nil),
                ("access_denied", 90094, "provider", "ssoctl sign-in --browser"),
                ("access_denied", 65004, "user", "ssoctl sign-in --browser"),
                ("unauthorized_client", 7_000_112, "app", nil),
                ("invalid_scope", 70011, "scope", "ssoctl app show graph"),
            ] as [(String, Int, String, String?)] {
                f.emulator.control.inject(Self.refusal(error, "AADSTS\(number): refused."))
                let failed = try await f.failure(["sign-in", "--browser"], status: 1)
                #expect(failed["errorCodes"] as? [Int] == [number], "\(failed)")
                #expect((failed["correlationId"] as? String)?.count == 36, "\(failed)")
                #expect(failed["nextCommand"] as? String == next, "\(failed)")
                #expect(failed["reason"] as? String == reason, "\(failed)")
            }
            f.emulator.control.inject(Self.refusal("access_denied", "The user pressed Cancel."))
            let declined = try await f.ssoctl(["sign-in", "--browser"], status: 1).errors
            #expect(declined.contains("ssoctl: the sign-in was declined\n"), "\(declined)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func checksTheProviderThatCannotBeReached() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let away = "http://127.0.0.1:1/common"
            try await f.ssoctl(["app", "add", "away", "--client-id", "a", "--authority", away, "--scope", "S"])
            for (typed, next) in [
                (["sign-in", "away"], "ssoctl doctor away"),
                (["sign-in", "--authority", away], "ssoctl doctor --authority \(away)"),
                (["token", "away"], "ssoctl sign-in away"),
            ] {
                let failed = try await f.failure(typed, status: typed[0] == "token" ? 2 : 1)
                #expect(failed["nextCommand"] as? String == next, "\(failed)")
            }
            for arguments in [["doctor", "away"], ["doctor", "--app", "away"], ["doctor", "--authority", away]] {
                #expect(try await f.ssoctl(arguments, status: 1).output.contains("FAIL token endpoint"))
            }
            #expect(try await f.ssoctl(["doctor", "graph"]).output.contains("ok   token endpoint"))
            let unknown = try await f.failure(["doctor", "awya", "--tenant", "contoso.com"], status: 64)
            #expect(unknown["nextCommand"] as? String == "ssoctl doctor away --tenant contoso.com")
            try await f.ssoctl(["doctor", "away", "--app", "graph"], status: 64)
            withExtendedLifetime(agent) {}
        }
    }

    /// As a captive portal responds.
    @Test func checksTheProviderWhoseResponseIsNotValid() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            for status in [200, 403] {
                f.emulator.control.inject(
                    Fault {
                        $0.endpoint = .token
                        ($0.garbage, $0.status) = (true, status)
                    })
                let failed = try await f.failure(["token", "--force-refresh"], status: 1)
                #expect(failed["nextCommand"] as? String == "ssoctl doctor graph", "\(failed)")
                #expect((failed["account"] as? [String: Any])?["username"] as? String == "alice@contoso.com")
            }
            for status in [200, 302, 511] {
                f.emulator.control.inject(
                    Fault {
                        $0.endpoint = .openIDConfiguration
                        // A GET with the status 511 is sent again.
                        ($0.garbage, $0.status, $0.count) = (true, status, status >= 500 ? 2 : 1)
                    })
                let doctor = try await f.ssoctl(["doctor", "graph"], status: 1).output
                #expect(doctor.contains("FAIL token endpoint") && doctor.contains("a captive portal"), "\(doctor)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// As after a response with the tokens that was lost. Other reasons have a number.
    @Test func signsInAgainWithAnotherCodeIfOneIsNotValid() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            for (description, next) in [
                ("Code not valid", "ssoctl sign-in --browser"), ("AADSTS7777777: Not here.", nil),
            ] as [(String, String?)] {
                f.emulator.control.inject(
                    Fault {
                        ($0.endpoint, $0.grant) = (.token, .authorizationCode)
                        ($0.error, $0.errorDescription) = ("invalid_grant", description)
                    })
                let failed = try await f.failure(["sign-in", "--browser"], status: 1)
                #expect(failed["oauthError"] as? String == "invalid_grant", "\(failed)")
                #expect(failed["nextCommand"] as? String == next, "\(failed)")
                let message = failed["message"] as? String
                #expect(message?.contains("expired, or was used already") == (next != nil), "\(failed)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// Where no browser can be started, the sign-in uses a code, and so does the advice after `--browser`.
    @Test func printsThePageOfAProviderWithoutDeviceCodes() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("id", clientID: "app-1", ofProvider: "main")
            f.emulator.control.settings.openIDConfiguration = ["device_authorization_endpoint": .null]
            let failed = try await f.failure(["sign-in", "id", "--device-code"], status: 1)
            #expect(failed["name"] as? String == "unsupportedFunctionality", "\(failed)")
            #expect(failed["nextCommand"] as? String == "ssoctl sign-in id --print-url", "\(failed)")
            withExtendedLifetime(agent) {}
        }
    }

    /// Some providers number their users, so that an account of each has the same identifier.
    @Test func signsTheAccountOfAnAppOutWhoseIdentifierAnotherOneHasToo() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            f.emulator.control.settings.idTokenClaims = [
                "sub": "1", "preferred_username": .null, "upn": .null, "email": .null,
            ]
            for (name, clientID) in [("first", "app-1"), ("second", "app-2")] {
                try await f.addApp(name, clientID: clientID, ofProvider: name)
                try await f.signIn(app: name, "alice@contoso.com")
            }
            let listed = try await f.json(["accounts", "--verbose"])
            let apps = (listed["accounts"] as? [[String: Any]])?.compactMap { $0["apps"] as? [String] }
            #expect(Set(apps ?? []) == [["first"], ["second"]], "\(listed)")
            #expect((listed["credentials"] as? [Any])?.count == 4, "\(listed)")
            // Nothing is removed by a guess.
            let failed = try await f.failure(["sign-out", "1"], status: 2)
            #expect(failed["nextCommand"] as? String == "ssoctl sign-out 1 --app NAME", "\(failed)")
            let message = failed["message"] as? String ?? ""
            #expect(message.contains("/openid/first, ") || message.contains("/openid/second, "), "\(failed)")
            let signedOut = try await f.ssoctl(["sign-out", "1", "--app", "second"]).output
            #expect(signedOut.hasPrefix("Signed out 1 of second: "), "\(signedOut)")
            try await f.ssoctl(["token", "first"])
            try await f.ssoctl(["token", "second"], status: 2)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func signsInForAScopeThatWasNotGranted() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("id", clientID: "app-1", ofProvider: "main")
            try await f.signIn(app: "id", "alice@contoso.com")
            f.emulator.control.inject(Fault { ($0.grant, $0.error) = (.refreshToken, "invalid_scope") })
            let failed = try await f.failure(["token", "id", "-s", "Mail.Read"], status: 2)
            let next = "ssoctl sign-in id --scope Mail.Read --login-hint alice@contoso.com"
            #expect(failed["nextCommand"] as? String == next, "\(failed)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func saysThatTheTokenEndpointDidNotIssueTheRefreshToken() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("id", clientID: "app-1", ofProvider: "main")
            try await f.signIn(app: "id", "alice@contoso.com")
            f.emulator.control.settings.tokenHost = "localhost:1"
            // The discovery document is read again after that.
            f.emulator.control.inject(Fault { ($0.endpoint, $0.status) = (.token, 404) })
            try await f.ssoctl(["token", "--force-refresh"], status: 1)
            let failed = try await f.failure(["token", "-s", "Mail.Read"], status: 2)
            let message = failed["message"] as? String ?? ""
            #expect(
                message.contains("is at localhost:1, which did not issue this account's refresh token"), "\(failed)")
            #expect(failed["reason"] as? String == "authority", "\(failed)")
            #expect(
                failed["nextCommand"] as? String == "ssoctl sign-in --scope Mail.Read --login-hint alice@contoso.com",
                "\(failed)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func namesTheAccountWhoseScopesWereDeclined() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            f.emulator.control.settings.declinedScopes = ["Mail.Read"]
            for account in [["--account", "alice"], ["--account", "alice@contoso.com"], []] {
                let failed = try await f.failure(["token", "-s", "User.Read Mail.Read"] + account, status: 1)
                #expect(
                    failed["nextCommand"] as? String
                        == "ssoctl sign-in --scope 'User.Read Mail.Read' --login-hint alice@contoso.com --prompt consent"
                )
                #expect(failed["declinedScopes"] as? [String] == ["Mail.Read"], "\(failed)")
                #expect((failed["account"] as? [String: Any])?["username"] as? String == "alice@contoso.com")
            }
            // Who has been asked to consent is not asked the same again.
            let consent = ["--login-hint", "alice@contoso.com", "--prompt", "consent"]
            let declined = try await f.failure(["sign-in", "-s", "User.Read Mail.Read"] + consent, status: 1)
            let message = declined["message"] as? String ?? ""
            #expect(declined["nextCommand"] == nil && message.hasSuffix(" of the tenant consent"), "\(declined)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func waitsForAnOverloadedProviderBeforeAnotherSignIn() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            f.emulator.control.inject(.error("temporarily_unavailable", grant: .authorizationCode))
            let failed = try await f.failure(["sign-in", "--login-hint", "alice@contoso.com"], status: 1)
            let next = "sleep 60 && ssoctl sign-in --login-hint alice@contoso.com"
            #expect(failed["nextCommand"] as? String == next, "\(failed)")
            withExtendedLifetime(agent) {}
        }
    }

    /// A silent request without an authority is at that of the account, and a sign-in at the public cloud.
    @Test func signsInWhereTheAccountIs() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            for (name, clientID) in [
                ("graph", "11111111-2222-4333-8444-555555555555"), ("mail", "22222222-2222-4333-8444-555555555555"),
            ] {
                try await f.ssoctl(["app", "add", name, "--client-id", clientID, "--scope", "User.Read"])
            }
            let hint = ["--login-hint", "alice@contoso.com"]
            let signedIn = try await f.json(["sign-in", "graph", "--authority", "\(f.emulator.url)/common"] + hint)
            let identifier = (signedIn["account"] as? [String: Any])?["identifier"] as? String
            let tenant = try #require(identifier?.split(separator: ".").last)
            let place = ["--authority", "\(f.emulator.url)/\(tenant)"]
            for (typed, app) in [
                (["token", "mail"], "mail"), (["token", "mail", "--account", "alice"], "mail"),
                (["token", "graph", "--force-refresh"], "graph"),
            ] {
                f.emulator.control.inject(
                    Fault { ($0.grant, $0.error, $0.suberror) = (.refreshToken, "invalid_grant", "bad_token") })
                let failed = try await f.failure(typed, status: 2)
                let next = ["sign-in", app] + place + hint
                #expect(failed["nextCommand"] as? String == (["ssoctl"] + next).joined(separator: " "), "\(failed)")
                f.emulator.control.clearFaults()
                try await f.ssoctl(next)
                try await f.ssoctl(["token", app])
                if app == "mail" { try await f.ssoctl(["sign-out", "alice", "--app", app]) }
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func namesAnAccountIfSeveralFit() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.addApp("mail", clientID: "app-2")
            try await f.signIn(app: "graph", "alice@contoso.com")
            try await f.signIn(app: "graph", "alina@contoso.com")
            for (typed, next) in [
                (["token", "--account", "ali", "--id-token"], "ssoctl token --account alice@contoso.com --id-token"),
                (["token", "mail", "--account", "ali"], "ssoctl token mail --account alice@contoso.com"),
                (["use", "ali"], "ssoctl use alice@contoso.com"),
                // Nothing is removed by a guess.
                (["sign-out", "ali", "--app", "mail"], "ssoctl sign-out ACCOUNT --app mail"),
            ] {
                let failed = try await f.failure(typed, status: 2)
                #expect((failed["message"] as? String)?.hasPrefix("“ali” fits several accounts; name one") == true)
                #expect(failed["nextCommand"] as? String == next, "\(failed)")
            }
            for (typed, next) in [
                ("alcie", "ssoctl token --account alice@contoso.com"), ("zed", "ssoctl accounts"),
                ("zed@contoso.com", "ssoctl sign-in --login-hint zed@contoso.com"),
            ] {
                let failed = try await f.failure(["token", "--account", typed], status: 3)
                #expect(failed["nextCommand"] as? String == next, "\(failed)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// Nothing says which of them is to sign in.
    @Test func suggestsNoneOfSeveralAccountsOfOtherApps() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.addApp("mail", clientID: "app-2")
            for name in ["alice@contoso.com", "bob@contoso.com"] { try await f.signIn(app: "graph", name) }
            let failed = try await f.failure(["token", "mail"], status: 2)
            #expect(failed["nextCommand"] as? String == "ssoctl sign-in mail", "\(failed)")
            withExtendedLifetime(agent) {}
        }
    }

    /// The identity provider chooses the names.
    @Test func namesAnAccountThatLooksLikeAnOption() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "--wipe@contoso.com")
            try await f.signIn(app: "graph", "-b@contoso.com")
            for (typed, status, next, pasted) in [
                (["token"], 2, "ssoctl token --account=-b@contoso.com", ["token", "--account=-b@contoso.com"]),
                (["use", "--", "-"], 2, "ssoctl use -- -b@contoso.com", ["use", "--", "-b@contoso.com"]),
                (
                    ["sign-out", "--", "--wpie@contoso.com"], 3, "ssoctl sign-out -- --wipe@contoso.com",
                    ["sign-out", "--", "--wipe@contoso.com"]
                ),
                (
                    ["token", "--account=--wipe@contoso.com"], 3, "ssoctl sign-in --login-hint=--wipe@contoso.com",
                    ["sign-in", "--login-hint=--wipe@contoso.com"]
                ),
            ] as [([String], Int32, String?, [String])] {
                let failed = try await f.failure(typed, status: status)
                #expect(failed["nextCommand"] as? String == next, "\(failed)")
                try await f.ssoctl(pasted)
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// B2C often returns no username, and the text in its place would be in the field of the sign-in page.
    @Test func suggestsNoNameThatTheProviderHasNotGiven() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let policies = "\(f.emulator.url)/tfp/contoso.onmicrosoft.com"
            let app = ["--client-id", "app-1", "--scope", "app-1"]
            let signedIn = try await f.ssoctl(
                ["sign-in"] + app + ["--authority", "\(policies)/b2c_1_in", "--login-hint", "alice@contoso.com"])
            #expect(!signedIn.errors.contains("has signed in"), "\(signedIn.errors)")
            let failed = try await f.failure(["token"] + app + ["--authority", "\(policies)/b2c_1_edit"], status: 2)
            #expect(
                failed["nextCommand"] as? String
                    == "ssoctl sign-in --client-id app-1 --scope app-1 --authority \(policies)/b2c_1_edit", "\(failed)")
            let message = failed["message"] as? String ?? ""
            #expect(message.contains("-b2c_1_in."), "\(failed)")
            #expect(message.hasSuffix(" is not an account of the policy b2c_1_edit"), "\(failed)")
            #expect(failed["reason"] as? String == "authority", "\(failed)")
            withExtendedLifetime(agent) {}
        }
    }

    /// A script that names no app means the same app after another one has been added.
    @Test func keepsTheFirstAppTheDefault() async throws {
        try await AgentProcessFixture.with { f in
            try await f.addApp("one", clientID: "app-1")
            #expect(try f.configuration().contains("[defaults]\napp = \"one\"\n"))
            try await f.addApp("two", clientID: "app-2")
            #expect(try await f.json(["app", "show"])["name"] as? String == "one")
            // Of an earlier version, which wrote no default.
            try f.configure("[apps.one]\nclient_id = \"app-1\"\nauthority = \"\(f.emulator.url)/common\"\n")
            let added = try await f.ssoctl([
                "app", "add", "two", "--client-id", "app-2", "--authority", "\(f.emulator.url)/common",
            ])
            #expect(
                added.output.hasSuffix("\nThe default app is still one; to change that: ssoctl use two\n"), "\(added)")
            #expect(try f.configuration().contains("[defaults]\napp = \"one\"\n"))
            try await f.ssoctl(["use", "--none"])
            try await f.addApp("three", clientID: "app-3")
            #expect(try !f.configuration().contains("app = "))
            let failed = try await f.failure(["token", "--id-token", "-s", "S"], status: 64)
            #expect(failed["nextCommand"] as? String == "ssoctl token one --scope S --id-token", "\(failed)")
        }
    }

    @Test func repeatsTheCommandThatAddsAnApp() async throws {
        try await AgentProcessFixture.with { f in
            let failed = try await f.failure(
                ["app", "add", "graph", "--client-id", "x", "-s", "A,B", "--cloud", "usgov", "--default"], status: 64)
            #expect(
                failed["nextCommand"] as? String
                    == "ssoctl app add graph --client-id CLIENT-ID --cloud usgov --scope A --scope B --default")
        }
    }
}
