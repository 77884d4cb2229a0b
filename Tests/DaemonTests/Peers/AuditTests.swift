internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// The audit log of the executable, and `ssoctl audit`.
@Suite(.bounded) struct AuditTests {
    /// Uses the agent in every way that the log records, and returns the secrets that it must not have.
    private func use(_ f: AgentProcessFixture) async throws -> [String] {
        let client = AgentClient(socketPath: f.socketPath)
        let parameters = try f.parameters()
        let alice = try await f.signIn("alice@contoso.com", parameters)
        let silent = AcquireTokenSilent(parameters: parameters, account: alice.account.reference)
        _ = try await client.acquireTokenSilent(silent)
        _ = try await client.listCredentials(ListCredentials())
        let export = try await client.exportCache(.msalJSON, includesSecrets: true)
        _ = await #expect(throws: TokenError.self) { try await client.setKey(SetKey(source: .file)) }
        _ = try await client.removeAccount(
            RemoveAccount(clientID: parameters.clientID, account: alice.account.reference))
        var secrets = [alice.accessToken.withBytes { String(decoding: $0, as: UTF8.self) }, "alice"]
        let cache = try JSONSerialization.jsonObject(with: Data(export.withBytes { Array($0) })) as? [String: Any]
        for token in (cache?["RefreshToken"] as? [String: [String: Any]] ?? [:]).values {
            secrets.append(try #require(token["secret"] as? String))
        }
        if let id = alice.account.homeAccountID { secrets.append(id.text) }
        #expect(secrets.count == 4)
        return secrets
    }

    private static let rules = """
        [[rule]]
        requests = ["set_key"]
        effect = "deny"
        [[rule]]
        requests = ["all"]
        effect = "allow"
        """

    @Test func recordsWhoGotWhatAndNoSecret() async throws {
        try await AgentProcessFixture.with(rules: Self.rules) { f in
            let agent = try await f.agent()
            let secrets = try await use(f)
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let lines = try await f.auditLines()
            #expect(
                lines.compactMap { $0["event"] as? String } == [
                    "start", "sign_in_begun", "sign_in", "token", "token", "export", "refusal", "sign_out", "stop",
                ])
            for line in lines.dropFirst().dropLast() {
                #expect(line["pid"] as? Int32 == getpid() && line["uid"] as? UInt32 == geteuid())
                #expect(line["class"] is String && line["executable"] is String)
            }
            let signIn = lines[2]
            #expect(signIn["client_id"] as? String == "app-1")
            #expect((signIn["scopes"] as? [String])?.first == "User.Read")
            // The account is the same one in each line, and not named.
            #expect(Set([lines[2], lines[3], lines[7]].compactMap { $0["account"] as? String }).count == 1)
            #expect(lines[6]["request"] as? String == "set_key" && lines[6]["outcome"] as? String == "requestDenied")
            let text = try String(contentsOfFile: f.folder.file("state/audit.log"), encoding: .utf8).lowercased()
            for secret in secrets { #expect(!text.contains(secret.lowercased())) }
            #expect(try TemporaryFolder.mode(of: f.folder.file("state/audit.log")) == 0o600)
        }
    }

    /// The error of a request for too many scopes has a token for the others.
    @Test func recordsATokenThatIsPartOfAnError() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let alice = try await f.signIn("alice@contoso.com", f.parameters())
            f.emulator.control.settings.declinedScopes = ["Mail.Send"]
            var parameters = try f.parameters()
            parameters.scopes = ScopeSet(["Mail.Read", "Mail.Send"])
            let request = AcquireTokenSilent(parameters: parameters, account: alice.account.reference)
            let error = await #expect(throws: TokenError.self) {
                try await AgentClient(socketPath: f.socketPath).acquireTokenSilent(request)
            }
            #expect(error?.details.partialResult != nil)
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let tokens = try await f.auditLines().filter { $0["event"] as? String == "token" }
            let token = try #require(tokens.first)
            #expect(tokens.count == 1 && token["outcome"] as? String == "declinedScopes", "\(tokens)")
            #expect((token["scopes"] as? [String])?.contains("Mail.Read") == true)
            #expect(token["account"] is String)
        }
    }

    /// A list without secrets gives no token to anybody.
    @Test func recordsNoTokenIfACommandListsAccounts() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters())
            _ = try await AgentClient(socketPath: f.socketPath).listCredentials(ListCredentials())
            for arguments in [["accounts", "--verbose"], ["sign-out", "alice"]] { try await f.ssoctl(arguments) }
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let tokens = try await f.auditLines().filter { $0["event"] as? String == "token" }
            // One token is no number.
            #expect(tokens.count == 1 && tokens[0]["count"] == nil, "\(tokens)")
        }
    }

    /// Repetitions have kept replies; equal events that wait to be written share a line, which has their number.
    @Test func countsEachRepetitionOfARequest() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            // Requests that the app answers itself are not in the log.
            let client = AgentClient(socketPath: f.socketPath, keepsResults: false)
            let parameters = try f.parameters()
            let account = try await f.signIn("alice@contoso.com", parameters).account.reference
            for _ in 0..<100 {
                _ = try await client.acquireTokenSilent(AcquireTokenSilent(parameters: parameters, account: account))
            }
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let tokens = try await f.auditLines().filter { $0["event"] as? String == "token" }
            #expect(tokens.reduce(0) { $0 + ($1["count"] as? Int ?? 1) } == 100)
            for line in tokens {
                #expect(line["pid"] as? Int32 == getpid() && line["client_id"] as? String == "app-1")
                #expect(line["time"] is String || line["time"] is Int)
            }
        }
    }

    @Test func namesUsersIfTheConfigurationSaysSo() async throws {
        try await AgentProcessFixture.with(rules: "[audit]\nnames = true\n") { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters())
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let usernames = try await f.auditLines().compactMap { $0["username"] as? String }
            #expect(usernames.contains("alice@contoso.com"))
        }
    }

    #if os(Linux)
        /// The restricted agent can open no socket any more; the journal is a socket at a fixed path.
        @Test(.enabled(if: Sandbox.isPossible, "only root can mount another journal"))
        func writesToTheJournal() async throws {
            try await AgentProcessFixture.with(rules: "[audit]\ndestination = \"journal\"\n") { f in
                let journal = f.folder.file("journal")
                try FileManager.default.createDirectory(atPath: journal, withIntermediateDirectories: false)
                let socket = try DatagramSocket(at: journal + "/socket")
                let script = """
                    [ -d /run/systemd ] || { mount -t tmpfs none /run && mkdir /run/systemd; } || exit 70
                    mount -t tmpfs none /run/systemd && mkdir /run/systemd/journal
                    mount --bind "$0" /run/systemd/journal && exec "$1" --allow-loopback-http
                    """
                let agent = try TestProcess(
                    "/usr/bin/env",
                    ["unshare", "--mount", "sh", "-c", script, journal, Executable.path("sso-agent")],
                    environment: f.environment)
                try await agent.waitForError("listening on \(f.socketPath)")
                #expect(try socket.receive().contains("SSO_AGENT_EVENT=start"))
                _ = try await AgentClient(socketPath: f.socketPath).listCredentials(ListCredentials())
                let line = try socket.receive()
                #expect(line.contains("list_credentials") && line.contains("SSO_AGENT_EVENT=token"), "\(line)")
                try await agent.killHard()
            }
        }
    #endif

    @Test func writesNoFileIfTheLogIsOff() async throws {
        try await AgentProcessFixture.with(rules: "[audit]\ndestination = \"off\"\n") { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            #expect(!FileManager.default.fileExists(atPath: f.folder.file("state/audit.log")))
            let path = f.folder.file("state/audit.log")
            let ended = try await f.run("ssoctl", ["audit", "--file", path])
            #expect(ended.status == 1 && ended.errors.contains("there is no audit log"))
            #expect(ended.errors.hasSuffix("\n  → ssoctl audit\n"), "\(ended.errors)")
            let followed = try await f.failure(["audit", "--file", path, "--follow"], status: 1)
            #expect(followed["nextCommand"] as? String == "ssoctl audit --follow", "\(followed)")
            let blank = try await f.failure(["audit", "--file", ""], status: 64)
            #expect(blank["message"] as? String == "--file must not be blank.", "\(blank)")
        }
    }

    @Test func reportsALineThatWasRemoved() async throws {
        try await AgentProcessFixture.with { f in
            for _ in 0..<2 {
                let agent = try await f.agent()
                agent.process.signal(SIGTERM)
                _ = try await agent.process.finish()
            }
            let path = f.folder.file("state/audit.log")
            var lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
            #expect(lines.count == 4)
            lines.remove(at: 1)
            try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: false, encoding: .utf8)
            let ended = try await f.run("ssoctl", ["audit", "--file", path])
            #expect(ended.status == 1 && ended.errors.contains("missing between 1 and 3"), "\(ended.errors)")
        }
    }

    /// The agent was killed, or the disk was full, within the line; or somebody removed the end.
    @Test func reportsALastLineThatIsNotComplete() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let path = f.folder.file("state/audit.log")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try String(text.dropLast(20)).write(toFile: path, atomically: false, encoding: .utf8)
            let ended = try await f.run("ssoctl", ["audit", "--file", path])
            #expect(ended.status == 1, "\(ended)")
            #expect(ended.errors == "ssoctl: \(path): the last line is not complete\n", "\(ended.errors)")
            #expect(ended.output.contains(" start ") && !ended.output.contains(" stop "), "\(ended.output)")
        }
    }

    /// Whoever may write to the store's folder can replace the log.
    @Test func showsEachLineOnOneLine() async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("audit.log")
            let line = #"{"seq":1,"prev":"x","event":"token","username":"eve\n  → curl evil.example"}"#
            try (line + "\n").write(toFile: path, atomically: false, encoding: .utf8)
            let ended = try await f.run("ssoctl", ["audit", "--file", path])
            #expect(ended.output == "token eve   → curl evil.example\n", "\(ended)")
        }
    }

    @Test func followsTheRunningAgent() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let audit = try TestProcess("ssoctl", ["audit", "--follow", "--json"], environment: f.environment)
            try await audit.waitForOutput("\"start\"")
            _ = try await AgentClient(socketPath: f.socketPath).listCredentials(ListCredentials())
            try await audit.waitForOutput("list_credentials")
            audit.signal(SIGINT)
            #expect(try await audit.finish().status == 0)
            withExtendedLifetime(agent) {}
        }
    }
}

extension AgentProcessFixture {
    /// The lines of `ssoctl audit --json`.
    func auditLines() async throws -> [[String: Any]] {
        let ended = try await run("ssoctl", ["audit", "--json", "--file", folder.file("state/audit.log")])
        #expect(ended.status == 0, "\(ended.errors)")
        return try ended.output.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }
}
