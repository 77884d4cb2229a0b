internal import Foundation
internal import NIOHTTP1

/// An answer that is an error, in the shape the services give it.
struct OAuthFailure: Error, Sendable, Equatable {
    var error: String
    var suberror: String?
    /// The `AADSTS` numbers.
    var codes: [Int]
    var text: String
    var status: HTTPResponseStatus = .badRequest
    /// A claims request that the app must pass on in its next sign-in.
    var claims: String?
    /// More members, sent as they are, `null` too.
    var members: [String: JSON] = [:]

    init(
        _ error: String, _ code: Int, _ text: String, suberror: String? = nil,
        status: HTTPResponseStatus = .badRequest
    ) {
        self.error = error
        self.suberror = suberror
        codes = [code]
        self.text = text
        self.status = status
    }

    /// The description as the services write it: number, text, and what support asks for.
    func description(trace: RequestTrace) -> String {
        let number = codes.first.map { "AADSTS\($0): " } ?? ""
        return "\(number)\(text) Trace ID: \(trace.traceID) Correlation ID: \(trace.correlationID) "
            + "Timestamp: \(trace.timestamp)"
    }

    func response(trace: RequestTrace) throws -> Response {
        let body: JSON = [
            "error": .string(error),
            "suberror": JSON(suberror),
            "error_description": .string(description(trace: trace)),
            "error_codes": .array(codes.map(JSON.number)),
            "timestamp": .string(trace.timestamp),
            "trace_id": .string(trace.traceID),
            "correlation_id": .string(trace.correlationID),
            "claims": JSON(claims),
        ]
        return try .json(body.withoutNulls.merging(members), status: status)
    }
}
