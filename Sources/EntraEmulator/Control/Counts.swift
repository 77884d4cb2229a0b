internal import Crypto
internal import Foundation

/// Counts of requests: how many have arrived, and how many were handled at the same time.
package struct Counts: Codable, Sendable, Equatable {
    /// Requests that arrived, by ``Counter``.
    package private(set) var requests: [String: Int] = [:]
    /// Requests by client ID and ``Counter``.
    package private(set) var byClientID: [String: [String: Int]] = [:]
    /// Requests that are being handled now, by ``Counter``.
    package private(set) var inFlight: [String: Int] = [:]
    /// The largest number of requests that were handled at the same time, by ``Counter``.
    package private(set) var maximumInFlight: [String: Int] = [:]
    /// Redemptions of each refresh token, by the token's ``Fingerprint``; of 100,000 tokens at most.
    package private(set) var redemptions: [String: Int] = [:]
    /// Completed sign-ins, at the authorization endpoint or by device code.
    package internal(set) var signIns = 0
    /// Redemptions of refresh tokens that had been replaced already. An agent that never sends a token twice keeps this at 0.
    package internal(set) var reusedRefreshTokens = 0
    /// Requests that a `hold` fault holds now.
    package internal(set) var held = 0

    package init() {}

    package subscript(counter: Counter) -> Int {
        requests[counter.rawValue] ?? 0
    }

    package func maximumInFlight(_ counter: Counter) -> Int {
        maximumInFlight[counter.rawValue] ?? 0
    }

    /// Counts a request that has arrived.
    mutating func countArrival(of counter: Counter, clientID: String?, fingerprint: String?) {
        let name = counter.rawValue
        requests[name, default: 0] += 1
        inFlight[name, default: 0] += 1
        maximumInFlight[name] = max(maximumInFlight[name] ?? 0, inFlight[name] ?? 0)
        if let clientID { byClientID[clientID, default: [:]][name, default: 0] += 1 }
        if let fingerprint { countRedemption(of: fingerprint) }
    }

    /// The number of refresh tokens whose redemptions are counted.
    private static let redemptionLimit = 100_000

    /// Counts a redemption. Past the limit, the tokens that have been redeemed once are forgotten, so that a long run needs no more memory.
    private mutating func countRedemption(of fingerprint: String) {
        if redemptions.count >= Self.redemptionLimit, redemptions[fingerprint] == nil {
            redemptions = redemptions.filter { $0.value > 1 }
            if redemptions.count > Self.redemptionLimit / 2 { redemptions = [:] }
        }
        redemptions[fingerprint, default: 0] += 1
    }

    /// Counts a request that has been answered.
    mutating func countDeparture(of counter: Counter) {
        inFlight[counter.rawValue, default: 1] -= 1
    }

    /// Sets the counts to zero, except those of requests in progress.
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

/// The kinds of requests that are counted: grants at the token endpoint, and the other endpoints.
package enum Counter: String, Codable, Sendable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case deviceCode = "device_code"
    case assertion
    /// A request to the token endpoint whose grant type is missing or unknown.
    case otherGrant = "other_grant"
    case authorize
    case pushedRequest = "par"
    case deviceCodeStart = "devicecode"
    case deviceLogin = "devicelogin"
    case instanceDiscovery = "discovery"
    case openIDConfiguration = "openid_configuration"
    case keys
    case userInfo = "userinfo"
    case graph
    case logout
    case enrollment
    case webFinger = "webfinger"

    package init(_ grant: GrantType) {
        switch grant {
        case .authorizationCode: self = .authorizationCode
        case .refreshToken: self = .refreshToken
        case .deviceCode: self = .deviceCode
        case .saml11Bearer, .saml2Bearer: self = .assertion
        }
    }

    package init(_ endpoint: Endpoint) {
        switch endpoint {
        case .authorize: self = .authorize
        case .pushedRequest: self = .pushedRequest
        case .token: self = .otherGrant
        case .deviceCode: self = .deviceCodeStart
        case .deviceLogin: self = .deviceLogin
        case .instanceDiscovery: self = .instanceDiscovery
        case .openIDConfiguration: self = .openIDConfiguration
        case .keys: self = .keys
        case .userInfo: self = .userInfo
        case .graph: self = .graph
        case .logout: self = .logout
        case .enrollment: self = .enrollment
        case .webFinger: self = .webFinger
        }
    }
}

/// A request as it arrived, so that tests can examine it.
///
/// It contains secrets in plain text, and is available in process only, not at `/control`.
package struct RecordedRequest: Sendable {
    package let counter: Counter
    /// Host and port of the `Host` header, in lower case.
    package let environment: String
    package let path: String
    /// Query and form fields.
    package let parameters: [String: String]
    /// Names in lower case.
    package let headers: [String: String]

    init(_ request: EmulatorRequest) {
        counter = request.counter
        environment = request.environment
        path = request.path
        parameters = request.parameters.fields
        headers = Dictionary(
            request.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $0 + ", " + $1 })
    }
}

/// A short identifier of a secret: the first 6 bytes of its SHA-256, in hexadecimal digits.
package enum Fingerprint {
    package static func of(_ secret: String) -> String {
        SHA256.hash(data: Data(secret.utf8)).prefix(6)
            .map { String(Int($0) + 0x100, radix: 16).suffix(2) }.joined()
    }
}
