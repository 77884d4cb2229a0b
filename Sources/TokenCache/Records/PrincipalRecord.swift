internal import TokenModel

/// The account that an app was last told is its current one.
package struct PrincipalRecord: Sendable, Equatable, Codable {
    package var clientID: String
    package var homeAccountID: String?
    package var username: String?
    package var environment: String

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case homeAccountID = "principal_home_account_id"
        case username = "principal_username"
        case environment = "principal_account_environment"
    }

    init(clientID: ClientID, account: Account) {
        self.clientID = clientID.text
        homeAccountID = account.homeAccountID?.text
        username = account.username
        environment = account.environment
    }

    var key: String { Self.key(of: clientID) }

    static func key(of clientID: String) -> String { "principal-\(clientID)".lowercased() }

    var account: Account {
        Account(
            homeAccountID: homeAccountID.flatMap(HomeAccountID.init), username: username, environment: environment,
            source: .msal)
    }
}
