internal import CBenchSystem
internal import Foundation
internal import TokenModel

/// Measures whole processes of the command line, from their start to their end, beside a program that does nothing.
struct CommandBench {
    /// The results for a command, each with that of the empty program of the same round; in nanoseconds.
    struct Row {
        let name: String
        var times: [Double] = []
        var floors: [Double] = []

        var time: Double { times.median }
        var ratio: Double { zip(times, floors).map { $0 / $1 }.median }
    }

    /// The number of accounts that the longer lists have.
    static let accounts = 10_000

    /// - Parameter agent: the agent to ask; nil is the one beside this program.
    static func run(rounds: Int, agent program: String? = nil) async throws -> [Row] {
        let folder = try Bench.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let request = try SignedInAccount.request
        let token = [
            "token", "--client-id", request.parameters.clientID.text, "--authority", request.parameters.authority.url,
            "--account", request.account.homeAccountID?.text ?? "", "--scope", "User.Read", "--json",
        ]
        var rows: [Row] = []
        for (name, arguments, count) in [
            ("ssoctl token", token, 1), ("ssoctl accounts, \(accounts)", ["accounts", "--json"], accounts),
            ("ssoctl accounts --verbose, \(accounts)", ["accounts", "--verbose", "--json"], accounts),
        ] {
            let (state, socket) = ("\(folder)/state-\(rows.count)", "\(folder)/run/agent.sock")
            try await SignedInAccount.seed(stateDirectory: state, accounts: count)
            let agent = try ServerProcess(
                program ?? "sso-agent", ["--socket", socket, "--state-dir", state], socketPath: socket)
            defer { agent.stop() }
            setenv("SSO_AGENT_SOCK", socket, 1)
            defer { unsetenv("SSO_AGENT_SOCK") }
            let command = [ServerProcess.path(of: "ssoctl")] + arguments
            // The first one waits until the store has been read.
            _ = try time(of: command)
            var row = Row(name: name)
            for _ in 0..<rounds {
                row.floors.append(try time(of: ["/bin/true"]))
                row.times.append(try time(of: command))
            }
            rows.append(row)
        }
        return rows
    }

    private static func time(of command: [String]) throws -> Double {
        let words = command.map { strdup($0) }
        defer { for word in words { free(word) } }
        let nanoseconds = bench_run(words.map { UnsafePointer($0) } + [nil])
        guard nanoseconds > 0 else {
            throw BenchError("\(command.joined(separator: " ")) fails (errno \(-nanoseconds))")
        }
        return Double(nanoseconds)
    }
}

extension [CommandBench.Row] {
    var table: String {
        let lines = map {
            $0.name.padding(toLength: 36, withPad: " ", startingAt: 0)
                + String(format: "%10.2f%8.2f", $0.time / 1e6, $0.ratio)
        }
        return """
            whole process                           p50 ms       × of a program that does nothing
            \(lines.joined(separator: "\n"))
            """
    }

    var json: [[String: Any]] { map { ["name": $0.name, "ms": $0.time / 1e6, "ratio": $0.ratio] } }
}
