internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// The commands of `ssoctl`, their JSON output and their exit status, on which scripts rely.
@Suite(.bounded) struct SSOCtlTests {
    /// Runs a command with `--json`, and decodes its output.
    private func json(
        _ f: AgentProcessFixture, _ arguments: [String], status: Int32 = 0
    ) async throws -> [String: Any] {
        let ended = try await f.run("ssoctl", arguments + ["--json"])
        #expect(ended.status == status, "\(arguments): \(ended.errors)\(ended.output)")
        let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8))
        return try #require(object as? [String: Any])
    }

    private func target(_ f: AgentProcessFixture, _ more: String...) -> [String] {
        ["--client-id", "app-1", "--authority", "\(f.emulator.url)/common"] + more
    }

    @Test func signsInListsGetsTokensAndSignsOut() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let signIn = try await json(
                f, ["sign-in"] + target(f, "--scope", "User.Read", "--login-hint", "alice@contoso.com"))
            #expect(Set(signIn.keys) == ["account", "accessToken", "expiresOn", "scopes"])
            let account = try #require(signIn["account"] as? [String: Any])
            let identifier = try #require(account["identifier"] as? String)
            #expect(account["username"] as? String == "alice@contoso.com")

            let accounts = try #require(await json(f, ["accounts"])["accounts"] as? [[String: Any]])
            #expect(accounts.count == 1)
            #expect(
                Set(accounts[0].keys) == [
                    "identifier", "username", "environment", "tenantProfiles", "source", "apps", "state", "validUntil",
                ])
            #expect(accounts[0]["source"] as? String == "msal")

            let token = try await json(f, ["token"] + target(f, "--scope", "User.Read", "--account", identifier))
            #expect(
                Set(token.keys) == ["accessToken", "expiresOn", "scopes", "account", "tokenType", "fromCache"])
            #expect(token["fromCache"] as? Bool == true)
            let plain = try await f.run(
                "ssoctl", ["token"] + target(f, "--scope", "User.Read", "--username", "ALICE@contoso.com"))
            #expect(plain.output == "\(token["accessToken"] as? String ?? "?")\n")
            #expect(plain.errors.isEmpty)

            let status = try await json(f, ["status"])
            #expect(
                Set(status.keys) == ["pid", "version", "protocolVersion", "socket", "uptimeSeconds", "accounts"])
            #expect(status["pid"] as? Int32 == agent.processID)
            #expect(status["accounts"] as? Int == 1)

            let out = ["sign-out", "--client-id", "app-1", "--account", identifier]
            #expect(try await json(f, out)["removed"] as? Bool == true)
            let failure = try await json(
                f, ["token"] + target(f, "--scope", "User.Read", "--account", identifier), status: 2)
            let error = try #require(failure["error"] as? [String: Any])
            #expect(error["code"] as? Int == -51115)
            #expect(error["name"] as? String == "interactionRequired")
        }
    }

    @Test func signsInAtAnyOpenIDProvider() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let target = [
                "--client-id", "app-1", "--authority", "\(f.emulator.url)/openid/main", "--authority-kind", "openid",
                "--scope", "notes.read",
            ]
            let signIn = try await json(f, ["sign-in", "--login-hint", "alice@contoso.com"] + target)
            let account = try #require(signIn["account"] as? [String: Any])
            let identifier = try #require(account["identifier"] as? String)
            #expect(account["username"] as? String == "alice@contoso.com")
            let token = try await json(f, ["token", "--account", identifier] + target)
            #expect(token["accessToken"] as? String == signIn["accessToken"] as? String)
            let wrong = try await f.run("ssoctl", ["token", "--account", identifier, "--authority-kind", "x"] + target)
            #expect(wrong.status == 64)
            #expect(agent.processID > 0)
        }
    }

    @Test func sendsTheRedirectURIOfTheApp() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.ssoctl(
                ["app", "add", "notes", "--redirect-uri", "http://localhost/notes"] + target(f, "--scope", "User.Read"))
            try await f.signIn(app: "notes", "alice@contoso.com")
            let sent = f.emulator.control.requests.first { $0.counter == .authorize }?.parameters["redirect_uri"]
            #expect(sent?.hasSuffix("/notes") == true, "\(sent ?? "")")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func sendsItsOptionsToTheProvider() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.ssoctl([
                "sign-in", "--login-hint", "alice@contoso.com", "--domain-hint", "contoso.com", "--prompt", "consent",
                "--claims", #"{"id_token":{"acr":null}}"#,
            ])
            let request = try #require(f.emulator.control.requests.first { $0.counter == .authorize })
            #expect(request.parameters["login_hint"] == "alice@contoso.com")
            #expect(request.parameters["domain_hint"] == "contoso.com")
            #expect(request.parameters["prompt"] == "consent")
            #expect(request.parameters["claims"]?.contains(#""acr""#) == true, "\(request.parameters)")
            withExtendedLifetime(agent) {}
        }
    }

    /// A work account and a personal one may have the same name.
    @Test func meansTheAccountThatTheAuthorityIsFor() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let name = "alice@contoso.com"
            let target = ["--client-id", "app-1", "--scope", "User.Read", "--authority"]
            f.emulator.control.settings.idTokenClaims = ["preferred_username": .string(name)]
            for user in ["alice@outlook.com", name] {
                try await f.ssoctl(["sign-in"] + target + ["\(f.emulator.url)/common", "--login-hint", user])
            }
            for (realm, isPersonal) in [("consumers", true), ("organizations", false)] {
                for named in [[], ["--account", "alice"], ["--username", name]] {
                    let token = try await f.json(["token"] + target + ["\(f.emulator.url)/\(realm)"] + named)
                    let account = token["account"] as? [String: Any]
                    let tenant = (account?["identifier"] as? String)?.split(separator: ".").last
                    #expect((tenant == "9188040d-6c67-4c5b-b112-36a304b66dad") == isPersonal, "\(realm), \(named)")
                }
            }
            let failed = try await f.failure(["token"] + target + ["\(f.emulator.url)/common"], status: 2)
            #expect((failed["accounts"] as? [Any])?.count == 2, "\(failed)")
            withExtendedLifetime(agent) {}
        }
    }

    /// A script passes on what it has read in the header of an API.
    @Test func renewsATokenForTheChallengeOfAnAPI() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            func token(_ options: String..., status: Int32 = 0) async throws -> String {
                let printed = try await f.ssoctl(["token"] + options, status: status).output
                return String(printed.prefix { $0 != "\n" })
            }
            let capable = #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#
            let signIn = ["sign-in", "--login-hint", "alice@contoso.com", "--claims"]
            try await f.ssoctl(signIn + [capable])
            let refused = try await token()
            f.emulator.control.revokeTokens(refreshTokens: .valid)
            let challenge = try await f.emulator.challenge(refused)
            let renewed = try await token("--claims", challenge)
            #expect(try await f.emulator.graph(renewed).status == 200)
            #expect(try await token() == renewed)

            try await f.ssoctl(signIn + [capable])
            f.emulator.control.settings.requiredContext = "c1"
            let stepUp = try await f.emulator.challenge(try await token())
            _ = try await token("--claims", stepUp, status: 2)
            try await f.ssoctl(signIn + [stepUp])
            #expect(try await f.emulator.graph(try await token()).status == 200)
            withExtendedLifetime(agent) {}
        }
    }

    /// The tokens of a group are not those of other apps.
    @Test func signsInInTheGroupOfTheApp() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.ssoctl(["app", "add", "notes", "--group", "team"] + target(f, "--scope", "User.Read"))
            try await f.signIn(app: "notes", "alice@contoso.com")
            let team = try await json(f, ["accounts", "--group", "team"])
            #expect((team["accounts"] as? [[String: Any]])?.count == 1, "\(team)")
            let others = try await json(f, ["accounts"])
            #expect((others["accounts"] as? [[String: Any]])?.isEmpty == true, "\(others)")
            withExtendedLifetime(agent) {}
        }
    }

    /// The whole name of an account comes before the beginning of another one, in whichever group.
    @Test func choosesTheAccountOfAnyGroupThatHasTheWholeName() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com.au")
            try await f.ssoctl(["app", "add", "notes", "--group", "team"] + target(f, "--scope", "User.Read"))
            try await f.signIn(app: "notes", "alice@contoso.com")
            let chosen = try await f.ssoctl(["use", "alice@contoso.com"]).output
            #expect(chosen == "The default account is alice@contoso.com.\n")
            let beginning = try await f.ssoctl(["use", "alice"]).output
            #expect(beginning == "The default account is alice@contoso.com.au.\n")
            withExtendedLifetime(agent) {}
        }
    }

    /// The app is registered as one with a secret, or under another client ID. Keycloak has a name of its own for that.
    @Test(arguments: ["invalid_client", "unauthorized_client"])
    func saysHowAnAppHasToBeRegisteredAtAnotherProvider(error: String) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("mail", clientID: "app-1", ofProvider: "kc")
            let refusal = Fault {
                $0.endpoint = .token
                ($0.error, $0.errorDescription, $0.status) = (error, "Invalid client credentials", 401)
            }
            f.emulator.control.inject(refusal)
            let failed = try await f.failure(["sign-in", "--browser"], status: 1)
            #expect((failed["message"] as? String)?.contains("registered as a public client") == true, "\(failed)")
            #expect(failed["nextCommand"] as? String == "ssoctl app show mail", "\(failed)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func signsInForAResource() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try await json(
                f, ["sign-in"] + target(f, "--resource", "https://graph.microsoft.com", "--login-hint", "bob@x.com"))
            let accounts = try #require(await json(f, ["accounts"])["accounts"] as? [[String: Any]])
            #expect(accounts.first?["source"] as? String == "adal")
            _ = try await json(f, ["token"] + target(f, "--scope", "User.Read", "--username", "bob@x.com"))
            #expect(f.emulator.control.counts.signIns == 1)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func signsInWithADeviceCode() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let command = try TestProcess(
                "ssoctl", ["sign-in", "--device-code", "--json"] + target(f, "--scope", "User.Read"),
                environment: f.environment)
            try await command.waitForError("\n")
            #expect(f.emulator.control.approveDeviceCode(username: "carol@contoso.com") == 1)
            let ended = try await command.finish()
            #expect(ended.status == 0)
            #expect(ended.output.contains("carol@contoso.com"))
            withExtendedLifetime(agent) {}
        }
    }

    /// The page for a code asks for nothing else.
    @Test func saysWhichOptionsHaveNoEffectIfACodeReplacesTheBrowser() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let options = ["--prompt", "login", "--domain-hint", "contoso.com"]
            let command = try TestProcess(
                "ssoctl", ["sign-in"] + options + target(f, "--scope", "User.Read"),
                environment: f.environment.merging(["BROWSER": ""]) { $1 })
            let shown = try await command.waitForError("enter the code")
            #expect(shown.contains("--prompt and --domain-hint have no effect on a sign-in with a code\n"), "\(shown)")
            #expect(f.emulator.control.approveDeviceCode(username: "carol@contoso.com") == 1)
            #expect(try await command.finish().status == 0)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func tellsTheKindOfAFailureByTheExitStatus() async throws {
        try await AgentProcessFixture.with { f in
            let noAgent = try await json(f, ["status"], status: 4)
            #expect((noAgent["error"] as? [String: Any])?["name"] as? String == "agentUnavailable")
            let agent = try await f.agent()
            _ = try await json(f, ["token"] + target(f, "--scope", "S", "--username", "nobody@x.com"), status: 3)
            _ = try await json(f, ["sign-out", "--client-id", "app-1", "--username", "nobody@x.com"], status: 3)
            for usage in [
                ["token"], ["frobnicate"], ["sign-out", "--client-id", "a"], ["sign-in", "--client-id", "a"],
            ] {
                #expect(try await f.run("ssoctl", usage).status == 64)
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func failsWhenTheBrowserFails() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            var environment = f.environment
            environment["BROWSER"] = "false"
            let ended = try await TestProcess(
                "ssoctl", ["sign-in"] + target(f, "--scope", "S"), environment: environment
            ).finish()
            #expect(ended.status == 1)
            #expect(ended.errors.contains("status 1"))
            withExtendedLifetime(agent) {}
        }
    }

    @Test func checksTheAgentAndItsEnvironment() async throws {
        try await AgentProcessFixture.with { f in
            let withoutAgent = try await json(f, ["doctor"], status: 4)
            #expect((withoutAgent["checks"] as? [[String: Any]])?.first?["ok"] as? Bool == false)
            let agent = try await f.agent()
            let checks = try #require(
                await json(f, ["doctor", "--authority", "\(f.emulator.url)/common"])["checks"] as? [[String: Any]])
            #expect(checks.allSatisfy { $0["ok"] as? Bool == true })
            let names = checks.compactMap { $0["name"] as? String }
            for name in [
                "socket", "socket folder", "state folder", "key", "clock", "token endpoint", "browser sign-in",
            ] {
                #expect(names.contains(name))
            }
            let redirect = checks.first { $0["name"] as? String == "browser sign-in" }
            #expect((redirect?["detail"] as? String)?.contains("http://localhost") == true)
            #expect((redirect?["hint"] as? String)?.contains("register http://localhost") == true)
            withExtendedLifetime(agent) {}
        }
    }
}
