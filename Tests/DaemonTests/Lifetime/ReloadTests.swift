internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// The configuration that a running agent reads again, by a request and by SIGHUP.
@Suite(.bounded) struct ReloadTests {
    private static let open = "[[rule]]\nrequests = [\"all\"]\neffect = \"allow\"\n"
    private static let closed = "[[rule]]\nrequests = [\"acquire_token_silent\"]\neffect = \"deny\"\n"

    private static func isRefused(_ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return false
        } catch {
            return (error as? TokenError)?.code == .requestDenied
        }
    }

    @Test func appliesTheRulesToOpenConnectionsAndToWhatAppsKeep() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let parameters = try f.parameters()
            let account = try await f.signIn("alice@contoso.com", parameters).account.reference
            let (keeping, asking) = (
                AgentClient(socketPath: f.socketPath), AgentClient(socketPath: f.socketPath, keepsResults: false)
            )
            let request = AcquireTokenSilent(parameters: parameters, account: account)
            for client in [keeping, asking] {
                for _ in 1...3 { #expect(try await client.acquireTokenSilent(request).isFromCache) }
            }
            try f.configure(Self.closed + Self.open)
            let reply = try await asking.reloadConfiguration()
            #expect(reply.applied == ["rules: 2 instead of 1"])
            #expect(reply.awaitingRestart.isEmpty)
            #expect(reply.files == [f.folder.file("config.toml")])
            for client in [keeping, asking] {
                #expect(await Self.isRefused { _ = try await client.acquireTokenSilent(request) })
            }
            try f.configure(Self.open)
            #expect(try await f.run("ssoctl", ["reload"]).output.contains("in effect: rules: 1 instead of 2"))
            for client in [keeping, asking] { #expect(try await client.acquireTokenSilent(request).isFromCache) }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func keepsTheConfigurationIfTheNewOneIsWrong() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try await AgentClient(socketPath: f.socketPath).status()
            try f.configure(Self.closed + "[audit]\nnames = \"yes\"\n")
            let refused = try await f.run("ssoctl", ["reload", "--json"])
            #expect(refused.status == 1)
            #expect(refused.output.contains("config.toml:5: "), "\(refused)")
            #expect(refused.output.contains("\"nextCommand\" : \"${EDITOR:-nano} +5 "), "\(refused)")
            // The request has logged the failure as SIGHUP does.
            try await agent.process.waitForError("the configuration was not changed")
            kill(agent.processID, SIGHUP)
            let log = try await agent.process.waitForError("the configuration was not changed")
            #expect(!log.contains("the configuration was read again"))
            #expect(log.contains("config.toml:5: "), "\(log)")
            // The rule is not in effect.
            let parameters = try f.parameters()
            let account = try await f.signIn("alice@contoso.com", parameters).account.reference
            #expect(
                try await AgentClient(socketPath: f.socketPath).acquireTokenSilent(
                    AcquireTokenSilent(parameters: parameters, account: account)
                ).isFromCache)
        }
    }

    /// The agent would not start with it.
    @Test(arguments: [
        ("network", "ca_file", "none.pem"), ("confirmation", "askpass", "none"),
        ("metrics", "socket", "open/metrics.sock"), ("metrics", "socket", "config.toml"),
        ("metrics", "socket", String(repeating: "m", count: 108)),
    ])
    func refusesAConfigurationThatTheNextStartWouldRefuse(table: String, key: String, name: String) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try FileManager.default.createDirectory(atPath: f.folder.file("open"), withIntermediateDirectories: false)
            #expect(chmod(f.folder.file("open"), 0o777) == 0)
            try f.configure(Self.open + "[\(table)]\n\(key) = \"\(f.folder.file(name))\"\n")
            let reloaded = try await f.failure(["reload"], status: 1)
            let checked = try await f.run("sso-agent", ["--check-config"])
            let doctor = try await f.ssoctl(["doctor"], status: 1)
            #expect(checked.status == 1)
            let place = "config.toml:5: \(table).\(key) names \(f.folder.file(name)), which cannot be used"
            for text in ["\(reloaded)", checked.errors] { #expect(text.contains(place), "\(text)") }
            #expect(doctor.output.contains("FAIL") && doctor.output.contains("config.toml:5: "), "\(doctor.output)")
            withExtendedLifetime(agent) {}
        }
    }

    /// A process that is restricted to folders can open no folder that is made later.
    @Test func readsAConfigurationWhoseFolderDidNotExistAtTheStart() async throws {
        try await AgentProcessFixture.with { f in
            let variables = ["SSO_AGENT_CONFIG": "", "XDG_CONFIG_HOME": f.folder.file("xdg")]
            let agent = try await f.agent(variables: variables)
            try await f.ssoctl(
                ["app", "add", "work", "--client-id", UUID().uuidString, "--scope", "User.Read"], variables: variables)
            let reply = try await f.json(["reload"], variables: variables)
            #expect(reply["files"] as? [String] == [f.folder.file("xdg/sso-agent/config.toml")])
            withExtendedLifetime(agent) {}
        }
    }

    @Test func readsTheConfigurationAtSIGHUPAndSaysWhatNeedsARestart() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try f.configure(
                Self.open + "[network]\nproxy = \"http://user:secret@127.0.0.1:1\"\n[audit]\nnames = true\n")
            kill(agent.processID, SIGHUP)
            let log = try await agent.process.waitForError("the configuration was read again")
            #expect(log.contains("audit.names = true") && log.contains("network.proxy"), "\(log)")
            #expect(!log.contains("secret"))
            // A second one changes nothing, and the proxy still needs a restart.
            let again = try await AgentClient(socketPath: f.socketPath).reloadConfiguration()
            #expect(again.applied.isEmpty)
            #expect(again.awaitingRestart == ["network.proxy"])
            _ = try await f.signIn("alice@contoso.com", f.parameters())
            // The last lines are written when the agent has ended: no reply waits for them.
            kill(agent.processID, SIGTERM)
            #expect(try await agent.process.finish().status == 0)
            let lines = try await f.auditLines()
            #expect(lines.contains { $0["event"] as? String == "reload" }, "\(lines)")
            #expect(lines.contains { $0["username"] as? String == "alice@contoso.com" }, "\(lines)")
        }
    }

    /// The helper compares programs with the paths of the rules at its start. A rule that denies would not hold for another one.
    @Test func appliesNoRuleAboutAProgramThatItCannotRecognise() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let rule = "[[rule]]\nexecutable = \"/usr/bin/notes\"\nrequests = [\"all\"]\neffect = \"deny\"\n"
            try f.configure(Self.closed + rule + Self.open)
            let reply = try await AgentClient(socketPath: f.socketPath).reloadConfiguration()
            #expect(reply.applied.isEmpty)
            #expect(reply.awaitingRestart.count == 1 && reply.awaitingRestart.first?.contains("/usr/bin/notes") == true)
            withExtendedLifetime(agent) {}
        }
    }

    /// The agent has restricted its files, and an editor replaces one by another.
    @Test func readsAFileThatHasReplacedTheFirstOne() async throws {
        try await AgentProcessFixture.with { f in
            let folder = f.folder.file("configuration")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let file = "\(folder)/config.toml"
            try Self.open.write(toFile: file, atomically: true, encoding: .utf8)
            let agent = try await f.agent(variables: ["SSO_AGENT_CONFIG": file])
            try (Self.open + Self.open).write(toFile: file, atomically: true, encoding: .utf8)
            let reply = try await AgentClient(socketPath: f.socketPath).reloadConfiguration()
            #expect(reply.applied == ["rules: 2 instead of 1"])
            withExtendedLifetime(agent) {}
        }
    }

    /// Tools that keep a user's settings in a repository make links to its files, and the agent has restricted its files.
    @Test func readsFilesToWhichLinksOfOtherFoldersLead() async throws {
        try await AgentProcessFixture.with { f in
            let files = FileManager.default
            for name in ["repository", "configuration", "system/conf.d"] {
                try files.createDirectory(atPath: f.folder.file(name), withIntermediateDirectories: true)
            }
            let (rules, file) = (f.folder.file("repository/rules.toml"), f.folder.file("configuration/config.toml"))
            try Self.open.write(toFile: rules, atomically: true, encoding: .utf8)
            try files.createSymbolicLink(atPath: file, withDestinationPath: "../repository/rules.toml")
            try files.createSymbolicLink(
                atPath: f.folder.file("system/conf.d/rules.toml"), withDestinationPath: "../../repository/rules.toml")
            let agent = try await f.agent(variables: ["SSO_AGENT_CONFIG": file])
            try (Self.open + Self.open).write(toFile: rules, atomically: true, encoding: .utf8)
            let reply = try await AgentClient(socketPath: f.socketPath).reloadConfiguration()
            #expect(reply.applied == ["rules: 4 instead of 2"])
            #expect(reply.files == [f.folder.file("system/conf.d/rules.toml"), file])
            withExtendedLifetime(agent) {}
        }
    }

    /// The environment of `ssoctl` names another file than the agent was started with.
    @Test func namesTheFileOfTheAgentInTheCommandThatChecksIt() async throws {
        try await AgentProcessFixture.with { f in
            let file = f.folder.file("of the agent.toml")
            try Self.open.write(toFile: file, atomically: false, encoding: .utf8)
            let agent = try await f.agent(["--config", file])
            let proxy = "[network]\nproxy = \"http://127.0.0.1:1\"\n"
            try (Self.open + proxy).write(toFile: file, atomically: false, encoding: .utf8)
            let reloaded = try await f.ssoctl(["reload"]).output
            #expect(reloaded.contains("sso-agent --check-config --config '\(file)'\n"), "\(reloaded)")
            // Where both read the same file, the command does without.
            let same = try await f.ssoctl(["reload"], variables: ["SSO_AGENT_CONFIG": file]).output
            #expect(same.contains("sso-agent --check-config\n"), "\(same)")
            withExtendedLifetime(agent) {}
        }
    }

    #if os(Linux)
        /// Of a file that is in the home folder itself, the agent may read only that file: the folder is not its own to read.
        @Test func asksForARestartIfItMayNotReadAFileThatHasReplacedTheFirstOne() async throws {
            try await AgentProcessFixture.with { f in
                let file = f.folder.file("replaced.toml")
                try Self.open.write(toFile: file, atomically: false, encoding: .utf8)
                let agent = try await f.agent(["--config", file], variables: ["HOME": f.folder.path])
                try (Self.open + Self.open).write(toFile: file, atomically: true, encoding: .utf8)
                let refused = try await f.failure(["reload"], status: 1)
                #expect("\(refused)".contains("or replaced after the start of the agent"), "\(refused)")
                #expect(!"\(refused)".contains("chmod"), "\(refused)")
                withExtendedLifetime(agent) {}
            }
        }
    #endif

    /// A pipe without a writer, in place of the file, does not keep the agent waiting.
    @Test func refusesAPipe() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let file = f.folder.file("config.toml")
            try FileManager.default.removeItem(atPath: file)
            #expect(mkfifo(file, 0o600) == 0)
            let refused = try await f.ssoctl(["reload"], status: 1)
            #expect(refused.errors.contains("config.toml"), "\(refused.errors)")
            try await agent.process.waitForError("the configuration was not changed")
            kill(agent.processID, SIGHUP)
            try await agent.process.waitForError("the configuration was not changed")
            kill(agent.processID, SIGTERM)
            #expect(try await agent.process.finish().status == 0)
        }
    }

    /// Rules that cannot be read may deny something. Root may read every folder, and tests it as another user.
    @Test func keepsItsRulesIfAFolderCannotBeRead() async throws {
        let home = try OnDemandHome()
        let script = """
            rules="$SSO_AGENT_SYSTEM_CONFIG/conf.d"
            mkdir -p "$rules" && printf '%s' "$RULES" >"$rules/rules.toml" || exit 70
            "$0" accounts --json >/dev/null || exit 71
            chmod 0 "$rules"
            "$0" reload >&2
            [ $? = 1 ] || exit 72
            chmod 700 "$rules"
            "$0" reload --json
            """
        let ended = try await home.run(script, ["RULES": Self.open])
        #expect(ended.status == 0, "\(ended)")
        #expect(ended.errors.contains("conf.d cannot be read"), "\(ended)")
        let reply = try #require(JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any])
        #expect((reply["applied"] as? [String])?.isEmpty == true, "\(ended)")
        #expect((reply["files"] as? [String])?.first?.hasSuffix("conf.d/rules.toml") == true, "\(ended)")
    }

    /// An administrator whose umask is 077 has written it.
    @Test(
        .enabled(if: OtherUser.isPossible, "only root can write a file that the user may not read"),
        arguments: [("rules.toml", "sudo chmod a+r "), ("", "sudo chmod a+rx ")])
    func saysHowAFileOfTheSystemIsShared(name: String, command: String) async throws {
        let home = try OnDemandHome()
        let folder = home.folder.file("system/conf.d")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Self.open.write(toFile: "\(folder)/rules.toml", atomically: false, encoding: .utf8)
        let place = name.isEmpty ? folder : "\(folder)/\(name)"
        #expect(chmod(place, name.isEmpty ? 0o700 : 0o600) == 0)
        let ended = try await home.run("\"$1\" --check-config")
        #expect(ended.status == 1 && ended.errors.contains("Permission denied\n  → \(command)\(place)\n"), "\(ended)")
    }

    #if os(Linux)
        /// The agent has restricted its files when it was started, and the folder did not exist then.
        @Test func asksForARestartIfAFolderWasMadeLater() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                let folder = f.folder.file("system/conf.d")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try Self.closed.write(toFile: "\(folder)/rules.toml", atomically: false, encoding: .utf8)
                let refused = try await f.ssoctl(["reload"], status: 1)
                #expect(refused.errors.contains(folder) && refused.errors.contains("restart the agent"), "\(refused)")
                agent.process.signal(SIGTERM)
                _ = try await agent.process.finish()
                let restarted = try await f.agent()
                #expect(try await AgentClient(socketPath: f.socketPath).reloadConfiguration().files.count == 2)
                withExtendedLifetime(restarted) {}
            }
        }
    #endif

    /// A request that waits for events was allowed by the rules before.
    @Test func endsSubscriptionsThatTheNewRulesDeny() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let peer = try RawPeer(f.socketPath)
            var reply = try #require(try await peer.ask(WatchEvents(clientID: nil)))
            while !reply.events.contains(where: { $0.storeState == .open }) {
                reply = try #require(try await peer.ask(WatchEvents(clientID: nil, position: reply.position)))
            }
            try peer.write(WatchEvents(clientID: nil, position: reply.position), id: 2)
            try f.configure(Self.closed.replacing("acquire_token_silent", with: "watch_events") + Self.open)
            _ = try await AgentClient(socketPath: f.socketPath).reloadConfiguration()
            let waited = try #require(try await offPool { try peer.reply()?.reply(to: WatchEvents.self) })
            #expect(waited.events.isEmpty)
            #expect(
                await Self.isRefused { _ = try await peer.ask(WatchEvents(clientID: nil, position: waited.position)) })
            withExtendedLifetime(agent) {}
        }
    }

    @Test func tellsTheServiceManagerWhileItReads() async throws {
        try await AgentProcessFixture.with { f in
            let manager = try DatagramSocket(at: f.folder.file("notify"))
            let agent = try await f.agent(variables: ["NOTIFY_SOCKET": f.folder.file("notify")])
            #expect(try await offPool { try manager.receive() }.hasPrefix("READY=1\n"))
            kill(agent.processID, SIGHUP)
            #expect(try await offPool { try manager.receive() }.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
            #expect(try await offPool { try manager.receive() }.hasPrefix("READY=1\n"))
        }
    }
}
