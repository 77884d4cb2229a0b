/// The settings that a test can change while the emulator runs, in process or with `POST /control/settings`.
package struct EmulatorSettings: Codable, Sendable, Equatable {
    /// Refresh token rotation: what the reply to a redemption does to the redeemed token.
    package enum Rotation: String, Codable, Sendable {
        /// The reply carries a new token; the old one is refused from then on.
        case strict
        /// The reply carries a new token; the old one stays valid.
        case lenient
        /// The reply carries no refresh token; the old one stays valid.
        case none
    }

    /// Pushed authorization requests (RFC 9126), which Entra does not have.
    package enum PushedRequests: String, Codable, Sendable {
        case unsupported
        /// The OpenID configuration names the endpoint.
        case offered
        /// Authorization requests that were not pushed are refused.
        case required
        /// The endpoint is named, and refuses apps without a secret, as all are here.
        case confidentialOnly = "confidential_only"
    }

    /// `expires_in` in seconds; with 0 or less, tokens have expired when they are issued.
    package var accessTokenLifetime = 3599
    /// `expires_in` for apps with the capability `cp1`, in seconds.
    package var capableTokenLifetime = 86_399
    /// The authentication context (`acrs`) that the resources require; nil if they require none.
    package var requiredContext: String?
    /// `ext_expires_in` in seconds.
    package var extendedLifetime = 7199
    /// `refresh_in` in seconds; nil leaves the field out, except for apps with the capability `cp1`: half of the lifetime.
    package var refreshIn: Int?
    /// The lifetime of a refresh token in seconds.
    package var refreshTokenLifetime = 90 * 24 * 3600
    /// The rule for a refresh token that is redeemed: whether it is replaced, and stays valid.
    package var rotation = Rotation.strict
    /// The family ID of apps that share refresh tokens, by client ID; their replies carry `foci`.
    package var familyApps = [wellKnownFamilyApp: "1"]
    /// Scopes that are never granted.
    package var declinedScopes: [String] = []
    /// Members that replace those of a successful token reply; null removes a member.
    package var tokenReply: [String: JSON] = [:]
    /// Claims that replace those of ID tokens; null removes a claim.
    package var idTokenClaims: [String: JSON] = [:]
    /// Parameters that replace those of authorization responses; null removes a parameter.
    package var authorizationReply: [String: JSON] = [:]
    /// Members that replace those of OpenID configurations; null removes a member.
    package var openIDConfiguration: [String: JSON] = [:]
    /// `interval` of a device code reply, in seconds.
    package var deviceCodeInterval = 1
    /// The lifetime of a device code in seconds.
    package var deviceCodeLifetime = 900
    /// The number of the poll at which a device code is approved automatically; nil waits for an approval.
    package var deviceCodeApprovedAtPoll: Int?
    /// Further hosts (with their port, if they have one) that instance discovery names as this environment.
    package var hostAliases: [String] = []
    /// `preferred_cache` of instance discovery; nil is the emulator's own host.
    package var preferredCache: String?

    /// The registered redirect URIs, by client ID. The redirect URIs of other apps are not checked.
    package var redirectURIs: [String: [String]] = [:]

    package var pushedRequests = PushedRequests.unsupported
    /// Whether Entra's token replies carry `client_info` if the request asks for it.
    package var sendsClientInfo = true
    /// National clouds that the emulator plays besides its own cloud.
    package var clouds: [EmulatedCloud] = []
    /// The host of the token endpoint in OpenID configurations; nil is the host of the request.
    package var tokenHost: String?
    package var adfs = EmulatedADFS()

    /// Microsoft Office, the best known member of family 1.
    package static let wellKnownFamilyApp = "d3590ed6-52b3-4102-aeff-aad2292ab01c"

    package init() {}

    /// Whether the settings in JSON have a member of this name.
    static func hasMember(_ name: String) -> Bool { CodingKeys(stringValue: name) != nil }

    private enum CodingKeys: String, CodingKey {
        case accessTokenLifetime = "access_token_lifetime"
        case capableTokenLifetime = "capable_token_lifetime"
        case requiredContext = "required_context"
        case extendedLifetime = "ext_expires_in"
        case refreshIn = "refresh_in"
        case refreshTokenLifetime = "refresh_token_lifetime"
        case rotation
        case familyApps = "family_apps"
        case declinedScopes = "declined_scopes"
        case tokenReply = "token_reply"
        case idTokenClaims = "id_token_claims"
        case authorizationReply = "authorization_reply"
        case openIDConfiguration = "openid_configuration"
        case deviceCodeInterval = "device_code_interval"
        case deviceCodeLifetime = "device_code_lifetime"
        case deviceCodeApprovedAtPoll = "device_code_approved_at_poll"
        case hostAliases = "host_aliases"
        case preferredCache = "preferred_cache"
        case redirectURIs = "redirect_uris"
        case pushedRequests = "pushed_requests"
        case sendsClientInfo = "sends_client_info"
        case clouds
        case tokenHost = "token_host"
        case adfs
    }
}

extension EmulatorSettings {
    /// The rule that a number breaks; nil if none does. The times of access tokens may be in the past.
    var defect: String? {
        let numbers: [(CodingKeys, Int, least: Int)] = [
            (.refreshTokenLifetime, refreshTokenLifetime, 0), (.deviceCodeInterval, deviceCodeInterval, 0),
            (.deviceCodeLifetime, deviceCodeLifetime, 0), (.deviceCodeApprovedAtPoll, deviceCodeApprovedAtPoll ?? 1, 1),
        ]
        return numbers.first { $0.1 < $0.least }.map { "\($0.0.rawValue) is at least \($0.least)" }
    }
}

extension Dictionary where Key == String {
    /// The value of an app, by its client ID in any case.
    func value(ofApp clientID: String) -> Value? { first { $0.key.lowercased() == clientID.lowercased() }?.value }
}

/// A national cloud that the emulator plays besides its own cloud.
package struct EmulatedCloud: Codable, Sendable, Equatable {
    /// The cloud's hosts, with their ports if they have one; the first is `preferred_network`.
    package var hosts: [String]
    /// `preferred_cache` of instance discovery; nil is the first host.
    package var preferredCache: String?
    /// The domains of the users whose home is in this cloud.
    package var domains: [String]

    package init(hosts: [String], preferredCache: String? = nil, domains: [String] = []) {
        self.hosts = hosts
        self.preferredCache = preferredCache
        self.domains = domains
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        hosts = try fields.decode([String].self, forKey: .hosts)
        preferredCache = try fields.decodeIfPresent(String.self, forKey: .preferredCache)
        domains = try fields.decodeIfPresent([String].self, forKey: .domains) ?? []
    }

    /// Whether a cloud in JSON has a member of this name.
    static func hasMember(_ name: String) -> Bool { CodingKeys(stringValue: name) != nil }

    /// The cloud's entry in an instance discovery reply.
    var metadata: JSON {
        [
            "preferred_network": JSON(hosts.first), "preferred_cache": JSON(preferredCache ?? hosts.first),
            "aliases": JSON(hosts),
        ]
    }

    private enum CodingKeys: String, CodingKey {
        case hosts
        case preferredCache = "preferred_cache"
        case domains
    }
}

extension EmulatorSettings {
    /// The cloud that a host belongs to; nil is the emulator's own.
    func cloud(ofHost host: String) -> EmulatedCloud? {
        clouds.first { $0.hosts.contains(host) }
    }

    /// The user's home cloud; nil is the emulator's own.
    func cloud(of user: User) -> EmulatedCloud? {
        let domain = user.username.split(separator: "@").last.map { $0.lowercased() }
        return clouds.first { $0.domains.contains { $0.lowercased() == domain } }
    }
}

/// The AD FS farms that the emulator plays, and how apps validate them.
package struct EmulatedADFS: Codable, Sendable, Equatable {
    /// The version of AD FS, which decides the tokens it issues.
    package enum Level: String, Codable, Sendable {
        /// Windows Server 2016 and later: issues ID tokens, and refresh tokens valid for every resource.
        case windows2016 = "2016"
        /// Windows Server 2012 R2: issues no ID tokens, and each refresh token is valid for one resource.
        case windows2012R2 = "2012r2"
    }

    /// The host that answers device registration discovery.
    package enum Registration: String, Codable, Sendable {
        /// `enterpriseregistration.DOMAIN`
        case onPremises = "on_premises"
        /// `enterpriseregistration.windows.net/DOMAIN`
        case cloud
    }

    package var level = Level.windows2016
    package var registration = Registration.onPremises
    /// The host of a domain's farm, by the domain of its users. Only these farms are trusted.
    package var hosts: [String: String] = [:]

    package init() {}

    /// Whether the settings in JSON have a member of this name.
    static func hasMember(_ name: String) -> Bool { CodingKeys(stringValue: name) != nil }

    /// Decodes settings; a missing member has its default value.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        level = try fields.decodeIfPresent(Level.self, forKey: .level) ?? .windows2016
        registration = try fields.decodeIfPresent(Registration.self, forKey: .registration) ?? .onPremises
        hosts = try fields.decodeIfPresent([String: String].self, forKey: .hosts) ?? [:]
    }
}
