internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// The shipped systemd units, started by the manager of a user.
#if os(Linux)
    @Suite(.bounded) struct UserManagerTests {
        private static let user = "4711"
        private static let driver = PackageFolder.path("Tests/DaemonTests/python/user_manager.py")

        /// Runs a script as a user who has a manager; the folders are the user's.
        private static func run(
            _ script: String, _ arguments: [String] = [], home: String, environment: [String: String]
        ) async throws -> (status: Int32, output: String, errors: String) {
            let command = ["python3", driver, user, home, "\(home)/run", "bash", "-c", script] + arguments
            return try await TestProcess("/usr/bin/env", command, environment: environment).finish()
        }

        private static func makeHome(in folder: TemporaryFolder) throws -> String {
            let home = folder.file("home")
            let owner = [FileAttributeKey.ownerAccountID: 4711, .groupOwnerAccountID: 4711, .posixPermissions: 0o700]
            for path in [
                home, home + "/run", home + "/.config", home + "/.config/systemd", home + "/.config/systemd/user",
            ] {
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false, attributes: owner)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: folder.path)
            return home
        }

        private static func isPossible() async throws -> Bool {
            let folder = try TemporaryFolder()
            guard OtherUser.isPossible else { return false }
            let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
            let ended = try await run(
                "exec \"$0\" --version", [Executable.path("ssoctl")], home: makeHome(in: folder),
                environment: environment)
            return ended.status == 0
        }

        /// Writes the shipped units into the user's folder, with the executables of the tests.
        private static func install(in home: String, service lines: String = "") throws {
            for name in ["sso-agent.service", "sso-agent.socket"] {
                let unit = try String(
                    contentsOfFile: PackageFolder.path("packaging/systemd/\(name)"), encoding: .utf8)
                try unit.replacing(
                    "ExecStart=/usr/local/bin/sso-agent",
                    with: "ExecStart=\(Executable.path("sso-agent")) --allow-loopback-http\n\(lines)"
                ).write(toFile: "\(home)/.config/systemd/user/\(name)", atomically: false, encoding: .utf8)
            }
        }

        private static func environment(of f: AgentProcessFixture) -> [String: String] {
            var environment = f.environment
            for name in ["SSO_AGENT_SOCK", "SSO_AGENT_STATE_DIR", "SSO_AGENT_CONFIG"] { environment[name] = nil }
            return environment
        }

        @Test(.enabled("needs root, systemd and control groups of its own") { try await isPossible() })
        func servesTheAppsOfItsUser() async throws {
            try await AgentProcessFixture.with { f in
                let home = try Self.makeHome(in: f.folder)
                try Self.install(in: home)
                let script = """
                    systemctl --user start sso-agent.socket || exit 1
                    # A completion connects to nothing that would start the agent.
                    complete=(---completion token -- --account 0 0 ssoctl token "")
                    "$0" "${complete[@]}"
                    systemctl --user is-active sso-agent.service && exit 2
                    target=(--client-id app-1 --authority "$1" --scope User.Read)
                    # The first connection starts the agent, which serves it.
                    "$0" sign-in --browser --login-hint alice@contoso.com "${target[@]}" || exit 4
                    "$0" token --username alice@contoso.com "${target[@]}" || exit 5
                    [ "$("$0" "${complete[@]}")" = alice@contoso.com ] || exit 11
                    systemctl --user show --property=ActiveState,NRestarts sso-agent
                    "$0" doctor
                    # No other process of the user can read its memory.
                    agent=$(systemctl --user show --property=MainPID --value sso-agent)
                    LC_ALL=C cat "/proc/$agent/maps" 2>&1 | grep "Permission denied" || exit 6
                    # A restart, as after an update: nobody signs in again.
                    systemctl --user restart sso-agent || exit 7
                    "$0" token --username alice@contoso.com "${target[@]}" || exit 8
                    systemctl --user stop sso-agent || exit 9
                    "$0" token --username alice@contoso.com "${target[@]}" || exit 10
                    systemctl --user show --property=Result,NRestarts sso-agent
                    """
                let ended = try await Self.run(
                    script, [Executable.path("ssoctl"), "\(f.url)/common"], home: home,
                    environment: Self.environment(of: f))
                #expect(ended.status == 0, "\(ended)")
                #expect(ended.output.contains("ActiveState=active\n"), "\(ended)")
                #expect(ended.output.contains("Result=success\n"), "\(ended)")
                #expect(!ended.output.contains("NRestarts=1"), "\(ended)")
                #expect(ended.output.contains("system calls are restricted (seccomp)"), "\(ended)")
                let unit = """
                    ok   service unit: sso-agent.socket is active, but not after the next log-in
                         → systemctl --user enable --now sso-agent.socket

                    """
                #expect(ended.output.contains(unit), "\(ended)")
                #expect(f.emulator.control.counts.signIns == 1)
            }
        }

        @Test(.enabled("needs root, systemd and control groups of its own") { try await isPossible() })
        func isUsableAgainByTheAdvisedCommandAfterAMask() async throws {
            try await AgentProcessFixture.with { f in
                let home = try Self.makeHome(in: f.folder)
                try Self.install(in: home)
                let script = """
                    # A mask replaces no file: the shipped units are in a folder of less precedence.
                    mkdir -p ~/.local/share/systemd && mv ~/.config/systemd/user ~/.local/share/systemd/ || exit 1
                    systemctl --user daemon-reload && systemctl --user mask --now sso-agent.socket || exit 2
                    "$0" status 2>advice && exit 3
                    command=$(sed -n 's/^ *→ //p' advice)
                    echo "$command"
                    systemctl --user enable --now sso-agent.socket && exit 4
                    eval "$command" || exit 5
                    "$0" status || exit 6
                    """
                let ended = try await Self.run(
                    "cd \"$HOME\"\n" + script, [Executable.path("ssoctl")], home: home,
                    environment: Self.environment(of: f))
                #expect(ended.status == 0, "\(ended)")
                #expect(ended.output.contains("unmask sso-agent.socket && "), "\(ended)")
            }
        }

        /// Neither an agent that is started by hand, nor the removal of its file, makes the unit's socket useless for good.
        @Test(.enabled("needs root, systemd and control groups of its own") { try await isPossible() })
        func keepsItsSocketWhenAnotherAgentIsStarted() async throws {
            try await AgentProcessFixture.with { f in
                let home = try Self.makeHome(in: f.folder)
                try Self.install(in: home)
                let script = """
                    systemctl --user start sso-agent.socket || exit 1
                    "$1" && exit 2
                    "$0" status || exit 3
                    systemctl --user stop sso-agent.service
                    rm "$XDG_RUNTIME_DIR/sso-agent/agent.sock"
                    command=$("$0" doctor | sed -n '/service unit/{n;s/^ *→ //p}')
                    echo "$command"
                    eval "$command" || exit 4
                    "$0" status || exit 5
                    """
                let ended = try await Self.run(
                    script, [Executable.path("ssoctl"), Executable.path("sso-agent")], home: home,
                    environment: Self.environment(of: f))
                #expect(ended.status == 0, "\(ended)")
                #expect(ended.errors.contains("is the socket of the agent's unit"), "\(ended)")
                #expect(ended.output.contains("restart sso-agent.socket\n"), "\(ended)")
            }
        }

        @Test(.enabled("needs root, systemd and control groups of its own") { try await isPossible() })
        func isStartedAgainIfItHangs() async throws {
            try await AgentProcessFixture.with { f in
                let home = try Self.makeHome(in: f.folder)
                try Self.install(in: home, service: "TimeoutAbortSec=2")
                let path = "\(home)/.config/systemd/user/sso-agent.service"
                let unit = try String(contentsOfFile: path, encoding: .utf8)
                try unit.replacing("WatchdogSec=30", with: "WatchdogSec=5").write(
                    toFile: path, atomically: false, encoding: .utf8)
                let script = """
                    systemctl --user start sso-agent.socket || exit 1
                    "$0" status || exit 2
                    agent=$(systemctl --user show --property=MainPID --value sso-agent)
                    # With 0, as of a service that does not run, kill would stop every process of this test.
                    [ "$agent" -gt 0 ] || exit 4
                    kill -STOP "$agent"
                    # The connection waits for the next agent.
                    "$0" status || exit 3
                    systemctl --user show --property=NRestarts sso-agent
                    """
                let ended = try await Self.run(
                    script, [Executable.path("ssoctl")], home: home, environment: Self.environment(of: f))
                #expect(ended.status == 0, "\(ended)")
                // More often if an agent does not run for the time of the watchdog on a busy machine.
                #expect(ended.output.contains(#/NRestarts=[1-9]/#), "\(ended)")
            }
        }
    }
#endif
