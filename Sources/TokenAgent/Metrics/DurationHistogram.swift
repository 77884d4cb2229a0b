internal import Synchronization
internal import TokenModel

/// Counts durations in buckets with bounds. May be used on any thread.
final class DurationHistogram: Sendable {
    private struct State {
        var counts: [Int64]
        var total: Int64 = 0
        var sum: Int64 = 0
    }

    private let bounds: [Int64]
    private let state: Mutex<State>

    /// - Parameter bounds: the upper bounds of the buckets in microseconds, in ascending order.
    init(bounds: [Int64] = DurationHistogram.bounds) {
        self.bounds = bounds
        state = Mutex(State(counts: [Int64](repeating: 0, count: bounds.count)))
    }

    /// Adds a duration; a negative one counts as 0.
    func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        add(
            microseconds: seconds.multipliedReportingOverflow(by: 1_000_000).partialValue + attoseconds
                / 1_000_000_000_000)
    }

    /// Adds a duration; a negative one counts as 0.
    func add(microseconds: Int64) {
        let duration = max(microseconds, 0)
        let bucket = bounds.firstIndex { duration <= $0 }
        state.withLock { state in
            if let bucket { state.counts[bucket] += 1 }
            state.total += 1
            state.sum += duration
        }
    }

    /// The measurement so far; nil if there is no duration.
    func metric(_ name: MetricName, labels: [String: String] = [:]) -> AgentMetric? {
        let state = state.withLock(\.self)
        guard state.total > 0 else { return nil }
        return AgentMetric(
            name.rawValue, name.kind, labels: labels, value: state.total,
            durations: AgentMetric.Durations(sum: state.sum, bounds: bounds, counts: state.counts))
    }

    /// The upper bounds in microseconds: from a turn of the event loop to the time-out of a token endpoint.
    static let bounds: [Int64] = [
        100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        5_000_000, 10_000_000, 30_000_000,
    ]
}
