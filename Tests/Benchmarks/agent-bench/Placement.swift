internal import CBenchSystem
internal import Foundation

/// Which processors asker and server run on: waking the other one costs several times as much across two of them, and
/// left alone the scheduler moves floor and agent differently, which would be most of what is measured.
enum Placement: String, CaseIterable {
    /// Both share one processor.
    case together
    /// Each has one of its own.
    case apart
    /// As the scheduler likes.
    case free

    /// Those that make sense on this machine.
    static var possible: [Placement] { bench_processors() > 1 ? allCases : [.together] }

    /// Moves this process and `servers` there.
    func arrange(_ servers: [ServerProcess]) throws {
        try Self.pin(getpid(), self == .free ? -1 : 0)
        for server in servers { try Self.pin(server.processID, self == .free ? -1 : self == .apart ? 1 : 0) }
    }

    private static func pin(_ processID: pid_t, _ processor: Int32) throws {
        let code = bench_pin(processID, processor)
        guard code == 0 else { throw BenchError("cannot choose a processor (errno \(code))") }
    }
}
