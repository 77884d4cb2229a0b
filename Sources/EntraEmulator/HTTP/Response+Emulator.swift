internal import Foundation
internal import HTTPTypes
internal import Hummingbird

extension Response {
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return text(
            String(decoding: try encoder.encode(value), as: UTF8.self), type: "application/json; charset=utf-8",
            status: status, headers: headers)
    }

    static func html(_ page: String, status: HTTPResponse.Status = .ok) -> Response {
        text(page, type: "text/html; charset=utf-8", status: status)
    }

    static func text(
        _ body: String, type: String, status: HTTPResponse.Status, headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        headers[.cacheControl] = "no-store, no-cache"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: body)))
    }
}
