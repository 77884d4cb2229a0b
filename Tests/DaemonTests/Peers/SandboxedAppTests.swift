internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

#if os(Linux)
    /// What an app in a sandbox can and cannot get from the agent. The app is `ssoctl`, which knows every request.
    @Suite(
        .bounded, .enabled(if: Sandbox.isPossible, "only root can make a sandbox"),
        .disabled(if: Sanitizer.isOn, "its files are outside of the sandbox"))
    struct SandboxedAppTests {
        private static let rules = """
            [[rule]]
            app = "flatpak:org.contoso.Notes"
            client_ids = ["app-1"]
            requests = ["own"]
            effect = "allow"
            """

        /// Runs `ssoctl` as a Flatpak app.
        private func run(
            _ f: AgentProcessFixture, as app: String = "org.contoso.Notes", _ arguments: [String]
        ) async throws -> (status: Int32, output: String, errors: String) {
            let program = Executable.path("ssoctl")
            let libraries = (f.environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").map(String.init)
            let folder = String(program[..<(program.lastIndex(of: "/") ?? program.endIndex)])
            let sandbox = try Sandbox.run(
                info: "[Application]\nname=\(app)\n", folders: [f.folder.path, folder, "/opt"] + libraries,
                environment: f.environment, [program] + arguments)
            return try await sandbox.finish()
        }

        private func token(_ f: AgentProcessFixture, _ clientID: String) -> [String] {
            [
                "token", "--client-id", clientID, "--authority", "\(f.url)/common", "--scope", "User.Read",
                "--username", "alice@contoso.com",
            ]
        }

        private func signIn(_ f: AgentProcessFixture) async throws {
            for clientID in ["app-1", "app-2"] {
                let ended = try await f.run(
                    "ssoctl",
                    [
                        "sign-in", "--client-id", clientID, "--authority", "\(f.url)/common", "--scope", "User.Read",
                        "--login-hint", "alice@contoso.com",
                    ])
                #expect(ended.status == 0, "\(ended.errors)")
            }
        }

        @Test func getsTokensOfItsOwnAppAndNothingElse() async throws {
            try await AgentProcessFixture.with(rules: Self.rules) { f in
                let agent = try await f.agent()
                try await signIn(f)
                for own in [token(f, "app-1"), ["accounts", "--client-id", "app-1"]] {
                    let ended = try await run(f, own)
                    #expect(ended.status == 0 && !ended.output.isEmpty, "\(own): \(ended.errors)")
                }
                let username = ["--username", "alice@contoso.com"]
                for other in [
                    token(f, "app-2"), ["accounts"], ["accounts", "--client-id", "app-2"], ["status"], ["key"],
                    ["export", "--format", "msal-json", "--include-secrets", "-o", f.folder.file("stolen")],
                    ["key", "set", "file"], ["sign-out", "--client-id", "app-2"] + username,
                    ["sign-out", "--client-id", "app-1", "--wipe"] + username,
                ] {
                    let ended = try await run(f, other)
                    #expect(ended.status == 1, "\(other): \(ended.output)")
                    #expect(ended.errors.contains("flatpak:org.contoso.Notes"), "\(other): \(ended.errors)")
                }
                // The checks that need no agent are made.
                let doctor = try await run(f, ["doctor"])
                #expect(doctor.output.contains("makes no checks for this program"), "\(doctor.errors)")
                #expect(doctor.output.contains("flatpak:org.contoso.Notes"))
                // Both apps are still signed in, for the user's own programs.
                #expect(try await f.run("ssoctl", token(f, "app-2")).status == 0)
                let out = try await run(f, ["sign-out", "--client-id", "app-1"] + username)
                #expect(out.status == 1 && out.errors.contains("list_accounts"))
                withExtendedLifetime(agent) {}
            }
        }

        @Test func namesAnAppWhoseAccountsItMayList() async throws {
            let apps = "\n\n[apps.mail]\nclient_id = \"app-2\"\n\n[apps.notes]\nclient_id = \"app-1\"\n"
            try await AgentProcessFixture.with(rules: Self.rules + apps) { f in
                let agent = try await f.agent()
                let all = try await run(f, ["accounts"])
                #expect(all.status == 1 && all.errors.hasSuffix("\n  → ssoctl accounts --app notes\n"), "\(all)")
                let own = try await run(f, ["accounts", "--app", "notes"])
                #expect(own.status == 0, "\(own)")
                withExtendedLifetime(agent) {}
            }
        }

        /// A rule names client IDs, of which one need not have been used; the user's own apps presume that it is in Microsoft's family.
        @Test func learnsNothingOfTheAccountsOfAFamily() async throws {
            var settings = EmulatorSettings()
            settings.familyApps = ["app-2": "1"]
            try await AgentProcessFixture.with(settings: settings, rules: Self.rules) { f in
                let agent = try await f.agent()
                let signedIn = try await f.run(
                    "ssoctl",
                    [
                        "sign-in", "--client-id", "app-2", "--authority", "\(f.url)/common", "--scope", "User.Read",
                        "--login-hint", "alice@contoso.com",
                    ])
                #expect(signedIn.status == 0, "\(signedIn.errors)")
                let list = ["accounts", "--client-id", "app-1", "--json"]
                #expect(try await f.run("ssoctl", list).output.contains("alice"))
                let hidden = try await run(f, list)
                #expect(hidden.status == 0 && !hidden.output.contains("alice"), "\(hidden)")
                let token = try await run(f, token(f, "app-1"))
                #expect(token.status == 2 && token.errors.contains("alice"), "the name that it has given: \(token)")
                let known = try await f.run("ssoctl", self.token(f, "app-2"))
                #expect(known.status == 0, "\(known.errors)")
                withExtendedLifetime(agent) {}
            }
        }

        /// A container that shares the user's files.
        @Test func getsNothingInAPIDNamespaceOfItsOwn() async throws {
            try await AgentProcessFixture.with(rules: Self.rules) { f in
                let agent = try await f.agent()
                try await signIn(f)
                let nested = ["unshare", "--pid", "--fork", Executable.path("ssoctl")] + token(f, "app-1")
                let refused = try await f.run("/usr/bin/env", nested)
                #expect(refused.status == 1 && refused.errors.contains("sandboxed"), "\(refused.errors)")
                #expect(try await f.run("ssoctl", token(f, "app-1")).status == 0)
                withExtendedLifetime(agent) {}
            }
        }

        /// Runs `ssoctl status` beside an agent, both by a command that starts programs in namespaces of their own.
        private func statusOfAnAgent(
            _ f: AgentProcessFixture, by command: [String]
        ) async throws -> (status: Int32, output: String, errors: String) {
            let script = """
                exec 3< <(exec "$0" --allow-loopback-http 2>&1)
                while read -r line <&3; do [[ $line == "listening on"* ]] && break; done
                "$1" status; exit $?
                """
            let programs = [Executable.path("sso-agent"), Executable.path("ssoctl")]
            return try await f.run("/usr/bin/env", command + ["bash", "-c", script] + programs)
        }

        /// An agent in a PID namespace of its own may see the `/proc` of another one, where its peers' IDs are those of others.
        @Test func getsNothingFromAnAgentThatSeesOtherProcesses() async throws {
            try await AgentProcessFixture.with(rules: Self.rules) { f in
                let refused = try await statusOfAnAgent(f, by: ["unshare", "--pid", "--fork", "--kill-child"])
                #expect(refused.status == 1 && refused.errors.contains("sandboxed"), "\(refused)")
            }
        }

        /// As in a Kubernetes pod without privilege escalation, where `ssoctl` hides its root directory from the agent.
        @Test func isNoAppBesideAnAgentInAContainerWhoseProcessesGainNoPrivileges() async throws {
            try await AgentProcessFixture.with(rules: Self.rules) { f in
                let container = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
                let limits = ["setpriv", "--no-new-privs", "--bounding-set=-sys_ptrace"]
                let served = try await statusOfAnAgent(f, by: container + limits)
                #expect(served.status == 0, "\(served)")
            }
        }

        @Test func getsNothingWithoutARuleOfItsOwn() async throws {
            try await AgentProcessFixture.with(rules: Self.rules) { f in
                let agent = try await f.agent()
                try await signIn(f)
                let refused = try await run(f, as: "org.evil.App", token(f, "app-1"))
                #expect(refused.status == 1)
                // The message has the rule to add.
                for part in ["app = \"flatpak:org.evil.App\"", "client_ids = [\"app-1\"]"] {
                    #expect(refused.errors.contains(part), "\(refused.errors)")
                }
                withExtendedLifetime(agent) {}
            }
        }
    }
#endif
