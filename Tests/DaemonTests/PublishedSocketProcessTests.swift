internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Published sockets of the executable: their files, other users, and the command line.
@Suite(.bounded) struct PublishedSocketProcessTests {
    private static let path = "shared/sso.sock"

    /// Makes the folder of the sockets, which other users can look into.
    private func makeFolder(_ f: AgentProcessFixture) throws -> String {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: f.folder.path)
        try FileManager.default.createDirectory(
            atPath: f.folder.file("shared"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        return f.folder.file(Self.path)
    }

    private func publish(
        _ f: AgentProcessFixture, _ path: String, _ options: [String] = [], clientIDs: [String] = ["app-1"]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await f.run(
            "ssoctl", ["publish", "--socket", path] + clientIDs.flatMap { ["--client-id", $0] } + options)
    }

    /// The command of a token of app-1.
    private func token(_ f: AgentProcessFixture, scope: String = "User.Read") -> [String] {
        [
            "token", "--client-id", "app-1", "--authority", "\(f.url)/common", "--scope", scope, "--username",
            "alice@contoso.com",
        ]
    }

    /// Runs a command of `ssoctl` at a published socket.
    private func at(
        _ path: String, _ f: AgentProcessFixture, _ arguments: [String], through command: [String] = []
    ) async throws -> (status: Int32, output: String, errors: String) {
        var environment = f.environment
        environment["SSO_AGENT_SOCK"] = path
        environment["SSO_AGENT_OWNER"] = "\(geteuid())"
        let words = command + [Executable.path("ssoctl")] + arguments
        return try await TestProcess("/usr/bin/env", words, environment: environment).finish()
    }

    @Test func isMadeListedAndRemovedByCommands() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters())
            let path = try makeFolder(f)
            let published = try await publish(
                f, path, ["--scope", "User.Read", "--account", "alice@contoso.com", "--ttl", "30m", "--label", "build"])
            #expect(published.status == 0 && published.output.contains("build: \(path)"), "\(published.errors)")
            #expect(try TemporaryFolder.mode(of: path) == 0o600)
            #expect(try await at(path, f, token(f)).status == 0)
            let wider = try await at(path, f, token(f, scope: "Mail.Read"))
            #expect(wider.status == 1 && wider.errors.contains("other scopes"))
            for other in [["accounts"], ["key"], ["doctor"], ["sockets"], ["unpublish", "build"]] {
                let ended = try await at(path, f, other)
                #expect(ended.status == 1, "\(other): \(ended.output)")
            }
            #expect(try await at(path, f, ["status"]).output.contains("answers at the published \(path)"))
            // A published socket publishes no other.
            let nested = try await at(
                path, f, ["publish", "--socket", f.folder.file("shared/2.sock"), "--client-id", "app-1"])
            #expect(nested.status == 1 && nested.errors.contains("publish_socket"))
            for shown in [["sockets", "--json"], ["status"], ["status", "--json"], ["doctor"]] {
                #expect(try await f.run("ssoctl", shown).output.contains(path), "\(shown)")
            }
            let again = try await publish(f, path)
            #expect(again.status == 1 && again.errors.contains("unpublish"))
            #expect(try await f.run("ssoctl", ["unpublish", "build"]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(try await f.run("ssoctl", ["unpublish", path]).status == 1)
            #expect(try await at(path, f, token(f)).status == 4)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func needsAPersonWithoutARule() async throws {
        try await AgentProcessFixture.with(rules: "") { f in
            let program = try await f.folder.makeProgram(
                "askpass", "echo \"$1\" >'\(f.folder.file("asked"))'\nexit $(cat '\(f.folder.file("answer"))')")
            try "[confirmation]\naskpass = \"\(program)\"\n".write(
                toFile: f.folder.file("config.toml"), atomically: false, encoding: .utf8)
            let agent = try await f.agent()
            let path = try makeFolder(f)
            for (answer, status) in [("1", Int32(1)), ("0", 0)] {
                try answer.write(toFile: f.folder.file("answer"), atomically: false, encoding: .utf8)
                let ended = try await publish(f, path, ["--uid", "4711", "--scope", "User.Read"])
                #expect(ended.status == status, "\(ended.errors)")
                #expect(FileManager.default.fileExists(atPath: path) == (status == 0))
            }
            let asked = try String(contentsOfFile: f.folder.file("asked"), encoding: .utf8)
            for part in [path, "users 4711", "480 minutes", "every account", "app-1", "User.Read"] {
                #expect(asked.contains(part), "\(part): \(asked)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func refusesAProcessWithoutATerminalToPublish() async throws {
        try await AgentProcessFixture.with(rules: "") { f in
            let agent = try await f.agent()
            let path = try makeFolder(f)
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
        ["--uid", "-1"], ["--uid", "4294967296"], ["--client-id", ""], ["--scope", " "], ["--account", ""],
        ["--authority", "ftp://x"],
    ])
    func refusesImpossibleOptions(options: [String]) async throws {
        try await AgentProcessFixture.with { f in
            let ended = try await publish(f, f.folder.file("x.sock"), options)
            #expect(ended.status == 64)
        }
    }

    /// As a client sends them that checks nothing.
    @Test func refusesImpossibleValues() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = try makeFolder(f)
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
            _ = try makeFolder(f)
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

    // MARK: Files

    @Test func replacesOnlyASocketOnWhichNobodyListens() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = try makeFolder(f)
            func refusal() async throws -> String {
                let ended = try await publish(f, path)
                #expect(ended.status == 1)
                return ended.errors
            }
            try "mine".write(toFile: path, atomically: false, encoding: .utf8)
            #expect(try await refusal().contains("another file"))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: f.folder.file("target"))
            #expect(try await refusal().contains("another file"))
            try FileManager.default.removeItem(atPath: path)
            // A process that listens, and its socket after it has ended.
            let listener = try TestProcess(
                "/usr/bin/env",
                [
                    "python3", "-c",
                    "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); "
                        + "print('listening', flush=True); time.sleep(1000)", path,
                ])
            try await listener.waitForOutput("listening")
            #expect(try await refusal().contains("listens there already"))
            try await listener.killHard()
            #expect(FileManager.default.fileExists(atPath: path))
            #expect(try await publish(f, path).status == 0)
            // What the user has put into its place meanwhile is not removed.
            try FileManager.default.removeItem(atPath: path)
            try "mine".write(toFile: path, atomically: false, encoding: .utf8)
            #expect(try await f.run("ssoctl", ["unpublish", path]).status == 0)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
            withExtendedLifetime(agent) {}
        }
    }

    @Test(arguments: [0o775, 0o757, 0o777, 0o1777])
    func refusesAPublishedSocketInAFolderThatOthersMayWrite(mode: Int) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = try makeFolder(f)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: f.folder.file("shared"))
            let ended = try await publish(f, path)
            #expect(ended.status == 1 && ended.errors.contains("chmod go-w"), "\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func refusesAFolderThatIsALink() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try makeFolder(f)
            try FileManager.default.createSymbolicLink(
                atPath: f.folder.file("link"), withDestinationPath: f.folder.file("shared"))
            let ended = try await publish(f, f.folder.file("link/sso.sock"))
            #expect(ended.status == 1 && ended.errors.contains("is not a folder"), "\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }

    #if os(Linux)
        /// An agent that is stopped, or killed, leaves no socket, and the next one has none.
        @Test(arguments: [SIGTERM, SIGKILL])
        func endsWithTheAgentsProcess(signal: Int32) async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                let path = try makeFolder(f)
                #expect(try await publish(f, path).status == 0)
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
            let path = try makeFolder(f)
            #expect(try await publish(f, path, ["--ttl", "1s", "--label", "short"]).status == 0)
            try await agent.process.waitForError("expired")
            #expect(try await f.run("ssoctl", ["sockets"]).output.contains("No sockets"))
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let events = try await auditLines(f).filter { $0["socket"] as? String == "short" }
            // In either order: the line of a request is written with its reply, which a slow machine sends after the second.
            #expect(events.compactMap { $0["event"] as? String }.sorted() == ["expire", "publish"])
        }
    }

    private func auditLines(_ f: AgentProcessFixture) async throws -> [[String: Any]] {
        let ended = try await f.run("ssoctl", ["audit", "--json", "--file", f.folder.file("state/audit.log")])
        #expect(ended.status == 0, "\(ended.errors)")
        return try ended.output.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test func recordsTheLabelOfEachEvent() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters())
            let path = try makeFolder(f)
            #expect(try await publish(f, path, ["--scope", "User.Read", "--label", "build"]).status == 0)
            #expect(try await at(path, f, token(f)).status == 0)
            #expect(try await at(path, f, token(f, scope: "Mail.Read")).status == 1)
            #expect(try await at(path, f, ["key"]).status == 1)
            #expect(try await f.run("ssoctl", token(f)).status == 0)
            #expect(try await f.run("ssoctl", ["unpublish", path]).status == 0)
            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            let lines = try await auditLines(f)
            let labelled = lines.filter { $0["socket"] as? String == "build" }
            #expect(
                labelled.compactMap { $0["event"] as? String } == [
                    "publish", "token", "refusal", "refusal", "unpublish",
                ])
            #expect(labelled.compactMap { $0["request"] as? String }.dropFirst(3).first == "get_key")
            #expect(labelled.first?["client_id"] as? String == "app-1")
            // The token at the agent's own socket has no label.
            #expect(lines.contains { $0["event"] as? String == "token" && $0["socket"] == nil })
        }
    }

    /// A stranger's refusals must not push all other lines out of the log.
    @Test func recordsALimitedNumberOfRefusals() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = try makeFolder(f)
            #expect(try await publish(f, path, ["--scope", "User.Read"]).status == 0)
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
            let refusals = try await auditLines(f).filter { $0["event"] as? String == "refusal" }
            #expect((1...130).contains(refusals.count), "\(refusals.count)")
        }
    }

    // MARK: Other users

    #if os(Linux)
        /// Sends requests as another user, and returns the replies; nil if the user cannot connect.
        private func asOther(
            _ path: String, user: UInt32 = OtherUser.id, _ frames: [UInt8]
        ) async throws -> [ReplyFrame]? {
            let script = """
                pass; import os, socket, sys
                os.setgroups([]); os.setgid(int(sys.argv[3])); os.setuid(int(sys.argv[3]))
                s = socket.socket(socket.AF_UNIX)
                try: s.connect(sys.argv[1])
                except PermissionError: print("refused"); sys.exit()
                received = b""
                try:
                    s.sendall(bytes.fromhex(sys.argv[2])); s.shutdown(socket.SHUT_WR)
                    while data := s.recv(65536): received += data
                except (ConnectionError, BrokenPipeError): pass
                print(received.hex())
                """
            let hex = frames.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let ended = try await TestProcess("/usr/bin/env", ["python3", "-c", script, path, hex, "\(user)"]).finish()
            #expect(ended.status == 0, "\(ended.errors)")
            let text = ended.output.filter { !$0.isNewline }
            if text == "refused" { return nil }
            var bytes: [UInt8] = []
            var rest = Substring(text)
            while !rest.isEmpty {
                bytes.append(try #require(UInt8(rest.prefix(2), radix: 16)))
                rest = rest.dropFirst(2)
            }
            var decoder = FrameDecoder(limit: WireLimits.replyFrame)
            bytes.withUnsafeBytes { decoder.append($0) }
            var replies: [ReplyFrame] = []
            while let frame = try decoder.next() { replies.append(try ReplyFrame(decoding: frame)) }
            return replies
        }

        @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
        func servesTheNamedUsersAndNobodyElse() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                try await f.signIn("alice@contoso.com", f.parameters())
                let path = try makeFolder(f)
                let published = try await publish(f, path, ["--uid", "\(OtherUser.id)", "--scope", "User.Read"])
                #expect(published.status == 0, "\(published.errors)")
                let requests =
                    try RequestFrame.encode(
                        AcquireTokenSilent(parameters: try f.parameters(), account: AccountReference()), id: 1)
                    + RequestFrame.encode(ExportCache(format: .msalJSON, includesSecrets: true), id: 2)
                let replies = try #require(try await asOther(path, requests))
                #expect(try replies.first?.reply(to: AcquireTokenSilent.self).isFromCache == true)
                #expect(try replies.last?.failure?.code == .requestDenied && replies.count == 2)
                // A third user, and the agent's own, who is not named.
                #expect(try await asOther(path, user: 4711, requests)?.isEmpty ?? true)
                #expect(try await at(path, f, token(f)).status != 0)
                // Also where the file system lets everybody connect.
                try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
                #expect(try #require(try await asOther(path, user: 4711, requests)).isEmpty)
                #expect(try await asOther(path, requests)?.count == 2)
                // The named user gets nothing at the agent's own socket.
                #expect(try await asOther(f.socketPath, requests)?.isEmpty ?? true)
                withExtendedLifetime(agent) {}
            }
        }

        /// The library refuses a socket of another user unless the program's user says whose it is.
        @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
        func connectsToASocketOfTheNamedOwnerOnly() async throws {
            try await AgentProcessFixture.with { f in
                let path = try makeFolder(f)
                let script = """
                    pass; import os, socket, sys
                    s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])
                    os.setuid(int(sys.argv[2])); s.listen(); print("listening", flush=True)
                    while True:
                        c = s.accept()[0]; print("received", len(c.recv(100)), flush=True); c.close()
                    """
                let listener = try TestProcess("/usr/bin/env", ["python3", "-c", script, path, "\(OtherUser.id)"])
                try await listener.waitForOutput("listening")
                for (owner, isTrusted) in [("", false), ("4711", false), ("\(OtherUser.id)", true)] {
                    var environment = f.environment
                    (environment["SSO_AGENT_SOCK"], environment["SSO_AGENT_OWNER"]) = (path, owner)
                    let ended = try await TestProcess("ssoctl", ["status"], environment: environment).finish()
                    #expect(ended.status == 4)
                    #expect(ended.errors.contains("SSO_AGENT_OWNER=\(OtherUser.id)") == !isTrusted, "\(ended.errors)")
                }
                try await listener.killHard()
            }
        }

        /// The root of a user namespace is the user who has made it.
        @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
        func knowsTheRootOfANamespaceAsItsUser() async throws {
            try #require(await OtherUser.canBeRootOfANamespace())
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                let path = try makeFolder(f)
                #expect(try await publish(f, path, ["--uid", "0"]).status == 0)
                // The agent decides, and not the file's mode.
                try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
                let script = """
                    exec python3 -c 'import socket, sys
                    s = socket.socket(socket.AF_UNIX)
                    try:
                        s.connect(sys.argv[1]); s.sendall(bytes.fromhex("0000000508019a0100")); print(len(s.recv(100)))
                    except OSError: print(0)' "$0"
                    """
                let refused = try await OtherUser.start(script, [path], isRootOfANamespace: true).finish()
                #expect(refused.output == "0\n", "\(refused.errors)")
                let own = try await at(path, f, ["status"], through: ["unshare", "--user", "--map-root-user"])
                #expect(own.status == 0, "\(own.errors)")
                withExtendedLifetime(agent) {}
            }
        }

        /// All processes of a stranger have together what one process of the user has.
        @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
        func answersItsUserBesideManyProcessesOfAnother() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                try await f.signIn("alice@contoso.com", f.parameters())
                let path = try makeFolder(f)
                #expect(try await publish(f, path, ["--uid", "\(OtherUser.id)"]).status == 0)
                let script = """
                    pass; import os, socket, sys
                    os.setgroups([]); os.setuid(int(sys.argv[2]))
                    connections, (reading, writing), (life, parent) = [], os.pipe(), os.pipe()
                    for child in range(8):
                        if os.fork() == 0:
                            os.close(parent)
                            for _ in range(32):
                                s = socket.socket(socket.AF_UNIX); connections.append(s)
                                try: s.connect(sys.argv[1]); s.setblocking(False); s.send(bytes.fromhex("0000000508019a0100") * 500)
                                except OSError: pass
                            # Ends with the parent.
                            os.write(writing, b"x"); os.read(life, 1); os._exit(0)
                    for child in range(8): os.read(reading, 1)
                    print("connected", flush=True); os.read(life, 1)
                    """
                let flood = try TestProcess("/usr/bin/env", ["python3", "-c", script, path, "\(OtherUser.id)"])
                try await flood.waitForOutput("connected")
                let client = AgentClient(socketPath: f.socketPath)
                for _ in 0..<50 { _ = try await client.status() }
                let connections = try #require(try await client.listSockets().first?.connections)
                #expect((1...64).contains(connections))
                try await flood.killHard()
                withExtendedLifetime(agent) {}
            }
        }

        /// A container with processes of its own, which gets nothing at the agent's own socket.
        @Test(.enabled(if: Sandbox.isPossible, "only root can make a sandbox"))
        func servesASandboxWhatIsPublished() async throws {
            try await AgentProcessFixture.with(
                rules:
                    "[[rule]]\nclass = \"sandboxed\"\nclient_ids = [\"app-2\"]\nrequests = [\"all\"]\neffect = \"deny\"\n"
                    + "[[rule]]\nclass = \"other\"\nrequests = [\"all\"]\neffect = \"allow\"\n"
                    + "[[rule]]\nclass = \"installed\"\nrequests = [\"all\"]\neffect = \"allow\"\n"
            ) { f in
                let agent = try await f.agent()
                try await f.signIn("alice@contoso.com", f.parameters())
                let path = try makeFolder(f)
                #expect(try await publish(f, path, clientIDs: ["app-1", "app-2"]).status == 0)
                let nested = ["unshare", "--pid", "--fork"]
                #expect(try await at(f.socketPath, f, token(f), through: nested).status == 1)
                let served = try await at(path, f, token(f), through: nested)
                #expect(served.status == 0, "\(served.errors)")
                // A rule of the configuration refuses there too.
                var other = token(f)
                other[2] = "app-2"
                let denied = try await at(path, f, other, through: nested)
                #expect(denied.status == 1 && denied.errors.contains("a rule of the agent's configuration"))
                withExtendedLifetime(agent) {}
            }
        }
    #endif
}
