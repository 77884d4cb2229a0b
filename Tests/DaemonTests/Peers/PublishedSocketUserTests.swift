internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Who may connect to a published socket of the executable: other users, namespaces and sandboxes.
@Suite(.bounded) struct PublishedSocketUserTests {
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
            let hex = frames.hex
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
                let path = try f.makeSocketFolder()
                let published = try await f.publish(path, ["--uid", "\(OtherUser.id)", "--scope", "User.Read"])
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
                #expect(try await f.at(path, f.tokenCommand()).status != 0)
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
                let path = try f.makeSocketFolder()
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

        /// That agent could have a person, or a script, run any command.
        @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
        func takesNoCommandFromTheAgentOfAnotherUser() async throws {
            let script = """
                pass; import os, socket, sys
                s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o666)
                os.setuid(int(sys.argv[2])); s.listen(); print("listening", flush=True)
                while True:
                    c = s.accept()[0]
                    while head := c.recv(4, socket.MSG_WAITALL):
                        body = c.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
                        reply = bytearray.fromhex(sys.argv[3] if body[2:4] == bytes.fromhex(sys.argv[5]) else sys.argv[4])
                        reply[5] = body[1]
                        c.sendall(reply)
                """
            let diagnosis = try RequestFrame.encode(Diagnose(), id: 1)
            let check = HealthCheck(name: "store", ok: false, detail: "it is full", hint: "rm -r ~")
            let checks = ReplyFrame.encode(.success(Diagnose.Reply(checks: [check])), to: Diagnose.self, id: 1)
            let locked = TokenError(.storeUnavailable, "it is locked", .run("rm -r ~"))
            try await AgentProcessFixture.with { f in
                for owner in [OtherUser.id, geteuid()] {
                    let path = f.folder.file("\(owner).sock")
                    let words = [
                        path, "\(owner)", checks.hex, ReplyFrame.encode(locked, id: 1).hex, Array(diagnosis[6..<8]).hex,
                    ]
                    let agent = try TestProcess("/usr/bin/env", ["python3", "-c", script] + words)
                    try await agent.waitForOutput("listening")
                    let variables = ["SSO_AGENT_SOCK": path, "SSO_AGENT_OWNER": "\(owner)"]
                    let isOwn = owner == geteuid()
                    let accounts = try await f.ssoctl(["accounts"], status: 1, variables: variables).errors
                    #expect(
                        accounts.contains("it is locked") && accounts.contains("  → rm -r ~\n") == isOwn, "\(accounts)")
                    let doctor = try await f.ssoctl(["doctor"], status: 1, variables: variables).output
                    #expect(doctor.contains("FAIL store: it is full") && doctor.contains("rm -r") == isOwn, "\(doctor)")
                    try await agent.killHard()
                }
            }
        }

        /// The root of a user namespace is the user who has made it.
        @Test(
            .enabled("users have to be able to create namespaces") { try await OtherUser.canBeRootOfANamespace() })
        func knowsTheRootOfANamespaceAsItsUser() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                let path = try f.makeSocketFolder()
                #expect(try await f.publish(path, ["--uid", "0"]).status == 0)
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
                let own = try await f.at(path, ["status"], through: ["unshare", "--user", "--map-root-user"])
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
                let path = try f.makeSocketFolder()
                #expect(try await f.publish(path, ["--uid", "\(OtherUser.id)"]).status == 0)
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
        @Test(
            .enabled(if: Sandbox.isPossible, "only root can make a sandbox"),
            .disabled(if: Sanitizer.isOn, "the search for leaks needs the PIDs of /proc"))
        func servesASandboxWhatIsPublished() async throws {
            try await AgentProcessFixture.with(
                rules:
                    "[[rule]]\nclass = \"sandboxed\"\nclient_ids = [\"app-2\"]\nrequests = [\"all\"]\neffect = \"deny\"\n"
                    + "[[rule]]\nclass = \"other\"\nrequests = [\"all\"]\neffect = \"allow\"\n"
                    + "[[rule]]\nclass = \"installed\"\nrequests = [\"all\"]\neffect = \"allow\"\n"
            ) { f in
                let agent = try await f.agent()
                try await f.signIn("alice@contoso.com", f.parameters())
                let path = try f.makeSocketFolder()
                #expect(try await f.publish(path, clientIDs: ["app-1", "app-2"]).status == 0)
                let nested = ["unshare", "--pid", "--fork"]
                #expect(try await f.at(f.socketPath, f.tokenCommand(), through: nested).status == 1)
                let served = try await f.at(path, f.tokenCommand(), through: nested)
                #expect(served.status == 0, "\(served.errors)")
                // A rule of the configuration refuses there too.
                var other = f.tokenCommand()
                other[2] = "app-2"
                let denied = try await f.at(path, other, through: nested)
                #expect(denied.status == 1 && denied.errors.contains("a rule of the agent's configuration"))
                withExtendedLifetime(agent) {}
            }
        }
    #endif
}
