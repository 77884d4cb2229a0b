internal import TokenModel

/// An account in one tenant, as the cache keeps it.
package struct AccountRecord: Sendable, Equatable, Codable {
    package var homeAccountID: String?
    package var environment: String
    package var realm: String
    package var localAccountID: String?
    package var username: String
    /// `MSSTS`, `ADFS` or `Other`.
    package var authorityType: String
    package var name: String?
    package var givenName: String?
    package var familyName: String?
    package var alternativeAccountID: String?
    package var clientInfo: String?
    /// The library that made the account known: `msal` or `adal`.
    package var source: String
    /// What else another library wrote of it, as JSON, to be written again on export; nil for what the agent saved itself.
    package var foreign: String?

    enum CodingKeys: String, CodingKey {
        case homeAccountID = "home_account_id"
        case environment, realm, username, name, source, foreign
        case localAccountID = "local_account_id"
        case authorityType = "authority_type"
        case givenName = "given_name"
        case familyName = "family_name"
        case alternativeAccountID = "alternative_account_id"
        case clientInfo = "client_info"
    }

    var owner: OwnerID { OwnerID(homeAccountID: homeAccountID.flatMap(HomeAccountID.init), username: username) }

    var key: String { "\(owner.key)-\(environment)-\(realm)".lowercased() }

    /// Whether this is the account's own tenant; accounts of other kinds have only one.
    var isHome: Bool {
        guard authorityType == Self.entraType, let home = owner.homeAccountID?.tenantID else { return true }
        return home == realm.lowercased()
    }

    static let entraType = "MSSTS"

    /// The type of the accounts that an authority has.
    static func type(of authority: Authority) -> String {
        switch authority.kind {
        case .entra, .ciam, .b2c: entraType
        case .adfs: "ADFS"
        case .openID: "Other"
        }
    }
}
