package import Foundation
internal import Synchronization

/// A clock that stands still until the test advances it. An agent and an emulator may share one.
package final class TestClock: Sendable {
    private let seconds: Atomic<Int64>
    private let passed = Atomic<Int64>(0)

    /// - Parameter start: seconds since 1970.
    package init(_ start: Int64 = 1_900_000_000) { seconds = Atomic(start) }

    /// Seconds since 1970.
    package var now: Int64 { seconds.load(ordering: .sequentiallyConsistent) }

    package var date: Date { Date(timeIntervalSince1970: TimeInterval(now)) }

    /// The seconds that have passed, however the clock was set.
    package var uptime: Int64 { passed.load(ordering: .sequentiallyConsistent) }

    package func advance(by interval: Int64) {
        passed.add(interval, ordering: .sequentiallyConsistent)
        adjust(by: interval)
    }

    /// Sets the clock forward, or back by a negative interval. No time passes.
    package func adjust(by interval: Int64) { seconds.add(interval, ordering: .sequentiallyConsistent) }
}
