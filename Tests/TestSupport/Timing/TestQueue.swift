internal import Foundation
internal import Synchronization

/// The places for tests that run at the same time; further tests wait in a queue.
final class TestQueue: Sendable {
    /// Twice as many as there are processors: a test waits for its sockets and processes more than it computes.
    /// `SSO_AGENT_TEST_WIDTH` sets another number.
    static let shared = TestQueue(
        places: ProcessInfo.processInfo.environment["SSO_AGENT_TEST_WIDTH"].flatMap { Int($0) }
            ?? 2 * ProcessInfo.processInfo.activeProcessorCount)

    private struct State {
        var free: Int
        var early: [CheckedContinuation<Void, Never>] = []
        var others: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(places: Int) { state = Mutex(State(free: max(places, 1))) }

    /// Returns when there is a place; those who enter early are served first, everyone else in their order.
    func enter(early: Bool) async {
        await withCheckedContinuation { continuation in
            let hasPlace = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                if early { state.early.append(continuation) } else { state.others.append(continuation) }
                return false
            }
            if hasPlace { continuation.resume() }
        }
    }

    /// Gives the place to the next test in the queue.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if !state.early.isEmpty { return state.early.removeFirst() }
            if !state.others.isEmpty { return state.others.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
