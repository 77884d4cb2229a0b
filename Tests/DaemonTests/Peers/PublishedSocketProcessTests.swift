internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Published sockets of the executable: the command line, values, files, and the audit log.
@Suite(.bounded) struct PublishedSocketProcessTests {
    /// An agent that is started there would be another one, without anybody's sign-in.
    @Test func isPublishedAgainAfterItHasBeenClosed() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = try f.makeSocketFolder()
            #expect(try await f.publish(path).status == 0)
            #expect(try await f.ssoctl(["unpublish", path]).output.contains(path))
            let command = "env -u SSO_AGENT_SOCK -u SSO_AGENT_OWNER ssoctl publish --socket \(path) --app NAME"
            let closed = try await f.at(path, ["token", "--client-id", "app-1", "--scope", "S", "--json"])
            #expect(closed.status == 4 && closed.output.contains("\"nextCommand\" : \"\(command)\""), "\(closed)")
            let doctor = try await f.at(path, ["doctor"])
            #expect(doctor.status == 4 && doctor.output.contains("\n     → \(command)\n"), "\(doctor)")
            #expect(!doctor.output.contains("sso-agent --socket"), "\(doctor)")
            // Without the variable of the owner, it may have been another agent's; this one listens at the standard path.
            let runtime = f.folder.file("runtime/sso-agent")
            try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: true)
            try FileManager.default.linkItem(atPath: f.socketPath, toPath: runtime + "/agent.sock")
            let variables = ["SSO_AGENT_SOCK": path, "XDG_RUNTIME_DIR": f.folder.file("runtime")]
            let unsure = try await f.failure(["status"], status: 4, variables: variables)
            #expect(
                (unsure["message"] as? String)?.contains("if it was published, that has ended; “\(command)”") == true)
            #expect(unsure["nextCommand"] as? String == "sso-agent --socket \(path) &", "\(unsure)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func isMadeListedAndRemovedByCommands() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters())
            let path = try f.makeSocketFolder()
            let published = try await f.publish(
                path,
                [
                    "--scope", "User.Read,Calendars.Read", "--account", "alice@contoso.com", "--ttl", "30m", "--label",
                    "build",
                ])
            #expect(published.status == 0 && published.output.contains("build: \(path)"), "\(published.errors)")
            let scopes = try #require(try await f.json(["sockets"])["sockets"] as? [[String: Any]]).first?["scopes"]
            #expect(scopes as? [String] == ["User.Read", "Calendars.Read"])
            #expect(try TemporaryFolder.mode(of: path) == 0o600)
            #expect(try await f.at(path, f.tokenCommand()).status == 0)
            let named = Array(f.tokenCommand().dropLast(2)) + ["--account"]
            for name in ["alice@contoso.com", "ALI"] {
                let ended = try await f.at(path, named + [name])
                #expect(ended.status == 0, "\(name): \(ended.errors)")
            }
            #expect(try await f.at(path, named + ["bob"]).errors.contains("it serves another account"))
            let wider = try await f.at(path, f.tokenCommand(scope: "Mail.Read"))
            #expect(wider.status == 1 && wider.errors.contains("other scopes"))
            for other in [["accounts"], ["key"], ["sockets"], ["unpublish", "build"]] {
                let ended = try await f.at(path, other)
                #expect(ended.status == 1, "\(other): \(ended.output)")
                let nextStep = other[0] == "accounts" ? "--app or --client-id" : "run this where the agent runs"
                #expect(ended.errors.contains(nextStep), "\(other): \(ended.errors)")
            }
            let doctor = try await f.at(path, ["doctor"])
            #expect(doctor.status == 0 && doctor.output.hasSuffix(" checks passed\n"), "\(doctor)")
            let socket = "ok   socket: \(path) is a published socket, which serves tokens only\n"
            #expect(doctor.output.hasPrefix(socket) && doctor.output.contains("ok   configuration: "), "\(doctor)")
            #expect(try await f.at(path, ["status"]).output.contains("answers at the published \(path)"))
            // What is not known is absent.
            let status = try await f.at(path, ["status", "--json"]).output
            #expect(!status.contains("pid") && !status.contains("accounts") && !status.contains("uptime"), "\(status)")
            for own in [["audit"], ["sign-out", "alice", "--client-id", "app-1"], ["use", "alice"]] {
                let ended = try await f.at(path, own)
                #expect(ended.status == 1 && ended.errors.contains("run this where the agent runs"), "\(ended)")
            }
            #expect(try await f.at(path, ["use", "alice"]).errors.hasSuffix("→ export SSO_AGENT_ACCOUNT=alice\n"))
            // A published socket publishes no other.
            let nested = try await f.at(
                path, ["publish", "--socket", f.folder.file("shared/2.sock"), "--client-id", "app-1"])
            #expect(nested.status == 1 && nested.errors.contains("publish_socket"))
            for shown in [["sockets", "--json"], ["status"], ["status", "--json"], ["doctor"]] {
                #expect(try await f.run("ssoctl", shown).output.contains(path), "\(shown)")
            }
            let again = try await f.publish(path)
            #expect(again.status == 1 && again.errors.contains("unpublish"))
            let begun = try await f.json([
                "publish", "--socket", f.folder.file("shared/4.sock"), "--client-id", "app-1", "--account", "ali",
            ])
            let account = begun["account"] as? [String: String]
            #expect(account?["username"] == "alice@contoso.com" && account?["identifier"] != nil, "\(begun)")
            try await f.addApp("graph", clientID: "app-7")
            let second = f.folder.file("shared/2.sock")
            let byName = try await f.json(["publish", "--socket", second, "--app", "graph"])
            #expect(byName["clientIds"] as? [String] == ["app-7"], "\(byName)")
            #expect(byName["apps"] as? [String] == ["graph"], "\(byName)")
            let listed = try await f.ssoctl(["sockets"]).output
            #expect(listed.contains("; apps graph; ") && listed.contains("; apps app-1; "), "\(listed)")
            let unknown = try await f.publish(f.folder.file("shared/3.sock"), ["--app", "grph"], clientIDs: [])
            #expect(unknown.status == 64 && unknown.errors.contains("did you mean “graph”?"), "\(unknown)")
            #expect(try await f.run("ssoctl", ["unpublish", "build"]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(try await f.run("ssoctl", ["unpublish", path]).status == 1)
            #expect(try await f.at(path, f.tokenCommand()).status == 4)
            // The folder, which others can look into, is not what is wrong.
            let ended = try await f.at(path, ["doctor"])
            #expect(ended.status == 4 && ended.output.contains("ok   socket folder: "), "\(ended)")
            withExtendedLifetime(agent) {}
        }
    }

    /// The socket refuses the commands that help elsewhere.
    @Test func saysWhereToSignInAndToUnlock() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let path = try f.makeSocketFolder()
            #expect(try await f.publish(path).status == 0)
            let place = "; a published socket gives tokens only; run this where the agent runs: "
            let unknown = try await f.at(path, f.tokenCommand())
            #expect(
                unknown.status == 2 && unknown.errors.contains("\(place)ssoctl sign-in --client-id app-1 "),
                "\(unknown)")
            #expect(!unknown.errors.contains("→"), "\(unknown)")
            let object = try await f.at(path, f.tokenCommand() + ["--json"]).output
            #expect(object.contains(place) && !object.contains("nextCommand"), "\(object)")
            let accounts = try await f.at(path, ["accounts", "--client-id", "app-1"]).output
            #expect(
                accounts.contains("Sign in where the agent runs with: ssoctl sign-in --client-id app-1 "), "\(accounts)"
            )
            try await f.ssoctl(["lock"])
            let locked = try await f.at(path, f.tokenCommand())
            #expect(locked.status == 1 && locked.errors.hasSuffix("\(place)ssoctl unlock\n"), "\(locked)")
            let environment = f.environment.merging(["SSO_AGENT_SOCK": path]) { $1 }
            let watch = try TestProcess("ssoctl", ["watch", "--client-id", "app-1"], environment: environment)
            try await watch.waitForOutput("store locked  (where the agent runs: ssoctl unlock)\n")
            watch.signal(SIGINT)
            #expect(try await watch.finish().status == 0)
            withExtendedLifetime(agent) {}
        }
    }

    /// Strangers must not fill the log, and every refusal counts.
    @Test func countsTheRefusalsOfASocketThatHasEnded() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = try f.makeSocketFolder()
            #expect(try await f.publish(path, ["--label", "build"]).status == 0)
            let stranger = AgentClient(socketPath: path)
            for number in 0..<70 {
                let list = ListAccounts(clientID: ClientID("other-\(number)"), onlySignedIn: true)
                await #expect(throws: TokenError.self) { try await stranger.listAccounts(list) }
            }
            #expect(try await f.run("ssoctl", ["unpublish", "build"]).status == 0)
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let lines = try await f.auditLines()
            #expect(lines.count { $0["event"] as? String == "refusal" } == 60)
            let omitted = lines.filter { $0["event"] as? String == "omitted" }
            #expect(omitted.count == 1 && omitted.first?["count"] as? Int == 10, "\(omitted)")
            // The peers of a published socket are one peer: the line names none.
            #expect(omitted.first?["socket"] as? String == "build" && omitted.first?["pid"] == nil)
        }
    }

    @Test func needsAPersonWithoutARule() async throws {
        try await AgentProcessFixture.with(rules: "") { f in
            let program = try await f.folder.makeProgram(
                "askpass", "echo \"$1\" >'\(f.folder.file("asked"))'\nexit $(cat '\(f.folder.file("answer"))')")
            try f.configure("[confirmation]\naskpass = \"\(program)\"\n")
            let agent = try await f.agent()
            let path = try f.makeSocketFolder()
            for (answer, status) in [("1", Int32(1)), ("0", 0)] {
                try answer.write(toFile: f.folder.file("answer"), atomically: false, encoding: .utf8)
                let ended = try await f.publish(path, ["--uid", "4711", "--scope", "User.Read"])
                #expect(ended.status == status, "\(ended.errors)")
                #expect(FileManager.default.fileExists(atPath: path) == (status == 0))
            }
            let asked = try String(contentsOfFile: f.folder.file("asked"), encoding: .utf8)
            for part in [
                path, "users 4711", "8 hours", "every account", "for the app app-1", "with 1 scope: User.Read",
            ] {
                #expect(asked.contains(part), "\(part): \(asked)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func refusesAProcessWithoutATerminalToPublish() async throws {
        try await AgentProcessFixture.with(rules: "") { f in
            let agent = try await f.agent()
            let path = try f.makeSocketFolder()
            let ended = try await f.run(
                "/usr/bin/env",
                ["setsid", "-w", Executable.path("ssoctl"), "publish", "--socket", path, "--client-id", "app-1"])
            #expect(ended.status == 1 && ended.errors.contains("[[rule]]"), "\(ended.errors)")
            #expect(!FileManager.default.fileExists(atPath: path))
            withExtendedLifetime(agent) {}
        }
    }

    // MARK: Values

    @Test(arguments: [
        ["--ttl", "25h"], ["--ttl", "0"], ["--ttl", "-1"], ["--ttl", "9223372036854775807h"], ["--ttl", "x"],
        ["--uid", "-1"], ["--uid", "4294967296"], ["--client-id", ""], ["--scope", " "], ["--scope", ","],
        ["--account", ""],
        ["--authority", "ftp://x"],
    ])
    func refusesImpossibleOptions(options: [String]) async throws {
        try await AgentProcessFixture.with { f in
            let ended = try await f.publish(f.folder.file("x.sock"), options)
            #expect(ended.status == 64)
        }
    }

    @Test func isPublishedForADay() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let ended = try await f.publish(try f.makeSocketFolder(), ["--ttl", "24h"])
            #expect(ended.status == 0, "\(ended)")
            withExtendedLifetime(agent) {}
        }
    }

    /// As a client sends them that checks nothing.
    @Test func refusesImpossibleValues() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = try f.makeSocketFolder()
            let client = AgentClient(socketPath: f.socketPath)
            let app = try #require(ClientID("app-1"))
            let plain = PublishSocket(path: path, clientIDs: [app])
            func changed(_ change: (inout PublishSocket) -> Void) -> PublishSocket {
                var request = plain
                change(&request)
                return request
            }
            let apps = (0..<200).compactMap { ClientID("app-\($0)") }
            let requests: [(String, PublishSocket)] = [
                ("relative", changed { $0.path = "shared/x.sock" }),
                ("parent", changed { $0.path = "\(path)/../y.sock" }),
                ("dot", changed { $0.path = "\(f.folder.path)/./shared/y.sock" }),
                ("slash", changed { $0.path += "/" }),
                ("root", changed { $0.path = "/" }), ("slashes", changed { $0.path = "//tmp/x.sock" }),
                ("control", changed { $0.path += "\u{1B}[2J" }),
                ("long", changed { $0.path = "/" + String(repeating: "x", count: 108) }),
                ("very long", changed { $0.path = "/" + String(repeating: "x/", count: 2000) }),
                ("no folder", changed { $0.path = f.folder.file("missing/x.sock") }),
                ("no apps", changed { $0.clientIDs = [] }), ("many apps", changed { $0.clientIDs = apps }),
                ("long app", changed { $0.clientIDs = [ClientID(String(repeating: "x", count: 2000)) ?? app] }),
                (
                    "long scopes",
                    changed { $0.scopes = ScopeSet((0..<10).map { "\($0)" + String(repeating: "x", count: 2000) }) }
                ),
                ("many scopes", changed { $0.scopes = ScopeSet((0..<100).map { "s\($0)" }) }),
                ("many users", changed { $0.userIDs = Array(1...100) }), ("user -1", changed { $0.userIDs = [.max] }),
                ("no time", changed { $0.lifetime = 0 }), ("negative", changed { $0.lifetime = .min }),
                ("long time", changed { $0.lifetime = .max }), ("label", changed { $0.label = "/x" }),
                ("label", changed { $0.label = "a\u{7}" }),
                ("label", changed { $0.label = String(repeating: "x", count: 65) }),
                ("authorities", changed { $0.authorities = Array(repeating: .common, count: 9) }),
            ]
            for (name, request) in requests {
                let error = await #expect(throws: TokenError.self, "\(name)") {
                    try await client.publishSocket(request)
                }
                #expect(error?.code == .invalidDeveloperParameter, "\(name): \(error?.message ?? "")")
            }
            // Values that the protocol itself refuses.
            for request in [
                changed { $0.clientIDs = (0..<300).compactMap { ClientID("app-\($0)") } },
                changed { $0.path = "\(path)\0" }, changed { $0.label = String(repeating: "x", count: 5000) },
            ] {
                let error = await #expect(throws: TokenError.self) { try await client.publishSocket(request) }
                #expect(error?.code == .malformedMessage)
            }
            let tooLong = changed { $0.clientIDs = (0..<10_000).compactMap { ClientID("app-\($0)") } }
            #expect(
                await #expect(throws: TokenError.self) { try await client.publishSocket(tooLong) }?.code
                    == .frameTooLarge)
            #expect(try await client.listSockets().isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: f.folder.file("shared")).isEmpty)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func publishesALimitedNumberOfSockets() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try f.makeSocketFolder()
            let client = AgentClient(socketPath: f.socketPath)
            let app = try #require(ClientID("app-1"))
            for number in 1...16 {
                try await client.publishSocket(
                    PublishSocket(path: f.folder.file("shared/\(number)"), clientIDs: [app]))
            }
            let error = await #expect(throws: TokenError.self) {
                try await client.publishSocket(PublishSocket(path: f.folder.file("shared/17"), clientIDs: [app]))
            }
            #expect(error?.message.contains("16 sockets") == true)
            #expect(try await client.unpublishSocket(UnpublishSocket(name: f.folder.file("shared/1"))) != nil)
            try await client.publishSocket(PublishSocket(path: f.folder.file("shared/17"), clientIDs: [app]))
            withExtendedLifetime(agent) {}
        }
    }

    #if os(Linux)
        /// An agent that is stopped, or killed, leaves no socket, and the next one has none.
        @Test(arguments: [SIGTERM, SIGKILL])
        func endsWithTheAgentsProcess(signal: Int32) async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                let path = try f.makeSocketFolder()
                #expect(try await f.publish(path).status == 0)
                agent.process.signal(signal)
                _ = try await agent.process.finish()
                // The helper, which removes the file of a killed agent, has the agent's standard error until it ends.
                #expect(!FileManager.default.fileExists(atPath: path))
                let next = try await f.agent()
                #expect(try await AgentClient(socketPath: f.socketPath).listSockets().isEmpty)
                withExtendedLifetime(next) {}
            }
        }
    #endif

    @Test func endsWhenItsTimeIsOver() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = try f.makeSocketFolder()
            #expect(try await f.publish(path, ["--ttl", "1s", "--label", "short"]).status == 0)
            try await agent.process.waitForError("expired")
            #expect(try await f.run("ssoctl", ["sockets"]).output.contains("No sockets"))
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let events = try await f.auditLines().filter { $0["socket"] as? String == "short" }
            // In either order: the line of a request is written with its reply, which a slow machine sends after the second.
            #expect(events.compactMap { $0["event"] as? String }.sorted() == ["expire", "publish"])
        }
    }

    @Test func recordsTheLabelOfEachEvent() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters())
            let path = try f.makeSocketFolder()
            #expect(try await f.publish(path, ["--scope", "User.Read", "--label", "build"]).status == 0)
            #expect(try await f.at(path, f.tokenCommand()).status == 0)
            #expect(try await f.at(path, f.tokenCommand(scope: "Mail.Read")).status == 1)
            #expect(try await f.at(path, ["key"]).status == 1)
            #expect(try await f.run("ssoctl", f.tokenCommand()).status == 0)
            #expect(try await f.run("ssoctl", ["unpublish", path]).status == 0)
            // Nothing is closed a second time.
            #expect(try await f.run("ssoctl", ["unpublish", path]).status == 1)
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let lines = try await f.auditLines()
            let labelled = lines.filter { $0["socket"] as? String == "build" }
            #expect(
                labelled.compactMap { $0["event"] as? String } == [
                    // The token command lists the accounts when it is refused: the name may have been the reason.
                    "publish", "token", "refusal", "id_token", "refusal", "unpublish",
                ])
            #expect(labelled.compactMap { $0["request"] as? String }.dropFirst(4).first == "get_key")
            #expect(labelled.first?["client_id"] as? String == "app-1")
            // The token at the agent's own socket has no label.
            #expect(lines.contains { $0["event"] as? String == "token" && $0["socket"] == nil })
        }
    }

    /// A stranger's refusals must not push all other lines out of the log.
    @Test func recordsALimitedNumberOfRefusals() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = try f.makeSocketFolder()
            #expect(try await f.publish(path, ["--scope", "User.Read"]).status == 0)
            let frames = try (1...500).flatMap { number in
                var parameters = try f.parameters(scopes: ["Scope.\(number)"])
                parameters.correlationID = CorrelationID()
                return try RequestFrame.encode(
                    AcquireTokenSilent(parameters: parameters, account: AccountReference()), id: UInt64(number))
            }
            let replies = try await offPool {
                let peer = try RawPeer(path)
                peer.write(frames)
                return try (1...500).map { _ in try peer.reply()?.failure?.code }
            }
            #expect(replies.allSatisfy { $0 == .requestDenied })
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let refusals = try await f.auditLines().filter { $0["event"] as? String == "refusal" }
            #expect((1...130).contains(refusals.count), "\(refusals.count)")
        }
    }
}
