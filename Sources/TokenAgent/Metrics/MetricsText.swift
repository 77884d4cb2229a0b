internal import TokenModel

/// Measurements in Prometheus' text format, version 0.0.4.
enum MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The text of measurements, those of one name together, in the order of ``MetricName`` and of their labels.
    static func encode(_ metrics: [AgentMetric]) -> String {
        let byName = Dictionary(grouping: metrics, by: \.name)
        var text = ""
        for name in MetricName.allCases {
            guard let series = byName[name.rawValue] else { continue }
            text += "# HELP \(name.rawValue) \(name.help)\n# TYPE \(name.rawValue) \(name.kind)\n"
            let lines = series.map { (labels: labels(of: $0), metric: $0) }.sorted {
                $0.labels.lexicographicallyPrecedes($1.labels)
            }
            for (labels, metric) in lines { add(metric, labels, to: &text) }
        }
        return text
    }

    private static func add(_ metric: AgentMetric, _ labels: [String], to text: inout String) {
        guard let durations = metric.durations else {
            return text += line(metric.name, labels, "\(metric.value)")
        }
        var count: Int64 = 0
        for (bound, events) in zip(durations.bounds, durations.counts) {
            count += events
            text += line("\(metric.name)_bucket", labels + ["le=\"\(seconds(bound))\""], "\(count)")
        }
        text += line("\(metric.name)_bucket", labels + ["le=\"+Inf\""], "\(metric.value)")
        text += line("\(metric.name)_sum", labels, seconds(durations.sum))
        text += line("\(metric.name)_count", labels, "\(metric.value)")
    }

    private static func line(_ name: String, _ labels: [String], _ value: String) -> String {
        labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels.joined(separator: ","))} \(value)\n"
    }

    private static func labels(of metric: AgentMetric) -> [String] {
        metric.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value))\"" }
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        // By scalars: a quotation mark forms one `Character` with a combining character behind it.
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Microseconds as a decimal number of seconds, without rounding.
    static func seconds(_ microseconds: Int64) -> String {
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        guard rest != 0 else { return "\(whole)" }
        let digits = "\(1_000_000 + rest)".dropFirst()
        let end = digits.lastIndex { $0 != "0" }.map(digits.index(after:)) ?? digits.endIndex
        return "\(whole).\(digits[..<end])"
    }
}
