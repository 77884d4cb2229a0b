internal import Curl
internal import Foundation
internal import TokenModel

/// HTTP for tests: what an app, a script or a browser sends to a server on this machine.
package enum WebClient {
    /// A complete response.
    package struct Reply: Sendable {
        package var status: Int
        /// Names in lower case; the last of several fields with one name.
        package var headers: [String: String]
        package var body: String
    }

    private static let engine = CurlEngine(idle: .seconds(5), connectionsPerHost: 1000)

    /// Posts a body, or gets a page if there is none. Redirects are not followed.
    package static func send(
        _ url: String, post body: String? = nil, headers: [String: String] = [:]
    ) async throws -> Reply {
        let response = try await engine.send(
            CurlRequest(
                url: url, fields: headers.map { ($0.key, $0.value) }, body: body.map { Secret($0) },
                connectTimeout: .seconds(60)))
        let fields = response.fields.map { ($0.name.lowercased(), $0.value) }
        return Reply(
            status: response.status, headers: Dictionary(fields) { $1 }, body: response.body.reveal())
    }

    /// Gets a page and follows its redirects, as a browser does.
    package static func browse(to url: String) async throws -> Reply {
        var address = URL(string: url)
        for _ in 0..<20 {
            guard let current = address else { break }
            let reply = try await send(current.absoluteString)
            guard (300...399).contains(reply.status), let location = reply.headers["location"] else { return reply }
            address = URL(string: location, relativeTo: current)?.absoluteURL
        }
        throw TooManyRedirects(url: url)
    }

    struct TooManyRedirects: Error {
        let url: String
    }
}
