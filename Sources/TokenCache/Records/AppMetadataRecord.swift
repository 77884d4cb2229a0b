internal import TokenModel

/// What the token endpoint once said of an app: which family of client IDs it belongs to.
package struct AppMetadataRecord: Sendable, Equatable, Codable {
    package var clientID: String
    package var environment: String
    /// Empty for an app that belongs to none.
    package var familyID: String
    /// What else another library wrote of it, as JSON, to be written again on export; nil for what the agent saved itself.
    package var foreign: String?

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case environment, foreign
        case familyID = "family_id"
    }

    var key: String { Self.key(clientID, at: environment) }

    static func key(_ clientID: String, at environment: String) -> String {
        "appmetadata-\(environment)-\(clientID)".lowercased()
    }
}
