internal import PosixFiles
internal import TokenModel

/// A measurement of the agent as JSON. What does not apply is absent.
struct MetricJSON: Encodable {
    struct Bucket: Encodable {
        /// The upper bound, in seconds.
        var le: Double
        /// The number of events up to the bound.
        var count: Int64
    }

    var name: String
    var kind: String?
    var labels: [String: String]?
    /// The number of a counter or a gauge; of a histogram, the number of events.
    var value: Int64
    /// The sum of the durations of a histogram.
    var sumSeconds: Double?
    var buckets: [Bucket]?

    init(_ metric: AgentMetric) {
        name = metric.name
        kind = metric.kind.map { "\($0)" }
        labels = metric.labels.isEmpty ? nil : metric.labels
        value = metric.value
        guard let durations = metric.durations else { return }
        sumSeconds = Double(durations.sum) / 1e6
        var count: Int64 = 0
        buckets = zip(durations.bounds, durations.counts).map { bound, events in
            count = count.addingReportingOverflow(events).partialValue
            return Bucket(le: Double(bound) / 1e6, count: count)
        }
    }
}

/// Measurements as a table for people.
enum MetricTable {
    static func text(_ metrics: [MetricJSON]) -> StyledText {
        let rows = metrics.map { [name($0), labels($0), value($0)] }.sorted { $0.lexicographicallyPrecedes($1) }
        let header = ["MEASUREMENT", "OF", "VALUE"]
        if let table = Table.fitting(header, rows) { return table }
        // On a narrow terminal, each is a line that can be broken at blanks.
        let lines = rows.map { row in
            "\(row[0])\(row[1].isEmpty ? "" : " (\(row[1]))"): \(row[2])"
        }
        return StyledText(lines.map { UntrustedText.clean($0) }.joined(separator: "\n"))
    }

    /// The name without what all names have, and without its unit, which the value shows.
    private static func name(_ metric: MetricJSON) -> String {
        var name = metric.name[...]
        if name.hasPrefix("sso_agent_") { name = name.dropFirst("sso_agent_".count) }
        for unit in ["_total", "_seconds"] where name.hasSuffix(unit) { name = name.dropLast(unit.count) }
        return String(name).replacing("_", with: " ")
    }

    private static func labels(_ metric: MetricJSON) -> String {
        (metric.labels ?? [:]).sorted { $0.key > $1.key }.map(\.value).joined(separator: ": ")
    }

    /// The number; for durations also their median and their 99th percentile.
    private static func value(_ metric: MetricJSON) -> String {
        guard let buckets = metric.buckets, metric.value > 0 else {
            return metric.name.hasSuffix("_seconds") ? Phrases.duration(metric.value) : "\(metric.value)"
        }
        func bound(_ share: Double) -> String {
            let bucket = buckets.first { Double($0.count) >= share * Double(metric.value) }
            return bucket.map { "≤ \(text($0.le))" } ?? "> \(text(buckets.last?.le ?? 0))"
        }
        return "\(metric.value), half \(bound(0.5)), 99 % \(bound(0.99))"
    }

    private static func text(_ seconds: Double) -> String {
        Phrases.milliseconds(Int64(exactly: (seconds * 1e6).rounded()) ?? .max)
    }
}
