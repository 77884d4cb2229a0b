internal import Foundation
internal import Synchronization

/// Ends the process when a test exceeds its time limit, and prints which tests are running. A thread of its own does it, since a
/// test that hangs may block any other.
final class HangWatch: Sendable {
    static let shared = HangWatch()

    private struct Entry {
        var name: String
        var began: ContinuousClock.Instant
        var limit: Duration
    }

    private struct State {
        var last = 0
        var entries: [Int: Entry] = [:]
    }

    private let state = Mutex(State())

    private init() {
        Thread.detachNewThread { [self] in
            while true {
                Thread.sleep(forTimeInterval: 5)
                state.withLock { Self.check($0) }
            }
        }
    }

    /// - Parameter minutes: the limit; `SSO_AGENT_TEST_MINUTES` sets another for all tests.
    func begin(_ name: String, minutes: Int) -> Int {
        state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(
                name: name, began: .now, limit: .seconds(60 * (Self.minutes ?? minutes)))
            return state.last
        }
    }

    func end(_ id: Int) {
        guard let entry = state.withLock({ $0.entries.removeValue(forKey: id) }) else { return }
        TestTimes.shared?.record(entry.name, since: entry.began)
    }

    private static let minutes = ProcessInfo.processInfo.environment["SSO_AGENT_TEST_MINUTES"].flatMap { Int($0) }

    private static func check(_ state: State) {
        let now = ContinuousClock.now
        guard let hung = state.entries.values.first(where: { now - $0.began > $0.limit }) else { return }
        let open = state.entries.values.sorted { $0.began < $1.began }
        let lines = open.map { "    \((now - $0.began).components.seconds) s  \($0.name)" }
        let text =
            "\(hung.name) has not ended within \(hung.limit); tests that are open:\n\(lines.joined(separator: "\n"))\n"
        FileHandle.standardError.write(Data(text.utf8))
        _exit(1)
    }
}
