internal import CBenchSystem

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
