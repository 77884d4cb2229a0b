internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

#if os(Linux)
    /// The agent's threads while another user connects to the redirect of a sign-in as fast as possible.
    @Suite(.bounded, .enabled(if: OtherUser.isPossible, "only root can become another user"))
    struct RedirectFloodTests {
        @Test func acceptsConnectionsToTheRedirectBesideTheThreadThatServesApps() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                try await f.waitUntilOpen()
                let client = AgentClient(socketPath: f.socketPath)
                let usual = Set(try Self.ticks(of: agent.processID).keys)
                let begun = try await client.beginInteractive(BeginInteractive(parameters: f.parameters()))
                let port = try #require(URL(string: begun.redirectURI)?.port)
                let before = try Self.ticks(of: agent.processID)
                let flood = try OtherUser.start(Self.script, [String(port)])
                try await flood.waitForOutput("connected")
                // By the processor time, and not by the clock: the machine may be busy.
                let spent = try Self.ticks(of: agent.processID).map { ($0.key, $0.value - before[$0.key, default: 0]) }
                let all = spent.reduce(0) { $0 + $1.1 }
                let ofUsual = spent.filter { usual.contains($0.0) }.reduce(0) { $0 + $1.1 }
                #expect(ofUsual * 4 < all, "\(ofUsual) of \(all) ticks")
                #expect(try await client.status().storeProblem?.isEmpty ?? true)
                try await flood.killHard()
            }
        }

        /// Does not wait for a connection for which the listener has no room.
        private static let script = """
            exec python3 -c 'import socket, sys
            for _ in range(100000):
                peer = socket.socket()
                peer.setblocking(False)
                peer.connect_ex(("127.0.0.1", int(sys.argv[1])))
                peer.close()
            print("connected", flush=True)' "$0"
            """

        /// The processor time of each thread of a process, in ticks of the kernel (`utime` and `stime` in `/proc/PID/task/TID/stat`).
        private static func ticks(of process: Int32) throws -> [String: Int] {
            let folder = "/proc/\(process)/task"
            var ticks: [String: Int] = [:]
            for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
                // A thread may end meanwhile.
                guard let text = try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8),
                    let end = text.lastIndex(of: ")")
                else { continue }
                let fields = text[end...].split(separator: " ")
                ticks[thread] = (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0)
            }
            return ticks
        }
    }
#endif
