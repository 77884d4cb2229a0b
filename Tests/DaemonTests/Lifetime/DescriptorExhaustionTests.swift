internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// An agent whose process may open no more files.
#if os(Linux)
    @Suite(.bounded) struct DescriptorExhaustionTests {
        @Test func sleepsUntilItCanAcceptTheConnectionsThatWait() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                try await f.waitUntilOpen()
                try await limitOpenFiles(of: agent.processID, to: 8)
                let (peer, processID) = (try RawPeer(f.socketPath), agent.processID)
                // It sleeps at first, when it has not been told of the connection yet.
                try await offPool {
                    var samples = 0
                    while samples < 50 {
                        samples = try isAsleep(processID) ? samples + 1 : 0
                        poll(nil, 0, 1)
                    }
                }
                #expect(!peer.hasReceived)
                try await limitOpenFiles(of: agent.processID, to: 1024)
                #expect(try await peer.ask(GetStatus())?.processID == processID)
                withExtendedLifetime(agent) {}
            }
        }

        private func limitOpenFiles(of processID: Int32, to count: Int) async throws {
            let result = try await TestProcess(
                "/usr/bin/prlimit", ["--pid", "\(processID)", "--nofile=\(count):"]
            ).finish()
            try #require(result.status == 0, "\(result.errors)")
        }
    }

    /// Whether no thread of a process runs, or waits for a processor.
    private func isAsleep(_ processID: Int32) throws -> Bool {
        let tasks = "/proc/\(processID)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
            // A thread may have ended since.
            let status = try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)
            return status?.contains(") S ") ?? true
        }
    }
#endif
