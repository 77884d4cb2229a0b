internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

/// A fault on its way to the app.
struct FaultyAnswer: Sendable {
    let fault: Fault
    let state: EmulatorState
    let request: EmulatorRequest

    /// The connection was closed on purpose; there is nobody to answer.
    struct ConnectionDropped: Error {}

    /// Waits as the fault says; then its answer, or nil when the usual one is due.
    func response(channel: any Channel) async throws -> Response? {
        if fault.hold { await state.hold() }
        if let delay = fault.delayMilliseconds {
            // A shutdown cuts the delay short.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(delay)) }
        }
        if fault.drop {
            try? await channel.close()
            throw ConnectionDropped()
        }
        if fault.garbage {
            return .html(
                "<html><body>\u{0} not what you expected {", status: HTTPResponse.Status(code: fault.status ?? 200))
        }
        if let error = fault.error { return try response(for: error) }
        return fault.status.map { bare(status: $0) }
    }

    private func response(for error: String) throws -> Response {
        var failure = OAuthFailure(
            error, 0, fault.errorDescription ?? "The emulator was told to fail.", suberror: fault.suberror)
        failure.codes = fault.errorCodes ?? []
        failure.claims = fault.claims
        failure.members = fault.members
        failure.status = HTTPResponse.Status(code: fault.status ?? 400)
        let trace = state.trace(of: request)
        if request.address.endpoint == .authorize {
            return try AuthorizeReply(request).failure(failure, trace: trace)
        }
        var response = try failure.response(trace: trace)
        response.headers[.retryAfter] = fault.retryAfter.map(String.init)
        return response
    }

    /// What a proxy or a busy server answers: a status and a line for people.
    private func bare(status: Int) -> Response {
        var headers: HTTPFields = [:]
        headers[.retryAfter] = fault.retryAfter.map(String.init)
        return .text(
            "HTTP \(status)\n", type: "text/plain", status: HTTPResponse.Status(code: status), headers: headers)
    }
}
