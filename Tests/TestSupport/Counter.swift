internal import Synchronization

/// Counts what happens in several tasks.
package final class Counter: Sendable {
    private let number = Mutex(0)

    package init() {}

    package var count: Int { number.withLock { $0 } }

    package func add() { number.withLock { $0 += 1 } }
}
