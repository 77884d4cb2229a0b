package import NIOCore

/// How the agent has something done later: when its event loop's clock says so, or, in a test, when the test does.
package struct Timers: Sendable {
    /// Has the work done on the event loop after the delay, unless what is returned is cancelled.
    package var schedule:
        @Sendable (any EventLoop, TimeAmount, _ work: @escaping @Sendable () -> Void) -> Scheduled<Void>

    package init(
        schedule: @escaping @Sendable (any EventLoop, TimeAmount, @escaping @Sendable () -> Void) -> Scheduled<Void>
    ) {
        self.schedule = schedule
    }

    package static let system = Timers { loop, delay, work in loop.scheduleTask(in: delay, work) }
}
