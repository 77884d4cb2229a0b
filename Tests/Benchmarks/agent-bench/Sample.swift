/// The durations of the requests of one measurement, in nanoseconds.
struct Sample: Sendable {
    let p50: Double
    let p99: Double

    init(_ nanoseconds: [UInt64]) {
        let sorted = nanoseconds.sorted()
        p50 = Self.quantile(0.50, sorted)
        p99 = Self.quantile(0.99, sorted)
    }

    private static func quantile(_ share: Double, _ sorted: [UInt64]) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return Double(sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)])
    }
}

extension Collection where Element == Double {
    /// The median, which is robust against a few disturbed values; 0 if there are none.
    var median: Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[sorted.count / 2]
    }
}
