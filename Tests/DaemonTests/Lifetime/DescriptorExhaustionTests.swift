internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// An agent whose process may open no more files, or have no more memory.
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
