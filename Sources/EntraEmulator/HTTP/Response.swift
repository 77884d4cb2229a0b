internal import Foundation
internal import NIOHTTP1

/// An HTTP response with its complete body.
struct Response: Sendable {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders = [:]
    var body = ""

    static func json(_ value: some Encodable, status: HTTPResponseStatus = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return text(
            String(decoding: try encoder.encode(value), as: UTF8.self), type: "application/json; charset=utf-8",
            status: status)
    }

    static func text(_ body: String, type: String, status: HTTPResponseStatus, headers: HTTPHeaders = [:]) -> Response {
        var headers = headers
        headers.replaceOrAdd(name: "Content-Type", value: type)
        headers.replaceOrAdd(name: "Cache-Control", value: "no-store, no-cache")
        // RFC 6749 section 5.1 requires this header field as well in token responses.
        headers.replaceOrAdd(name: "Pragma", value: "no-cache")
        return Response(status: status, headers: headers, body: body)
    }

    /// A redirect with status 302.
    static func redirect(to location: String, headers: HTTPHeaders = [:]) -> Response {
        var headers = headers
        headers.replaceOrAdd(name: "Location", value: location.withoutControlCharacters)
        return Response(status: .found, headers: headers)
    }
}

extension String {
    /// The text as a header field can hold it (RFC 9110 section 5.5). A line break would end the field, and SwiftNIO sends no
    /// response with another control character.
    var withoutControlCharacters: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}
