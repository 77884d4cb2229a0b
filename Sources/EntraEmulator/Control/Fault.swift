/// Something that goes wrong with the requests it matches.
///
/// A fault with no filter matches every emulated request; `/control` is never touched. Effects combine: a held or
/// delayed request may then fail, or go on as if nothing had been.
package struct Fault: Codable, Sendable, Equatable {
    // Which requests.
    package var endpoint: Endpoint?
    package var grant: Grant?
    package var clientID: String?
    /// A part of the path.
    package var path: String?
    /// How many requests; 0 is every one until the faults are cleared.
    package var count = 1

    // What happens first.
    /// Wait until `release`.
    package var hold = false
    package var delayMilliseconds: Int?
    /// Let the request take effect and spoil the reply only, so that a rotated refresh token is lost on its way.
    package var afterEffect = false

    // What is answered; nothing here is the usual answer.
    /// An OAuth error; at the authorization endpoint it goes to the redirect URI.
    package var error: String?
    package var suberror: String?
    package var errorDescription: String?
    package var errorCodes: [Int]?
    /// A claims request that goes with the error.
    package var claims: String?
    /// More members of the error, sent as they are, `null` too.
    package var members: [String: JSON] = [:]
    package var status: Int?
    /// Seconds, in a `Retry-After` header.
    package var retryAfter: Int?
    /// Close the connection without a reply.
    package var drop = false
    /// A reply that is not JSON.
    package var garbage = false

    package init() {}

    package init(_ change: (inout Fault) -> Void) {
        change(&self)
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        endpoint = try fields.decodeIfPresent(Endpoint.self, forKey: .endpoint)
        grant = try fields.decodeIfPresent(Grant.self, forKey: .grant)
        clientID = try fields.decodeIfPresent(String.self, forKey: .clientID)
        path = try fields.decodeIfPresent(String.self, forKey: .path)
        count = try fields.decodeIfPresent(Int.self, forKey: .count) ?? 1
        hold = try fields.decodeIfPresent(Bool.self, forKey: .hold) ?? false
        delayMilliseconds = try fields.decodeIfPresent(Int.self, forKey: .delayMilliseconds)
        afterEffect = try fields.decodeIfPresent(Bool.self, forKey: .afterEffect) ?? false
        error = try fields.decodeIfPresent(String.self, forKey: .error)
        suberror = try fields.decodeIfPresent(String.self, forKey: .suberror)
        errorDescription = try fields.decodeIfPresent(String.self, forKey: .errorDescription)
        errorCodes = try fields.decodeIfPresent([Int].self, forKey: .errorCodes)
        claims = try fields.decodeIfPresent(String.self, forKey: .claims)
        members = try fields.decodeIfPresent([String: JSON].self, forKey: .members) ?? [:]
        status = try fields.decodeIfPresent(Int.self, forKey: .status)
        retryAfter = try fields.decodeIfPresent(Int.self, forKey: .retryAfter)
        drop = try fields.decodeIfPresent(Bool.self, forKey: .drop) ?? false
        garbage = try fields.decodeIfPresent(Bool.self, forKey: .garbage) ?? false
    }

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
