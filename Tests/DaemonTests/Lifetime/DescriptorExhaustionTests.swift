internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// An agent whose process may open no more files, or have no more memory or threads.
#if os(Linux)
    @Suite(.bounded) struct DescriptorExhaustionTests {
        @Test(arguments: [16, 63]) func saysThatTheLimitIsTooLowToStart(limit: Int) async throws {
            try await AgentProcessFixture.with { f in
                let command = "ulimit -n \(limit) && exec \(Executable.path("sso-agent"))"
                let ended = try await f.run("/bin/sh", ["-c", command])
                #expect(ended.status == 1)
                #expect(
                    ended.errors
                        == "sso-agent: the limit of open files is \(limit), and the agent needs 64; "
                        + "raise the hard limit (ulimit -H -n)\n")
            }
        }

        /// Also for the helper: without it, the agent would refuse every request.
        @Test func raisesALowSoftLimitForAllItsProcesses() async throws {
            try await AgentProcessFixture.with(rules: "") { f in
                let command = "ulimit -S -n 16 && exec \(Executable.path("sso-agent"))"
                let agent = RunningAgent(try TestProcess("/bin/sh", ["-c", command], environment: f.environment))
                try await agent.process.waitForError("listening on \(f.socketPath)")
                try await f.ssoctl(["accounts"])
                withExtendedLifetime(agent) {}
            }
        }

        /// An app that starts the agent may have lower limits for itself. The agent could save no token of any app, or would end after that time.
        @Test func raisesLowSoftLimitsOfTheSizeOfFilesAndOfProcessorTime() async throws {
            try await AgentProcessFixture.with { f in
                let command =
                    "ulimit -S -f 0 && ulimit -S -t 1000 && exec \(Executable.path("sso-agent")) --allow-loopback-http"
                let agent = RunningAgent(try TestProcess("/bin/sh", ["-c", command], environment: f.environment))
                try await agent.process.waitForError("listening on \(f.socketPath)")
                try await f.signIn("alice@contoso.com", try f.parameters())
                let limits = try String(contentsOfFile: "/proc/\(agent.processID)/limits", encoding: .utf8)
                // Its name, the soft limit, the hard limit, and the unit.
                let words = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max cpu time ") })
                    .split(separator: " ")
                #expect(words.count == 6 && words[3] == words[4], "\(words)")
            }
        }

        /// It would hang, and keep every other agent from starting, when it has no room for the stack of another thread.
        @Test(.disabled(if: Sanitizer.isOn, "a sanitizer needs more memory than the limit"))
        func saysThatTheAddressSpaceIsTooSmallToStart() async throws {
            try await AgentProcessFixture.with { f in
                // In KiB.
                let command = "ulimit -v 524288 && exec \(Executable.path("sso-agent"))"
                let ended = try await f.run("/bin/sh", ["-c", command])
                #expect(ended.status == 1)
                #expect(
                    ended.errors
                        == "sso-agent: the limit of the address space is 512 MiB, and the agent needs 2048 MiB; "
                        + "raise the hard limit (ulimit -H -v)\n")
            }
        }

        /// The command that runs the words after it as a user who has no processes, since those of all tests would count, and who may have
        /// `limit` of them and of their threads.
        private func command(user: UInt32, limit: String) -> [String] {
            ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "prlimit", "--nproc=\(limit)"]
        }

        /// SwiftNIO would end it, or it would hang.
        @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
        func saysThatThereIsNoRoomForItsThreads() async throws {
            try await AgentProcessFixture.with { f in
                chmod(f.folder.path, 0o755)
                let program = try await f.folder.copyProgram("sso-agent", from: Executable.path("sso-agent"))
                chmod(program, 0o755)
                let ended = try await f.run("/usr/bin/env", command(user: 64_003, limit: "8") + [program])
                #expect(ended.status == 1, "\(ended)")
                #expect(
                    ended.errors.hasPrefix("sso-agent: there is no room for the 20 threads that the agent needs"),
                    "\(ended)")
            }
        }

        /// SwiftNIO would end it.
        @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
        func survivesAConnectionWhileNoThreadCanBeCreated() async throws {
            try await AgentProcessFixture.with { f in
                let user: UInt32 = 64_004
                chmod(f.folder.path, 0o755)
                let folder = f.folder.file("user")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try #require(chown(folder, user, user) == 0)
                let path = "\(folder)/run/agent.sock"
                let variables = ["HOME": folder, "SSO_AGENT_SOCK": path, "SSO_AGENT_STATE_DIR": "\(folder)/state"]
                let environment = f.environment.merging(variables) { $1 }
                func start(_ name: String) async throws -> TestProcess {
                    let program = try await f.folder.copyProgram(name, from: Executable.path(name))
                    chmod(program, 0o755)
                    let words = command(user: user, limit: "4096") + [program]
                    return try TestProcess(
                        "/usr/bin/env", words + (name == "ssoctl" ? ["status"] : []), environment: environment)
                }
                let agent = RunningAgent(try await start("sso-agent"))
                try await agent.process.waitForError("listening on \(path)")
                func limit(_ count: Int) async throws {
                    // As the same user: only the capability to exceed limits lets another one change them, root too.
                    let words = command(user: user, limit: "\(count):") + ["--pid", "\(agent.processID)"]
                    let set = try await f.run("/usr/bin/env", words)
                    try #require(set.status == 0, "\(set)")
                }
                try await limit(1)
                _ = try await start("ssoctl").finish()
                try await limit(4096)
                let ended = try await start("ssoctl").finish()
                #expect(ended.status == 0, "\(ended)")
                #expect(ended.output.contains("(process \(agent.processID))"), "\(ended)")
            }
        }

        /// It would wait for them, and Ctrl-C would not end it.
        @Test(
            .enabled(if: OtherUser.isPossible, "only root can become another user"),
            arguments: [["watch"], ["sign-in", "--print-url"]])
        func endsACommandThatHasNoRoomForItsThreads(arguments: [String]) async throws {
            try await AgentProcessFixture.with { f in
                chmod(f.folder.path, 0o755)
                let program = try await f.folder.copyProgram("ssoctl", from: Executable.path("ssoctl"))
                chmod(program, 0o755)
                try await f.addApp("graph", clientID: "app-1")
                chmod(f.environment["SSO_AGENT_CONFIG"] ?? "", 0o644)
                let words = command(user: 64_005, limit: "1") + [program] + arguments
                let ended = try await f.run("/usr/bin/env", words)
                #expect(ended.status == 4, "\(ended)")
                #expect(ended.errors.contains("ssoctl: no thread can be created"), "\(ended)")
            }
        }

        @Test func sleepsUntilItCanAcceptTheConnectionsThatWait() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                try await f.waitUntilOpen()
                let process = ObservedProcess(processID: agent.processID)
                try await process.limitOpenFiles(to: 8)
                let peer = try RawPeer(f.socketPath)
                try peer.write(GetStatus())
                #expect(try await process.sleepsBetweenAttempts())
                #expect(!peer.hasReceived)
                try await process.limitOpenFiles(to: 1024)
                let status = try await offPool { try peer.reply()?.reply(to: GetStatus.self) }
                #expect(status?.processID == process.processID)
                withExtendedLifetime(agent) {}
            }
        }
    }
#endif
