internal import Foundation
internal import NIOHTTP1

/// An HTTP request, read whole.
struct ReceivedRequest: Sendable {
    var method: HTTPMethod
    /// Without the query, percent-encoded.
    var path: String
    /// Without the question mark; empty if there is none.
    var query: String
    var headers: HTTPHeaders
    var body: Data

    init(_ head: HTTPRequestHead, body: Data) {
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        method = head.method
        path = String(parts[0])
        query = parts.count > 1 ? String(parts[1]) : ""
        headers = head.headers
        self.body = body
    }

    var host: String? { headers.first(name: "Host") }
}
