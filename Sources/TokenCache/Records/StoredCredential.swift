internal import TokenModel

/// A token as JSON, with the member names of the schema that Microsoft's libraries share: as the agent's own exports have it, and as
/// earlier versions stored it. The store of this version has packed records (`FieldWriter`).
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
    /// The account's issuer; nil in records of earlier versions.
    var issuer: String?
    /// What a refresh token is bound to: `Authority.Kind` as a number, the issuer, and the token endpoint.
    var boundKind: Int32?
    var boundIssuer: String?
    var tokenEndpoint: String?

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
        case issuer
        case boundKind = "bound_kind"
        case boundIssuer = "bound_issuer"
        case tokenEndpoint = "token_endpoint"
    }

    init(type: String, account: AccountKey, environment: String, clientID: ClientID, secret: Secret) {
        self.credentialType = type
        self.environment = environment
        self.clientID = clientID.text
        self.secret = secret.reveal()
        issuer = account.issuer.text
        switch account.identity {
        case .home(let identifier): homeAccountID = identifier.text
        case .name(let name): username = name
        }
    }

    var binding: StoredBinding? {
        get { StoredBinding(kind: boundKind, issuer: boundIssuer, endpoint: tokenEndpoint) }
        set {
            boundKind = newValue?.kind
            boundIssuer = newValue?.issuer
            tokenEndpoint = newValue?.endpoint
        }
    }

    var account: AccountKey {
        let known = CloudDirectory.isBuiltIn(environment) ? Issuer.microsoft : .unresolved
        return AccountKey(
            issuer: issuer.map { Issuer($0) } ?? known, homeAccountID: homeAccountID.flatMap(HomeAccountID.init),
            username: username)
    }
}
