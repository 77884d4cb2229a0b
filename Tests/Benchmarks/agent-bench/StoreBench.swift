internal import AgentClient
internal import CBenchSystem
internal import Foundation
internal import TokenModel
internal import TokenStore

/// Measures writes and starts for several numbers of accounts.
struct StoreBench {
    /// The results for one number of accounts, in nanoseconds.
    struct Row {
        var accounts: Int
        var write = 0.0
        var listening = 0.0
        /// From spawning to the first cached token.
        var answering = 0.0
        /// From spawning to the first reply that needs every record.
        var loaded = 0.0
        /// What reading every row of the store takes at least, on one thread.
        var floor = 0.0
        /// The resident memory at the first token, and two seconds later.
        var kilobytesAtFirst = 0.0
        var kilobytes = 0.0
        var fileKilobytes = 0.0
    }

    static func run(accounts: [Int], writes: Int, starts: Int, agent: String? = nil) async throws -> [Row] {
        let folder = try Bench.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var rows: [Row] = []
        for count in accounts {
            let state = "\(folder)/state-\(count)"
            try await SignedInAccount.seed(stateDirectory: state, accounts: count)
            var row = Row(accounts: count)
            row.write = try await write(writes, to: state, accounts: count)
            try await start(starts, agent ?? "sso-agent", in: folder, state: state, &row)
            let size = try FileManager.default.attributesOfItem(atPath: state + "/cache.sqlite")[.size] as? Int
            row.fileKilobytes = Double(size ?? 0) / 1024
            rows.append(row)
        }
        return rows
    }

    /// Writes token responses of several accounts one at a time, each with a flush.
    private static func write(_ count: Int, to state: String, accounts: Int) async throws -> Double {
        let store = try SignedInAccount.open(state)
        _ = try await store.load(into: [StoredRecord].self)
        var times: [Double] = []
        for number in 0..<count {
            let changes = try SignedInAccount.changes(number * 7919 % accounts)
            let start = bench_now()
            try await store.commit(changes)
            times.append(Double(bench_now() - start))
        }
        await store.close()
        return times.median
    }

    /// Measures the time from spawning to listening, to the first token from the cache, and to the first page of accounts.
    private static func start(
        _ count: Int, _ program: String, in folder: String, state: String, _ row: inout Row
    ) async throws {
        let socket = "\(folder)/run/agent.sock"
        var (listening, answering, loaded, floor): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for _ in 0..<count {
            floor.append(try Self.floor(of: state + "/cache.sqlite"))
            let start = bench_now()
            let agent = try ServerProcess(program, ["--socket", socket, "--state-dir", state], socketPath: socket)
            defer { agent.stop() }
            listening.append(agent.startTime)
            _ = try Frames(askedAt: socket)
            answering.append(Double(bench_now() - start))
            row.kilobytesAtFirst = agent.residentKilobytes
            _ = try await AgentClient(socketPath: socket).listAccounts(ListAccounts(clientID: nil))
            loaded.append(Double(bench_now() - start))
            // The agent releases what only the start has needed.
            bench_wait(2_000_000_000)
            row.kilobytes = agent.residentKilobytes
        }
        (row.listening, row.answering, row.loaded) = (listening.median, answering.median, loaded.median)
        row.floor = floor.median
    }

    private static func floor(of database: String) throws -> Double {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: ServerProcess.path(of: "bench-floor"))
        process.arguments = ["rows", database]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard let nanoseconds = Double(text.split(separator: "\n").first ?? "") else {
            throw BenchError("bench-floor cannot read \(database)")
        }
        return nanoseconds
    }
}

extension [StoreBench.Row] {
    /// A figure, with its ratio to that of the first row.
    var table: String {
        guard let one = first else { return "" }
        let lines = map { row in
            let figures: [(Double, Double, Double)] = [
                (row.write, one.write, 1e6), (row.listening, one.listening, 1e6), (row.answering, one.answering, 1e6),
                (row.loaded, row.floor, 1e6), (row.kilobytesAtFirst, one.kilobytesAtFirst, 1),
                (row.kilobytes, one.kilobytes, 1), (row.fileKilobytes, one.fileKilobytes, 1),
            ]
            return String(format: "%8d", row.accounts)
                + figures.map { String(format: "%12.2f%8.2f", $0.0 / $0.2, $0.0 / $0.1) }.joined()
        }
        return """
            The store: × is the ratio to the first row; of the load, to SQLite, AES-GCM and HMAC of the same rows in C

            accounts    write ms       ×   listen ms       ×    token ms       ×   loaded ms       ×    first kB       ×   memory kB       ×     file kB       ×
            \(lines.joined(separator: "\n"))
            """
    }

    var json: [[String: Any]] {
        map {
            [
                "accounts": $0.accounts, "write_ms": $0.write / 1e6, "listening_ms": $0.listening / 1e6,
                "answering_ms": $0.answering / 1e6, "loaded_ms": $0.loaded / 1e6, "floor_ms": $0.floor / 1e6,
                "first_resident_kilobytes": $0.kilobytesAtFirst, "resident_kilobytes": $0.kilobytes,
                "file_kilobytes": $0.fileKilobytes,
            ]
        }
    }
}
