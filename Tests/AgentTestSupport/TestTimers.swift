internal import NIOCore
internal import Synchronization
package import TokenAgent

/// What the agent wants to have done later, done when the test says that the time has come.
package final class TestTimers: Sendable {
    private struct Entry {
        var due: TimeAmount
        var loop: any EventLoop
        var work: @Sendable () -> Void
    }

    private struct State {
        var now = TimeAmount.zero
        /// Delays that are over as soon as they begin.
        var skipped = TimeAmount.zero
        var last = 0
        var entries: [Int: Entry] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// What the agent is started with.
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

    /// How many things wait for their time.
    package var count: Int { state.withLock { $0.entries.count } }

    /// From now on delays of up to so many seconds are over as soon as they begin: whoever polls does not wait.
    package func skipDelays(upTo seconds: Int64) { state.withLock { $0.skipped = .seconds(seconds) } }

    /// Lets seconds pass, and returns when what was due has been done.
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
