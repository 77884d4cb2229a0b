/// The AD FS farms that the emulator stands for, and how apps find out that they may be trusted.
package struct EmulatedADFS: Codable, Sendable, Equatable {
    /// What its tokens are like.
    package enum Level: String, Codable, Sendable {
        /// Windows Server 2016 and later: ID tokens, and refresh tokens for every resource.
        case windows2016 = "2016"
        /// Windows Server 2012 R2: no ID tokens, and each refresh token is for one resource.
        case windows2012R2 = "2012r2"
    }

    /// Who answers device registration discovery.
    package enum Registration: String, Codable, Sendable {
        /// `enterpriseregistration.DOMAIN`
        case onPremises = "on_premises"
        /// `enterpriseregistration.windows.net/DOMAIN`
        case cloud
    }

    package var level = Level.windows2016
    package var registration = Registration.onPremises
    /// The farm's host by the domain of usernames. Only these are trusted.
    package var hosts: [String: String] = [:]

    package init() {}

    /// What is left out is as it is at the start.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        level = try fields.decodeIfPresent(Level.self, forKey: .level) ?? .windows2016
        registration = try fields.decodeIfPresent(Registration.self, forKey: .registration) ?? .onPremises
        hosts = try fields.decodeIfPresent([String: String].self, forKey: .hosts) ?? [:]
    }
}
