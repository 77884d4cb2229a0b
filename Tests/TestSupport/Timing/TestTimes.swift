internal import Foundation
internal import Synchronization

/// Writes how long each test took once it had its place; the times that Swift Testing prints include the wait for it.
final class TestTimes: Sendable {
    /// Nil unless `SSO_AGENT_TEST_TIMES` names a file.
    static let shared = ProcessInfo.processInfo.environment["SSO_AGENT_TEST_TIMES"].flatMap { TestTimes(path: $0) }

    private let file: FileHandle
    private let processorTime = Mutex(TestTimes.usedSoFar())

    private init?(path: String) {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { return nil }
        self.file = file
    }

    /// Writes a line: the time the test took, the processor time that this process and its children have used since the line
    /// before (the test's own if only one runs at a time), both in milliseconds, and its name.
    func record(_ name: String, since began: ContinuousClock.Instant) {
        let took = ContinuousClock.now - began
        processorTime.withLock { last in
            let now = Self.usedSoFar()
            file.write(Data("\(took.milliseconds) \((now - last).milliseconds) \(name)\n".utf8))
            last = now
        }
    }

    private static func usedSoFar() -> Duration {
        // RUSAGE_SELF and RUSAGE_CHILDREN, whose types differ between the systems.
        ([0, -1] as [Int32]).reduce(.zero) { sum, who in
            var usage = rusage()
            getrusage(who, &usage)
            return sum + usage.ru_utime.duration + usage.ru_stime.duration
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension timeval {
    fileprivate var duration: Duration { .seconds(tv_sec) + .microseconds(tv_usec) }
}
