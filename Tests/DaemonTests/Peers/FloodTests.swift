internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// The memory of the agent's process while a peer pipelines requests with long replies and reads none of them.
@Suite(.bounded, .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "needs /proc"))
struct FloodTests {
    @Test func keepsFewBytesForAPeerThatReadsNoReplies() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let client = AgentClient(socketPath: f.socketPath)
            // The names are long, so that a page of accounts is.
            let file = ADALFile.accounts(300, named: String(repeating: "n", count: 1000))
            _ = try await client.importCache(file, format: .adalJSON)
            let before = try Self.peakKilobytes(of: agent.processID)
            let list = try RequestFrame.encode(ListAccounts(clientID: nil, onlySignedIn: false), id: 1)
            let flood = Array([[UInt8]](repeating: list, count: 64 * 1024 / list.count).joined())
            var peers = try await offPool {
                try (0..<16).map { _ in
                    let peer = try RawPeer(f.socketPath)
                    peer.write(flood)
                    return peer
                }
            }
            let other = try await OtherProcess.connected(to: f.socketPath)
            #expect(try Self.peakKilobytes(of: agent.processID) - before < 64 * 1024)
            // What the closed connections used is released.
            peers = []
            #expect(try await client.status().accounts == 300)
            #expect(peers.isEmpty)
            try await other.end()
        }
    }

    private static func peakKilobytes(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1]))
    }
}
