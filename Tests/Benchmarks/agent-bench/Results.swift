internal import CBenchSystem

/// The durations of the requests of one measurement, in nanoseconds.
struct Sample: Sendable {
    let p50: Double
    let p99: Double

    init(_ nanoseconds: [UInt64]) {
        let sorted = nanoseconds.sorted()
        p50 = Self.quantile(0.50, sorted)
        p99 = Self.quantile(0.99, sorted)
    }

    private static func quantile(_ share: Double, _ sorted: [UInt64]) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return Double(sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)])
    }
}

extension Collection where Element == Double {
    /// The median, which is robust against a few disturbed values; 0 if there are none.
    var median: Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[sorted.count / 2]
    }
}

/// The result of a load test of one server.
struct Load {
    let repliesPerSecond: Double
    let sample: Sample

    static func run(_ socketPath: String, _ frames: Frames, connections: Int, nanoseconds: UInt64) throws -> Load {
        let replies = [UInt64](unsafeUninitializedCapacity: 1_000_000) { buffer, count in
            let result = bench_load(
                socketPath, frames.request, frames.request.count, Int32(connections), nanoseconds,
                buffer.baseAddress, buffer.count)
            count = min(max(result, 0), buffer.count)
        }
        guard !replies.isEmpty else { throw BenchError("\(socketPath): no reply under load") }
        return Load(
            repliesPerSecond: Double(replies.count) * 1e9 / Double(nanoseconds), sample: Sample(replies))
    }
}

/// The samples of a level, each with the floor's sample of the same round.
struct LatencyResult {
    let name: String
    let placement: Placement
    private var samples: [Sample] = []
    private var floors: [Sample] = []

    init(name: String, placement: Placement) {
        self.name = name
        self.placement = placement
    }

    mutating func add(_ sample: Sample, floor: Sample) {
        samples.append(sample)
        floors.append(floor)
    }

    var p50: Double { samples.map(\.p50).median }
    var p99: Double { samples.map(\.p99).median }
    /// The median of the rounds' ratios and not the ratio of the medians, since a disturbance affects both samples of a round.
    var p50Ratio: Double { zip(samples, floors).map { $0.p50 / $1.p50 }.median }
    var p99Ratio: Double { zip(samples, floors).map { $0.p99 / $1.p99 }.median }
}

/// The throughput of the agent, with that of the floor under the same load.
struct LoadResult {
    let connections: Int
    private var floors: [Load] = []
    private var agents: [Load] = []

    init(connections: Int) { self.connections = connections }

    mutating func add(floor: Load, agent: Load) {
        floors.append(floor)
        agents.append(agent)
    }

    var floorRepliesPerSecond: Double { floors.map(\.repliesPerSecond).median }
    var agentRepliesPerSecond: Double { agents.map(\.repliesPerSecond).median }
    var agentP50: Double { agents.map(\.sample.p50).median }
    var agentP99: Double { agents.map(\.sample.p99).median }
    /// The agent's throughput as a share of the floor's.
    var share: Double { zip(agents, floors).map { $0.repliesPerSecond / $1.repliesPerSecond }.median }
    var p50Ratio: Double { zip(agents, floors).map { $0.sample.p50 / $1.sample.p50 }.median }
    var p99Ratio: Double { zip(agents, floors).map { $0.sample.p99 / $1.sample.p99 }.median }
}

/// The costs of the agent process, with those of a C program that listens.
struct ProcessResult {
    /// The resident memory of a program of others.
    struct Peer {
        let name: String
        let kilobytes: Double
    }

    let agentKilobytes: Double
    let floorKilobytes: Double
    let peers: [Peer]
    private var floorStarts: [Double] = []
    private var agentStarts: [Double] = []

    init(agentKilobytes: Double, floorKilobytes: Double, peers: [Peer]) {
        self.agentKilobytes = agentKilobytes
        self.floorKilobytes = floorKilobytes
        self.peers = peers
    }

    mutating func add(floorStart: Double, agentStart: Double) {
        floorStarts.append(floorStart)
        agentStarts.append(agentStart)
    }

    var floorStart: Double { floorStarts.median }
    var agentStart: Double { agentStarts.median }
    var startRatio: Double { zip(agentStarts, floorStarts).map { $0 / $1 }.median }
    var memoryRatio: Double { agentKilobytes / floorKilobytes }
}
