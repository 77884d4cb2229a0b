/// What the emulator was asked, and how much of it at once.
package struct Counts: Codable, Sendable, Equatable {
    /// Requests that arrived, by ``Counter``.
    package private(set) var requests: [String: Int] = [:]
    /// Requests by client ID and ``Counter``.
    package private(set) var byClientID: [String: [String: Int]] = [:]
    /// Requests being answered now.
    package private(set) var inFlight: [String: Int] = [:]
    /// The most that were being answered at once.
    package private(set) var maximumInFlight: [String: Int] = [:]
    /// Redemptions by refresh token, each named by a fingerprint.
    package private(set) var redemptions: [String: Int] = [:]
    /// Users signed in at the authorization endpoint or by device code.
    package internal(set) var signIns = 0
    /// Refresh tokens presented again after they were replaced: what a single flight prevents.
    package internal(set) var reusedRefreshTokens = 0
    /// Requests that a `hold` fault keeps waiting now.
    package internal(set) var held = 0

    package init() {}

    package subscript(counter: Counter) -> Int {
        requests[counter.rawValue] ?? 0
    }

    package func maximumInFlight(_ counter: Counter) -> Int {
        maximumInFlight[counter.rawValue] ?? 0
    }

    mutating func arrived(_ counter: Counter, clientID: String?, fingerprint: String?) {
        let name = counter.rawValue
        requests[name, default: 0] += 1
        inFlight[name, default: 0] += 1
        maximumInFlight[name] = max(maximumInFlight[name] ?? 0, inFlight[name] ?? 0)
        if let clientID { byClientID[clientID, default: [:]][name, default: 0] += 1 }
        if let fingerprint { redemptions[fingerprint, default: 0] += 1 }
    }

    mutating func left(_ counter: Counter) {
        inFlight[counter.rawValue, default: 1] -= 1
    }

    /// Starts to count anew; what is still in flight stays so.
    mutating func reset() {
        let (inFlight, held) = (inFlight, held)
        self = Counts()
        self.inFlight = inFlight
        self.held = held
    }

    private enum CodingKeys: String, CodingKey {
        case requests
        case byClientID = "by_client_id"
        case inFlight = "in_flight"
        case maximumInFlight = "max_in_flight"
        case redemptions
        case signIns = "sign_ins"
        case reusedRefreshTokens = "reused_refresh_tokens"
        case held
    }
}
