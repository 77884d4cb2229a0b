internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// The command that a failure names: it can be run as it is, and has what was typed.
@Suite(.bounded) struct NextCommandTests {
    private static let clientID = "11111111-2222-4333-8444-555555555555"

    struct Case: Sendable, CustomTestStringConvertible {
        let typed: [String]
        let status: Int32
        let next: String
        var testDescription: String { typed.joined(separator: " ") }

        init(_ typed: String, _ status: Int32, _ next: String) {
            (self.typed, self.status, self.next) = (typed.split(separator: " ").map(String.init), status, next)
        }
    }

    @Test func namesWhatWasProbablyMeant() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.addApp("mail", clientID: "app-2")
            let bare = try await f.ssoctl(["app", "add", "bare", "--client-id", "11111111-2222-4333-8444-555555555553"])
            #expect(bare.output.contains("ssoctl sign-in bare --scope User.Read"), "\(bare.output)")
            try await f.signIn(app: "graph", "alice@contoso.com")
            for one in [
                Case("token grph", 64, "ssoctl token graph"),
                Case(
                    "token grph --account alice --decode --force-refresh -s Mail.Read", 64,
                    "ssoctl token graph --scope Mail.Read --account alice --force-refresh --decode"),
                Case(
                    "token alice@contoso.com --min-valid 9", 64,
                    "ssoctl token --account alice@contoso.com --min-valid 9"),
                Case(
                    "token graph --account alcie@contoso.com --id-token", 3,
                    "ssoctl token graph --account alice@contoso.com --id-token"),
                Case("sign-in grph --device-code", 64, "ssoctl sign-in graph --device-code"),
                Case("sign-in grph --scope Mail.Read", 64, "ssoctl sign-in graph --scope Mail.Read"),
                Case("token alice@contoso.com", 64, "ssoctl token --account alice@contoso.com"),
                Case("sign-in alice@contoso.com", 64, "ssoctl sign-in --login-hint alice@contoso.com"),
                Case("token bare", 64, "ssoctl token bare --scope User.Read"),
                Case(
                    "accounts --app grahp --group G --verbose", 64,
                    "ssoctl accounts --app graph --group G --verbose"),
                Case(
                    "sign-in graph --tenant contoso.com --group G --scope User.Read,https://vault.azure.net/.default",
                    64,
                    "ssoctl sign-in graph --scope User.Read --tenant contoso.com --group G"),
                Case("sign-out alice --app grahp --wipe", 64, "ssoctl sign-out alice --app graph --wipe"),
                Case("sign-out zed", 3, "ssoctl accounts"),
                Case("sign-out zed --group G", 3, "ssoctl accounts --group G"),
                Case("sign-out alcie@contoso.com", 3, "ssoctl sign-out alice@contoso.com"),
                Case("app show grahp", 64, "ssoctl app show graph"),
                Case("app rm grahp", 64, "ssoctl app remove graph"),
                Case("app remove nosuch", 64, "ssoctl app list"),
                Case("use grap", 3, "ssoctl use graph"),
                Case("use zed", 3, "ssoctl app list"),
                Case("unpublish nosuch", 1, "ssoctl sockets"),
                Case("publish --socket /x --client-id app-1 --account zed", 3, "ssoctl accounts"),
                Case("publish --socket /x --client-id app-1 --group G --account zed", 3, "ssoctl accounts --group G"),
                Case(
                    "publish --socket /x --app mail --app grahp --account alice --ttl 30m", 64,
                    "ssoctl publish --socket /x --account alice --app mail --app graph --ttl 1800"),
                Case(
                    "token mail --claims {} --redirect-uri http://localhost", 2,
                    "ssoctl sign-in mail --claims '{}' --redirect-uri http://localhost --login-hint alice@contoso.com"),
            ] {
                let error = try await f.failure(one.typed, status: one.status)
                #expect(error["nextCommand"] as? String == one.next, "\(one.typed): \(error)")
            }
            // As of a variable that is not set.
            for command in ["token", "sign-in"] {
                let error = try await f.failure([command, ""], status: 64)
                #expect(error["nextCommand"] as? String == "ssoctl app add NAME --client-id CLIENT-ID", "\(error)")
            }
            let empty = try await f.ssoctl(["accounts", "--app", "mail"]).output
            #expect(empty.contains("Sign in with: ssoctl sign-in mail\n"), "\(empty)")
            let other = try await f.ssoctl(["accounts", "--client-id", "app-9", "--group", "G"]).output
            #expect(other.contains("ssoctl sign-in --client-id app-9 --scope User.Read --group G\n"), "\(other)")
            withExtendedLifetime(agent) {}
        }
    }

    /// As they are typed: `--client-id=-app`.
    @Test func keepsValuesThatLookLikeOptions() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            let target = "--client-id=-app --scope=-s --authority \(f.emulator.url)/common"
            let typed = ["token", "--account", "alice@contoso.com", "--output=-f"]
            let error = try await f.failure(typed + target.split(separator: " ").map(String.init), status: 2)
            let next = "ssoctl sign-in \(target) --login-hint alice@contoso.com"
            #expect(error["nextCommand"] as? String == next, "\(error)")
            let similar = try await f.failure(
                ["token", "graph", "--account", "alcie@contoso.com", "--output=-f"], status: 3)
            let again = "ssoctl token graph --account alice@contoso.com --output=-f"
            #expect(similar["nextCommand"] as? String == again, "\(similar)")
            try await f.ssoctl(next.split(separator: " ").dropFirst().map(String.init))
            withExtendedLifetime(agent) {}
        }
    }

    /// The message of “ssoctl token” names this command for an app of any sharing group.
    @Test func choosesTheDefaultAccountOfAnAppWithAGroup() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.ssoctl([
                "app", "add", "graph", "--client-id", "app-1", "--authority", "\(f.emulator.url)/common", "--scope",
                "User.Read", "--group", "it's $G",
            ])
            for name in ["alice", "bob"] { try await f.signIn(app: "graph", "\(name)@contoso.com") }
            let several = try await f.failure(["token"], status: 2)
            #expect((several["message"] as? String)?.contains("choose a default with “ssoctl use”") == true)
            let unknown = try await f.failure(["use", "@"], status: 3)
            #expect(unknown["nextCommand"] as? String == "ssoctl app list", "\(unknown)")
            try await f.ssoctl(["use", "bob"])
            let account = try await f.json(["token"])["account"] as? [String: Any]
            #expect(account?["username"] as? String == "bob@contoso.com", "\(String(describing: account))")
            withExtendedLifetime(agent) {}
        }
    }

    /// What is typed for another command leads to the option of this one.
    @Test func namesTheOptionThatIsCalledOtherwiseHere() async throws {
        try await AgentProcessFixture.with { f in
            for (typed, part) in [
                (["accounts", "demo"], "ssoctl accounts --app demo"),
                (["watch", "demo"], "ssoctl watch --app demo"),
                (["sign-in", "--account", "alice@contoso.com"], "with --login-hint alice@contoso.com."),
                (["sign-in", "--username", "-alice@contoso.com"], "Missing value for '--username'"),
                (["sign-out", "bob", "--account", "alice"], "Name the account once"),
                (["token", "--min-valid", "-5"], "--min-valid is a number of seconds"),
                (["token", "--resource", " "], "--resource must not be blank"),
            ] {
                let error = try await f.failure(typed, status: 64)
                #expect((error["message"] as? String)?.contains(part) == true, "\(typed): \(error)")
            }
        }
    }

    /// A value that the configuration cannot have is refused before the file is written, and not as an error of a line in it.
    @Test func refusesAnAppThatTheConfigurationCannotHave() async throws {
        try await AgentProcessFixture.with { f in
            for option in [["--redirect-uri", "localhost"], ["--redirect-uri", "http://a b"], ["--resource", ""]] {
                let error = try await f.failure(
                    ["app", "add", "graph", "--client-id", Self.clientID] + option, status: 64)
                #expect((error["message"] as? String)?.contains("config.toml") == false, "\(error)")
            }
            let uri = ["--redirect-uri", "msauth.com.contoso://auth"]
            let added = try await f.ssoctl(["app", "add", "graph", "--client-id", Self.clientID] + uri)
            #expect(added.output.contains("msauth.com.contoso://auth"), "\(added)")
        }
    }

    @Test func acceptsTheOptionForJSONBeforeTheCommand() async throws {
        try await AgentProcessFixture.with { f in
            let listed = try await f.ssoctl(["--json", "app", "list"]).output
            #expect(listed.contains("\"apps\""), "\(listed)")
            let shown = try await f.ssoctl(["--json", "app", "show", "--", "none"], status: 64).output
            #expect(shown.contains("“none” is not an app"), "\(shown)")
            let failed = try await f.ssoctl(["--json", "token", "--min-valid", "x"], status: 64).output
            #expect(failed.contains("\"nextCommand\" : \"ssoctl token --help\""), "\(failed)")
        }
    }

    /// Scripts get the status of a broken configuration, and a person the command that corrects it.
    @Test func reportsADefaultAppThatDoesNotExistAsADefectOfTheConfiguration() async throws {
        try await AgentProcessFixture.with { f in
            try await f.addApp("graph", clientID: "app-1")
            let file = URL(filePath: f.folder.file("config.toml"))
            let text = try String(contentsOf: file, encoding: .utf8)
            try Data(text.replacing("app = \"graph\"", with: "app = \"gone\"").utf8).write(to: file)
            let error = try await f.failure(["token"], status: 1)
            #expect(error["nextCommand"] as? String == "ssoctl use graph", "\(error)")
        }
    }

    /// A file with another format than the one that was named is imported without the name.
    @Test func leavesOutAWrongFormat() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let file = f.folder.file("cache.json")
            try Data("{}".utf8).write(to: URL(filePath: file))
            let error = try await f.failure(
                ["import", file, "--format", "adal-archive", "--group", "G", "--dry-run"], status: 1)
            #expect(error["nextCommand"] as? String == "ssoctl import \(file) --group G --dry-run", "\(error)")
            withExtendedLifetime(agent) {}
        }
    }

    /// An export replaces no file by a guess.
    @Test func namesAnotherFileForAnExport() async throws {
        try await AgentProcessFixture.with { f in
            let file = f.folder.file("cache.json")
            try Data("kept".utf8).write(to: URL(filePath: file))
            let export = "ssoctl export --format msal-json"
            for (group, next) in [
                ([], "\(export) --include-secrets --output FILE"),
                (["--group", "a b"], "\(export) --group 'a b' --include-secrets --output FILE"),
            ] {
                let typed = ["export", "--format", "msal-json", "--include-secrets", "-o", file] + group
                let error = try await f.failure(typed, status: 1)
                #expect(error["nextCommand"] as? String == next, "\(error)")
            }
        }
    }

    @Test func hasTheOptionsOfTheSignInThatFailed() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let typed = ["sign-in", "--browser", "--login-hint", "a@contoso.com", "--prompt", "login"]
            let failed = try await f.failure(typed, status: 1, variables: ["BROWSER": "false"])
            #expect(failed["nextCommand"] as? String == "ssoctl sign-in --login-hint a@contoso.com --device-code")
            #expect(failed["message"] as? String == "the browser “false” ended with status 1")
            #expect(failed["reason"] as? String == "request")
            f.emulator.control.settings.declinedScopes = ["User.Read"]
            let declined = try await f.failure(typed, status: 1)
            #expect(
                declined["nextCommand"] as? String
                    == "ssoctl sign-in --login-hint a@contoso.com --prompt consent --browser", "\(declined)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func namesOneCommandForOneError() async throws {
        try await AgentProcessFixture.with { f in
            let none = try await f.ssoctl(["status"], status: 4).errors
            #expect(
                none.hasSuffix("no agent is running at \(f.socketPath)\n  → sso-agent --socket \(f.socketPath) &\n"),
                "\(none)")
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            #expect(try await f.ssoctl(["lock"]).output == "The store is locked.\n")
            let locked = try await f.ssoctl(["accounts"], status: 1).errors
            #expect(locked == "ssoctl: the store was locked\n  → ssoctl unlock\n")
            let status = try await f.ssoctl(["status"]).output
            #expect(status.hasSuffix("\nstore: the store was locked\n  → ssoctl unlock\n"), "\(status)")
            #expect(try await f.json(["status"])["nextCommand"] as? String == "ssoctl unlock")
            for command in ["key", "lock"] {
                let key = try await f.json([command])
                #expect(key["problem"] as? String == "the store was locked", "\(command)")
                #expect(key["nextCommand"] as? String == "ssoctl unlock", "\(command)")
            }
            let key = try await f.ssoctl(["key"]).output
            #expect(key == "the store is not open: the store was locked\n  → ssoctl unlock\n")
            let doctor = try await f.ssoctl(["doctor", "--authority", "\(f.emulator.url)/common"], status: 1).output
            for check in ["store", "key"] {
                #expect(doctor.contains("FAIL \(check): the store was locked\n     → ssoctl unlock\n"), "\(doctor)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func startsTheAgentAtTheSocketThatWasMeant() async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("it's here/agent.sock")
            let named = try await f.failure(["status"], status: 4, variables: ["SSO_AGENT_SOCK": path])
            let command = "sso-agent --socket '\(f.folder.path)/it'\\''s here/agent.sock' &"
            #expect(named["nextCommand"] as? String == command, "\(named)")
            // The unit listens elsewhere.
            let units = f.folder.file("units/systemd/user")
            try FileManager.default.createDirectory(atPath: units, withIntermediateDirectories: true)
            try FileManager.default.createDirectory(
                atPath: f.folder.file("runtime/systemd"), withIntermediateDirectories: true)
            for file in [units + "/sso-agent.socket", f.folder.file("runtime/systemd/private")] {
                #expect(FileManager.default.createFile(atPath: file, contents: Data()))
            }
            let variables = ["XDG_CONFIG_HOME": f.folder.file("units"), "XDG_RUNTIME_DIR": f.folder.file("runtime")]
            let beside = try await f.failure(["status"], status: 4, variables: variables)
            #expect(beside["nextCommand"] as? String == "sso-agent --socket \(f.socketPath) &", "\(beside)")
            let own = f.folder.file("runtime/sso-agent/agent.sock")
            let unit = try await f.failure(
                ["status"], status: 4, variables: variables.merging(["SSO_AGENT_SOCK": own]) { $1 })
            #expect(unit["nextCommand"] as? String == "systemctl --user enable --now sso-agent.socket", "\(unit)")
            let doctor = try await f.ssoctl(["doctor"], status: 4).output
            #expect(doctor.contains("→ sso-agent --socket \(f.socketPath) &\n"), "\(doctor)")
            // Only the other user can open the socket again.
            let published = try await f.failure(["status"], status: 4, variables: ["SSO_AGENT_OWNER": "4711"])
            #expect((published["message"] as? String)?.contains("user 4711") == true, "\(published)")
            #expect(published["nextCommand"] == nil, "\(published)")
        }
    }

    @Test func saysThatAVariableNamesWhatDoesNotExist() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            let account = try await f.ssoctl(["token"], status: 3, variables: ["SSO_AGENT_ACCOUNT": "zed"]).errors
            #expect(account.contains("(SSO_AGENT_ACCOUNT names “zed”)"), "\(account)")
            #expect(!account.contains("ssoctl use"), "\(account)")
            let app = try await f.failure(["token"], status: 64, variables: ["SSO_AGENT_APP": "zed"])
            #expect((app["message"] as? String)?.contains("SSO_AGENT_APP") == true)
            #expect(app["nextCommand"] as? String == "ssoctl app list")
            withExtendedLifetime(agent) {}
        }
    }

    /// The message ends with the accounts that are signed in, none of which is the default one.
    @Test func namesTheDefaultAccountThatHasSignedOut() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            try await f.ssoctl(["use", "alice"])
            try await f.signIn(app: "graph", "bob@contoso.com")
            try await f.ssoctl(["sign-out", "alice"])
            let failed = try await f.ssoctl(["token"], status: 3).errors
            let meant = "signed in: bob@contoso.com (“alice@contoso.com” is the default account; "
            #expect(failed.contains(meant), "\(failed)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func namesAFolderForAPublishedSocket() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let (missing, open) = (f.folder.file("missing"), f.folder.file("open"))
            try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
            #expect(chmod(open, 0o777) == 0)
            for (folder, next) in [
                (missing, "mkdir -p -m 711 \(missing)"), (open, "chmod go-w \(open)"),
                ("/tmp", "mkdir -p -m 711 ~/.sso-sockets"),
            ] {
                let error = try await f.failure(
                    ["publish", "--socket", "\(folder)/x.sock", "--client-id", "app-1"], status: 1)
                #expect(error["nextCommand"] as? String == next, "\(error)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// One group would be served for both, in which other users may be signed in.
    @Test func publishesNoAppsOfDifferentGroupsAtOneSocket() async throws {
        try await AgentProcessFixture.with { f in
            for name in ["one", "two"] {
                try await f.ssoctl(["app", "add", name, "--client-id", Self.clientID, "--group", name])
            }
            let error = try await f.failure(["publish", "--socket", "/x", "--app", "one", "--app", "two"], status: 64)
            #expect(error["nextCommand"] as? String == "ssoctl app show one", "\(error)")
        }
    }

    @Test func createsAConfigurationThatTheEnvironmentNames() async throws {
        try await AgentProcessFixture.with { f in
            let variables = ["SSO_AGENT_CONFIG": f.folder.file("new/config.toml")]
            for typed in [["app", "list"], ["use", "--none"]] {
                let missing = try await f.failure(typed, status: 1, variables: variables)
                #expect((missing["message"] as? String)?.contains("does not exist") == true, "\(typed)")
                #expect(missing["nextCommand"] as? String == "ssoctl init", "\(typed)")
            }
            // Without the file, the agent would not start.
            let begun = ["SSO_AGENT_CONFIG": f.folder.file("begun/config.toml")]
            let status = try await f.onTerminal(["init"], variables: begun).finish().status
            #expect(status == 4 && FileManager.default.fileExists(atPath: f.folder.file("begun/config.toml")))
            try await f.ssoctl(
                ["app", "add", "graph", "--client-id", Self.clientID, "--scope", "S"], variables: variables)
            #expect(try await f.json(["app", "show"], variables: variables)["clientId"] as? String == Self.clientID)
        }
    }
}
