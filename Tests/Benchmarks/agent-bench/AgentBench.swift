internal import ArgumentParser
internal import Dispatch
internal import Synchronization

/// Measures a cache hit and, in the same run, the floor: a ping-pong of the same bytes over a socket.
///
/// It is no asynchronous command, because Valgrind cannot follow a process whose first thread ends before the others.
@main
struct AgentBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent-bench",
        abstract: "Measure a cached token against a C server that answers with as many bytes.",
        discussion: """
            Floor and agent take turns, so that whatever else the machine does hits both: compare the ratios, not the \
            microseconds. Needs sso-agent and bench-floor next to itself, in a release build; see run.sh.
            """)

    @Option(help: "How often floor and agent take turns.")
    var rounds = 20

    @Option(help: "Requests in a turn.")
    var requests = 500

    @Option(help: "Milliseconds of a turn under load.")
    var loadTime = 250

    @Option(help: "How many connections to load with.")
    var connections = [1, 8, 64]

    @Option(help: "Leave out levels, attacks, and programs that are counted, whose name does not contain this.")
    var only: String?

    @Option(help: "Keep the files of callgrind in this folder, which must not exist, for callgrind_annotate.")
    var keepProfiles: String?

    @Option(help: "Numbers of accounts to measure the store with.")
    var accounts = [1, 1_000, 10_000, 100_000]

    @Flag(help: "Measure the store only.")
    var storeOnly = false

    @Flag(help: "Measure the hits beside attacks only.")
    var fairnessOnly = false

    @Option(
        help:
            "The agent to measure with stores, beside attacks, and to count instructions of, such as one of another version."
    )
    var agent: String?

    @Flag(help: "Measure whole processes of the command line only.")
    var commandsOnly = false

    @Flag(help: "Measure hits among many accounts, tokens and connections only.")
    var flatnessOnly = false

    @Flag(help: "Measure how fast a sign-out reaches its subscribers only.")
    var eventsOnly = false

    @Flag(help: "Measure redemptions of several accounts at the same time only.")
    var redemptionsOnly = false

    @Flag(help: "Measure one request at a time only.")
    var latenciesOnly = false

    @Flag(help: "Measure many requests at a time only.")
    var loadOnly = false

    @Flag(help: "Count the instructions and allocations of a hit only.")
    var costsOnly = false

    @Option(help: "Count instructions and allocations, and fail if they differ from those in this file.")
    var checkCosts: String?

    @Option(help: "Count instructions and allocations, and write them into this file.")
    var recordCosts: String?

    @Option(help: .hidden)
    var hits: CostBench.Subject?

    @Option(help: .hidden)
    var attack: Attack?

    @Option(help: .hidden)
    var subscribe: Int?

    @Option(help: .hidden)
    var idle: Int?

    @Option(help: .hidden)
    var replyLength: Int?

    @Option(help: .hidden)
    var socket = ""

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard rounds > 0, requests > 0, loadTime > 0, connections.allSatisfy({ $0 > 0 }) else {
            throw ValidationError("rounds, requests, load time and connections are at least 1")
        }
    }

    func run() throws {
        let (done, outcome) = (DispatchSemaphore(value: 0), Outcome())
        // Unstructured, since no asynchronous function calls this one. It is awaited with the semaphore.
        Task {
            do {
                try await measure()
            } catch {
                outcome.error.withLock { $0 = error }
            }
            done.signal()
        }
        done.wait()
        if let error = outcome.error.withLock(\.self) { throw error }
    }

    private func measure() async throws {
        if let replyLength { return try NIOFloor.run(socketPath: socket, replyLength: replyLength) }
        if let idle { return try FlatnessBench.idle(idle, socketPath: socket) }
        if let subscribe { return try EventBench.subscribe(subscribe, socketPath: socket) }
        if let attack { return try await attack.run(socketPath: socket) }
        if let hits { return try await CostBench.hit(hits, count: requests, socketPath: socket) }
        if costsOnly || checkCosts != nil || recordCosts != nil { return try await countCosts() }
        if fairnessOnly {
            let rows = try await FairnessBench.run(
                Attack.allCases.filter { only.map($0.rawValue.contains) ?? true }, rounds: 3, requests: requests * 4,
                agent: agent)
            return print(rows.table)
        }
        if commandsOnly { return print(try await CommandBench.run(rounds: rounds * 5, agent: agent).table) }
        if flatnessOnly { return print(try await FlatnessBench.run(requests: requests * 4, agent: agent).table) }
        if eventsOnly { return print(try await EventBench.run(rounds: rounds, agent: agent).table) }
        if redemptionsOnly {
            return print(try await RedemptionBench.run(rounds: max(rounds / 4, 1), agent: agent).table)
        }
        if storeOnly {
            print(try await StoreBench.run(accounts: accounts, writes: 200, starts: 5, agent: agent).table)
            return
        }
        let bench = try await Bench()
        defer { bench.stop() }
        if loadOnly { return print(try loads(bench).table) }
        let latencies = try await bench.latencies(rounds: rounds, requests: requests, only: only)
        if latenciesOnly { return print(latencies.table) }
        let report = Report(
            frames: bench.frames, latencies: latencies, loads: try loads(bench),
            process: try bench.processCosts(starts: rounds),
            commands: try await CommandBench.run(rounds: rounds * 5, agent: agent),
            flatness: try await FlatnessBench.run(requests: requests * 4, agent: agent),
            store: try await StoreBench.run(accounts: accounts, writes: 200, starts: 5, agent: agent),
            fairness: try await FairnessBench.run(
                Attack.allCases, rounds: 3, requests: requests * 4, agent: agent),
            events: try await EventBench.run(rounds: rounds, agent: agent),
            redemptions: try await RedemptionBench.run(rounds: max(rounds / 4, 1), agent: agent),
            costs: CostBench.isPossible ? try await CostBench.run(agent: agent) : [])
        print(json ? try report.json() : report.table)
    }

    private func loads(_ bench: Bench) throws -> [LoadResult] {
        try bench.loads(
            connections: connections, rounds: max(rounds / 4, 1), nanoseconds: UInt64(loadTime) * 1_000_000)
    }

    private func countCosts() async throws {
        let rows = try await CostBench.run(agent: agent, only: only, keptIn: keepProfiles)
        print(rows.table)
        if let recordCosts { try CostCheck.record(rows, in: recordCosts) }
        guard let checkCosts else { return }
        let defects = try CostCheck.defects(of: rows, recordedIn: checkCosts)
        guard defects.isEmpty else { throw BenchError(defects.joined(separator: "\n")) }
    }
}

/// The error of the measurements, for the thread that waits for them.
private final class Outcome: Sendable {
    let error = Mutex<(any Error)?>(nil)
}

extension CostBench.Subject: ExpressibleByArgument {}
