internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// What shells complete when the user presses Tab, typed in real ones.
@Suite(.bounded) struct CompletionTests {
    private struct Completed: Decodable {
        var line: String
        var screen: String
    }

    /// What the lines become, each typed with a Tab behind it.
    private func typed(_ lines: [String], in shell: String, _ f: AgentProcessFixture) async throws -> [Completed] {
        let script = f.folder.file("completions.\(shell)")
        try await f.ssoctl(["--generate-completion-script", shell]).output
            .write(toFile: script, atomically: false, encoding: .utf8)
        let list = String(decoding: try JSONEncoder().encode(lines), as: UTF8.self)
        var environment = f.environment
        environment["PATH"] = "\(Executable.folder.path):\(f.environment["PATH"] ?? "/usr/bin:/bin")"
        let driver = PackageFolder.path("Tests/DaemonTests/python/complete.py")
        let ended = try await TestProcess(
            "/usr/bin/env", ["python3", driver, shell, script, list], environment: environment
        ).finish()
        #expect(ended.status == 0, "\(ended)")
        return try JSONDecoder().decode([Completed].self, from: Data(ended.output.utf8))
    }

    /// A name with which an identity provider could have a shell run a command.
    private static let hostile = "zoe$(touch pwned)`touch pwned`@contoso.com"

    /// A name that has a shell write a file, if it obeys a character that follows a letter which forms one character with it.
    private static func hostileLetters(writing file: String) -> String {
        "yve\u{D4E}`:\u{111C2}>\(file)\u{D4E}`\u{D4E}$(x)\u{D4E} x@contoso.com"
    }

    private func completes(in shell: String) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1", scopes: "User.Read Notes.Write")
            try await f.ssoctl([
                "app", "add", "mail", "--client-id", "11111111-2222-4333-8444-555555555552", "--resource",
                "https://notes.example.com",
            ])
            let letters = Self.hostileLetters(writing: f.folder.file("pwned"))
            for name in ["alice@contoso.com", "o'brien@contoso.com", Self.hostile, letters] {
                try await f.signIn(app: "graph", name)
            }
            // Names of commands and apps, and no choice of them.
            for name in ["app", "graph", "token"] {
                try FileManager.default.createDirectory(
                    atPath: f.folder.file(name), withIntermediateDirectories: false)
            }
            try "{}".write(toFile: f.folder.file("a cache.json"), atomically: false, encoding: .utf8)
            let expected = [
                ("ssoctl token gr", "ssoctl token graph "),
                ("ssoctl token --app ma", "ssoctl token --app mail "),
                ("ssoctl token --account ali", "ssoctl token --account alice@contoso.com "),
                ("ssoctl token --account alice@con", "ssoctl token --account alice@contoso.com "),
                ("ssoctl token --account o", #"ssoctl token --account o\'brien@contoso.com "#),
                ("ssoctl token -s Notes", "ssoctl token -s Notes.Write "),
                ("ssoctl token --resource https://not", "ssoctl token --resource https://notes.example.com "),
                ("ssoctl login --login-hint ali", "ssoctl login --login-hint alice@contoso.com "),
                ("ssoctl sign-out alice@c", "ssoctl sign-out alice@contoso.com "),
                ("ssoctl use ma", "ssoctl use mail "),
                ("ssoctl token --cloud us", "ssoctl token --cloud usgov "),
                ("ssoctl export --format adal-a", "ssoctl export --format adal-archive "),
                ("ssoctl key set pass", "ssoctl key set passphrase "),
                ("ssoctl app sh", "ssoctl app show "),
                ("ssoctl app remove ma", "ssoctl app remove mail "),
                ("ssoctl app rm ma", "ssoctl app rm mail "),
                ("ssoctl apps rm ma", "ssoctl apps rm mail "),
                ("ssoctl token --app=ma", "ssoctl token --app=mail "),
                ("ssoctl token --app=mail --account ali", "ssoctl token --app=mail --account alice@contoso.com "),
                ("ssoctl help tok", "ssoctl help token "),
                ("ssoctl help app rem", "ssoctl help app remove "),
                ("ssoctl help token gr", "ssoctl help token gr"),
                ("ssoctl tok", "ssoctl token "),
                ("ssoctl audit --file /etc/hostn", "ssoctl audit --file /etc/hostname "),
                ("ssoctl audit --file=tok", "ssoctl audit --file=token/"),
                (#"ssoctl import a\ c"#, #"ssoctl import a\ cache.json "#),
                (#"ssoctl import ~/a\ c"#, #"ssoctl import ~/a\ cache.json "#),
                (#"ssoctl import $HOME/a\ c"#, #"ssoctl import $HOME/a\ cache.json "#),
                ("ssoctl token --account nobo", "ssoctl token --account nobo"),
            ]
            let completed = try await typed(expected.map(\.0), in: shell, f)
            for (found, expected) in zip(completed, expected) { #expect(found.line == expected.1, "\(found)") }
            #expect(completed.count == expected.count)
            // Nothing is an error, and nothing of a name is run.
            let hostile = try await typed(["ssoctl token --account zo"], in: shell, f)[0]
            #expect(hostile.line.hasPrefix("ssoctl token --account zoe\\$\\(touch"), "\(hostile)")
            let joined = try await typed(["ssoctl token --account yv"], in: shell, f)[0]
            #expect(joined.line.hasPrefix("ssoctl token --account yve"), "\(joined)")
            #expect(!FileManager.default.fileExists(atPath: "pwned"))
            let files = try FileManager.default.contentsOfDirectory(atPath: f.folder.path)
            #expect(!files.contains { $0.unicodeScalars.starts(with: "pwned".unicodeScalars) }, "\(files)")
            #expect(!(completed + [hostile, joined]).contains { $0.screen.contains("rror") })
            withExtendedLifetime(agent) {}
        }
    }

    @Test(.enabled(if: Executable.isInstalled("bash"), "there is no bash")) func completesInBash() async throws {
        try await completes(in: "bash")
    }

    @Test(.enabled(if: Executable.isInstalled("zsh"), "there is no zsh")) func completesInZsh() async throws {
        try await completes(in: "zsh")
    }

    @Test(.enabled(if: Executable.isInstalled("fish"), "there is no fish")) func completesInFish() async throws {
        try await completes(in: "fish")
    }

    private static let accounts = ["---completion", "token", "--", "--account", "0", "0", "ssoctl", "token", ""]

    @Test func offersWhatIsConfiguredWithoutAnAgent() async throws {
        try await AgentProcessFixture.with { f in
            try await f.addApp("graph", clientID: "app-1")
            let apps = try await f.ssoctl(["---completion", "token", "--", "--app", "0", "0", "ssoctl", "token", ""])
            #expect(apps.output == "graph\n" && apps.errors.isEmpty, "\(apps)")
            let none = try await f.ssoctl(Self.accounts)
            #expect(none.output.allSatisfy(\.isNewline) && none.errors.isEmpty, "\(none)")
        }
    }

    @Test func offersNoTextThatIsNotAName() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.ssoctl([
                "sign-in", "--client-id", "app-1", "--scope", "app-1", "--login-hint", "alice@contoso.com",
                "--authority", "\(f.emulator.url)/tfp/contoso.onmicrosoft.com/b2c_1_in",
            ])
            let accounts = try await f.ssoctl(Self.accounts).output
            #expect(accounts.contains("-b2c_1_in.") && !accounts.contains("Missing"), "\(accounts)")
            let tenant = ["---completion", "token", "--", "--tenant", "0", "0", "ssoctl", "token", ""]
            #expect(try await f.ssoctl(tenant).output == "organizations\nconsumers\ncommon\n")
            // A writing direction is printed as its number, and a name with that names nobody.
            let authority = "https://login.microsoftonline.com/fabrikam.com"
            try await f.importGuestToken("guest-token", of: "zo\u{200E}e@contoso.com", at: authority)
            #expect(try await f.ssoctl(Self.accounts).output == accounts)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func doesNotWaitForAnAgentThatHangs() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            #expect(try await f.ssoctl(Self.accounts).output == "alice@contoso.com\n")
            agent.process.signal(SIGSTOP)
            let environment = f.environment.merging(["SSO_AGENT_COMPLETION_MS": "500"]) { $1 }
            let ended = try await TestProcess("ssoctl", Self.accounts, environment: environment).finish()
            #expect(ended.output.allSatisfy(\.isNewline) && ended.errors.isEmpty, "\(ended)")
        }
    }

    /// A rule may have a person confirm lists; nobody is asked because of a Tab.
    @Test func asksNobody() async throws {
        let rules = """
            [[rule]]
            requests = ["list_accounts"]
            effect = "confirm"

            [[rule]]
            requests = ["all"]
            effect = "allow"

            """
        try await AgentProcessFixture.with(rules: rules) { f in
            let asked = f.folder.file("asked")
            let askpass = try await f.folder.makeProgram("askpass", "touch '\(asked)'")
            try f.configure(rules + "[confirmation]\naskpass = \"\(askpass)\"\n")
            let agent = try await f.agent()
            let ended = try await f.ssoctl(Self.accounts)
            #expect(ended.output.allSatisfy(\.isNewline) && ended.errors.isEmpty, "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: asked))
            // The rules of the agent are not known if the configuration has a mistake now.
            try f.configure("[network]\nprxy = \"x\"\n")
            try await f.ssoctl(Self.accounts)
            #expect(!FileManager.default.fileExists(atPath: asked))
            try f.configure(rules)
            try await f.ssoctl(["accounts"])
            #expect(FileManager.default.fileExists(atPath: asked))
            withExtendedLifetime(agent) {}
        }
    }

    @Test func printsTheSameScriptForBothFormsOfTheOption() async throws {
        let apart = try await TestProcess("ssoctl", ["--generate-completion-script", "bash"]).finish()
        let joined = try await TestProcess("ssoctl", ["--generate-completion-script=bash"]).finish()
        #expect(joined.output == apart.output && joined.output.contains("_ssoctl_with_whole_words"))
    }

    /// Errors of the shells' own protocol are not shown either.
    @Test func printsNoErrorsToTheTerminal() async throws {
        let ended = try await TestProcess("ssoctl", ["---completion", "nothing", "--", "--app", "0", "0"]).finish()
        #expect(ended.output.isEmpty && ended.errors.isEmpty, "\(ended)")
    }
}
