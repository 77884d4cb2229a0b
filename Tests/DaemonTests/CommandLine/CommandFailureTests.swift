internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// What a command that fails says, in words and as JSON: what does not fit, and the command that helps.
@Suite(.bounded) struct CommandFailureTests {
    @Test(arguments: [
        ["token", "--scop", "S"], ["tokne"], ["sign-out"], ["token", "--client-id", "a"],
        ["export", "--format", "x", "-o", "f"],
        ["token", "a", "--client-id", "b", "--scope", "S"], ["sign-in", "--device-code", "--print-url"],
        ["sign-in", "--prompt", "logn"], ["token", "--client-id", "a", "--scope", "S", "--claims", "{"],
    ])
    func reportsWrongUsageAsJSON(arguments: [String]) async throws {
        try await AgentProcessFixture.with { f in
            let error = try await f.failure(arguments, status: 64)
            #expect(error["name"] as? String == "invalidDeveloperParameter")
            #expect((error["message"] as? String)?.isEmpty == false)
            let plain = try await f.ssoctl(arguments, status: 64)
            #expect(plain.output.isEmpty && !plain.errors.isEmpty)
        }
    }

    /// `--account` may name an identifier with an “@”, too, so that the accounts are listed if no token has the username.
    @Test func asksForNoSignInIfTheStoreIsLockedBeforeTheAccountsAreListed() async throws {
        try await AgentProcessFixture.with { f in
            try FileManager.default.createDirectory(
                atPath: f.folder.file("run"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let agent = try PretendedAgent(at: f.socketPath) { frame in
                let unknown = TokenError(.interactionRequired, "no token in the cache fits this request; sign in")
                let locked = TokenError(.storeUnavailable, "the store was locked")
                return frame.answer(AcquireTokenSilent.self, with: .failure(unknown))
                    ?? frame.answer(ListAccounts.self, with: .failure(locked))
            }
            defer { agent.end() }
            let app = ["--client-id", "app-1", "--scope", "User.Read", "--authority", "\(f.emulator.url)/common"]
            let error = try await f.failure(["token", "--account", "alice@contoso.com"] + app, status: 1)
            #expect(error["name"] as? String == "storeUnavailable", "\(error)")
        }
    }

    @Test func saysUntilWhenTheProviderIsNotAsked() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("mail", clientID: "app-1")
            try await f.signIn(app: "mail", "alice@contoso.com")
            f.emulator.control.inject(.status(429, retryAfter: 1000, grant: .refreshToken))
            let arguments = ["token", "mail", "--account", "alice@contoso.com", "--force-refresh"]
            let error = try await f.failure(arguments, status: 1)
            #expect(error["reason"] as? String == "throttled")
            let end = try #require(error["throttledUntil"] as? Double)
            #expect(end > Date().timeIntervalSince1970)
            let command = try #require(error["nextCommand"] as? String)
            #expect(
                command.hasPrefix("sleep ")
                    && command.hasSuffix("&& ssoctl token mail --account alice@contoso.com --force-refresh"))
            let plain = try await f.ssoctl(arguments, status: 1)
            #expect(plain.errors.contains("  not before ") && plain.errors.contains("  → sleep "))
            _ = agent
        }
    }

    @Test(arguments: [(7, 7), (nil, 60), (0, 1), (100_000, 3600)] as [(Int?, Int)])
    func waitsWithTheNextSignInAtAnOverloadedProvider(retryAfter: Int?, seconds: Int) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("mail", clientID: "app-1")
            f.emulator.control.inject(.status(429, retryAfter: retryAfter, grant: .authorizationCode))
            let error = try await f.failure(["sign-in", "--login-hint", "alice@contoso.com"], status: 1)
            #expect((error["message"] as? String)?.hasSuffix("HTTP status 429; it asks to wait") == true)
            let command = "sleep \(seconds) && ssoctl sign-in --login-hint alice@contoso.com"
            #expect(error["nextCommand"] as? String == command)
            withExtendedLifetime(agent) {}
        }
    }

    @Test(arguments: [("https://id.example", true), ("https://login.microsoftonline.com", false)])
    func namesTheKindOfAnotherProvider(authority: String, isNamed: Bool) async throws {
        try await AgentProcessFixture.with { f in
            for command in [["sign-in"], ["app", "add", "x"], ["publish", "--socket", "/x"]] {
                let arguments = command + ["--client-id", "a", "--scope", "b", "--authority", authority]
                let errors = try await f.ssoctl(arguments, status: 64).errors
                #expect(errors.contains("names no tenant; add one, such as /common."), "\(errors)")
                #expect(errors.contains("add --authority-kind openid") == isNamed, "\(errors)")
            }
        }
    }

    @Test func refusesAnArgumentThatIsNotUTF8() async throws {
        try await AgentProcessFixture.with { f in
            let before = try f.configuration()
            let command =
                "exec \"$0\" app add x --authority https://id.example --authority-kind openid --client-id \"$(printf 'a\\377')\""
            let ended = try await TestProcess(
                "/bin/sh", ["-c", command, Executable.path("ssoctl")], environment: f.environment
            ).finish()
            #expect(ended.status == 64, "\(ended.output)")
            #expect(ended.errors.contains("is not UTF-8."), "\(ended.errors)")
            #expect(try f.configuration() == before)
        }
    }

    /// The folder of the store would be another one than was named.
    @Test(arguments: [["sso-agent", "--check-config", "--state-dir"], ["entra-emulator", "--tls-cert"]])
    func refusesAnArgumentThatIsNotUTF8InEveryProgram(words: [String]) async throws {
        try await AgentProcessFixture.with { f in
            let command = "exec \"$0\" \"$@\" \"$(printf 'a\\377')\""
            let ended = try await TestProcess(
                "/bin/sh", ["-c", command, Executable.path(words[0])] + words.dropFirst(), environment: f.environment
            ).finish()
            #expect(ended.status == 64, "\(ended.output)")
            #expect(ended.errors.contains("is not UTF-8."), "\(ended.errors)")
        }
    }

    @Test func repeatsNoMoreOfALongArgumentThanAPathHas() async throws {
        try await AgentProcessFixture.with { f in
            let long = String(repeating: "n", count: 100_000)
            for (arguments, status) in [
                ([long], 64), (["app", "add", long, "--client-id", "a"], 64), (["status", "--\(long)"], 64),
                (["key", "set", long], 64), (["token", "--authority=\(long)", "--client-id", "a", "--scope", "b"], 64),
                (["app", "remove", long], 64), (["import", long], 1),
            ] as [([String], Int32)] {
                let plain = try await f.ssoctl(arguments, status: status).errors
                #expect(plain.utf8.count < 10_000 && plain.contains("nnn…"), "\(arguments[0])")
                let error = try await f.failure(arguments, status: status)
                #expect((error["message"] as? String ?? long).utf8.count < 10_000, "\(arguments[0])")
            }
        }
    }

    /// Bytes that are not UTF-8 come as U+FFFD; the provider would refuse the scope, after the user has signed in.
    @Test(arguments: [
        ["app", "add", "graph", "--client-id", "11111111-2222-4333-8444-555555555555", "--scope", "a\u{FFFD}"],
        ["token", "--client-id", "a", "--scope", "b ä"], ["sign-in", "--client-id", "a", "--scope", "\"b\""],
        ["publish", "--socket", "/x", "--client-id", "a", "--scope", "b\\c"],
    ])
    func refusesAScopeWithACharacterThatNoScopeHas(arguments: [String]) async throws {
        try await AgentProcessFixture.with { f in
            let errors = try await f.ssoctl(arguments, status: 64).errors
            #expect(errors.contains("is not a scope"), "\(errors)")
            #expect(try !f.configuration().contains("[apps"))
        }
    }

    @Test(arguments: [
        ["app", "add", "graph", "--client-id", "11111111-2222-4333-8444-555555555555"],
        ["token", "--client-id", "a"], ["sign-in", "--client-id", "a"],
    ])
    func refusesScopesThatAreBlank(arguments: [String]) async throws {
        try await AgentProcessFixture.with { f in
            let errors = try await f.ssoctl(arguments + ["--scope", " , "], status: 64).errors
            #expect(errors.contains("must not be blank"), "\(errors)")
            #expect(try !f.configuration().contains("[apps"))
        }
    }

    @Test(arguments: [
        (["token", "--client-id", "a", "--scope", "s", "--output", "-"], "standard output"),
        (["token", "--client-id", "a", "--scope", "s", "--output", ""], "must not be blank"),
        (["export", "--format", "msal-json", "--include-secrets", "--output", "-"], "to a file only"),
        (["export", "--format", "msal-json", "--include-secrets", "--output", ""], "must not be blank"),
    ])
    func refusesAnOutputThatNamesNoFile(arguments: [String], reason: String) async throws {
        try await AgentProcessFixture.with { f in
            let errors = try await f.ssoctl(arguments, status: 64).errors
            #expect(errors.contains(reason), "\(errors)")
        }
    }

    /// As in a home that is read-only. Nobody can make a folder in `/proc`.
    @Test(arguments: [
        (
            "ssoctl", ["app", "add", "graph", "--client-id", "11111111-2222-4333-8444-555555555555"],
            "SSO_AGENT_CONFIG"
        ),
        ("sso-agent", ["--socket", "/proc/sso-agent/agent.sock"], "SSO_AGENT_SOCK"),
        ("sso-agent", [], "SSO_AGENT_STATE_DIR"),
        ("sso-agent", ["--socket", "/proc/sso-agent/run/agent.sock"], "SSO_AGENT_STATE_DIR"),
    ])
    func saysHowToNameAFolderIfOneCannotBeMade(program: String, arguments: [String], name: String) async throws {
        try await AgentProcessFixture.with { f in
            let place = name == "SSO_AGENT_CONFIG" ? "/proc/sso-agent/config.toml" : "/proc/sso-agent"
            let variables = name == "SSO_AGENT_SOCK" ? [:] : [name: place]
            let ended = try await TestProcess(
                program, arguments, environment: f.environment.merging(variables) { $1 }
            ).finish()
            #expect(ended.status == 1 && ended.errors.contains("; set \(name) to a "), "\(ended)")
        }
    }

    @Test func saysWhatAnExportHasAndHowAPipeIsImported() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters())
            let file = f.folder.file("out")
            let export = ["export", "--format", "msal-json", "--include-secrets", "--force", "-o", file]
            #expect(try await f.ssoctl(export).output.contains("It has refresh tokens"))
            let empty = try await f.ssoctl(export + ["--group", "none"]).output
            #expect(empty.contains("none has no accounts") && !empty.contains("refresh tokens"), "\(empty)")
            let kept = """
                {"RefreshToken": {"x": {"home_account_id": "a.b", "environment": "login.example", "client_id": "c",
                  "credential_type": "RefreshToken", "secret": "rt"}}}
                """
            try Data(kept.utf8).write(to: URL(filePath: file))
            _ = try await f.ssoctl(["import", file, "--group", "kept"])
            let full = try await f.ssoctl(export + ["--group", "kept"]).output
            #expect(full.contains("kept has no accounts") && full.contains("delete it after use"), "\(full)")
            #expect(try await !f.ssoctl(["export", "--help"]).output.contains("adal-json"))
            #expect(try await f.ssoctl(["import", "-"], status: 64).errors.contains("/dev/stdin"))
            withExtendedLifetime(agent) {}
        }
    }

    @Test func saysThatTheStoreIsLocked() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.ssoctl(["lock"])
            let error = try await f.failure(["accounts"], status: 1)
            #expect(error["reason"] as? String == "locked")
            #expect(error["nextCommand"] as? String == "ssoctl unlock")
            _ = agent
        }
    }

    @Test(arguments: [
        ("tokne", "token"), ("logn", "login"), ("acounts", "accounts"), ("signin", "sign-in"), ("pub", "publish"),
    ])
    func saysWhichCommandWasMeant(word: String, command: String) async throws {
        for arguments in [[word], ["help", word]] {
            let ended = try await TestProcess("ssoctl", arguments).finish()
            #expect(ended.status == 64 && ended.errors.contains("Did you mean “\(command)”?"), "\(ended.errors)")
        }
    }

    @Test func saysWhichSubcommandWasMeantAndWhoseHelpHelps() async throws {
        try await AgentProcessFixture.with { f in
            let plain = try await f.ssoctl(["app", "ad"], status: 64).errors
            #expect(
                plain == "Error: “ad” is not a command of ssoctl app. Did you mean “add”?\n  → ssoctl app add\n",
                "\(plain)")
            for (arguments, help) in [
                (["app", "ad"], "ssoctl app add"), (["app", "add"], "ssoctl app add --help"),
                (["token", "--scop", "S"], "ssoctl token --help"),
                (["tokne", "--account", "it's me"], "ssoctl token --account 'it'\\''s me'"),
                (["help", "app", "ad"], "ssoctl help app add"), (["--x"], "ssoctl --help"),
                (["nonsense"], "ssoctl --help"), (["app", "nonsense"], "ssoctl app --help"),
            ] {
                #expect(try await f.failure(arguments, status: 64)["nextCommand"] as? String == help, "\(arguments)")
            }
            for arguments in [
                ["help", "token"], ["help", "help"], ["help"], ["help", "app", "rm"], ["app", "--help"],
            ] {
                try await f.ssoctl(arguments)
            }
        }
    }

    @Test func refusesAClientIDThatMicrosoftsCloudsDoNotKnow() async throws {
        try await AgentProcessFixture.with { f in
            let add = ["app", "add", "graph", "--scope", "User.Read", "--client-id"]
            for more in [[], ["--tenant", "contoso.com"], ["--authority", "https://login.microsoftonline.us/common"]] {
                let error = try await f.failure(add + ["CLIENT-ID"] + more, status: 64)
                #expect((error["message"] as? String)?.contains("App registrations") == true, "\(error)")
                let isOther = (error["message"] as? String)?.contains("needs --authority") == true
                #expect(isOther == !more.contains("--authority"), "\(error)")
            }
            for more in [
                ["11111111-2222-4333-8444-555555555555"], ["000000004C12AE6F"],
                ["any", "--authority", "\(f.emulator.url)/common"],
                ["any", "--authority", "https://adfs.example.com/adfs"],
                ["any", "--authority", "https://id.example.com", "--authority-kind", "openid"],
            ] {
                try await f.ssoctl(add + more + ["--force"])
            }
        }
    }

    @Test func addsNoAppWithScopesOfTwoResources() async throws {
        try await AgentProcessFixture.with { f in
            let add = ["app", "add", "both", "--client-id", "11111111-2222-4333-8444-555555555555", "--scope"]
            let error = try await f.failure(add + ["User.Read,https://vault.azure.net/.default"], status: 64)
            #expect((error["message"] as? String)?.contains("https://vault.azure.net") == true, "\(error)")
            try await f.ssoctl(add + ["User.Read https://graph.microsoft.com/Mail.Read openid"])
        }
    }

    @Test func namesTheCommandThatStartsTheAgent() async throws {
        try await AgentProcessFixture.with { f in
            for arguments in [["status"], ["accounts"], ["audit"]] {
                let error = try await f.failure(arguments, status: 4)
                #expect(error["name"] as? String == "agentUnavailable")
                #expect((error["nextCommand"] as? String)?.contains("sso-agent") == true)
            }
        }
    }

    @Test func saysWhichPartOfARequestDoesNotFit() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.addApp("mail", clientID: "app-2")
            try await f.signIn(app: "graph", "alice@contoso.com")
            func check(_ arguments: [String], _ status: Int32, _ message: String, _ next: String) async throws {
                let error = try await f.failure(["token"] + arguments, status: status)
                #expect((error["message"] as? String)?.contains(message) == true, "\(error)")
                #expect(error["nextCommand"] as? String == next)
                let plain = try await f.ssoctl(["token"] + arguments, status: status)
                #expect(plain.errors.contains("  → \(next)\n"), "\(plain.errors)")
            }
            // Another app, another account, another cloud.
            try await check(
                ["mail", "--username", "alice"], 2, "alice@contoso.com is not signed in to the app “mail”",
                "ssoctl sign-in mail --login-hint alice@contoso.com")
            try await check(
                ["mail"], 2, "nobody is signed in to the app “mail”; other apps have: alice@contoso.com",
                "ssoctl sign-in mail --login-hint alice@contoso.com")
            try await check(
                ["graph", "--account", "bob@contoso.com"], 3, "no account “bob@contoso.com” is known; signed in: alice",
                "ssoctl sign-in graph --login-hint bob@contoso.com")
            try await check(
                ["graph", "--account", "alcie@contoso.com"], 3, "did you mean alice@contoso.com?",
                "ssoctl token graph --account alice@contoso.com")
            try await check(
                ["graph", "--cloud", "usgov", "--account", "alice"], 2, "not at login.microsoftonline.us",
                "ssoctl sign-in graph --cloud usgov --login-hint alice@contoso.com")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func hasTheErrorOfTheProvider() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            #expect(f.emulator.control.revokeTokens() > 0)
            let error = try await f.failure(["token", "--force-refresh"], status: 2)
            #expect(error["oauthError"] as? String == "invalid_grant", "\(error)")
            #expect((error["errorCodes"] as? [Int])?.isEmpty == false, "\(error)")
            #expect((error["correlationId"] as? String)?.isEmpty == false)
            #expect((error["account"] as? [String: Any])?["username"] as? String == "alice@contoso.com")
            #expect(error["nextCommand"] as? String == "ssoctl sign-in --login-hint alice@contoso.com")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func refusesScopesOfTwoResourcesBeforeAnybodyIsAsked() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            for command in ["sign-in", "token"] {
                let error = try await f.failure(
                    [
                        command, "--client-id", "app-1", "--authority", "\(f.emulator.url)/common", "--scope",
                        "User.Read,https://vault.azure.net/.default",
                    ], status: 64)
                #expect((error["message"] as? String)?.contains("https://vault.azure.net") == true, "\(error)")
            }
            #expect(f.emulator.control.counts.signIns == 0)
            // Graph's permissions with and without its URL are of one resource, and those of OpenID Connect of none.
            try await f.ssoctl([
                "sign-in", "--client-id", "app-1", "--authority", "\(f.emulator.url)/common", "--login-hint",
                "a@contoso.com",
                "--scope", "User.Read https://graph.microsoft.com/Mail.Read email",
            ])
            withExtendedLifetime(agent) {}
        }
    }

    @Test func quotesTheNextCommandForAShell() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let error = try await f.failure(
                ["token", "--client-id", "it's", "--authority", "\(f.emulator.url)/common", "--scope", "User.Read"],
                status: 2)
            #expect((error["nextCommand"] as? String)?.contains(#"--client-id 'it'\''s'"#) == true, "\(error)")
            withExtendedLifetime(agent) {}
        }
    }
}
