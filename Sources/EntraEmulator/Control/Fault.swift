internal import Foundation
internal import NIOHTTP1

/// A failure that the emulator applies to the requests that match a filter.
///
/// A fault without a filter matches every request except those to `/control`. Effects combine: a request can be held or
/// delayed first and then fail, or be answered as usual.
package struct Fault: Codable, Sendable, Equatable {
    // The filter.
    package var endpoint: Endpoint?
    package var grant: GrantType?
    package var clientID: String?
    /// Text that the path has to contain.
    package var path: String?
    /// The number of requests the fault applies to; 0 is every request until the faults are cleared.
    package var count = 1

    // Effects before the reply.
    /// Waits until `release` is called.
    package var hold = false
    package var delayMilliseconds: Int?
    /// Performs the request and replaces only its reply, so that the app loses a rotated refresh token.
    package var afterEffect = false

    // The reply; without any of these, the request is answered as usual.
    /// An OAuth error; at the authorization endpoint it is sent to the redirect URI.
    package var error: String?
    package var suberror: String?
    package var errorDescription: String?
    package var errorCodes: [Int]?
    /// The error's `claims` member: a claims request for the next sign-in.
    package var claims: String?
    /// Further members of the error, sent unchanged, `null` included.
    package var members: [String: JSON] = [:]
    package var status: Int?
    /// The `Retry-After` header, in seconds.
    package var retryAfter: Int?
    /// Closes the connection without a reply.
    package var drop = false
    /// Sends a reply that is not JSON.
    package var garbage = false

    package init() {}

    package init(_ change: (inout Fault) -> Void) {
        change(&self)
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        endpoint = try fields.decodeIfPresent(Endpoint.self, forKey: .endpoint)
        grant = try fields.decodeIfPresent(GrantType.self, forKey: .grant)
        clientID = try fields.decodeIfPresent(String.self, forKey: .clientID)
        path = try fields.decodeIfPresent(String.self, forKey: .path)
        count = try fields.number(.count, in: 0...Int.max) ?? 1
        hold = try fields.decodeIfPresent(Bool.self, forKey: .hold) ?? false
        delayMilliseconds = try fields.number(.delayMilliseconds, in: 0...Self.longestDelay)
        afterEffect = try fields.decodeIfPresent(Bool.self, forKey: .afterEffect) ?? false
        error = try fields.decodeIfPresent(String.self, forKey: .error)
        suberror = try fields.decodeIfPresent(String.self, forKey: .suberror)
        errorDescription = try fields.decodeIfPresent(String.self, forKey: .errorDescription)
        errorCodes = try fields.decodeIfPresent([Int].self, forKey: .errorCodes)
        claims = try fields.decodeIfPresent(String.self, forKey: .claims)
        members = try fields.decodeIfPresent([String: JSON].self, forKey: .members) ?? [:]
        // SwiftNIO ends the process for numbers that are no status, and waits for another response after one below 200.
        status = try fields.number(.status, in: 200...599)
        retryAfter = try fields.number(.retryAfter, in: 0...Int.max)
        drop = try fields.decodeIfPresent(Bool.self, forKey: .drop) ?? false
        garbage = try fields.decodeIfPresent(Bool.self, forKey: .garbage) ?? false
    }

    /// A day, in milliseconds.
    private static let longestDelay = 86_400_000

    /// Whether a fault in JSON has a member of this name.
    static func hasMember(_ name: String) -> Bool { CodingKeys(stringValue: name) != nil }

    private enum CodingKeys: String, CodingKey {
        case endpoint, grant, path, count, hold, error, suberror, claims, members, status, drop, garbage
        case clientID = "client_id"
        case delayMilliseconds = "delay_ms"
        case afterEffect = "after_effect"
        case errorDescription = "error_description"
        case errorCodes = "error_codes"
        case retryAfter = "retry_after"
    }

    func matches(_ request: EmulatorRequest) -> Bool {
        (endpoint.map { $0 == request.address.endpoint } ?? true)
            && (grant.map { $0 == request.grant } ?? true)
            && (clientID.map { $0.lowercased() == request.clientID?.lowercased() } ?? true)
            && (path.map(request.path.contains) ?? true)
    }
}

extension KeyedDecodingContainer {
    /// The number of a member; nil if the member is missing.
    ///
    /// - Throws: `DecodingError` if it is not in the range.
    fileprivate func number(_ key: Key, in range: ClosedRange<Int>) throws -> Int? {
        guard let number = try decodeIfPresent(Int.self, forKey: key) else { return nil }
        guard range.contains(number) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription: "\(number) is not in \(range.lowerBound)...\(range.upperBound)")
        }
        return number
    }
}

extension Fault {
    /// An OAuth error at the token endpoint.
    package static func error(
        _ error: String, suberror: String? = nil, grant: GrantType? = nil, count: Int = 1
    ) -> Fault {
        Fault {
            $0.endpoint = .token
            $0.grant = grant
            $0.error = error
            $0.suberror = suberror
            $0.count = count
        }
    }

    /// An HTTP status without an OAuth error at the token endpoint: 429 with `Retry-After`, 503, …
    package static func status(_ status: Int, retryAfter: Int? = nil, grant: GrantType? = nil, count: Int = 1) -> Fault
    {
        Fault {
            $0.endpoint = .token
            $0.grant = grant
            $0.status = status
            $0.retryAfter = retryAfter
            $0.count = count
        }
    }

    /// Holds requests with this grant until `release` is called.
    package static func hold(grant: GrantType? = nil, count: Int = 1) -> Fault {
        Fault {
            $0.endpoint = .token
            $0.grant = grant
            $0.hold = true
            $0.count = count
        }
    }
}

/// Applies a fault to one request.
struct FaultApplication: Sendable {
    let fault: Fault
    let state: EmulatorState
    let request: EmulatorRequest

    /// The connection has to be closed without a reply.
    struct ConnectionDropped: Error {}

    /// Waits if the fault says so, and returns the fault's reply; nil if the request is to be answered as usual.
    ///
    /// - Throws: `ConnectionDropped` if the fault closes the connection.
    func response() async throws -> Response? {
        if fault.hold { await state.hold() }
        if let delay = fault.delayMilliseconds {
            // The task is cancelled when the emulator stops, which ends the delay.
            try? await Task.sleep(for: .milliseconds(delay))
        }
        if fault.drop { throw ConnectionDropped() }
        if fault.garbage {
            return .text(
                "<html><body>\u{0} not what you expected {", type: "text/html; charset=utf-8",
                status: HTTPResponseStatus(statusCode: fault.status ?? 200))
        }
        if let error = fault.error { return try response(for: error) }
        return fault.status.map { plainResponse(status: $0) }
    }

    private func response(for error: String) throws -> Response {
        var failure = OAuthFailure(
            error, nil, fault.errorDescription ?? "The emulator was told to fail.", suberror: fault.suberror)
        failure.codes = fault.errorCodes ?? []
        failure.claims = fault.claims
        failure.members = fault.members
        failure.status = HTTPResponseStatus(statusCode: fault.status ?? 400)
        let trace = state.trace(of: request)
        // Without a redirect URI the error is shown, as those of requests without a fault are.
        let settings = state.update { $0.settings }
        if request.address.endpoint == .authorize, let reply = try? AuthorizeReply(request, settings) {
            return reply.failure(failure, trace: trace)
        }
        var response = try failure.response(trace: trace)
        response.headers.add(contentsOf: retryAfter)
        return response
    }

    /// A reply without an OAuth error, such as proxies and overloaded servers send.
    private func plainResponse(status: Int) -> Response {
        .text(
            "HTTP \(status)\n", type: "text/plain", status: HTTPResponseStatus(statusCode: status), headers: retryAfter)
    }

    private var retryAfter: HTTPHeaders {
        fault.retryAfter.map { ["Retry-After": "\($0)"] } ?? [:]
    }
}
