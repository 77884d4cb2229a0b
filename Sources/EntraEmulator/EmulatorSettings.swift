/// What a test may change while the emulator runs, in process or with `POST /control/settings`.
package struct EmulatorSettings: Codable, Sendable, Equatable {
    /// What happens to a refresh token that has been redeemed.
    package enum Rotation: String, Codable, Sendable {
        /// The reply carries a new one; the old one is refused from then on.
        case strict
        /// The reply carries a new one; the old one keeps working.
        case lenient
        /// The reply carries none; the old one keeps working.
        case none
    }

    /// `expires_in` in seconds; 0 or less makes tokens that are born expired.
    package var accessTokenLifetime = 3599
    /// `ext_expires_in` in seconds.
    package var extendedLifetime = 7199
    /// `refresh_in` in seconds; nil leaves the field out.
    package var refreshIn: Int?
    package var refreshTokenLifetime = 90 * 24 * 3600
    package var rotation = Rotation.strict
    /// Family ID by client ID: these apps share refresh tokens, and their replies carry `foci`.
    package var familyApps = [wellKnownFamilyApp: "1"]
    /// Scopes that are asked for and not granted.
    package var declinedScopes: [String] = []
    /// Members of a successful token reply that say something else than they would; nil leaves one out.
    package var tokenReply: [String: JSON] = [:]
    /// Seconds a polling app is told to wait.
    package var deviceCodeInterval = 1
    package var deviceCodeLifetime = 900
    /// Approve a device code by itself at this poll; nil waits for an approval.
    package var deviceCodeApprovedAtPoll: Int?
    /// Further hosts (with their port, if they have one) that instance discovery names as this environment.
    package var hostAliases: [String] = []
    /// `preferred_cache` of instance discovery; nil is the emulator's own host.
    package var preferredCache: String?

    /// The redirect URIs that are registered, by client ID; those of an app that is not here are not checked.
    package var redirectURIs: [String: [String]] = [:]

    /// Whether Entra's token replies carry the `client_info` that was asked for.
    package var sendsClientInfo = true
    /// National clouds that it stands for besides its own.
    package var clouds: [EmulatedCloud] = []
    /// The host that OpenID configurations name for the token endpoint; nil is the one asked.
    package var tokenHost: String?
    package var adfs = EmulatedADFS()

    /// Microsoft Office, the best known member of family 1.
    package static let wellKnownFamilyApp = "d3590ed6-52b3-4102-aeff-aad2292ab01c"

    package init() {}

    private enum CodingKeys: String, CodingKey {
        case accessTokenLifetime = "access_token_lifetime"
        case extendedLifetime = "ext_expires_in"
        case refreshIn = "refresh_in"
        case refreshTokenLifetime = "refresh_token_lifetime"
        case rotation
        case familyApps = "family_apps"
        case declinedScopes = "declined_scopes"
        case tokenReply = "token_reply"
        case deviceCodeInterval = "device_code_interval"
        case deviceCodeLifetime = "device_code_lifetime"
        case deviceCodeApprovedAtPoll = "device_code_approved_at_poll"
        case hostAliases = "host_aliases"
        case preferredCache = "preferred_cache"
        case redirectURIs = "redirect_uris"
        case sendsClientInfo = "sends_client_info"
        case clouds
        case tokenHost = "token_host"
        case adfs
    }
}
