internal import NIOCore

/// Measures how late the event loop runs a timer: the time for which a request would have waited at that moment.
///
/// Only while there is a metrics socket, since each timer wakes the process.
enum LoopDelay {
    static func measure(_ loop: any EventLoop, _ timers: Timers, into histogram: DurationHistogram) {
        let due = NIODeadline.now() + interval
        _ = timers.schedule(loop, interval) {
            histogram.add(microseconds: (NIODeadline.now() - due).nanoseconds / 1000)
            measure(loop, timers, into: histogram)
        }
    }

    private static let interval = TimeAmount.seconds(1)
}
