package import NIOCore

/// How the agent has something done later: when its event loop's clock says so, or, in a test, when the test does.
package struct Timers: Sendable {
    /// Has the work done on the event loop after the delay, unless what is returned is cancelled.
    package var schedule: @Sendable (any EventLoop, TimeAmount, _ work: @escaping @Sendable () -> Void) -> Timer

    package init(
        schedule: @escaping @Sendable (any EventLoop, TimeAmount, @escaping @Sendable () -> Void) -> Timer
    ) {
        self.schedule = schedule
    }

    package static let system = Timers { loop, delay, work in
        let scheduled = loop.scheduleTask(in: delay, work)
        return Timer { scheduled.cancel() }
    }

    /// Work that is to be done later.
    package struct Timer: Sendable {
        private let cancellation: @Sendable () -> Void

        /// - Parameter cancellation: keeps the work from being done; without effect once it is.
        package init(_ cancellation: @escaping @Sendable () -> Void) {
            self.cancellation = cancellation
        }

        package func cancel() { cancellation() }
    }
}
