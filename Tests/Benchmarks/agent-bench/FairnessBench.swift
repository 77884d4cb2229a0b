internal import AgentClient
internal import Foundation
internal import TokenModel

/// Measures the silent hits of one app beside a peer that asks for as much as it can, and without that peer.
struct FairnessBench {
    /// The results beside one attack; times are in nanoseconds.
    struct Row {
        var attack: Attack
        var quiet: [Sample] = []
        var beside: [Sample] = []
        var kilobytes = 0.0

        var p50: Double { beside.map(\.p50).median }
        var p99: Double { beside.map(\.p99).median }
        var quietP50: Double { quiet.map(\.p50).median }
        var quietP99: Double { quiet.map(\.p99).median }
        var p50Ratio: Double { zip(beside, quiet).map { $0.p50 / $1.p50 }.median }
        var p99Ratio: Double { zip(beside, quiet).map { $0.p99 / $1.p99 }.median }
    }

    /// - Parameter agent: the agent to measure; nil is the one beside this program.
    static func run(_ attacks: [Attack], rounds: Int, requests: Int, agent program: String? = nil) async throws -> [Row]
    {
        let folder = try Bench.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let state = "\(folder)/state"
        try await SignedInAccount.seed(stateDirectory: state, accounts: Attack.accounts)
        var rows: [Row] = []
        for attack in attacks {
            var row = Row(attack: attack)
            for _ in 0..<rounds {
                let socket = "\(folder)/run/agent.sock"
                let agent = try ServerProcess(
                    program ?? "sso-agent", ["--socket", socket, "--state-dir", state, "--allow-loopback-http"],
                    socketPath: socket)
                defer { agent.stop() }
                // Answered when the whole store has been read. Until then, a hit reads its account from the disk.
                _ = try await AgentClient(socketPath: socket).listAccounts(ListAccounts(clientID: nil))
                let frames = try Frames(askedAt: socket)
                let app = try FramedLevel(name: "app", socketPath: socket, request: frames.request)
                // The attacker shares nothing with the app but the agent.
                try Placement.together.arrange([agent])
                defer { try? Placement.free.arrange([]) }
                _ = try app.sample(requests)
                row.quiet.append(try app.sample(requests))
                let attacker = try ServerProcess(
                    "agent-bench", ["--attack", attack.rawValue, "--socket", socket], socketPath: socket)
                defer { attacker.kill() }
                try Placement.setAside(attacker)
                row.beside.append(try app.sample(requests))
                row.kilobytes = max(row.kilobytes, agent.peakKilobytes)
            }
            rows.append(row)
        }
        return rows
    }
}

extension [FairnessBench.Row] {
    /// A row for each attack.
    var table: String {
        let lines = map { row in
            row.attack.rawValue.padding(toLength: 20, withPad: " ", startingAt: 0)
                + String(
                    format: "%10.1f%10.1f%12.1f%8.2f%12.1f%8.2f%14.0f", row.quietP50 / 1e3, row.quietP99 / 1e3,
                    row.p50 / 1e3,
                    row.p50Ratio, row.p99 / 1e3, row.p99Ratio, row.kilobytes)
        }
        return """
            A silent hit beside a peer that asks for as much as it can, among \(Attack.accounts) accounts; × is the ratio to \
            the same agent before

            beside                quiet p50       p99      p50 µs       ×      p99 µs       ×  agent peak kB
            \(lines.joined(separator: "\n"))
            """
    }

    var json: [[String: Any]] {
        map {
            [
                "attack": $0.attack.rawValue, "quiet_p50_us": $0.quietP50 / 1e3, "quiet_p99_us": $0.quietP99 / 1e3,
                "p50_us": $0.p50 / 1e3, "p50_ratio": $0.p50Ratio, "p99_us": $0.p99 / 1e3, "p99_ratio": $0.p99Ratio,
                "agent_peak_kilobytes": $0.kilobytes,
            ]
        }
    }
}
