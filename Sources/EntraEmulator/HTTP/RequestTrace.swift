internal import Foundation

/// Which request it was and when, as the services repeat it in each answer.
struct RequestTrace: Sendable {
    var traceID: String
    var correlationID: String
    /// `2026-01-31 12:00:00Z`
    var timestamp: String

    /// The same, as the services also put it on answers that are no failure.
    var headers: [(String, String)] {
        // The correlation ID is the caller's text; a line break would end the header field.
        [("x-ms-request-id", traceID), ("client-request-id", correlationID.filter { !$0.isNewline })]
    }

    init(traceID: String, correlationID: String?, now: Date) {
        self.traceID = traceID
        self.correlationID = correlationID ?? traceID
        timestamp = now.formatted(.iso8601.dateTimeSeparator(.space))
    }
}
