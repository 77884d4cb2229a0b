internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// What commands say about a socket, a variable or a home folder that cannot be used.
@Suite(.bounded) struct EnvironmentTests {
    @Test func namesTheVariableThatLeadsToNoSocket() async throws {
        try await AgentProcessFixture.with { f in
            let file = f.folder.file("file")
            #expect(FileManager.default.createFile(atPath: file, contents: Data()))
            for path in [file, f.folder.path] {
                let failure = try await f.failure(["status"], status: 4, variables: ["SSO_AGENT_SOCK": path])
                #expect(failure["message"] as? String == "\(path) is not a socket; SSO_AGENT_SOCK names it")
                #expect(failure["nextCommand"] as? String == "unset SSO_AGENT_SOCK", "\(failure)")
            }
        }
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
    func leadsToTheDoctorFromASocketThatMayNotBeUsed() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            chmod(f.folder.path, 0o755)
            let path = try f.makeSocketFolder()
            #expect(try await f.publish(path).status == 0)
            // A copy, since another user may not look into the folder of the build.
            let program = try await f.folder.copyProgram("ssoctl", from: Executable.path("ssoctl"))
            let environment = f.environment.merging(["SSO_AGENT_SOCK": path]) { $1 }
            let ended = try await TestProcess(
                "/usr/bin/env", OtherUser.command + [program, "status"], environment: environment
            ).finish()
            let message =
                "you may not use \(path); it is another user's, or its mode was changed; SSO_AGENT_SOCK names it"
            #expect(ended.status == 4 && ended.errors == "ssoctl: \(message)\n  → ssoctl doctor\n", "\(ended)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test(arguments: ["foo", "-1", "4294967296"]) func refusesAnOwnerThatIsNoUser(owner: String) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let variables = ["SSO_AGENT_OWNER": owner]
            let failure = try await f.failure(["status"], status: 4, variables: variables)
            let message = failure["message"] as? String ?? ""
            #expect(message.contains("“\(owner)”, which is not the ID of a user"), "\(failure)")
            #expect(failure["nextCommand"] as? String == "unset SSO_AGENT_OWNER", "\(failure)")
            let check = try await DoctorTests.check(
                "socket", in: f.ssoctl(["doctor", "--json"], status: 4, variables: variables).output)
            #expect(check.detail == message && check.hint == "unset SSO_AGENT_OWNER", "\(check)")
            withExtendedLifetime(agent) {}
        }
    }

    /// The password database of a container may not have the user.
    @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
    func needsAHomeFolder() async throws {
        try await AgentProcessFixture.with { f in
            chmod(f.folder.path, 0o755)
            for (name, arguments, message) in [
                ("ssoctl", ["app", "list"], "ssoctl: HOME is not set\n  → export HOME=FOLDER\n"),
                ("sso-agent", ["--check-config"], "no home folder of user 54321\n  → export HOME=FOLDER\n"),
                // The command finds the agent beside it, and does not start it.
                (
                    "ssoctl", ["status"],
                    "; it could not be started: HOME is not set, and the password database has no home folder of user 54321\n"
                        + "  → export HOME=FOLDER\n"
                ),
            ] {
                let program = try await f.folder.copyProgram(name, from: Executable.path(name))
                let ended = try await f.run(
                    "/usr/bin/env",
                    ["-i", "setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", program] + arguments)
                #expect(ended.status == 1 && ended.output.isEmpty, "\(ended)")
                #expect(ended.errors.hasSuffix(message), "\(ended)")
            }
            // That of the database is used for a user who has one.
            let own = try await f.run("/usr/bin/env", ["-i", Executable.path("ssoctl"), "app", "list", "--json"])
            #expect(own.status == 0, "\(own)")
            #expect(!FileManager.default.fileExists(atPath: "/nonexistent"))
        }
    }

    /// The agent would have another store, or no rules, and say nothing.
    @Test(arguments: [("sso-agent", "--check-config"), ("ssoctl", "app list")])
    func refusesAPathThatIsNotUTF8(program: String, arguments: String) async throws {
        try await AgentProcessFixture.with { f in
            for name in [
                "SSO_AGENT_STATE_DIR", "SSO_AGENT_SYSTEM_CONFIG", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
                "XDG_CONFIG_HOME", "HOME",
            ] {
                let script = "export \(name)=\"$(printf '/a\\377')\"; exec \"$0\" \(arguments)"
                let ended = try await f.run("/bin/sh", ["-c", script, Executable.path(program)])
                #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
                #expect(ended.errors.contains("The variable \(name) is not UTF-8."), "\(ended)")
            }
        }
    }

    /// The agent would have its socket and its store in the root folder.
    @Test(arguments: ["--socket", "--state-dir", "--metrics-socket", "--config", "SSO_AGENT_SOCK", "HOME"])
    func refusesARelativePathInAFolderThatWasRemoved(name: String) async throws {
        try await AgentProcessFixture.with { f in
            let isOption = name.hasPrefix("--")
            let command = isOption ? "exec \"$0\" \(name) other" : "export \(name)=other; exec \"$0\""
            let script = "mkdir \"$1\" && cd \"$1\" && rmdir \"$1\" && \(command) --check-config"
            let program = Executable.path("sso-agent")
            let ended = try await f.run("/bin/sh", ["-c", script, program, f.folder.file("removed")])
            let problem =
                "\(isOption ? name : "The variable \(name)") is a relative path, and the current folder has been removed."
            #expect(ended.status == 64 && ended.errors.contains(problem), "\(ended)")
        }
    }

    @Test func refusesABlankLoginHint() async throws {
        try await AgentProcessFixture.with { f in
            let ended = try await f.ssoctl(["sign-in", "--login-hint", ""], status: 64)
            #expect(ended.errors.contains("must not be blank"), "\(ended)")
        }
    }

    /// The user's file decides neither.
    @Test func saysWhichOtherDefaultIsInEffect() async throws {
        try await AgentProcessFixture.with { f in
            let system = f.folder.file("system/config.toml")
            try FileManager.default.createDirectory(
                atPath: f.folder.file("system"), withIntermediateDirectories: false)
            let text = "[defaults]\napp = \"a\"\n[apps.a]\nclient_id = \"1\"\n[apps.b]\nclient_id = \"2\"\n"
            try text.write(toFile: system, atomically: false, encoding: .utf8)
            let (none, other) = ([String: String](), ["SSO_AGENT_APP": "a"])
            let variable = "In this shell, SSO_AGENT_APP names “a”, which is in effect.\n"
            let value = "\(system):2 names the default app “a”, which is in effect.\n"
            let removed = "Removed the defaults from \(f.folder.file("config.toml")).\n"
            for (variables, lines) in [(none, ""), (other, variable), (["SSO_AGENT_APP": "b"], "")] {
                let output = try await f.ssoctl(["use", "b"], variables: variables).output
                #expect(output == "The default app is b.\n\(lines)")
            }
            #expect(try await f.ssoctl(["use", "--none"], variables: other).output == removed + variable)
            try await f.ssoctl(["use", "b"])
            #expect(try await f.ssoctl(["use", "--none"]).output == removed + value)
        }
    }

    @Test func printsAFailureOfTheAuditLogOnOneLine() async throws {
        try await AgentProcessFixture.with { f in
            for (arguments, status) in [(["audit", "--json"], Int32(4)), (["audit", "--json", "--nonsense"], 64)] {
                let output = try await f.ssoctl(arguments, status: status).output
                #expect(output.hasPrefix("{\"error\":") && output.split(separator: "\n").count == 1, "\(output)")
            }
        }
    }

    #if os(Linux)
        /// As in a root directory that was made for one program. Without its options, the agent would serve another socket and store.
        @Test(
            .enabled(if: Sandbox.isPossible, "only root can make namespaces"),
            arguments: ["sso-agent", "ssoctl"])
        func doesNothingIfItsArgumentsCannotBeRead(program: String) async throws {
            try await AgentProcessFixture.with { f in
                let script = "mount -t tmpfs none /proc && exec \"$0\" --version"
                let ended = try await f.run(
                    "/usr/bin/env",
                    ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, Executable.path(program)])
                #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
                #expect(ended.errors.contains("/proc/self/cmdline."), "\(ended)")
            }
        }
    #endif
}
