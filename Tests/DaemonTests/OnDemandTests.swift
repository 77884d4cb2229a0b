internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// An agent that a program starts because none is running. Root starts none, so these tests run as another user if they can.
@Suite(.bounded) struct OnDemandTests {
    private struct Home {
        let folder: TemporaryFolder
        var environment: [String: String]

        var socketPath: String { "\(folder.path)/run/sso-agent/agent.sock" }

        init() throws {
            folder = try TemporaryFolder()
            let owner: [FileAttributeKey: Any] =
                OtherUser.isPossible ? [.ownerAccountID: OtherUser.id, .groupOwnerAccountID: OtherUser.id] : [:]
            for path in [folder.path, folder.file("run"), folder.file(".config"), folder.file(".config/sso-agent")] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                try FileManager.default.setAttributes(
                    owner.merging([.posixPermissions: 0o700]) { $1 }, ofItemAtPath: path)
            }
            let inherited = ProcessInfo.processInfo.environment
            environment = [
                "PATH": inherited["PATH"] ?? "/usr/bin:/bin", "HOME": folder.path,
                "XDG_RUNTIME_DIR": folder.file("run"), "SSO_AGENT_SYSTEM_CONFIG": folder.file("system"),
                "SECRET_OF_THE_APP": "17",
            ]
        }

        /// Writes a file that belongs to the user.
        func write(_ text: String, to name: String) throws {
            try text.write(toFile: folder.file(name), atomically: false, encoding: .utf8)
            if OtherUser.isPossible { chown(folder.file(name), OtherUser.id, OtherUser.id) }
        }

        /// Runs a script of the user's, in which `$0` is `ssoctl`, and then stops the agent that it has started.
        ///
        /// - Parameter inspect: called with the agent's process ID before it is stopped.
        func run(
            _ script: String, _ variables: [String: String] = [:], asRoot: Bool = false,
            inspect: (Int32) throws -> Void = { _ in }
        ) async throws -> (status: Int32, output: String, errors: String) {
            let user = ["setpriv", "--reuid=\(OtherUser.id)", "--regid=\(OtherUser.id)", "--clear-groups"]
            let words =
                (OtherUser.isPossible && !asRoot ? user : []) + ["bash", "-c", script, Executable.path("ssoctl")]
            let ended = try await TestProcess(
                "/usr/bin/env", words, environment: environment.merging(variables) { $1 }
            ).finish()
            if let agent = agent {
                defer { kill(agent, SIGKILL) }
                try inspect(agent)
            }
            return ended
        }

        /// The process ID of the agent.
        var agent: Int32? {
            guard let text = try? String(contentsOfFile: socketPath + ".lock", encoding: .utf8) else { return nil }
            return Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    private static let status = "exec \"$0\" status --json"

    @Test func startsOneAgentForProgramsThatFindNone() async throws {
        let home = try Home()
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
        let ended = try await Home().run(script)
        #expect(ended.status == 0 && ended.output.allSatisfy(\.isNewline) && ended.errors.isEmpty, "\(ended)")
    }

    #if os(Linux)
        /// Root may look into a process that forbids inspection; its user may not.
        @Test(.enabled(if: OtherUser.isPossible, "only root can look into the agent"))
        func startsItInASessionAndAnEnvironmentOfItsOwn() async throws {
            let home = try Home()
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
        let home = try Home()
        let script = """
            "$0" status --json || exit 1
            read -r agent <"$XDG_RUNTIME_DIR/sso-agent/agent.sock.lock"
            kill "$agent"
            while kill -0 "$agent" 2>/dev/null; do :; done
            "$0" status --json
            """
        let ended = try await home.run(script)
        #expect(ended.status == 0, "\(ended)")
    }

    @Test func startsNoneIfTheUserHasTurnedItOff() async throws {
        let home = try Home()
        for variables in [["SSO_AGENT_START": "0"], ["SSO_AGENT_SOCK": home.socketPath]] {
            let ended = try await home.run(Self.status, variables)
            #expect(ended.status == 4, "\(ended)")
            #expect(ended.output.contains("sso-agent &"), "\(ended)")
        }
        try home.write("[agent]\nstart_on_demand = false\n", to: ".config/sso-agent/config.toml")
        let ended = try await home.run(Self.status)
        #expect(ended.status == 4, "\(ended)")
        #expect(ended.output.contains("start_on_demand"), "\(ended)")
    }

    @Test func saysWhyItCouldNotBeStarted() async throws {
        let home = try Home()
        try home.write("[agent]\nstart = false\n", to: ".config/sso-agent/config.toml")
        let ended = try await home.run(Self.status)
        #expect(ended.status == 4, "\(ended)")
        #expect(ended.output.contains("config.toml") && ended.output.contains("line 2"), "\(ended)")
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can run it as root"))
    func startsNoneForRoot() async throws {
        let home = try Home()
        let ended = try await home.run(Self.status, asRoot: true)
        #expect(ended.status == 4, "\(ended)")
        let direct = try await TestProcess(
            "sso-agent", ["--on-demand", "--socket", home.socketPath], environment: home.environment
        ).finish()
        #expect(direct.status == 1 && direct.errors.contains("root"), "\(direct)")
    }

    #if os(Linux)
        @Test func startsNoneWhereTheServiceManagerHasAUnit() async throws {
            let home = try Home()
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

    @Test func startsNoProgramThatOthersCanChange() async throws {
        let home = try Home()
        let script = """
            cp /bin/true "$HOME/program" && chmod 777 "$HOME/program"
            SSO_AGENT_EXECUTABLE="$HOME/program" exec "$0" status --json
            """
        let ended = try await home.run(script)
        #expect(ended.status == 4, "\(ended)")
        #expect(ended.output.contains("chmod go-w"), "\(ended)")
    }

    @Test func reportsAProgramThatIsNoAgent() async throws {
        let home = try Home()
        let ended = try await home.run(Self.status, ["SSO_AGENT_EXECUTABLE": "/bin/true"])
        #expect(ended.status == 4, "\(ended)")
        #expect(ended.output.contains("/bin/true has ended"), "\(ended)")
    }
}
