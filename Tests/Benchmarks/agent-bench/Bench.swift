internal import Foundation

/// A running agent with one account, and the floor's servers, in a temporary folder.
struct Bench {
    let frames: Frames
    private let folder: String
    private let agent: ServerProcess
    private let pingPong: ServerProcess
    private let epoll: ServerProcess
    private let nio: ServerProcess
    private let peers: [Peer]

    init() async throws {
        folder = try Self.makeTemporaryFolder()
        try await SignedInAccount.seed(stateDirectory: folder + "/state", usesADAL: true)
        agent = try Self.startAgent(in: folder)
        frames = try Frames(askedAt: agent.socketPath)
        pingPong = try Self.startFloor("ping-pong", in: folder, replyLength: frames.replyLength)
        epoll = try Self.startFloor("epoll", in: folder, replyLength: frames.replyLength)
        nio = try ServerProcess(
            "agent-bench", ["--reply-length", "\(frames.replyLength)", "--socket", "\(folder)/nio.sock"],
            socketPath: "\(folder)/nio.sock")
        peers = try Peer.installed(in: folder, replyLength: frames.replyLength)
    }

    func stop() {
        for server in servers { server.stop() }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private var servers: [ServerProcess] { [agent, pingPong, epoll, nio] + peers.map(\.server) }

    /// Measures latencies with one request at a time, alternating between each level, each peer and the floor.
    func latencies(rounds: Int, requests: Int, only: String?) async throws -> [LatencyResult] {
        let floor = try FramedLevel(name: "C ping-pong", socketPath: pingPong.socketPath, request: frames.request)
        let levels: [any Level] = [
            try FramedLevel(name: "NIO floor", socketPath: nio.socketPath, request: frames.request),
            try FramedLevel(name: "framed", socketPath: agent.socketPath, request: frames.request),
            ConnectingLevel(name: "framed, connecting", socketPath: agent.socketPath, request: frames.request),
            ClientLevel(socketPath: agent.socketPath),
            MSALLevel(socketPath: agent.socketPath),
            ADALLevel(socketPath: agent.socketPath, keepsResults: false),
            ClientLevel(socketPath: agent.socketPath, keepsResults: true),
            MSALLevel(socketPath: agent.socketPath, keepsResults: true),
            ADALLevel(socketPath: agent.socketPath, keepsResults: true),
        ]
        let measured = (levels + peers.map(\.level)).filter { only.map($0.name.contains) ?? true }
        var results: [LatencyResult] = []
        for placement in Placement.possible {
            try placement.arrange(servers)
            results += try await turns(rounds, requests, placement, floor, measured)
        }
        return results
    }

    private func turns(
        _ rounds: Int, _ requests: Int, _ placement: Placement, _ floor: FramedLevel, _ levels: [any Level]
    ) async throws -> [LatencyResult] {
        var results = ([floor] + levels).map { LatencyResult(name: $0.name, placement: placement) }
        for level in [floor] + levels { _ = try await level.sample(requests) }
        for _ in 0..<rounds {
            let floorSample = try floor.sample(requests)
            results[0].add(floorSample, floor: floorSample)
            for (index, level) in levels.enumerated() {
                results[index + 1].add(try await level.sample(requests), floor: floorSample)
            }
        }
        return results
    }

    /// Measures the throughput under load from one load generator.
    func loads(connections: [Int], rounds: Int, nanoseconds: UInt64) throws -> [LoadResult] {
        try (Placement.possible.contains(.apart) ? .apart : Placement.together).arrange([agent, epoll])
        return try connections.map { count in
            var result = LoadResult(connections: count)
            for _ in 0..<rounds {
                result.add(
                    floor: try Load.run(epoll.socketPath, frames, connections: count, nanoseconds: nanoseconds),
                    agent: try Load.run(agent.socketPath, frames, connections: count, nanoseconds: nanoseconds))
            }
            return result
        }
    }

    /// Measures the costs of the processes: the memory after the other measurements, and the time from spawning to listening.
    func processCosts(starts: Int) throws -> ProcessResult {
        var result = ProcessResult(
            agentKilobytes: agent.residentKilobytes, floorKilobytes: epoll.residentKilobytes,
            peers: peers.map { .init(name: $0.level.name, kilobytes: $0.residentKilobytes) })
        // Started processes inherit the processor affinity of this one.
        try Placement.free.arrange(servers)
        // The first start creates the store, and is not measured.
        let other = "\(folder)/starts"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        try Self.startAgent(in: other).stop()
        for _ in 0..<starts {
            let floor = try Self.startFloor("epoll", in: other, replyLength: frames.replyLength)
            floor.stop()
            unlink(floor.socketPath)
            let agent = try Self.startAgent(in: other)
            agent.stop()
            result.add(floorStart: floor.startTime, agentStart: agent.startTime)
        }
        return result
    }

    /// Creates an empty folder, with a path short enough for a socket.
    static func makeTemporaryFolder() throws -> String {
        var template = Array("/tmp/agent-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchError("no temporary folder (errno \(errno))") }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func startAgent(in folder: String) throws -> ServerProcess {
        try ServerProcess(
            "sso-agent", ["--socket", "\(folder)/run/agent.sock", "--state-dir", "\(folder)/state"],
            socketPath: "\(folder)/run/agent.sock")
    }

    private static func startFloor(_ kind: String, in folder: String, replyLength: Int) throws -> ServerProcess {
        try ServerProcess(
            "bench-floor", [kind, "\(folder)/\(kind).sock", "\(replyLength)"], socketPath: "\(folder)/\(kind).sock")
    }
}

/// The reason for which a measurement is impossible.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
