internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// The agent as a service manager starts it: with a socket that listens already, and a socket to report to.
@Suite(.bounded) struct SocketActivationTests {
    private static let launcher = PackageFolder.path("Tests/DaemonTests/python/socket_launcher.py")

    /// Starts the launcher, which becomes the agent.
    private static func launch(
        _ f: AgentProcessFixture, mode: String = "600", kind: String = "stream", count: String = "1",
        path: String? = nil
    ) throws -> TestProcess {
        try TestProcess(
            "/usr/bin/env",
            ["python3", launcher, path ?? f.socketPath, mode, kind, count, Executable.path("sso-agent")]
                + ["--allow-loopback-http"], environment: f.environment)
    }

    @Test func servesTheRequestThatHasStartedIt() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try Self.launch(f)
            try await agent.waitForOutput("listening")
            let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
                for _ in 1...8 {
                    group.addTask { try await AgentClient(socketPath: f.socketPath).status().processID }
                }
                return try await group.reduce(into: [Int32]()) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: agent.processID, count: 8))
            _ = try await f.signIn("alice@contoso.com", f.parameters())
            agent.signal(SIGTERM)
            #expect(try await agent.finish().status == 0)
            // It is the service manager's, and holds the connections of those who come meanwhile.
            #expect(FileManager.default.fileExists(atPath: f.socketPath))
        }
    }

    @Test(arguments: [
        ("666", "stream", "1", "SocketMode=0600"), ("600", "bound", "1", "ListenStream="),
        ("600", "datagram", "1", "ListenStream="), ("600", "bound", "2", "2 sockets"),
    ])
    func refusesASocketThatItWouldNotHaveMade(mode: String, kind: String, count: String, remedy: String) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try Self.launch(f, mode: mode, kind: kind, count: count)
            let client = AgentClient(socketPath: f.socketPath)
            var call: Task<AgentStatus, any Error>?
            if kind == "stream" {
                try await agent.waitForOutput("listening")
                call = Task { try await client.status() }
            }
            let ended = try await agent.finish()
            #expect(ended.status == 1)
            #expect(ended.errors.contains(remedy), "\(ended.errors)")
            call?.cancel()
            _ = await call?.result
        }
    }

    @Test func refusesASocketAtAnotherPath() async throws {
        try await AgentProcessFixture.with { f in
            let other = f.folder.file("run/other.sock")
            let agent = try Self.launch(f, path: other)
            try await agent.waitForOutput("listening")
            let client = AgentClient(socketPath: other)
            let call = Task { try await client.status() }
            let ended = try await agent.finish()
            #expect(ended.status == 1)
            #expect(ended.errors.contains(other) && ended.errors.contains("ListenStream=\(f.socketPath)"))
            call.cancel()
            _ = await call.result
        }
    }

    @Test func refusesASocketWhoseFolderOthersMayWrite() async throws {
        try await AgentProcessFixture.with { f in
            let folder = f.folder.file("run")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
            let agent = try Self.launch(f, kind: "bound")
            let ended = try await agent.finish()
            #expect(ended.status == 1)
            #expect(ended.errors.contains("chmod 0700"))
        }
    }

    /// What another process was given, whose variables this one has inherited, is none of the agent's.
    @Test func makesItsOwnSocketIfNoneIsForIt() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent(variables: [
                "LISTEN_PID": "1", "LISTEN_FDS": "1", "NOTIFY_SOCKET": f.folder.file("nothing"), "WATCHDOG_PID": "1",
                "WATCHDOG_USEC": "1",
            ])
            #expect(try await AgentClient(socketPath: f.socketPath).status().processID == agent.processID)
        }
    }

    @Test func tellsTheServiceManagerHowItIs() async throws {
        try await AgentProcessFixture.with { f in
            let manager = try DatagramSocket(at: f.folder.file("notify"))
            // One message in a second: the queue of a socket has room for ten, and the agent does not wait for more.
            let agent = try TestProcess(
                "sso-agent",
                environment: f.environment.merging(
                    ["NOTIFY_SOCKET": f.folder.file("notify"), "WATCHDOG_USEC": "2000000"]) { $1 })
            #expect(try await offPool { try manager.receive() } == "READY=1\nSTATUS=serving on \(f.socketPath)")
            for _ in 1...2 { #expect(try await offPool { try manager.receive() } == "WATCHDOG=1") }
            agent.signal(SIGTERM)
            var last = ""
            while last != "STOPPING=1" { last = try await offPool { try manager.receive() } }
            #expect(try await agent.finish().status == 0)
        }
    }

    #if os(Linux)
        /// A name without a file, as in containers.
        @Test func tellsAServiceManagerWithoutAFile() async throws {
            try await AgentProcessFixture.with { f in
                let script = """
                    pass; import os, socket, subprocess, sys
                    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                    manager.bind("\\0sso-agent-test-%d" % os.getpid())
                    os.environ["NOTIFY_SOCKET"] = "@sso-agent-test-%d" % os.getpid()
                    agent = subprocess.Popen(sys.argv[1:])
                    print(manager.recv(4096).decode().splitlines()[0])
                    agent.terminate()
                    print(manager.recv(4096).decode())
                    sys.exit(agent.wait())
                    """
                let ended = try await f.run(
                    "/usr/bin/env", ["python3", "-c", script, Executable.path("sso-agent")])
                #expect(ended.status == 0)
                #expect(ended.output == "READY=1\nSTOPPING=1\n")
            }
        }

        /// It has nothing to finish, and a service manager that stops it, as at the end of the session, would wait for it.
        @Test func endsAtOnceWhileItWaitsForAnotherAgent() async throws {
            try await AgentProcessFixture.with { f in
                let script = """
                    from fcntl import LOCK_EX, flock
                    from os import O_CREAT, O_RDWR, environ, listdir, makedirs, open, path
                    from subprocess import Popen
                    from sys import argv
                    name = environ["SSO_AGENT_SOCK"] + ".lock"
                    makedirs(path.dirname(name), 0o700)
                    lock = open(name, O_RDWR | O_CREAT, 0o600)
                    flock(lock, LOCK_EX)
                    agent = Popen(argv[1:])
                    files = "/proc/%d/fd" % agent.pid
                    def has_opened():
                        return path.realpath(name) in [path.realpath(path.join(files, file)) for file in listdir(files)]
                    while agent.poll() is None and not has_opened():
                        pass
                    agent.terminate()
                    print(agent.wait())
                    """
                let ended = try await f.run(
                    "/usr/bin/env",
                    // Only root can look into one that is closed to debuggers.
                    ["python3", "-c", script, Executable.path("sso-agent"), "--allow-debugging"])
                #expect(ended.output == "0\n", "\(ended.errors)")
            }
        }

        private static var hasActivator: Bool {
            ["/usr/bin", "/bin"].contains { access("\($0)/systemd-socket-activate", X_OK) == 0 }
        }

        @Test(.enabled(if: hasActivator, "there is no systemd-socket-activate"))
        func isStartedBySystemdsTool() async throws {
            try await AgentProcessFixture.with { f in
                let run = f.folder.file("run")
                let script = "mkdir -m 700 \"$0\" && exec systemd-socket-activate \"$@\""
                let passed = ["SSO_AGENT_SOCK", "SSO_AGENT_STATE_DIR", "SSO_AGENT_CONFIG", "HOME", "LD_LIBRARY_PATH"]
                let arguments = passed.map { "--setenv=\($0)" } + ["-l", f.socketPath, Executable.path("sso-agent")]
                let agent = try TestProcess(
                    "/usr/bin/env", ["bash", "-c", script, run] + arguments, environment: f.environment)
                try await agent.waitForError("Listening on \(f.socketPath)")
                #expect(try await f.run("ssoctl", ["status"]).status == 0)
                agent.signal(SIGTERM)
                #expect(try await agent.finish().status == 0)
            }
        }
    #endif
}
