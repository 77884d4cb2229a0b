internal import Foundation
internal import TestSupport
internal import Testing

#if os(Linux)
    /// Where programs look for an agent, and which of them start none: those that would start a second one beside the unit's, or one in
    /// a sandbox.
    @Suite(.bounded, .enabled(if: Sandbox.isPossible, "only root can make folders in /run, and namespaces"))
    struct OnDemandPlaceTests {
        /// A command of root's that runs the words after it with another `/run`, in which a script makes the user's folder `$0`.
        private static func withRun(_ script: String) -> [String] {
            let mount = """
                umask 022
                mount -t tmpfs -o mode=755 none /run && mkdir /run/user || exit 70
                \(script)
                exec env -u XDG_RUNTIME_DIR "$@"
                """
            return ["unshare", "--mount", "--propagation", "private", "bash", "-c", mount, folder]
        }

        private static let folder = "/run/user/\(OtherUser.id)"
        private static let makeFolder = "mkdir -m 700 \"$0\" && chown \(OtherUser.id) \"$0\" || exit 71"
        /// Stops the agent at a path, which is not seen from outside.
        private static let stop = """
            stop() { read -r agent <"$1.lock" && kill -9 "$agent"; }
            """

        /// As a program that cron or `su` has started.
        @Test func findsTheRuntimeFolderWithoutItsVariable() async throws {
            let home = try OnDemandHome()
            let script = """
                \(Self.stop)
                "$0" status --json || exit 1
                XDG_RUNTIME_DIR=\(Self.folder) SSO_AGENT_START=0 "$0" status --json || exit 2
                stop \(Self.folder)/sso-agent/agent.sock
                """
            let ended = try await home.run(script, within: Self.withRun(Self.makeFolder))
            #expect(ended.status == 0, "\(ended)")
            let agents = ended.output.matches(of: #/"pid" ?: ?(\d+)/#).map { $0.output.1 }
            #expect(agents.count == 2 && Set(agents).count == 1, "\(ended)")
        }

        @Test(arguments: ["chmod 755 \"$0\"", "chown 4711 \"$0\"", "rmdir \"$0\" && ln -s /tmp \"$0\""])
        func usesNoRuntimeFolderThatIsNotTheUsersAlone(change: String) async throws {
            let home = try OnDemandHome()
            let script = """
                \(Self.stop)
                "$0" status || exit 1
                stop "$HOME/.local/state/sso-agent/run/agent.sock"
                """
            let ended = try await home.run(script, within: Self.withRun("\(Self.makeFolder)\n\(change)"))
            #expect(ended.status == 0, "\(ended)")
        }

        /// The unit's agent could not open the store while the other one runs.
        @Test func startsNoneBesideAUnitWhoseManagerIsNotReachable() async throws {
            let home = try OnDemandHome()
            let script = """
                mkdir -p "$HOME/.config/systemd/user" && touch "$HOME/.config/systemd/user/sso-agent.socket"
                exec "$0" status
                """
            let ended = try await home.run(script, within: Self.withRun("mkdir -p /run/systemd/system"))
            #expect(ended.status == 4, "\(ended)")
            #expect(ended.errors.contains("loginctl enable-linger"), "\(ended)")
        }

        @Test func namesTheFolderInWhichSystemctlFindsTheManager() async throws {
            let home = try OnDemandHome()
            let make = "\(Self.makeFolder); mkdir \"$0/systemd\" && touch \"$0/systemd/private\""
            let script = """
                mkdir -p "$HOME/.config/systemd/user" && touch "$HOME/.config/systemd/user/sso-agent.socket"
                exec "$0" status
                """
            let ended = try await home.run(script, within: Self.withRun(make))
            #expect(ended.status == 4, "\(ended)")
            let command = "XDG_RUNTIME_DIR=\(Self.folder) systemctl --user enable --now sso-agent.socket"
            #expect(ended.errors.hasSuffix("  → \(command)\n"), "\(ended)")
        }

        /// In a container without a service manager, a unit of the package is only a file.
        @Test func startsOneWhereNoServiceManagerRunsTheSystem() async throws {
            let home = try OnDemandHome()
            let script = """
                \(Self.stop)
                mkdir -p "$HOME/.config/systemd/user" && touch "$HOME/.config/systemd/user/sso-agent.socket"
                "$0" status || exit 1
                stop "$HOME/.local/state/sso-agent/run/agent.sock"
                """
            let ended = try await home.run(script, within: Self.withRun(""))
            #expect(ended.status == 0, "\(ended)")
        }

        struct Apart: Sendable, CustomTestStringConvertible {
            let within: [String]
            let reason: String
            /// Whether a service manager of the user's listens outside.
            var hasManager = false
            var testDescription: String { (within + [hasManager ? "beside a manager" : ""]).joined(separator: " ") }
        }

        @Test(
            .disabled(if: Sanitizer.isOn, "the search for leaks needs the PIDs of /proc"),
            arguments: [
                Apart(within: ["setpriv", "--no-new-privs"], reason: "may gain no privileges (no_new_privs)"),
                Apart(within: ["unshare", "--pid", "--fork"], reason: "has process IDs of its own"),
                Apart(within: ["unshare", "--net"], reason: "has a network of its own"),
                Apart(
                    within: ["unshare", "--pid", "--fork", "--mount-proc"],
                    reason: "does not see the processes of the user's service manager", hasManager: true),
                Apart(within: ["unshare", "--mount"], reason: "has mounts of its own", hasManager: true),
                Apart(within: ["env", "SNAP=/snap/app/1"], reason: "runs in a Snap"),
            ])
        func startsNoneInASandbox(_ apart: Apart) async throws {
            let home = try OnDemandHome()
            let manager = apart.hasManager ? try await home.manager() : nil
            let ended = try await home.run("exec \"$0\" status", within: apart.within)
            #expect(ended.status == 4, "\(ended)")
            #expect(ended.errors.contains("this program \(apart.reason), as in a sandbox"), "\(ended)")
            #expect(!ended.errors.contains("→"), "\(ended)")
            manager?.signal(SIGKILL)
        }

        @Test(.enabled("needs user namespaces") { try await OtherUser.canBeRootOfANamespace() })
        func startsNoneAmongUsersOfItsOwn() async throws {
            let home = try OnDemandHome()
            let ended = try await home.run("exec unshare --user --map-current-user \"$0\" status")
            #expect(ended.status == 4, "\(ended)")
            #expect(ended.errors.contains("has user IDs of its own, as in a sandbox"), "\(ended)")
        }

        @Test func startsOneBesideAServiceManagerOfTheSameSession() async throws {
            let home = try OnDemandHome()
            let manager = try await home.manager()
            let ended = try await home.run("exec \"$0\" status")
            #expect(ended.status == 0, "\(ended)")
            manager.signal(SIGKILL)
        }
    }

    extension OnDemandHome {
        /// Starts a process of the user's that listens where a service manager does.
        fileprivate func manager() async throws -> TestProcess {
            let listener = PackageFolder.path("Tests/DaemonTests/python/silent_listener.py")
            let script = """
                mkdir -p "$XDG_RUNTIME_DIR/systemd" && exec python3 '\(listener)' "$XDG_RUNTIME_DIR/systemd/private"
                """
            let process = try TestProcess(
                "/usr/bin/env", OtherUser.command + ["bash", "-c", script], environment: environment)
            try await process.waitForOutput("ready")
            return process
        }
    }
#endif
