internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// The shipped systemd unit, started by the manager of a user.
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

        @Test(.enabled("needs root, systemd and control groups of its own") { try await isPossible() })
        func servesTheAppsOfItsUser() async throws {
            try await AgentProcessFixture.with { f in
                let home = try Self.makeHome(in: f.folder)
                let unit = try String(
                    contentsOfFile: PackageFolder.path("packaging/systemd/sso-agent.service"), encoding: .utf8)
                // Where the tests have the executable, and its log in a pipe, which tells when it listens.
                try unit.replacing(
                    "ExecStart=/usr/local/bin/sso-agent",
                    with: """
                        ExecStart=\(Executable.path("sso-agent")) --allow-loopback-http
                        StandardError=file:\(home)/log
                        """
                ).write(
                    toFile: home + "/.config/systemd/user/sso-agent.service", atomically: false, encoding: .utf8)
                var environment = f.environment
                for name in ["SSO_AGENT_SOCK", "SSO_AGENT_STATE_DIR", "SSO_AGENT_CONFIG"] { environment[name] = nil }
                let script = """
                    mkfifo "$HOME/log"
                    systemctl --user start --no-block sso-agent || exit 1
                    exec 3<>"$HOME/log"
                    until [[ $line == "listening on "* ]]; do read -t 60 -u 3 line || exit 3; done
                    target=(--client-id app-1 --authority "$1" --scope User.Read)
                    "$0" sign-in --browser --login-hint alice@contoso.com "${target[@]}" || exit 4
                    "$0" token --username alice@contoso.com "${target[@]}" || exit 5
                    systemctl --user show --property=ActiveState,NRestarts sso-agent
                    """
                let ended = try await Self.run(
                    script, [Executable.path("ssoctl"), "\(f.url)/common"], home: home, environment: environment)
                #expect(ended.status == 0, "\(ended)")
                #expect(ended.output.contains("ActiveState=active\n"), "\(ended)")
                #expect(ended.output.contains("NRestarts=0\n"), "\(ended)")
            }
        }
    }
#endif
