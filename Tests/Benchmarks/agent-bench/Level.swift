internal import AgentClient
internal import CBenchSystem
internal import Foundation
internal import TokenModel

/// A layer of the client at which requests for a cached token are measured.
protocol Level: Sendable {
    var name: String { get }
    /// Measures the duration of `count` requests.
    func sample(_ count: Int) async throws -> Sample
}

/// Writes and reads prepared bytes in C, without any other code. With its own server it is also the floor.
final class FramedLevel: Level {
    let name: String
    private let socket: Int32
    private let request: [UInt8]

    init(name: String, socketPath: String, frames: Frames) throws {
        self.name = name
        request = frames.request
        socket = bench_connect(socketPath)
        guard socket >= 0 else { throw BenchError("cannot connect to \(socketPath) (errno \(-socket))") }
    }

    deinit { close(socket) }

    func sample(_ count: Int) throws -> Sample {
        var nanoseconds = [UInt64](repeating: 0, count: count)
        let code = bench_ping(socket, request, request.count, &nanoseconds, count)
        guard code == 0 else { throw BenchError("\(name): the server hung up (errno \(code))") }
        return Sample(nanoseconds)
    }
}

/// The async method of `AgentClient`.
struct ClientLevel: Level {
    let name = "AgentClient"
    private let client: AgentClient

    init(socketPath: String) {
        client = AgentClient(socketPath: socketPath, appName: "agent-bench")
    }

    @concurrent func sample(_ count: Int) async throws -> Sample {
        let request = try SignedInAccount.request
        var nanoseconds: [UInt64] = []
        nanoseconds.reserveCapacity(count)
        for _ in 0..<count {
            let start = bench_now()
            _ = try await client.acquireTokenSilent(request)
            nanoseconds.append(bench_now() - start)
        }
        return Sample(nanoseconds)
    }
}
