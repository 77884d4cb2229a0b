internal import CBenchSystem
internal import Foundation

/// The processors on which client and server run. Waking a process on another processor takes several times as long, and the
/// scheduler places floor and agent differently, which would dominate the result.
enum Placement: String, CaseIterable {
    /// Both run on one processor.
    case together
    /// Each runs on a processor of its own.
    case apart
    /// The scheduler decides.
    case free

    /// The placements that are possible on this machine.
    static var possible: [Placement] { bench_processors() > 1 ? allCases : [.together] }

    /// Applies the placement to this process and `servers`.
    func arrange(_ servers: [ServerProcess]) throws {
        try Self.pin(getpid(), self == .free ? -1 : 0)
        for server in servers { try Self.pin(server.processID, self == .free ? -1 : self == .apart ? 1 : 0) }
    }

    private static func pin(_ processID: pid_t, _ processor: Int32) throws {
        let code = bench_pin(processID, processor)
        guard code == 0 else { throw BenchError("cannot choose a processor (errno \(code))") }
    }
}
