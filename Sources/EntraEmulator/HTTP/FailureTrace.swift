internal import Foundation

/// Where and when a failure happened, as the services repeat it in each error.
struct FailureTrace: Sendable {
    var traceID: String
    var correlationID: String
    /// `2026-01-31 12:00:00Z`
    var timestamp: String

    init(traceID: String, correlationID: String?, now: Date) {
        self.traceID = traceID
        self.correlationID = correlationID ?? traceID
        timestamp = now.formatted(.iso8601.dateTimeSeparator(.space))
    }
}
