internal import Foundation
internal import Synchronization

/// A clock that a test moves.
final class TestClock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_790_000_000))

    @Sendable func now() -> Date {
        time.withLock { $0 }
    }

    func advance(by seconds: TimeInterval) {
        time.withLock { $0 += seconds }
    }
}
