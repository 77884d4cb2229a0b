/// A measurement of the agent since its start: a counter, a gauge, or a histogram of durations. `docs/metrics.md` lists them.
///
/// Names and labels are those of the metrics socket. No label names an app, an account, a process or a file.
public struct AgentMetric: Sendable, Equatable {
    /// The kind of a measurement.
    @nonexhaustive public enum Kind: Sendable, CaseIterable {
        /// A number of events, which only grows.
        case counter
        /// A number at the time of the request.
        case gauge
        /// The durations of events.
        case histogram
    }

    /// The name, such as `sso_agent_requests_total`.
    public var name: String
    /// The kind of the measurement; nil if this version does not know it.
    public var kind: Kind?
    /// The labels that distinguish measurements of one name.
    public var labels: [String: String]
    /// The number of a counter or a gauge; of a histogram, the number of events.
    public var value: Int64
    /// The durations of a histogram; nil for other kinds.
    public var durations: Durations?

    /// The durations of the events of a histogram.
    public struct Durations: Sendable, Equatable {
        /// The sum of all durations, in microseconds.
        public var sum: Int64
        /// The upper bounds of the buckets in microseconds, in ascending order.
        public var bounds: [Int64]
        /// The numbers of events in the buckets: up to the first bound, between the first and the second, and so on. The events above the
        /// last bound are in none.
        public var counts: [Int64]

        /// Creates durations.
        public init(sum: Int64, bounds: [Int64], counts: [Int64]) {
            self.sum = sum
            self.bounds = bounds
            self.counts = counts
        }
    }

    /// Creates a measurement.
    public init(
        _ name: String, _ kind: Kind?, labels: [String: String] = [:], value: Int64, durations: Durations? = nil
    ) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.value = value
        self.durations = durations
    }
}
