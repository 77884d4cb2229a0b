internal import TokenModel

/// An account as JSON, and as a line for people.
struct AccountJSON: Encodable {
    struct Profile: Encodable {
        var tenantId: String
        var identifier: String?
        var username: String?
        var environment: String
        var isHomeTenant: Bool
    }

    var identifier: String?
    var username: String?
    var environment: String
    var tenantProfiles: [Profile]
    var source: String

    init(_ account: Account) {
        identifier = account.homeAccountID?.text
        username = account.username
        environment = account.environment
        source = account.source == .adal ? "adal" : "msal"
        tenantProfiles = account.tenantProfiles.map {
            Profile(
                tenantId: $0.realm, identifier: $0.localAccountID, username: $0.username, environment: $0.environment,
                isHomeTenant: $0.isHome)
        }
    }

    /// `alice@contoso.com (identifier)`.
    var line: String { "\(username ?? "(no name)") (\(identifier ?? "identifier not yet known"))" }
}
