internal import TestSupport

@testable internal import EntraEmulator

/// The HTTP client of these tests. It follows no redirects, since tests examine them.
enum HTTP {
    static func get(_ url: String, headers: [String: String] = [:]) async throws -> Reply {
        Reply(try await WebClient.send(url, headers: headers))
    }

    static func post(_ url: String, form: [String: String], headers: [String: String] = [:]) async throws -> Reply {
        try await post(url, Parameters(form).encoded, headers: headers)
    }

    static func post(_ url: String, _ body: String, headers: [String: String] = [:]) async throws -> Reply {
        Reply(try await WebClient.send(url, post: body, headers: headers))
    }
}

extension Reply {
    fileprivate init(_ reply: WebClient.Reply) {
        self.init(status: reply.status, headers: reply.headers, body: reply.body)
    }
}
