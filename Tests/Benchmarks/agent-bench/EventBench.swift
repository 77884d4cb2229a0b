internal import AgentClient
internal import CBenchSystem
internal import Foundation
internal import TokenModel
internal import TokenWire

/// Measures how long a sign-out takes to reach every subscribed connection, those of several processes.
struct EventBench {
    /// The results with a number of subscribers; times are in nanoseconds, from the request of the app that signs out.
    struct Row {
        let subscribers: Int
        /// When the last subscriber has read its event.
        var reached: [Double] = []
        /// When the app that signs out has its reply.
        var replied: [Double] = []
    }

    /// - Parameter agent: the agent to measure; nil is the one beside this program.
    static func run(subscribers: [Int] = [1, 100, 1_000], rounds: Int, agent program: String? = nil) async throws
        -> [Row]
    {
        var rows: [Row] = []
        for count in subscribers { rows.append(try await run(count, rounds, program)) }
        return rows
    }

    private static func run(_ subscribers: Int, _ rounds: Int, _ program: String?) async throws -> Row {
        let folder = try Bench.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (state, socket) = ("\(folder)/state", "\(folder)/run/agent.sock")
        try await SignedInAccount.seed(stateDirectory: state, accounts: rounds + 1)
        let agent = try ServerProcess(
            program ?? "sso-agent", ["--socket", socket, "--state-dir", state, "--allow-loopback-http"],
            socketPath: socket)
        defer { agent.stop() }
        let client = AgentClient(socketPath: socket)
        let accounts = try await client.listAccounts(ListAccounts(clientID: nil))
        var processes: [ServerProcess] = []
        defer { for process in processes { process.kill() } }
        for first in stride(from: 0, to: subscribers, by: connectionsOfProcess) {
            let count = min(subscribers - first, connectionsOfProcess)
            processes.append(
                try ServerProcess("agent-bench", ["--subscribe", "\(count)", "--socket", socket], socketPath: socket))
        }
        var row = Row(subscribers: subscribers)
        for account in accounts.prefix(rounds) {
            let start = bench_now()
            _ = try await client.removeAccount(
                RemoveAccount(
                    clientID: try SignedInAccount.request.parameters.clientID, account: account.reference,
                    extent: .account))
            row.replied.append(Double(bench_now() - start))
            var last: UInt64 = 0
            for process in processes {
                guard let time = UInt64(process.nextLine()) else { throw BenchError("a subscriber has ended") }
                last = max(last, time)
            }
            row.reached.append(Double(last) - Double(start))
        }
        return row
    }

    /// Subscribes with a number of connections, and prints the time at which each event has reached all of them. Runs in a process of
    /// its own, until that is stopped.
    static func subscribe(_ count: Int, socketPath: String) throws {
        var sockets: [Int32] = []
        var reply = [UInt8](repeating: 0, count: 64 * 1024)
        var request = WatchEvents(clientID: nil)
        for _ in 0..<count {
            let socket = bench_connect(socketPath)
            guard socket >= 0 else { throw BenchError("cannot connect (errno \(-socket))") }
            let frame = try RequestFrame.encode(WatchEvents(clientID: nil), id: 1)
            request.position = try position(bench_ask(socket, frame, frame.count, &reply, reply.count), reply)
            sockets.append(socket)
        }
        FileHandle.standardError.write(Data("listening on \(count) connections\n".utf8))
        while true {
            let frame = try RequestFrame.encode(request, id: 2)
            for socket in sockets where write(socket, frame, frame.count) != frame.count {
                throw BenchError("the agent closed a connection")
            }
            var reached = request.position
            for socket in sockets {
                // The event is in one reply, and the request has been sent.
                reached = try position(bench_ask(socket, frame, 0, &reply, reply.count), reply)
            }
            let now = bench_now()
            request.position = reached
            FileHandle.standardError.write(Data("\(now)\n".utf8))
        }
    }

    private static func position(_ length: Int, _ reply: [UInt8]) throws -> EventPosition {
        guard length > FrameDecoder.headerLength else { throw BenchError("no events (errno \(-length))") }
        let frame = try ReplyFrame(decoding: reply[FrameDecoder.headerLength..<length])
        return try frame.reply(to: WatchEvents.self).position
    }

    /// Below the limit of connections of a process.
    private static let connectionsOfProcess = 250
}

extension [EventBench.Row] {
    /// A row for each number of subscribers.
    var table: String {
        let lines = map { row in
            String(row.subscribers).padding(toLength: 16, withPad: " ", startingAt: 0)
                + String(
                    format: "%14.2f%14.2f%14.2f", row.replied.median / 1e6, row.reached.median / 1e6,
                    (row.reached.max() ?? 0) / 1e6)
        }
        return """
            A sign-out reaches subscribed connections, in ms from the request of the app that signs out

            subscribers          signed out   last reached         worst
            \(lines.joined(separator: "\n"))
            """
    }

    var json: [[String: Any]] {
        map {
            [
                "subscribers": Double($0.subscribers), "signed_out_ms": $0.replied.median / 1e6,
                "reached_ms": $0.reached.median / 1e6, "worst_ms": ($0.reached.max() ?? 0) / 1e6,
            ]
        }
    }
}
