internal import NIOCore
internal import Synchronization
package import TokenAgent

/// The agent's timers in a test, which advances their time.
package final class TestTimers: Sendable {
    private struct Entry {
        var due: TimeAmount
        var loop: any EventLoop
        var work: @Sendable () -> Void
    }

    private struct State {
        var now = TimeAmount.zero
        /// The longest delay that elapses immediately.
        var skipped = TimeAmount.zero
        var last = 0
        var entries: [Int: Entry] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// The timers to start an agent with.
    package var timers: Timers {
        Timers { loop, delay, work in
            let (id, isDue) = self.state.withLock { state in
                state.last += 1
                state.entries[state.last] = Entry(due: state.now + delay, loop: loop, work: work)
                return (state.last, delay <= state.skipped)
            }
            if isDue { loop.execute { self.state.withLock { $0.entries.removeValue(forKey: id) }?.work() } }
            return Timers.Timer { self.state.withLock { $0.entries[id] = nil } }
        }
    }

    /// The number of scheduled timers.
    package var count: Int { state.withLock { $0.entries.count } }

    /// The number of scheduled timers that are due after a number of seconds.
    package func count(dueAfter seconds: Int64) -> Int {
        state.withLock { state in state.entries.values.count { $0.due == state.now + .seconds(seconds) } }
    }

    /// Lets delays of up to this number of seconds elapse immediately from now on, as for polling.
    package func skipDelays(upTo seconds: Int64) { state.withLock { $0.skipped = .seconds(seconds) } }

    /// Advances the time, and returns when the due work has been done.
    package func advance(by seconds: Int64) async throws {
        let due = state.withLock { state in
            state.now = state.now + .seconds(seconds)
            let due = state.entries.filter { $0.value.due <= state.now }
            for id in due.keys { state.entries[id] = nil }
            return due.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.map(\.value)
        }
        for entry in due { try await entry.loop.submit(entry.work).get() }
    }
}
