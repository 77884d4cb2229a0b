internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

#if os(Linux)
    /// An agent that has nothing to do: there is one in every session of a machine, whose processor would sleep otherwise.
    @Suite(.bounded) struct IdleAgentTests {
        /// libdispatch looks after the threads of its pool once a second, from the pool's first work on.
        @Test func isNotWokenEverySecond() async throws {
            try await AgentProcessFixture.with { f in
                // Another process may look at the descriptors of this one, also if the test does not run as root.
                let process = try await f.agent(["--allow-debugging"])
                let agent = AgentClient(socketPath: f.socketPath)
                let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
                for forceRefresh in [false, true] {
                    _ = try await agent.acquireTokenSilent(
                        AcquireTokenSilent(parameters: f.parameters(), account: account, forceRefresh: forceRefresh))
                }
                try await offPool { try Self.waitUntilNoTimerIsNear(of: process.processID) }
            }
        }

        /// A store with so many records is read by several threads.
        @Test func isNotWokenEverySecondAfterReadingAStore() async throws {
            try await AgentProcessFixture.with { f in
                let first = try await f.agent()
                _ = try await AgentClient(socketPath: f.socketPath).importCache(
                    ADALFile.accounts(256), format: .adalJSON)
                kill(first.processID, SIGTERM)
                #expect(try await first.process.finish().status == 0)
                let process = try await f.agent(["--allow-debugging"])
                try await f.waitUntilOpen()
                try await offPool { try Self.waitUntilNoTimerIsNear(of: process.processID) }
            }
        }

        /// The time limit of a request to a token endpoint is half a minute.
        @Test func isNotWokenByTheTimeLimitOfARequestThatHasEnded() async throws {
            try await AgentProcessFixture.with { f in
                let start = ContinuousClock.now
                let process = try await f.agent(["--allow-debugging"])
                _ = try await f.signIn("alice@contoso.com", f.parameters())
                let isIdle = try await offPool {
                    // A minute after its start, the agent looks whether its socket is still there. On a machine that is too slow, that
                    // moment is too near to tell its timer from another.
                    guard ContinuousClock.now - start < .seconds(10) else { return true }
                    repeat {
                        if try !Self.hasTimer(within: 31, process.processID) { return true }
                    } while ContinuousClock.now - start < .seconds(28)
                    return false
                }
                #expect(isIdle)
            }
        }

        /// Returns after 20 looks that have found no timer in a row: one that is started again and again is stopped for a moment when it has
        /// fired.
        private static func waitUntilNoTimerIsNear(of processID: Int32) throws {
            var looks = 0
            while looks < 20 { looks = try hasTimer(within: 2, processID) ? 0 : looks + 1 }
        }

        private static func hasTimer(within limit: Int, _ processID: Int32) throws -> Bool {
            let folder = "/proc/\(processID)/fdinfo"
            return try FileManager.default.contentsOfDirectory(atPath: folder).contains { name in
                // Nil for a descriptor that has been closed meanwhile.
                guard let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8),
                    let value = text.firstMatch(of: /it_value: \((\d+), (\d+)\)/), let seconds = Int(value.1)
                else { return false }
                return seconds < limit && (seconds, Int(value.2)) != (0, 0)
            }
        }
    }
#endif
