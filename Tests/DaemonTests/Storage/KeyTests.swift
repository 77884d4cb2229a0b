internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// The sources of the store's key, on the command line.
@Suite(.bounded) struct KeyTests {
    @Test func usesAKeyFileByDefault() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let shown = try await key(f)
            #expect(shown["source"] as? String == "file" && shown["open"] as? Bool == true)
            #expect(shown["place"] as? String == f.folder.file("state/cache.key"))
            #expect(try TemporaryFolder.mode(of: f.folder.file("state/cache.key")) == 0o600)
            for usage in [["key", "set"], ["key", "set", "paper"]] {
                #expect(try await f.run("ssoctl", usage).status == 64)
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func locksTheStoreWithAPassphrase() async throws {
        try await AgentProcessFixture.with { f in
            let first = try await f.agent()
            let parameters = try f.parameters()
            let alice = try await f.signIn("alice@contoso.com", parameters)
            let silent = AcquireTokenSilent(parameters: parameters, account: alice.account.reference)
            let client = AgentClient(socketPath: f.socketPath)
            try await shell(f, "echo 'correct horse' | ssoctl key set passphrase")
            #expect(try await client.acquireTokenSilent(silent).accessToken == alice.accessToken)
            // The previous source's key has been removed.
            #expect(!FileManager.default.fileExists(atPath: f.folder.file("state/cache.key")))
            try await first.process.killHard()

            let second = try await f.agent()
            let failure = await #expect(throws: TokenError.self) { try await client.acquireTokenSilent(silent) }
            #expect(failure?.code == .storeUnavailable && failure?.message.contains("ssoctl unlock") == true)
            #expect(try await client.status().storeProblem?.contains("passphrase") == true)
            #expect(try await key(f)["open"] as? Bool == false)
            try await shell(f, "echo 'wrong horse' | ssoctl unlock 2>&1 | grep -q 'says what to do if it is forgotten'")
            // Only the one who entered it is told that a passphrase was wrong.
            let again = await #expect(throws: TokenError.self) { try await client.acquireTokenSilent(silent) }
            #expect(again?.message == failure?.message)
            #expect(try await client.status().storeProblem?.contains("not the passphrase") == false)
            try await shell(f, "echo 'correct horse' | ssoctl unlock")
            #expect(try await client.acquireTokenSilent(silent).accessToken == alice.accessToken)
            try await shell(f, "ssoctl lock")
            await #expect(throws: TokenError.self) { try await client.acquireTokenSilent(silent) }
            try await shell(f, "ssoctl unlock </dev/null", status: 1)
            try await shell(f, "ssoctl unlock </dev/null 2>&1 | grep -qF '→ ssoctl unlock'")
            try await shell(f, "ssoctl unlock </dev/null 2>&1 | grep -q 'write the passphrase to its standard input$'")
            try await shell(f, "echo 'correct horse' | ssoctl unlock")
            #expect(try await client.acquireTokenSilent(silent).accessToken == alice.accessToken)
            try await second.process.killHard()

            // The passphrase is passed to the agent at its start.
            let third = try TestProcess(
                "/bin/sh",
                [
                    "-c",
                    "exec '\(Executable.path("sso-agent"))' --allow-loopback-http --passphrase-fd 3 3<<'EOT'\ncorrect horse\nEOT",
                ], environment: f.environment)
            try await third.waitForError("listening on")
            #expect(try await client.acquireTokenSilent(silent).accessToken == alice.accessToken)
            try await shell(f, "ssoctl key set file </dev/null", status: 1)
            #expect(try await client.keyStatus().source == .passphrase)
            try await shell(f, "echo 'correct horse' | ssoctl key set file")
            try await third.killHard()
            let fourth = try await f.agent()
            #expect(try await client.acquireTokenSilent(silent).accessToken == alice.accessToken)
            withExtendedLifetime(fourth) {}
        }
    }

    @Test func readsTheKeyFromTheServiceManager() async throws {
        try await AgentProcessFixture.with { f in
            let folder = f.folder.file("credentials")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try "a key that systemd-creds has unsealed".write(
                toFile: folder + "/sso-agent.key", atomically: true, encoding: .utf8)
            var environment = f.environment
            environment["CREDENTIALS_DIRECTORY"] = folder
            let first = try TestProcess("sso-agent", ["--allow-loopback-http"], environment: environment)
            try await first.waitForError("listening on")
            let client = AgentClient(socketPath: f.socketPath)
            let parameters = try f.parameters()
            let alice = try await f.signIn("alice@contoso.com", parameters)
            #expect(try await client.keyStatus().source == .credential)
            #expect(!FileManager.default.fileExists(atPath: f.folder.file("state/cache.key")))
            try await first.killHard()

            // Without the credential, the store stays locked, and nothing is lost.
            let second = try await f.agent()
            let silent = AcquireTokenSilent(parameters: parameters, account: alice.account.reference)
            let failure = await #expect(throws: TokenError.self) { try await client.acquireTokenSilent(silent) }
            #expect(failure?.message.contains("CREDENTIALS_DIRECTORY") == true)
            try await second.process.killHard()

            let third = try TestProcess("sso-agent", ["--allow-loopback-http"], environment: environment)
            try await third.waitForError("listening on")
            #expect(try await client.acquireTokenSilent(silent).accessToken == alice.accessToken)
            try await third.killHard()
        }
    }

    @Test func keepsTheKeyInTheSecretService() async throws {
        try await AgentProcessFixture.with { f in
            let (bin, environment) = try await keyInKeyring(f)
            #expect(!FileManager.default.fileExists(atPath: f.folder.file("state/cache.key")))

            // The keyring is locked at first, and is unlocked later.
            rename(bin + "/secret", bin + "/locked")
            let second = try TestProcess("sso-agent", ["--allow-loopback-http"], environment: environment)
            try await second.waitForError("listening on")
            let client = AgentClient(socketPath: f.socketPath)
            let all = ListAccounts(clientID: nil)
            let failure = await #expect(throws: TokenError.self) { try await client.listAccounts(all) }
            #expect(failure?.code == .storeUnavailable)
            // The keyring does not say whether it is locked or has no key, for which only the help has a remedy.
            let advice = try await f.run("ssoctl", ["unlock", "--help"]).output
            #expect(failure?.message.contains("ssoctl unlock --help") == true && advice.contains("keyring"))
            rename(bin + "/locked", bin + "/secret")
            try await shell(f, "ssoctl unlock")
            #expect(try await client.listAccounts(all).count == 1)
            try await second.killHard()
        }
    }

    @Test func reportsItsStateWhileTheKeyringWaitsForTheUser() async throws {
        try await AgentProcessFixture.with { f in
            let (bin, environment) = try await keyInKeyring(f)

            mkfifo(bin + "/prompt", 0o600)
            let second = try TestProcess("sso-agent", ["--allow-loopback-http"], environment: environment)
            try await second.waitForError("listening on")
            let client = AgentClient(socketPath: f.socketPath)
            let status = try await client.status()
            #expect(status.accounts == 0 && status.storeProblem == "the store is being opened")
            let printed = try await f.run("ssoctl", ["status"]).output
            #expect(printed.contains("the store is being opened") && !printed.contains("0 accounts"), "\(printed)")
            let checks = try await client.diagnose().checks
            #expect(checks.contains { $0.name == "key" })
            #expect(checks.first { $0.name == "store" }?.detail == "the store is being opened")
            #expect(try await client.keyStatus().isOpen == false)
            try await shell(f, "echo yes >'\(bin)/prompt'")
            #expect(try await client.unlock(Unlock()).isOpen)
            #expect(try await client.listAccounts(ListAccounts(clientID: nil)).count == 1)
            try await second.killHard()
        }
    }

    @Test func leavesNoCoreDumpUnlessDebuggingIsAllowed() async throws {
        try await AgentProcessFixture.with { f in
            for (arguments, detail) in [([], "closed to debuggers"), (["--allow-debugging"], "open to debuggers")] {
                let agent = try await f.agent(arguments)
                let checks = try await AgentClient(socketPath: f.socketPath).diagnose().checks
                #expect(checks.first { $0.name == "memory" }?.detail.contains(detail) == true)
                try await agent.process.killHard()
            }
        }
    }

    #if os(Linux)
        /// The command handles passphrases, and whole caches.
        @Test func leavesNoCoreDumpOfACommand() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                let watch = try TestProcess("ssoctl", ["watch"], environment: f.environment)
                try await watch.waitForOutput("store open")
                let limits = try String(contentsOfFile: "/proc/\(watch.processID)/limits", encoding: .utf8)
                #expect(limits.contains(#/Max core file size +0 +0 /#), "\(limits)")
                watch.signal(SIGINT)
                #expect(try await watch.finish().status == 0)
                withExtendedLifetime(agent) {}
            }
        }
    #endif

    @Test func restoresTheTerminalWhenThePromptIsStopped() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let script = PackageFolder.path("Tests/DaemonTests/python/passphrase_prompt.py")
            let ended = try await f.run("/usr/bin/env", ["python3", script, Executable.path("ssoctl")])
            #expect(ended.status == 0, "\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }

    /// The agent would read a file of its own that got the number.
    @Test func refusesAPassphraseFromADescriptorThatIsNotOpen() async throws {
        try await AgentProcessFixture.with { f in
            let line = "exec \(Executable.path("sso-agent")) --passphrase-fd 9 9<&-"
            let ended = try await TestProcess("/bin/sh", ["-c", line], environment: f.environment).finish()
            #expect(ended.status == 64 && ended.errors.contains("file descriptor 9 is not open"), "\(ended.errors)")
        }
    }

    @Test func hidesThePassphraseAgainAfterTheCommandWasSuspended() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let steps = [
                ("New passphrase: ", "\u{1A}"), ("job stopped", "shown\n"), ("New passphrase: ", "correct horse\n"),
                ("Again: ", "correct horse\n"), ("job ended", "shown again\n"),
            ]
            let ended = try await f.onTerminal(["key", "set", "passphrase"], steps, hasShell: true).finish()
            #expect(ended.status == 0 && !ended.output.contains("correct"), "\(ended.output)\(ended.errors)")
            // Once as the terminal's echo, once as the shell has read it.
            #expect(ended.output.split(separator: "shown").count >= 4, "\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }

    /// The shell stops a job in the background that would change the terminal.
    @Test func promptsOnceAfterItWasStartedInTheBackground() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let steps = [
                ("job stopped", "shown\n"), ("New passphrase: ", "short\n"), ("job ended", "shown again\n"),
            ]
            let ended = try await f.onTerminal(
                ["key", "set", "passphrase"], steps, variables: ["JOB_IN_BACKGROUND": "1"], hasShell: true
            ).finish()
            let prompts = ended.output.ranges(of: "New passphrase: ")
            #expect(ended.status == 1 && prompts.count == 1, "\(ended)")
            withExtendedLifetime(agent) {}
        }
    }

    /// Without a store, there is no key that could be replaced: the command creates both.
    @Test func createsAStoreWithTheRequiredSource() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent(["--require-key-source", "passphrase"])
            try await shell(f, "ssoctl accounts", status: 1)
            try await shell(f, "echo 'correct horse' | ssoctl key set passphrase")
            let shown = try await key(f)
            #expect(shown["source"] as? String == "passphrase" && shown["open"] as? Bool == true)
            try await f.signIn("alice@contoso.com", f.parameters())
            try await shell(f, "ssoctl lock")
            try await shell(f, "echo 'wrong horse' | ssoctl unlock", status: 1)
            try await shell(f, "echo 'correct horse' | ssoctl unlock")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func opensNoStoreOfAnotherSourceThanTheRequiredOne() async throws {
        try await AgentProcessFixture.with { f in
            let first = try await f.agent()
            try await f.waitUntilOpen()
            try await first.process.killHard()
            let second = try await f.agent(["--require-key-source", "credential"])
            let client = AgentClient(socketPath: f.socketPath)
            let failure = await #expect(throws: TokenError.self) {
                try await client.listAccounts(ListAccounts(clientID: nil))
            }
            #expect(failure?.code == .storeUnavailable && failure?.message.contains("requires") == true)
            try await shell(f, "ssoctl key set file", status: 1)
            #expect(try await f.run("sso-agent", ["--require-key-source", "paper"]).status == 64)
            withExtendedLifetime(second) {}
        }
    }

    @Test func refusesAPassphraseThatIsTooShort() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            for short in ["seven77", "äöüäöüä"] {
                try await shell(f, "echo '\(short)' | ssoctl key set passphrase", status: 1)
                let next = "→ ssoctl key set passphrase"
                try await shell(f, "echo '\(short)' | ssoctl key set passphrase 2>&1 | grep -qF '\(next)'")
                let client = AgentClient(socketPath: f.socketPath)
                let refused = await #expect(throws: TokenError.self) {
                    try await client.setKey(SetKey(source: .passphrase, passphrase: Secret(short)))
                }
                #expect(refused?.code == .invalidDeveloperParameter)
            }
            #expect(try await key(f)["source"] as? String == "file")
            try await shell(f, "echo 'äöüäöüäö' | ssoctl key set passphrase")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func asksAgainAfterTwoPassphrasesThatDiffer() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let steps = [("New passphrase: ", "correct horse\n"), ("Again: ", "another horse\n")]
            let ended = try await f.onTerminal(["key", "set", "passphrase"], steps).finish()
            #expect(ended.status == 1 && ended.output.contains("→ ssoctl key set passphrase"), "\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }

    /// A script that runs at each log-in has no passphrase to give to a store that is open.
    @Test func asksForNoPassphraseOfAnOpenStore() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await shell(f, "echo 'correct horse' | ssoctl key set passphrase")
            try await shell(f, "ssoctl unlock </dev/null")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func readsTheCurrentPassphraseBeforeTheNewOne() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await shell(f, "echo 'correct horse' | ssoctl key set passphrase")
            try await shell(f, "printf 'correct horse\\nanother horse\\n' | ssoctl key set passphrase")
            try await shell(f, "ssoctl lock")
            try await shell(f, "echo 'another horse' | ssoctl unlock")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func refusesAPassphraseThatIsTooLong() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let long = String(repeating: "x", count: 4097)
            try await shell(f, "echo \(long) | ssoctl key set passphrase", status: 1)
            #expect(try await key(f)["source"] as? String == "file")
            try await shell(f, "echo \(long.dropLast()) | ssoctl key set passphrase")
            try await shell(f, "echo \(long) | sso-agent --passphrase-fd 0", status: 1)
            withExtendedLifetime(agent) {}
        }
    }

    /// The length of a pipe is not known in advance.
    @Test func importsFromAPipe() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let entries = Array(repeating: "{}", count: 100_000).joined(separator: ",")
            let file = f.folder.file("cache.json")
            try "[\(entries)]".write(toFile: file, atomically: true, encoding: .utf8)
            try await shell(f, "cat '\(file)' | ssoctl import /dev/stdin --format adal-json --json | grep 99800")
            try await shell(f, "ssoctl import '\(file)' --format adal-json --json | grep 99800")
            withExtendedLifetime(agent) {}
        }
    }

    /// Creates a store with one account, whose key is in the keyring, and stops the agent.
    private func keyInKeyring(_ f: AgentProcessFixture) async throws -> (bin: String, environment: [String: String]) {
        let (bin, environment) = try await keyring(f)
        let agent = try TestProcess("sso-agent", ["--allow-loopback-http"], environment: environment)
        try await agent.waitForError("listening on")
        try await f.signIn("alice@contoso.com", f.parameters())
        #expect(try await f.run("ssoctl", ["key", "set", "secret-service"]).status == 0)
        try await agent.killHard()
        return (bin, environment)
    }

    /// Creates a replacement of libsecret's `secret-tool` with the commands that the agent uses. If there is a pipe named `prompt`,
    /// a look-up waits until something is written to it.
    private func keyring(_ f: AgentProcessFixture) async throws -> (bin: String, environment: [String: String]) {
        let bin = f.folder.file("bin")
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: false)
        _ = try await f.folder.makeProgram(
            "bin/secret-tool",
            """
            case $1 in
            store) cat >"\(bin)/secret" ;;
            lookup) [ ! -p "\(bin)/prompt" ] || cat "\(bin)/prompt" >/dev/null; cat "\(bin)/secret" ;;
            clear) rm "\(bin)/secret" ;;
            esac
            """)
        var environment = f.environment
        environment["PATH"] = "\(bin):" + (f.environment["PATH"] ?? "")
        return (bin, environment)
    }

    private func key(_ f: AgentProcessFixture) async throws -> [String: Any] {
        let ended = try await f.run("ssoctl", ["key", "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8))
        return try #require(object as? [String: Any])
    }

    /// Runs a command line of the shell with this package's executables on `PATH`.
    private func shell(_ f: AgentProcessFixture, _ line: String, status: Int32 = 0) async throws {
        var environment = f.environment
        environment["PATH"] = "\(Executable.folder.path):" + (f.environment["PATH"] ?? "")
        let ended = try await TestProcess("/bin/sh", ["-c", line], environment: environment).finish()
        #expect(ended.status == status, "\(line): \(ended.output)\(ended.errors)")
    }
}
