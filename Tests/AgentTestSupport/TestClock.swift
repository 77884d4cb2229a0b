internal import Synchronization

/// The agent's clock, moved by the test.
package final class TestClock: Sendable {
    private let seconds: Atomic<Int64>

    package init(_ start: Int64 = 1_900_000_000) { seconds = Atomic(start) }

    package var now: Int64 { seconds.load(ordering: .sequentiallyConsistent) }

    package func advance(by interval: Int64) { seconds.add(interval, ordering: .sequentiallyConsistent) }
}
