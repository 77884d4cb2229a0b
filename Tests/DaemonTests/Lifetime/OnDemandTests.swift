internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// An agent that a program starts because none is running. Root starts none, so these tests run as another user if they can.
@Suite(.bounded) struct OnDemandTests {
    private static let status = "exec \"$0\" status --json"

    @Test func startsOneAgentForProgramsThatFindNone() async throws {
        let home = try OnDemandHome()
        let script = """
            for _ in {1..12}; do "$0" status --json & processes+=($!); done
            for process in "${processes[@]}"; do wait "$process" || exit 1; done
            """
        let ended = try await home.run(script)
        #expect(ended.status == 0, "\(ended)")
        let agents = ended.output.matches(of: #/"(?:processID|pid|process)" ?: ?(\d+)/#).map { $0.output.1 }
        #expect(agents.count == 12 && Set(agents).count == 1, "\(ended)")
        #expect(!ended.errors.contains("listening on"))
    }

    @Test func startsNoneForTheCompletionOfACommandLine() async throws {
        let script = """
            "$0" ---completion token -- --account 0 0 ssoctl token ''
            [ ! -e "$XDG_RUNTIME_DIR/sso-agent" ]
            """
        let ended = try await OnDemandHome().run(script)
        #expect(ended.status == 0 && ended.output.allSatisfy(\.isNewline) && ended.errors.isEmpty, "\(ended)")
    }

    /// The same mistake has the same status and remedy, whether a command finds it or the agent.
    @Test func saysWhichLineOfTheConfigurationKeepsItFromStarting() async throws {
        let home = try OnDemandHome()
        try home.write("[network]\nproxy = 3\n", to: ".config/sso-agent/config.toml")
        let ended = try await home.run(#"for word in token reload; do "$0" $word; [ $? = 1 ] || exit 70; done"#)
        #expect(ended.status == 0, "\(ended)")
        #expect(ended.errors.split(separator: "\n").count { $0.hasPrefix("  → ${EDITOR:-nano} +2 ") } == 2, "\(ended)")
    }

    /// As after `su`, which keeps the variable.
    @Test(.enabled(if: OtherUser.isPossible, "only root can make a folder of another user"))
    func saysThatTheRuntimeFolderIsAnotherUsers() async throws {
        let home = try OnDemandHome()
        let other = home.folder.file("other")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        #expect(chown(other, 4711, 4711) == 0)
        let ended = try await home.run(#""$0" status"#, ["XDG_RUNTIME_DIR": other])
        #expect(ended.status == 4 && ended.errors.contains("belongs to user 4711"), "\(ended)")
        #expect(ended.errors.hasSuffix("\n  → unset XDG_RUNTIME_DIR\n"), "\(ended)")
    }

    /// Root may read every file, so that this needs another user.
    @Test(arguments: ["cache.key", "cache.sqlite"])
    func namesTheCommandForAFileThatCannotBeRead(name: String) async throws {
        let home = try OnDemandHome()
        let script = """
            file="$HOME/.local/state/sso-agent/\(name)"
            "$0" accounts >/dev/null || exit 70
            kill -9 "$(cat "$XDG_RUNTIME_DIR/sso-agent/agent.sock.lock")"
            chmod 0 "$file" || exit 71
            "$0" accounts
            """
        let ended = try await home.run(script)
        #expect(ended.status == 1, "\(ended)")
        let file = "\(home.folder.path)/.local/state/sso-agent/\(name)"
        #expect(ended.errors.hasSuffix("\n  → chmod u+rw \(file)\n"), "\(ended)")
    }

    /// The store is kept, and can be opened again with its key.
    @Test func asksForAMissingKeyFile() async throws {
        let script = """
            "$0" accounts >/dev/null || exit 70
            kill -9 "$(cat "$XDG_RUNTIME_DIR/sso-agent/agent.sock.lock")"
            rm "$HOME/.local/state/sso-agent/cache.key" || exit 71
            "$0" accounts >/dev/null
            "$0" status
            """
        let ended = try await OnDemandHome().run(script)
        #expect(ended.status == 0, "\(ended)")
        #expect(ended.output.contains("put the store and its key file back"), "\(ended)")
        #expect(!ended.output.contains("ssoctl key set"), "\(ended)")
    }

    #if os(Linux)
        /// Root may look into a process that forbids inspection; its user may not.
        @Test(.enabled(if: OtherUser.isPossible, "only root can look into the agent"))
        func startsItInASessionAndAnEnvironmentOfItsOwn() async throws {
            let home = try OnDemandHome()
            let script = """
                echo text >"$HOME/document"
                exec 40<"$HOME/document"
                "$0" status >&2 || exit 1
                cut -d ' ' -f 6 /proc/$$/stat
                """
            var found = (environment: "", files: [""], session: "")
            let ended = try await home.run(script) { agent in
                let folder = "/proc/\(agent)"
                let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd").compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/fd/\($0)")
                }
                let status = try String(contentsOfFile: "\(folder)/stat", encoding: .utf8)
                let fields = status.split(separator: ")").last?.split(separator: " ").map(String.init) ?? []
                found = (
                    try String(contentsOfFile: "\(folder)/environ", encoding: .utf8), files,
                    fields.count > 4 ? fields[3] : ""
                )
            }
            #expect(ended.status == 0, "\(ended)")
            #expect(found.environment.contains("XDG_RUNTIME_DIR="))
            #expect(!found.environment.contains("SECRET_OF_THE_APP"))
            #expect(!found.files.contains(home.folder.file("document")))
            #expect(found.files.filter { $0 == "/dev/null" }.count >= 3)
            let session = ended.output.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(!found.session.isEmpty && !session.isEmpty && found.session != session)
        }
    #endif

    @Test func startsAnotherOneAfterTheFirstWasStopped() async throws {
        let home = try OnDemandHome()
        let script = """
            "$0" status --json || exit 1
            read -r agent <"$XDG_RUNTIME_DIR/sso-agent/agent.sock.lock"
            kill "$agent"
            # A container's first process may collect no processes: the agent then remains, although it has ended.
            while kill -0 "$agent" 2>/dev/null && ! grep -qs '^State:.Z' "/proc/$agent/status"; do :; done
            "$0" status --json
            """
        let ended = try await home.run(script)
        #expect(ended.status == 0, "\(ended)")
    }

    @Test func startsNoneIfTheUserHasTurnedItOff() async throws {
        let home = try OnDemandHome()
        let cases = [
            (["SSO_AGENT_START": "0"], home.socketPath, "sso-agent &"),
            (["SSO_AGENT_SOCK": home.socketPath], home.socketPath, "sso-agent &"),
            (
                ["SSO_AGENT_SOCK": home.folder.file("other.sock")], home.folder.file("other.sock"),
                "sso-agent --socket \(home.folder.file("other.sock")) &"
            ),
        ]
        for (variables, path, command) in cases {
            let ended = try await home.run("exec \"$0\" status", variables)
            #expect(ended.status == 4, "\(ended)")
            #expect(ended.errors.hasSuffix("no agent is running at \(path)\n  → \(command)\n"), "\(ended)")
        }
        try home.write("[agent]\nstart_on_demand = false\n", to: ".config/sso-agent/config.toml")
        let ended = try await home.run(Self.status)
        #expect(ended.status == 4, "\(ended)")
        #expect(ended.output.contains("start_on_demand"), "\(ended)")
        #expect(ended.output.contains("\"nextCommand\" : \"sso-agent &\""), "\(ended)")
    }

    /// As after a `chmod` of everything in the folder above.
    @Test(
        .enabled(if: OtherUser.isPossible || geteuid() != 0, "root needs no mode"), arguments: ["run/sso-agent", "run"])
    func namesTheModeOfAFolderThatHidesTheSocket(name: String) async throws {
        let home = try OnDemandHome()
        let folder = home.folder.file(name)
        let script = """
            "$0" status >/dev/null || exit 70
            chmod 600 '\(folder)' && "$0" doctor
            chmod 700 '\(folder)'
            """
        let ended = try await home.run(script)
        #expect(ended.status == 0 && ended.output.contains("FAIL socket folder: "), "\(ended)")
        #expect(ended.output.contains("\n     → chmod u+rwx \(folder)\n"), "\(ended)")
    }

    @Test func saysWhyItCouldNotBeStarted() async throws {
        let home = try OnDemandHome()
        try home.write("[agent]\nstart = false\n", to: ".config/sso-agent/config.toml")
        let ended = try await home.run(Self.status)
        // A mistake in the configuration has the status that it has in a command that reads it.
        #expect(ended.status == 1, "\(ended)")
        #expect(ended.output.contains("config.toml:2: "), "\(ended)")
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can run it as root"))
    func startsNoneForRoot() async throws {
        let home = try OnDemandHome()
        let ended = try await home.run(Self.status, asRoot: true)
        #expect(ended.status == 4, "\(ended)")
        let direct = try await TestProcess(
            "sso-agent", ["--on-demand", "--socket", home.socketPath], environment: home.environment
        ).finish()
        #expect(direct.status == 1 && direct.errors.contains("root"), "\(direct)")
    }

    #if os(Linux)
        @Test func startsNoneWhereTheServiceManagerHasAUnit() async throws {
            let home = try OnDemandHome()
            let script = """
                mkdir -p "$XDG_RUNTIME_DIR/systemd" "$HOME/.config/systemd/user"
                touch "$XDG_RUNTIME_DIR/systemd/private" "$HOME/.config/systemd/user/sso-agent.socket"
                exec "$0" status --json
                """
            let ended = try await home.run(script)
            #expect(ended.status == 4, "\(ended)")
            #expect(ended.output.contains("systemctl --user enable --now sso-agent.socket"), "\(ended)")
        }
    #endif

    #if os(Linux)
        /// systemd refuses to enable a masked unit, and to start a socket whose service is masked.
        @Test(arguments: [
            (folder: ".config/systemd/user", masked: ["sso-agent.socket"], command: "systemctl --user unmask"),
            (".config/systemd/user", ["sso-agent.service"], "systemctl --user unmask"),
            (".config/systemd/user", ["sso-agent.socket", "sso-agent.service"], "systemctl --user unmask"),
            ("run/systemd/user", ["sso-agent.socket"], "systemctl --user unmask --runtime"),
        ])
        func namesTheCommandsForAMaskedUnit(row: (folder: String, masked: [String], command: String)) async throws {
            let home = try OnDemandHome()
            let script = """
                mkdir -p "$XDG_RUNTIME_DIR/systemd" "$HOME/.local/share/systemd/user" "$HOME/\(row.folder)"
                touch "$XDG_RUNTIME_DIR/systemd/private" "$HOME"/.local/share/systemd/user/sso-agent.{socket,service}
                for unit in \(row.masked.joined(separator: " ")); do ln -s /dev/null "$HOME/\(row.folder)/$unit"; done
                "$0" status
                status=$?
                "$0" doctor
                exit $status
                """
            let ended = try await home.run(script)
            #expect(ended.status == 4, "\(ended)")
            let commands =
                "\(row.command) \(row.masked.joined(separator: " ")) && systemctl --user enable --now sso-agent.socket"
            #expect(ended.errors.contains("  → \(commands)\n"), "\(ended)")
            #expect(ended.output.contains("it is masked") && ended.output.contains(commands), "\(ended)")
        }
    #endif

    #if os(Linux)
        /// A program finds no agent and waits for the lock, until one listens whose queue of connections is full.
        @Test func startsNoneWhereOneListensThatIsBusy() async throws {
            let home = try OnDemandHome()
            let folder = home.folder.file("run/sso-agent")
            let script = """
                mkdir -p -m 700 "$XDG_RUNTIME_DIR/sso-agent" && touch "$XDG_RUNTIME_DIR/sso-agent/agent.sock.start"
                printf '#!/bin/sh\\ntouch "$HOME/started"\\n' >"$HOME/program" && chmod 700 "$HOME/program"
                """
            let prepared = try await home.run(script)
            #expect(prepared.status == 0, "\(prepared)")
            let lock = open(folder + "/agent.sock.start", O_RDWR)
            let watch = inotify_init1(0)
            defer { for descriptor in [lock, watch] { close(descriptor) } }
            try #require(flock(lock, LOCK_EX) == 0)
            try #require(inotify_add_watch(watch, folder + "/agent.sock.start", UInt32(IN_OPEN)) >= 0)
            async let ended = home.run(Self.status, ["SSO_AGENT_EXECUTABLE": home.folder.file("program")])
            // It opens the lock's file after it has found no agent.
            let count = try await offPool {
                var event = [UInt8](repeating: 0, count: 4096)
                return read(watch, &event, event.count)
            }
            #expect(count > 0)
            let busy = try BusySocket(at: home.socketPath)
            flock(lock, LOCK_UN)
            let outcome = try await ended
            #expect(outcome.status == 4, "\(outcome)")
            #expect(!FileManager.default.fileExists(atPath: home.folder.file("started")), "\(outcome)")
            withExtendedLifetime(busy) {}
        }
    #endif

    @Test func startsNoProgramThatOthersCanChange() async throws {
        let home = try OnDemandHome()
        let script = """
            cp /bin/true "$HOME/program" && chmod 777 "$HOME/program"
            SSO_AGENT_EXECUTABLE="$HOME/program" exec "$0" status --json
            """
        let ended = try await home.run(script)
        #expect(ended.status == 4, "\(ended)")
        #expect(ended.output.contains("chmod go-w"), "\(ended)")
    }

    /// The app's own standard error may be a terminal or a file of the app's.
    @Test(.enabled(if: OtherUser.isPossible, "a user who may start no process"))
    func tellsTheProgramThatStartsItWhyItCannotGoOn() async throws {
        let home = try OnDemandHome()
        let script = #"ulimit -u 1; exec "$1" --on-demand --socket "$XDG_RUNTIME_DIR/sso-agent/agent.sock""#
        let ended = try await home.run(script)
        #expect(ended.status == 1 && ended.errors.isEmpty, "\(ended)")
        #expect(ended.output.contains("cannot go on in the background: "), "\(ended)")
    }

    @Test func reportsAProgramThatIsNoAgent() async throws {
        let home = try OnDemandHome()
        let ended = try await home.run(Self.status, ["SSO_AGENT_EXECUTABLE": "/bin/true"])
        #expect(ended.status == 4, "\(ended)")
        #expect(ended.output.contains("/bin/true has ended"), "\(ended)")
    }
}
