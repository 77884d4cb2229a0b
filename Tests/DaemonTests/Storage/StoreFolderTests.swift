internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// The state folder of a running and of a stopped agent.
@Suite(.bounded) struct StoreFolderTests {
    /// Texts that must not be found there: names of accounts and apps, and all tokens.
    private struct Canaries {
        private var texts: Set<String> = [
            "com.microsoft.adalcache", "eyJhbGci", "eyJ1aWQi", "refresh_token", "home_account_id", "/common",
        ]

        mutating func add(_ result: TokenResult) {
            texts.formUnion([result.accessToken.reveal(), result.idToken ?? "?none", "User.Read"])
            texts.formUnion([result.account.username ?? "?none", result.account.homeAccountID?.text ?? "?none"])
            texts.formUnion((result.account.homeAccountID?.text ?? "?none").split(separator: ".").map(String.init))
        }

        mutating func add(_ text: String) { texts.insert(text) }

        /// Texts that the audit log records, and no other file may have: apps, scopes and sharing groups.
        private var recorded: Set<String> = ["com.microsoft.adalcache", "User.Read"]

        mutating func add(_ app: ClientID) {
            texts.insert(app.text)
            recorded.insert(app.text)
        }

        /// Searches all files below the folder for each of the texts in UTF-8 and in UTF-16.
        func search(_ folder: String) throws -> [String] {
            var found: [String] = []
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
                guard let bytes = FileManager.default.contents(atPath: folder + "/" + name) else { continue }
                for text in name.hasPrefix("audit.log") ? texts.subtracting(recorded) : texts {
                    let forms = [Data(text.utf8), Data(text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })]
                    if forms.contains(where: { bytes.range(of: $0) != nil }) { found.append("\(text) in \(name)") }
                }
            }
            return found
        }
    }

    /// As of a variable that is not set: the folder in which the agent was started would get the key and the store.
    @Test(arguments: ["--state-dir", "--socket", "--metrics-socket", "--config", "--rollback-counter"])
    func refusesABlankPath(option: String) async throws {
        try await AgentProcessFixture.with { f in
            let ended = try await f.run("sso-agent", ["--check-config", option, ""])
            #expect(ended.status == 64 && ended.output.isEmpty, "\(ended.output)")
            #expect(ended.errors.hasPrefix("Error: \(option) must not be blank.\n"), "\(ended.errors)")
        }
    }

    @Test func containsNothingInPlainText() async throws {
        try await AgentProcessFixture.with { f in
            var agent = try await f.agent()
            let client = AgentClient(socketPath: f.socketPath)
            var canaries = Canaries()
            let parameters = try f.parameters()
            canaries.add(parameters.clientID)
            for name in ["alice@contoso.com", "bob@fabrikam.com"] {
                let signedIn = try await f.signIn(name, parameters)
                canaries.add(signedIn)
                canaries.add(String(name.prefix { $0 != "@" }))
                for _ in 0..<3 {
                    canaries.add(
                        try await client.acquireTokenSilent(
                            AcquireTokenSilent(
                                parameters: parameters, account: signedIn.account.reference, forceRefresh: true)))
                }
            }
            _ = try await client.removeAccount(
                RemoveAccount(
                    clientID: parameters.clientID, account: AccountReference(username: "bob@fabrikam.com"),
                    extent: .account))
            // While the agent runs; the write-ahead log is included.
            #expect(try canaries.search(f.folder.file("state")) == [])
            try await agent.process.killHard()
            #expect(try canaries.search(f.folder.file("state")) == [])
            agent = try await f.agent()
            _ = try await client.status()
            #expect(try await client.listAccounts(ListAccounts(clientID: nil)).count == 1)
            // After the agent has closed its store.
            kill(agent.processID, SIGTERM)
            _ = try await agent.process.finish()
            #expect(try canaries.search(f.folder.file("state")) == [])
            for name in try FileManager.default.contentsOfDirectory(atPath: f.folder.file("state")) {
                #expect(try TemporaryFolder.mode(of: f.folder.file("state/\(name)")) == 0o600)
            }
        }
    }

    @Test func reportsDamageAndServesTheOtherRecords() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let parameters = try f.parameters()
            let alice = try await f.signIn("alice@contoso.com", parameters)
            kill(agent.processID, SIGTERM)
            _ = try await agent.process.finish()
            let file = URL(filePath: f.folder.file("state/cache.sqlite"))
            var bytes = try Data(contentsOf: file)
            // The name of the file format, without which SQLite refuses the file.
            bytes[3] ^= 1
            try bytes.write(to: file)

            let next = try await f.agent()
            let client = AgentClient(socketPath: f.socketPath)
            let token = try await client.acquireTokenSilent(
                AcquireTokenSilent(parameters: parameters, account: alice.account.reference))
            #expect(token.accessToken == alice.accessToken && token.isFromCache)
            let status = try await client.status()
            #expect(status.storeProblem?.contains("was damaged") == true)
            let name = try #require(status.quarantined.first)
            #expect(name.hasPrefix("cache.sqlite.quarantine-2"))
            #expect(try Data(contentsOf: URL(filePath: f.folder.file("state/\(name)"))) == bytes)
            let doctor = try await f.run("ssoctl", ["doctor", "--json", "--authority", "\(f.emulator.url)/common"])
            #expect(doctor.status == 1)
            #expect(doctor.output.contains(name))
            let printed = try await f.run("ssoctl", ["status"])
            #expect(printed.output.contains(name))
            kill(next.processID, SIGTERM)
            let log = try await next.process.finish().errors
            #expect(log.contains("was damaged") && log.contains("were saved"))
            #expect(log.split(separator: "\n").count { $0.contains("was damaged") } == 1)
        }
    }

    /// A sign-in that is lost when the agent ends must not look like one that has been saved.
    @Test func reportsThatItsFolderWasRemoved() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let parameters = try f.parameters()
            let alice = try await f.signIn("alice@contoso.com", parameters)
            try FileManager.default.removeItem(atPath: f.folder.file("state"))
            let failure = await #expect(throws: TokenError.self) { try await f.signIn("bob@contoso.com", parameters) }
            #expect(failure?.code == .storeUnavailable)
            let client = AgentClient(socketPath: f.socketPath)
            let token = try await client.acquireTokenSilent(
                AcquireTokenSilent(parameters: parameters, account: alice.account.reference))
            #expect(token.accessToken == alice.accessToken)
            let checks = try await client.diagnose(Diagnose(authority: parameters.authority)).checks
            for (name, detail) in [("store", "was removed or replaced"), ("state folder", "does not exist any more")] {
                let check = checks.first { $0.name == name }
                #expect(check?.ok == false && check?.detail.contains(detail) == true, "\(String(describing: check))")
                #expect(check?.hint == "kill \(agent.processID)")
            }
            // A new key could not be written there.
            let key = checks.first { $0.name == "key" }
            #expect(key?.ok == false && key?.hint == "kill \(agent.processID)", "\(String(describing: key))")
        }
    }

    @Test func reportsALostResponseButNoDamage() async throws {
        try await AgentProcessFixture.with { f in
            var agent = try await f.agent()
            let parameters = try f.parameters()
            let alice = try await f.signIn("alice@contoso.com", parameters).account.reference
            let request = AcquireTokenSilent(parameters: parameters, account: alice, forceRefresh: true)
            // The refresh token is redeemed, and the agent is killed before it has the response.
            f.emulator.control.inject(
                Fault {
                    $0.hold = true
                    $0.grant = .refreshToken
                })
            let pending = Task { [path = f.socketPath] in
                try? await AgentClient(socketPath: path).acquireTokenSilent(request)
            }
            await f.emulator.control.waitForHeld(atLeast: 1)
            try await agent.process.killHard()
            #expect(await pending.value == nil)
            f.emulator.control.release()
            f.emulator.control.revokeTokens(of: "alice@contoso.com")

            agent = try await f.agent()
            let client = AgentClient(socketPath: f.socketPath)
            #expect(try await client.listAccounts(ListAccounts(clientID: nil)).count == 1)
            let check = try await client.diagnose(Diagnose(authority: parameters.authority)).checks
                .first { $0.name == "store" }
            #expect(check?.ok == true && check?.detail.contains("no answer came to 1") == true)
            var other = request
            other.parameters.scopes = ScopeSet(["Mail.Read"])
            let failure = await #expect(throws: TokenError.self) { try await client.acquireTokenSilent(other) }
            #expect(failure?.code == .interactionRequired)
            #expect(failure?.message.contains("no answer came") == true)
            withExtendedLifetime(agent) {}
        }
    }

    #if os(Linux)
        /// That of Ubuntu 20.04 can make no store.
        @Test(
            .enabled(if: Executable.isInstalled("cc"), "there is no C compiler"),
            .disabled(if: Sanitizer.isOn, "a sanitizer is to be loaded first"))
        func saysThatTheSystemsSQLiteIsTooOldToStart() async throws {
            try await AgentProcessFixture.with { f in
                let (source, library) = (f.folder.file("old.c"), f.folder.file("old.so"))
                try "int sqlite3_libversion_number(void) { return 3031001; }\n".write(
                    toFile: source, atomically: false, encoding: .utf8)
                let built = try await f.run("/usr/bin/env", ["cc", "-shared", "-fPIC", "-o", library, source])
                try #require(built.status == 0, "\(built.errors)")
                let ended = try await f.run(
                    "/usr/bin/env", ["LD_PRELOAD=\(library)", Executable.path("sso-agent")])
                #expect(ended.status == 1)
                #expect(
                    ended.errors.hasPrefix(
                        "sso-agent: the system's SQLite is 3.31.1, and the agent needs 3.34.0 or later;"),
                    "\(ended.errors)")
                #expect(!FileManager.default.fileExists(atPath: f.folder.file("state")))
            }
        }
    #endif
}
