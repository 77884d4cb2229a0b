internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// Requests that a person has to confirm: on the terminal of the process, or with a program of the configuration.
@Suite(.bounded) struct ConfirmationTests {
    /// Runs a command on a terminal of its own, as a user does. Types the answers: the first at once, the second at the question.
    private static let terminal = """
        pass; import os, pty, sys
        early, answer, command = sys.argv[1], sys.argv[2], sys.argv[3:]
        child, terminal = pty.fork()
        if child == 0: os.execvp(command[0], command)
        if early: os.write(terminal, early.encode() + b"\\n")
        printed, asked = b"", False
        while True:
            try: data = os.read(terminal, 4096)
            except OSError: break
            if not data: break
            printed += data
            if not asked and b"Type yes" in printed:
                asked = True
                os.write(terminal, answer.encode() + b"\\n")
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(printed.decode())
        sys.exit(status)
        """

    private func export(_ f: AgentProcessFixture) -> [String] {
        ["export", "--format", "msal-json", "--include-secrets", "-o", f.folder.file("export.json")]
    }

    private func wasExported(_ f: AgentProcessFixture) -> Bool {
        FileManager.default.fileExists(atPath: f.folder.file("export.json"))
    }

    private func onTerminal(
        _ f: AgentProcessFixture, early: String = "", answer: String, _ command: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await f.run(
            "/usr/bin/env", ["python3", "-c", Self.terminal, early, answer, Executable.path("ssoctl")] + command)
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

        @Test(arguments: [("", "no"), ("", ""), ("yes", "no"), ("", "y")])
        func exportsNothingAfterAnotherAnswer(early: String, answer: String) async throws {
            try await AgentProcessFixture.with(rules: "") { f in
                let agent = try await f.agent()
                let ended = try await onTerminal(f, early: early, answer: answer, export(f))
                #expect(ended.status == 1 && !wasExported(f), "\(ended.output)\(ended.errors)")
                #expect(ended.output.contains("not confirmed"))
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

    @Test(arguments: [(0, true), (1, false)])
    func asksWithTheConfiguredProgram(status: Int, isConfirmed: Bool) async throws {
        try await AgentProcessFixture.with(rules: "") { f in
            let program = try await f.folder.makeProgram(
                "askpass", "echo \"$SSH_ASKPASS_PROMPT: $1\" >'\(f.folder.file("asked"))'\nexit \(status)")
            try "[confirmation]\naskpass = \"\(program)\"\n".write(
                toFile: f.folder.file("config.toml"), atomically: false, encoding: .utf8)
            let agent = try await f.agent()
            let ended = try await f.run("/usr/bin/env", ["setsid", "-w", Executable.path("ssoctl")] + export(f))
            #expect((ended.status == 0) == isConfirmed && wasExported(f) == isConfirmed, "\(ended.errors)")
            let asked = try String(contentsOfFile: f.folder.file("asked"), encoding: .utf8)
            #expect(asked.hasPrefix("confirm: sso-agent: ") && asked.contains("export every refresh token"))
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
            try "{}".write(toFile: file, atomically: false, encoding: .utf8)
            let ended = try await f.run(
                "/usr/bin/env",
                ["setsid", "-w", Executable.path("ssoctl"), "import", "--format", "msal-json", file])
            #expect((ended.status == 1) == (request == "import_cache"), "\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }
}
