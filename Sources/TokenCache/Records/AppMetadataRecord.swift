internal import TokenModel

/// What the token endpoint once said of an app: which family of client IDs it belongs to.
package struct AppMetadataRecord: Sendable, Equatable, Codable {
    package var clientID: String
    package var environment: String
    /// Empty for an app that belongs to none.
    package var familyID: String

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case environment
        case familyID = "family_id"
    }

    var key: String { "appmetadata-\(environment)-\(clientID)".lowercased() }
}
