internal import TokenModel

/// A token as the store keeps it: JSON with the member names of the schema that Microsoft's libraries share.
///
/// Times are seconds since 1970 as decimal strings, as those libraries write them.
struct StoredCredential: Codable {
    var credentialType: String
    var homeAccountID: String?
    var username: String?
    var environment: String
    var clientID: String
    var familyID: String?
    var realm: String?
    var target: String?
    var secret: String
    var tokenType: String?
    var cachedAt: String?
    var expiresOn: String?
    var extendedExpiresOn: String?
    var refreshOn: String?
    var oauthVersion: Int32?
    var lastModificationTime: String?
    var unknownFields: String?
    var replaced: [String]?

    enum CodingKeys: String, CodingKey {
        case credentialType = "credential_type"
        case homeAccountID = "home_account_id"
        case username, environment, realm, target, secret, replaced
        case clientID = "client_id"
        case familyID = "family_id"
        case tokenType = "token_type"
        case cachedAt = "cached_at"
        case expiresOn = "expires_on"
        case extendedExpiresOn = "extended_expires_on"
        case refreshOn = "refresh_on"
        case oauthVersion = "oauth_version"
        case lastModificationTime = "last_modification_time"
        case unknownFields = "foreign"
    }

    init(type: String, account: AccountKey, environment: String, clientID: ClientID, secret: Secret) {
        self.credentialType = type
        self.environment = environment
        self.clientID = clientID.text
        self.secret = secret.reveal()
        switch account {
        case .home(let identifier): homeAccountID = identifier.text
        case .name(let name): username = name
        }
    }

    var account: AccountKey {
        AccountKey(homeAccountID: homeAccountID.flatMap(HomeAccountID.init), username: username)
    }
}
