internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1

@testable internal import EntraEmulator

/// The one HTTP client of these tests. It follows no redirect: where one leads is what tests look at.
enum HTTP {
    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))

    static func get(_ url: String, headers: [String: String] = [:]) async throws -> Reply {
        try await send(HTTPClientRequest(url: url), headers)
    }

    static func post(_ url: String, form: [String: String], headers: [String: String] = [:]) async throws -> Reply {
        try await send(.POST, url, Parameters(form).encoded, headers)
    }

    static func send(
        _ method: HTTPMethod, _ url: String, _ body: String, _ headers: [String: String] = [:]
    ) async throws -> Reply {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.body = .bytes(ByteBuffer(string: body))
        return try await send(request, headers)
    }

    private static func send(_ request: HTTPClientRequest, _ headers: [String: String]) async throws -> Reply {
        var request = request
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        let response = try await client.execute(request, timeout: .seconds(60))
        let body = String(buffer: try await response.body.collect(upTo: 1 << 20))
        let fields = response.headers.map { ($0.name.lowercased(), $0.value) }
        return Reply(
            status: Int(response.status.code), headers: Dictionary(fields) { $1 }, body: body)
    }
}
