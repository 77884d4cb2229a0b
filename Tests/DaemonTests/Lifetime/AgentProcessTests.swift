internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// The agent as a process: start, termination, configuration and log.
@Suite(.bounded) struct AgentProcessTests {
    @Test(arguments: ["0000", "0777"]) func createsItsSocketAndStoreForItsUserOnly(umask: String) async throws {
        try await AgentProcessFixture.with { f in
            let line = "umask \(umask); exec \(Executable.path("sso-agent")) --allow-loopback-http"
            let agent = RunningAgent(try TestProcess("/bin/sh", ["-c", line], environment: f.environment))
            try await agent.process.waitForError("listening on \(f.socketPath)")
            try await f.waitUntilOpen()
            #expect(try TemporaryFolder.mode(of: f.folder.file("run")) == 0o700)
            #expect(try TemporaryFolder.mode(of: f.socketPath) == 0o600)
            #expect(try TemporaryFolder.mode(of: f.socketPath + ".lock") == 0o600)
            #expect(try TemporaryFolder.mode(of: f.folder.file("state")) == 0o700)
            #expect(try TemporaryFolder.mode(of: f.folder.file("state/cache.sqlite")) == 0o600)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func servesEveryTokenAfterItWasKilled() async throws {
        try await AgentProcessFixture.with { f in
            let first = try await f.agent()
            let parameters = try f.parameters()
            let signedIn = try await f.signIn("alice@contoso.com", parameters)
            try await first.process.killHard()
            let second = try await f.agent()
            let client = AgentClient(socketPath: f.socketPath)
            let cached = try await client.acquireTokenSilent(
                AcquireTokenSilent(parameters: parameters, account: signedIn.account.reference))
            #expect(cached.isFromCache)
            let renewed = try await client.acquireTokenSilent(
                AcquireTokenSilent(parameters: parameters, account: signedIn.account.reference, forceRefresh: true))
            #expect(!renewed.isFromCache)
            #expect(f.emulator.control.counts.signIns == 1)
            withExtendedLifetime(second) {}
        }
    }

    @Test func keepsARotatedRefreshTokenWhenItIsKilledAfterTheReply() async throws {
        try await AgentProcessFixture.with { f in
            var agent = try await f.agent()
            let parameters = try f.parameters()
            let reference = try await f.signIn("alice@contoso.com", parameters).account.reference
            for _ in 0..<5 {
                let client = AgentClient(socketPath: f.socketPath)
                let renewed = try await client.acquireTokenSilent(
                    AcquireTokenSilent(parameters: parameters, account: reference, forceRefresh: true))
                #expect(!renewed.isFromCache)
                try await agent.process.killHard()
                agent = try await f.agent()
            }
            #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
        }
    }

    /// The next file or socket would have the number of a stream otherwise, and get what is written to it.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "Linux only"))
    func opensNothingInPlaceOfAClosedStandardStream() async throws {
        try await AgentProcessFixture.with { f in
            let line = "exec \(Executable.path("sso-agent")) --allow-loopback-http 0<&- 1>&-"
            let agent = RunningAgent(try TestProcess("/bin/sh", ["-c", line], environment: f.environment))
            try await agent.process.waitForError("listening on \(f.socketPath)")
            try await f.waitUntilOpen()
            for stream in 0...1 {
                let link = "/proc/\(agent.processID)/fd/\(stream)"
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "/dev/null")
            }
            let command = "\(Executable.path("ssoctl")) status 1>&-"
            let ended = try await f.run("/bin/sh", ["-c", command])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("the output cannot be written: Bad file descriptor"), "\(ended.errors)")
        }
    }

    @Test func refusesToStartTwiceOnOneSocket() async throws {
        try await AgentProcessFixture.with { f in
            let first = try await f.agent()
            let second = try await f.run("sso-agent", [])
            #expect(second.status == 1)
            #expect(second.errors.contains("process \(first.processID)"))
            _ = try await AgentClient(socketPath: f.socketPath).status()
        }
    }

    /// Such as a service manager, whose file would be replaced and then removed.
    @Test func doesNotReplaceTheSocketOfAnotherProgram() async throws {
        try await AgentProcessFixture.with { f in
            let folder = f.folder.file("run")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let other = try BusySocket(at: f.socketPath)
            let agent = try await f.run("sso-agent", [])
            #expect(agent.status == 1)
            #expect(agent.errors.contains("has a listener that is no sso-agent"), "\(agent.errors)")
            #expect(FileManager.default.fileExists(atPath: f.socketPath))
            withExtendedLifetime(other) {}
        }
    }

    @Test func replacesTheSocketOfAKilledAgent() async throws {
        try await AgentProcessFixture.with { f in
            let first = try await f.agent()
            try await first.process.killHard()
            #expect(FileManager.default.fileExists(atPath: f.socketPath))
            let second = try await f.agent()
            #expect(try await AgentClient(socketPath: f.socketPath).status().processID == second.processID)
        }
    }

    @Test func finishesRequestsInProgressWhenItIsStopped() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let parameters = try f.parameters()
            let reference = try await f.signIn("alice@contoso.com", parameters).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let client = AgentClient(socketPath: f.socketPath)
            let renewal = Task {
                try await client.acquireTokenSilent(
                    AcquireTokenSilent(parameters: parameters, account: reference, forceRefresh: true))
            }
            await f.emulator.control.waitForHeld(atLeast: 1)
            kill(agent.processID, SIGTERM)
            // The agent removes the socket first, and then completes the reply.
            let peerGone = Task { while FileManager.default.fileExists(atPath: f.socketPath) { await letOthersRun() } }
            await peerGone.value
            f.emulator.control.release()
            #expect(try await renewal.value.isFromCache == false)
            #expect(try await agent.process.finish().status == 0)
        }
    }

    /// At the end of a session, the apps go first. The response may have the only refresh token that is still valid.
    @Test func savesTheResponseToAnAppThatHasGoneWhenItIsStopped() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let parameters = try f.parameters()
            let signedIn = try await f.signIn("alice@contoso.com", parameters)
            let account = signedIn.account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            var peer: RawPeer? = try RawPeer(f.socketPath)
            try peer?.write(AcquireTokenSilent(parameters: parameters, account: account, forceRefresh: true), id: 1)
            await f.emulator.control.waitForHeld(atLeast: 1)
            peer = nil
            _ = try await AgentClient(socketPath: f.socketPath).status()
            kill(agent.processID, SIGTERM)
            while FileManager.default.fileExists(atPath: f.socketPath) { await letOthersRun() }
            f.emulator.control.release()
            #expect(try await agent.process.finish().status == 0)
            let next = try await f.agent()
            let token = try await AgentClient(socketPath: f.socketPath).acquireTokenSilent(
                AcquireTokenSilent(parameters: parameters, account: account))
            #expect(token.isFromCache)
            #expect(token.accessToken != signedIn.accessToken)
            _ = next
        }
    }

    /// The first signal lets replies in progress complete, however long a token endpoint takes.
    @Test func endsAtOnceByASecondSignal() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let parameters = try f.parameters()
            let reference = try await f.signIn("alice@contoso.example", parameters).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let renewal = Task {
                try await AgentClient(socketPath: f.socketPath).acquireTokenSilent(
                    AcquireTokenSilent(parameters: parameters, account: reference, forceRefresh: true))
            }
            await f.emulator.control.waitForHeld(atLeast: 1)
            kill(agent.processID, SIGTERM)
            let socketGone = Task {
                while FileManager.default.fileExists(atPath: f.socketPath) { await letOthersRun() }
            }
            await socketGone.value
            kill(agent.processID, SIGTERM)
            let ended = try await agent.process.finish()
            #expect(ended.status == 128 + SIGTERM)
            #expect(ended.errors.contains("by a second signal"))
            f.emulator.control.release()
            await #expect(throws: TokenError.self) { try await renewal.value }
        }
    }

    @Test func endsByASignalThatArrivesWhileItStarts() async throws {
        try await AgentProcessFixture.with { f in
            let lock = "\(f.socketPath).lock"
            for _ in 1...30 {
                try? FileManager.default.removeItem(atPath: lock)
                let process = try TestProcess("sso-agent", ["--allow-loopback-http"], environment: f.environment)
                while access(lock, F_OK) != 0 { await letOthersRun() }
                process.signal(SIGTERM)
                #expect(try await process.finish().status == 0)
            }
        }
    }

    /// After a downgrade: the file stays as it is beside a new one, and the log says what to do.
    @Test func saysToUpdateItIfItsStoreIsNewer() async throws {
        try await AgentProcessFixture.with { f in
            let first = try await f.agent()
            _ = try await f.signIn("alice@contoso.com", f.parameters())
            kill(first.processID, SIGTERM)
            #expect(try await first.process.finish().status == 0)
            // The "user version" of the file format, https://www.sqlite.org/fileformat2.html#the_database_header
            let file = try FileHandle(forUpdating: URL(filePath: f.folder.file("state/cache.sqlite")))
            try file.seek(toOffset: 60)
            try file.write(contentsOf: [0, 0, 0, 99])
            try file.close()
            let agent = try await f.agent()
            try await agent.process.waitForError("update sso-agent, and sign in to accounts that are missing")
            #expect(try await f.run("ssoctl", ["status"]).output.contains("quarantine"))
        }
    }

    @Test func refusesASocketFolderThatOthersMayWrite() async throws {
        try await AgentProcessFixture.with { f in
            let folder = f.folder.file("run")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
            let refused = try await f.run("sso-agent", [])
            #expect(refused.status == 1)
            #expect(refused.errors.contains("chmod 0700"))
        }
    }

    @Test func refusesPlainHTTPUnlessToldOtherwise() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try TestProcess("sso-agent", environment: f.environment)
            try await agent.waitForError("listening on")
            let parameters = try f.parameters()
            let failure = await #expect(throws: TokenError.self) {
                try await AgentClient(socketPath: f.socketPath).beginInteractive(
                    BeginInteractive(parameters: parameters))
            }
            #expect(failure?.code == .invalidDeveloperParameter)
            #expect(failure?.message.contains("allow_loopback_http = true under [network]") == true)
            try await agent.killHard()
        }
    }

    /// The next command is one after which the request works.
    @Test func allowsPlainHTTPAfterAReload() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try TestProcess("sso-agent", environment: f.environment)
            try await agent.waitForError("listening on")
            let (file, editor) = (f.folder.file("config.toml"), f.folder.file("editor"))
            #expect(f.environment["SSO_AGENT_CONFIG"] == file)
            let parameters = try f.parameters()
            let request = [
                "token", "--client-id", parameters.clientID.text, "--scope", "User.Read", "--authority",
                parameters.authority.url,
            ]
            let refused = try await f.failure(request, status: 1)
            let next = try #require(refused["nextCommand"] as? String, "\(refused)")
            #expect(next == "${EDITOR:-nano} \(file) && ssoctl reload")
            let lines = "printf '[network]\\nallow_loopback_http = true\\n' >\"$1\""
            _ = try await f.folder.makeProgram("editor", lines)
            let path = "\(Executable.folder.path):/usr/bin:/bin"
            let environment = f.environment.merging(["EDITOR": editor, "PATH": path]) { $1 }
            let edited = try await TestProcess("/bin/sh", ["-c", next], environment: environment).finish()
            #expect(edited.status == 0 && edited.output.contains("network.allow_loopback_http = true"), "\(edited)")
            // Nobody has signed in yet.
            #expect(try await f.failure(request, status: 2)["nextCommand"] != nil)
            try f.configure("")
            #expect(try await f.ssoctl(["reload"]).output.contains("network.allow_loopback_http = false"))
            #expect(try await f.failure(request, status: 1)["nextCommand"] as? String == next)
            try await agent.killHard()
        }
    }

    @Test func allowsPlainHTTPByItsOptionWhateverAReloadReads() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try TestProcess("sso-agent", ["--allow-loopback-http"], environment: f.environment)
            try await agent.waitForError("listening on")
            for text in ["[network]\nallow_loopback_http = true\n", ""] {
                try f.configure(text)
                let output = try await f.ssoctl(["reload"]).output
                #expect(output.contains("was read") && !output.contains("loopback"), "\(output)")
            }
            _ = try await AgentClient(socketPath: f.socketPath).beginInteractive(
                BeginInteractive(parameters: f.parameters()))
            try await agent.killHard()
        }
    }

    @Test func allowsPlainHTTPIfTheConfigurationDoes() async throws {
        try await AgentProcessFixture.with { f in
            try f.configure("[network]\nallow_loopback_http = true\n")
            let agent = try TestProcess("sso-agent", environment: f.environment)
            try await agent.waitForError("listening on")
            _ = try await AgentClient(socketPath: f.socketPath).beginInteractive(
                BeginInteractive(parameters: f.parameters()))
            try await agent.killHard()
        }
    }

    // Without root, the tests of PeerPolicy cover this.
    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func refusesOtherUsers() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            for path in [f.folder.path, f.folder.file("run")] { chmod(path, 0o755) }
            chmod(f.socketPath, 0o666)
            let script = """
                pass; import os, socket, sys
                os.setgid(65534); os.setuid(65534)
                s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
                try: s.sendall(bytes([0, 0, 0, 4, 8, 1, 0x9a, 1]))
                except OSError: pass
                try: sys.exit(0 if s.recv(1) == b"" else 1)
                except ConnectionError: sys.exit(0)
                """
            #expect(try await f.run("/usr/bin/env", ["python3", "-c", script, f.socketPath]).status == 0)
            _ = try await AgentClient(socketPath: f.socketPath).status()
            withExtendedLifetime(agent) {}
        }
    }

    @Test func reportsAConfigurationThatIsNotValid() async throws {
        try await AgentProcessFixture.with { f in
            let file = f.folder.file("config.toml")
            for (text, complaint) in [
                ("[network\n", file), ("[network]\nca_file = \"/nonexistent.pem\"\n", "/nonexistent.pem"),
                ("[network]\nproxy = \"not a url\"\n", "network.proxy"),
                ("[network]\nca_file = \"/nonexistent.pem\"\n", "\(file):2: network.ca_file"),
                ("[confirmation]\n\naskpass = \"/nonexistent\"\n", "\(file):3: confirmation.askpass"),
            ] {
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                let refused = try await f.run("sso-agent", ["--config", file])
                #expect(refused.status == 1)
                #expect(refused.errors.contains(complaint))
            }
            #expect(try await f.run("sso-agent", ["--config", "/nonexistent.toml"]).status == 1)
        }
    }

    #if os(Linux)
        @Test func loadsLibcurlForTheFirstRequestOnly() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent(["--allow-debugging"])
                try await f.waitUntilOpen()
                let maps = "/proc/\(agent.processID)/maps"
                #expect(try await !f.run("/usr/bin/env", ["cat", maps]).output.contains("libcurl"))
                _ = try await f.signIn("alice@contoso.com", f.parameters())
                #expect(try await f.run("/usr/bin/env", ["cat", maps]).output.contains("libcurl"))
            }
        }
    #endif

    /// The file is in the one folder to which the restricted agent can write: it would be missing elsewhere whatever the agent does with the
    /// variable.
    @Test(arguments: [([], false), (["--allow-debugging"], true)] as [([String], Bool)])
    func writesNoKeysOfItsTLSConnections(options: [String], isWritten: Bool) async throws {
        try await AgentProcessFixture.with(usesTLS: true) { f in
            let keys = f.folder.file("state/tls-keys")
            let agent = try await f.agent(options, variables: ["SSLKEYLOGFILE": keys])
            try await f.waitUntilOpen()
            let authority = try Authority("\(f.emulator.url)/common")
            let checks = try await AgentClient(socketPath: f.socketPath).diagnose(Diagnose(authority: authority)).checks
            #expect(checks.contains { $0.name == "token endpoint" && $0.ok })
            #expect(FileManager.default.fileExists(atPath: keys) == isWritten)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func writesNoSecretToItsLog() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent(["--log-level", "trace"])
            let parameters = try f.parameters()
            let signedIn = try await f.signIn("alice@contoso.com", parameters)
            let client = AgentClient(socketPath: f.socketPath)
            f.emulator.control.inject(.error("invalid_grant"))
            _ = try? await client.acquireTokenSilent(
                AcquireTokenSilent(
                    parameters: parameters, account: signedIn.account.reference, forceRefresh: true))
            kill(agent.processID, SIGTERM)
            let log = try await agent.process.finish().errors
            #expect(log.contains("acquire_token_silent"))
            let sent = f.emulator.control.requests.flatMap { request in
                ["code", "code_verifier", "refresh_token"].compactMap { request.parameters[$0] }
            }
            try #require(sent.count >= 3)
            let idToken = try #require(signedIn.idToken)
            for secret in [signedIn.accessToken.reveal(), idToken, "alice"] + sent {
                #expect(!log.contains(secret))
            }
        }
    }
}
