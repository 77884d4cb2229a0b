internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// Requests that a person has to confirm: on the terminal of the process, or with a program of the configuration.
@Suite(.bounded) struct ConfirmationTests {
    private func export(_ f: AgentProcessFixture) -> [String] {
        ["export", "--format", "msal-json", "--include-secrets", "-o", f.folder.file("export.json")]
    }

    private func wasExported(_ f: AgentProcessFixture) -> Bool {
        FileManager.default.fileExists(atPath: f.folder.file("export.json"))
    }

    /// Runs a command on a terminal of its own, and types the answers: the first at once, the second at the question.
    private func onTerminal(
        _ f: AgentProcessFixture, early: String? = nil, answer: String, _ command: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let steps = (early.map { [("", $0 + "\n")] } ?? []) + [("Type yes", answer + "\n")]
        return try await f.onTerminal(command, steps).finish()
    }

    #if os(Linux)
        @Test func exportsAfterAYesOnTheTerminal() async throws {
            try await AgentProcessFixture.with(rules: "") { f in
                let agent = try await f.agent()
                let ended = try await onTerminal(f, answer: "yes", export(f))
                #expect(ended.status == 0 && wasExported(f), "\(ended.output)\(ended.errors)")
                #expect(ended.output.contains("export every refresh token"))
                withExtendedLifetime(agent) {}
            }
        }

        @Test(arguments: [(nil, "no"), (nil, ""), ("yes", "no"), (nil, "y")] as [(String?, String)])
        func exportsNothingAfterAnotherAnswer(early: String?, answer: String) async throws {
            try await AgentProcessFixture.with(rules: "") { f in
                let agent = try await f.agent()
                let ended = try await onTerminal(f, early: early, answer: answer, export(f))
                #expect(ended.status == 1 && !wasExported(f), "\(ended.output)\(ended.errors)")
                #expect(ended.output.contains("not confirmed"))
                withExtendedLifetime(agent) {}
            }
        }

        /// What is typed after Ctrl-C is for the shell, and the next question is asked without a wait for the first.
        @Test func endsTheQuestionWithTheProcessThatAsked() async throws {
            try await AgentProcessFixture.with(rules: "") { f in
                let agent = try await f.agent()
                let steps = [("Type yes", "\u{3}"), ("job ended", "yes\n")]
                let ended = try await f.onTerminal(export(f), steps, hasShell: true).finish()
                #expect(ended.output.contains("the shell has read: yes"), "\(ended.output)\(ended.errors)")
                #expect(ended.status == 128 + SIGINT && !wasExported(f), "\(ended.output)\(ended.errors)")
                let next = try await onTerminal(f, answer: "yes", export(f))
                #expect(next.status == 0 && wasExported(f), "\(next.output)\(next.errors)")
                withExtendedLifetime(agent) {}
            }
        }

        /// What is typed after Ctrl-Z is for the shell too, and the command is refused when it goes on.
        @Test func endsTheQuestionOfAStoppedProcess() async throws {
            try await AgentProcessFixture.with(rules: "") { f in
                let agent = try await f.agent()
                let steps = [("Type yes", "\u{1A}"), ("job stopped", "yes\n"), ("job ended", "\n")]
                let ended = try await f.onTerminal(export(f), steps, hasShell: true).finish()
                #expect(ended.output.contains("the shell has read: yes"), "\(ended.output)\(ended.errors)")
                #expect(ended.status == 1 && !wasExported(f), "\(ended.output)\(ended.errors)")
                #expect(ended.output.contains("not confirmed"), "\(ended.output)")
                withExtendedLifetime(agent) {}
            }
        }

        @Test func changesTheKeyAfterAYesOnTheTerminal() async throws {
            try await AgentProcessFixture.with(rules: "") { f in
                let agent = try await f.agent()
                try await f.waitUntilOpen()
                let ended = try await onTerminal(f, answer: "yes", ["key", "set", "file"])
                #expect(ended.status == 0 && ended.output.contains("change the key"), "\(ended.output)\(ended.errors)")
                withExtendedLifetime(agent) {}
            }
        }
    #endif

    /// As a program that runs in the background, or was started by the desktop.
    @Test func refusesAProcessWithoutATerminal() async throws {
        try await AgentProcessFixture.with(rules: "") { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            for command in [export(f), ["key", "set", "file"]] {
                let ended = try await f.run("/usr/bin/env", ["setsid", "-w", Executable.path("ssoctl")] + command)
                #expect(ended.status == 1 && ended.errors.contains("[[rule]]"), "\(ended.errors)")
            }
            #expect(!wasExported(f))
            withExtendedLifetime(agent) {}
        }
    }

    /// The question would be in vain, and without a terminal the error would be about the terminal.
    @Test func refusesWhatHasToFailBeforeAPersonIsAsked() async throws {
        try await AgentProcessFixture.with(rules: "") { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let client = AgentClient(socketPath: f.socketPath)
            let key = await #expect(throws: TokenError.self) {
                try await client.setKey(SetKey(source: .passphrase, passphrase: Secret("short")))
            }
            #expect(key?.code == .invalidDeveloperParameter)
            let unsaid = await #expect(throws: TokenError.self) {
                try await client.exportCache(.msalJSON, includesSecrets: false)
            }
            #expect(unsaid?.code == .invalidDeveloperParameter)
            let format = await #expect(throws: TokenError.self) {
                try await client.exportCache(.adalJSON, includesSecrets: true)
            }
            #expect(format?.code == .unsupportedFunctionality)
            let socket = await #expect(throws: TokenError.self) {
                try await client.publishSocket(PublishSocket(path: "relative", clientIDs: []))
            }
            #expect(socket?.code == .invalidDeveloperParameter)
            withExtendedLifetime(agent) {}
        }
    }

    @Test(arguments: [(0, true), (1, false)])
    func asksWithTheConfiguredProgram(status: Int, isConfirmed: Bool) async throws {
        try await AgentProcessFixture.with(rules: "") { f in
            let program = try await f.folder.makeProgram(
                "askpass", "echo \"$SSH_ASKPASS_PROMPT: $1\" >'\(f.folder.file("asked"))'\nexit \(status)")
            try f.configure("[confirmation]\naskpass = \"\(program)\"\n")
            let agent = try await f.agent()
            let ended = try await f.run("/usr/bin/env", ["setsid", "-w", Executable.path("ssoctl")] + export(f))
            #expect((ended.status == 0) == isConfirmed && wasExported(f) == isConfirmed, "\(ended.errors)")
            let asked = try String(contentsOfFile: f.folder.file("asked"), encoding: .utf8)
            #expect(asked.hasPrefix("confirm: sso-agent: ") && asked.contains("export every refresh token"))
            withExtendedLifetime(agent) {}
        }
    }

    /// The kernel keeps no status of a child whose parent ignores SIGCHLD, which programs inherit.
    @Test func takesAYesIfTheParentOfTheAgentIgnoredItsChildren() async throws {
        try await AgentProcessFixture.with(rules: "") { f in
            let program = try await f.folder.makeProgram("askpass", "exit 0")
            try f.configure("[confirmation]\naskpass = \"\(program)\"\n")
            let script = """
                from os import execv
                from signal import SIGCHLD, SIG_IGN, signal
                from sys import argv
                signal(SIGCHLD, SIG_IGN)
                execv(argv[1], argv[1:])
                """
            let command = ["python3", "-c", script, Executable.path("sso-agent")]
            let agent = RunningAgent(try TestProcess("/usr/bin/env", command, environment: f.environment))
            try await agent.process.waitForError("listening on \(f.socketPath)")
            let ended = try await f.run("/usr/bin/env", ["setsid", "-w", Executable.path("ssoctl")] + export(f))
            #expect(ended.status == 0 && wasExported(f), "\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }

    #if os(Linux)
        /// The user would still see its question, and a yes would have no effect.
        @Test(arguments: ["agent", "command"]) func endsTheProgramThatAsks(withThe process: String) async throws {
            try await AgentProcessFixture.with(rules: "") { f in
                let gate = f.folder.file("gate")
                try #require(mkfifo(gate, 0o600) == 0)
                // The shell waits for another program, which has to end as well.
                let program = try await f.folder.makeProgram("askpass", "cat '\(gate)'\nexit 0")
                try f.configure("[confirmation]\naskpass = \"\(program)\"\n")
                let agent = try await f.agent()
                let command = try TestProcess("ssoctl", export(f), environment: f.environment)
                // Opened when the program asks.
                let pipe = try await offPool { open(gate, O_WRONLY) }
                defer { close(pipe) }
                if process == "agent" {
                    // It would start another agent.
                    command.signal(SIGSTOP)
                    try await agent.process.killHard()
                } else {
                    try await command.killHard()
                }
                let events = try await offPool {
                    var event = pollfd(fd: pipe, events: 0, revents: 0)
                    while poll(&event, 1, -1) < 0 {}
                    return Int32(event.revents)
                }
                #expect(events & Int32(POLLERR) != 0, "nobody has the pipe open for reading")
                try await command.killHard()
                #expect(!wasExported(f))
                withExtendedLifetime(agent) {}
            }
        }
    #endif

    /// The rules that count are those of the time of the answer.
    @Test func refusesWhatARuleHasForbiddenWhileAPersonWasAsked() async throws {
        try await AgentProcessFixture.with(rules: "") { f in
            let configuration = f.folder.file("config.toml")
            let program = try await f.folder.makeProgram(
                "askpass",
                """
                printf '[[rule]]\\nrequests = ["export_cache"]\\neffect = "deny"\\n' >>'\(configuration)'
                '\(Executable.path("ssoctl"))' reload >/dev/null
                exit 0
                """)
            try f.configure("[confirmation]\naskpass = \"\(program)\"\n")
            let agent = try await f.agent()
            let ended = try await f.run("/usr/bin/env", ["setsid", "-w", Executable.path("ssoctl")] + export(f))
            #expect(ended.status == 1 && !wasExported(f), "\(ended.output)\(ended.errors)")
            // The message of a request about which nobody can be asked has the word, too.
            #expect(ended.errors.contains("a rule of the agent's configuration refuses"), "\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }

    /// An administrator can require a person for every request, or for none.
    @Test(arguments: [("confirm", "import_cache"), ("deny", "import_cache"), ("confirm", "redeem_grant")])
    func obeysARuleAboutOtherRequests(effect: String, request: String) async throws {
        try await AgentProcessFixture.with(rules: "[[rule]]\nrequests = [\"\(request)\"]\neffect = \"\(effect)\"\n") {
            f in
            let agent = try await f.agent()
            let file = f.folder.file("cache.json")
            try #"{"Account":{}}"#.write(toFile: file, atomically: false, encoding: .utf8)
            let ended = try await f.run(
                "/usr/bin/env",
                ["setsid", "-w", Executable.path("ssoctl"), "import", "--format", "msal-json", file])
            #expect((ended.status == 1) == (request == "import_cache"), "\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }
}
