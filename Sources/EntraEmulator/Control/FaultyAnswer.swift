internal import Foundation
internal import NIOHTTP1

/// A fault on its way to the app.
struct FaultyAnswer: Sendable {
    let fault: Fault
    let state: EmulatorState
    let request: EmulatorRequest

    /// The connection is to be closed without an answer.
    struct ConnectionDropped: Error {}

    /// Waits as the fault says; then its answer, or nil when the usual one is due.
    ///
    /// - Throws: `ConnectionDropped` if the fault closes the connection.
    func response() async throws -> Response? {
        if fault.hold { await state.hold() }
        if let delay = fault.delayMilliseconds {
            // The task is cancelled when the emulator stops, which cuts the delay short.
            try? await Task.sleep(for: .milliseconds(delay))
        }
        if fault.drop { throw ConnectionDropped() }
        if fault.garbage {
            return .html(
                "<html><body>\u{0} not what you expected {", status: HTTPResponseStatus(statusCode: fault.status ?? 200)
            )
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
        failure.status = HTTPResponseStatus(statusCode: fault.status ?? 400)
        let trace = state.trace(of: request)
        if request.address.endpoint == .authorize {
            return try AuthorizeReply(request).failure(failure, trace: trace)
        }
        var response = try failure.response(trace: trace)
        response.headers.add(contentsOf: retryAfter)
        return response
    }

    /// What a proxy or a busy server answers: a status and a line for people.
    private func bare(status: Int) -> Response {
        .text(
            "HTTP \(status)\n", type: "text/plain", status: HTTPResponseStatus(statusCode: status), headers: retryAfter)
    }

    private var retryAfter: HTTPHeaders {
        fault.retryAfter.map { ["Retry-After": "\($0)"] } ?? [:]
    }
}
