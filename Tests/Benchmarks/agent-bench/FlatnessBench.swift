internal import AgentClient
internal import CBenchSystem
internal import Foundation
internal import TokenModel

/// Measures hits with more and more accounts, access tokens of an account, and open connections.
struct FlatnessBench {
    /// What grows.
    enum Dimension: String, CaseIterable {
        case accounts
        case tokens
        case connections

        var sizes: [Int] {
            switch self {
            case .accounts: [1, 1_000, 100_000]
            case .tokens: [1, 100, 1_000]
            // The agent keeps 10,240.
            case .connections: [1, 1_000, 10_000]
            }
        }
    }

    /// The results with one size; times are in nanoseconds.
    struct Row {
        let dimension: Dimension
        let size: Int
        /// Hits that repeat the one before.
        let repeated: Sample
        /// Hits that are new to the agent.
        let new: Sample
        /// The resident memory of the agent after them.
        let kilobytes: Double
    }

    /// - Parameters:
    ///   - requests: the number of hits of each kind.
    ///   - agent: the agent to measure; nil is the one beside this program.
    static func run(requests: Int, agent program: String? = nil) async throws -> [Row] {
        var rows: [Row] = []
        for dimension in Dimension.allCases {
            for size in dimension.sizes { rows.append(try await run(dimension, size, requests, program)) }
        }
        return rows
    }

    private static func run(_ dimension: Dimension, _ size: Int, _ requests: Int, _ program: String?) async throws
        -> Row
    {
        let folder = try Bench.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (state, socket) = ("\(folder)/state", "\(folder)/run/agent.sock")
        try await SignedInAccount.seed(
            stateDirectory: state, accounts: dimension == .accounts ? size : 1,
            furtherTokens: dimension == .tokens ? size - 1 : 0)
        let agent = try ServerProcess(
            program ?? "sso-agent", ["--socket", socket, "--state-dir", state], socketPath: socket)
        defer { agent.stop() }
        // Answered when the whole store has been read.
        _ = try await AgentClient(socketPath: socket).listAccounts(ListAccounts(clientID: nil))
        let idle = try dimension == .connections ? connections(size - 1, to: socket) : []
        defer { for process in idle { process.kill() } }
        let frames = try Frames(askedAt: socket)
        let level = try FramedLevel(name: "framed", socketPath: socket, request: frames.request)
        // The ratio would be that of the scheduler's choices.
        try Placement.together.arrange([agent])
        defer { try? Placement.free.arrange([]) }
        _ = try level.sample(requests)
        return Row(
            dimension: dimension, size: size, repeated: try level.sample(requests),
            new: try frames.sampleNew(requests, at: socket), kilobytes: agent.residentKilobytes)
    }

    /// Starts processes with idle connections.
    private static func connections(_ count: Int, to socket: String) throws -> [ServerProcess] {
        try stride(from: 0, to: count, by: connectionsOfProcess).map { first in
            try ServerProcess(
                "agent-bench", ["--idle", "\(min(count - first, connectionsOfProcess))", "--socket", socket],
                socketPath: socket)
        }
    }

    /// Opens connections, and keeps them until the process is ended.
    static func idle(_ count: Int, socketPath: String) throws {
        for _ in 0..<count {
            let socket = bench_connect(socketPath)
            guard socket >= 0 else { throw BenchError("cannot connect (errno \(-socket))") }
        }
        FileHandle.standardError.write(Data("listening on \(count) connections\n".utf8))
        while true { bench_wait(1_000_000_000) }
    }

    /// Below the limit of connections of a process.
    private static let connectionsOfProcess = 250
}

extension [FlatnessBench.Row] {
    /// A figure, with its ratio to that of the smallest size.
    var table: String {
        let lines = compactMap { row in
            first { $0.dimension == row.dimension }.map { smallest in
                let figures = [
                    (row.repeated.p50, smallest.repeated.p50), (row.repeated.p99, smallest.repeated.p99),
                    (row.new.p50, smallest.new.p50), (row.new.p99, smallest.new.p99),
                ]
                let each = row.size > 1 ? (row.kilobytes - smallest.kilobytes) / Double(row.size - 1) : 0
                return "\(row.size) \(row.dimension.rawValue)".padding(toLength: 28, withPad: " ", startingAt: 0)
                    + figures.map { String(format: "%10.1f%8.2f", $0.0 / 1e3, $0.0 / $0.1) }.joined()
                    + String(format: "%14.0f%10.2f", row.kilobytes, each)
            }
        }
        return """
            A hit among many; × is the ratio to the smallest case, and “each” what one more takes of the memory

                                        repeated p50       ×       p99       ×   new p50       ×       p99       ×     memory kB      each
            \(lines.joined(separator: "\n"))
            """
    }

    var json: [[String: Any]] {
        map {
            [
                "dimension": $0.dimension.rawValue, "size": $0.size, "repeated_p50_us": $0.repeated.p50 / 1e3,
                "repeated_p99_us": $0.repeated.p99 / 1e3, "new_p50_us": $0.new.p50 / 1e3,
                "new_p99_us": $0.new.p99 / 1e3, "resident_kb": $0.kilobytes,
            ]
        }
    }
}
