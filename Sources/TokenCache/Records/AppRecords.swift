package import TokenModel
package import TokenStore

/// The metadata of an app, as the token endpoint has reported it: the family of client IDs that the app belongs to.
package struct AppMetadataRecord: Sendable, Equatable, Codable {
    package var clientID: String
    package var environment: String
    /// Empty for an app that belongs to no family.
    package var familyID: String
    /// Fields this version does not know, as JSON; preserved for export. Nil for a record that the agent made.
    package var unknownFields: String?

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case environment
        case familyID = "family_id"
        case unknownFields = "foreign"
    }

    package init(clientID: String, environment: String, familyID: String, unknownFields: String? = nil) {
        self.clientID = clientID
        self.environment = environment
        self.familyID = familyID
        self.unknownFields = unknownFields
    }

    package static func key(_ clientID: String, at environment: String) -> String {
        "appmetadata-\(environment)-\(clientID)".lowercased()
    }
}

extension AppMetadataRecord: RecordContent {
    package static var kind: RecordKind { .appMetadata }
    package var header: RecordHeader { RecordHeader(environment: environment, unknownFields: unknownFields) }
    package var key: String { Self.key(clientID, at: environment) }
    package var record: CacheRecord { .appMetadata(self) }

    package mutating func mapIdentifiers(_ body: IdentifierTransform) throws(LimitViolation) {
        clientID = try body("client ID", clientID)
        environment = try body("environment", environment)
        familyID = try body("family ID", familyID)
    }
}

/// The state of one account in one app: signed in or out, and the tenant that each authority led to.
package struct AccountMetadataRecord: Sendable, Equatable, Codable {
    package enum SignInState: String, Sendable, Codable {
        case signedIn = "signed_in"
        case signedOut = "signed_out"
    }

    package var clientID: String
    /// The text of the account's issuer; nil in records of earlier versions.
    package var issuer: String?
    package var homeAccountID: String?
    package var username: String?
    package var signInState: SignInState
    /// The authority that issued the tokens, for each requested authority.
    package var authorityMap: [String: String]

    /// The maximum number of authorities in the map of an imported record, and after imports: an export has a copy of every token for
    /// each. The agent itself notes fewer.
    package static let maximumAuthorities = 64

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case issuer
        case homeAccountID = "home_account_id"
        case username
        case signInState = "sign_in_state"
        case authorityMap = "authority_map"
    }

    package init(account: AccountKey, clientID: ClientID, signInState: SignInState, authorityMap: [String: String]) {
        self.clientID = clientID.text
        self.signInState = signInState
        self.authorityMap = authorityMap
        assign(to: account)
    }

    package var account: AccountKey {
        AccountKey(
            issuer: issuer.map { Issuer($0) } ?? .unresolved, homeAccountID: homeAccountID.flatMap(HomeAccountID.init),
            username: username)
    }
}

extension AccountMetadataRecord: RecordContent {
    package static var kind: RecordKind { .accountMetadata }
    package var header: RecordHeader { RecordHeader(account: account) }
    package var key: String { Self.keyStart(of: account) + clientID.lowercased() }
    package var record: CacheRecord { .accountMetadata(self) }

    /// The beginning of the keys of an account's records, up to the client ID.
    static func keyStart(of account: AccountKey) -> String { "\(account.key)-accountmetadata-".lowercased() }

    package mutating func assign(to account: AccountKey) {
        issuer = account.issuer.text
        homeAccountID = account.homeAccountID?.text
        username = account.name
    }

    package mutating func mapIdentifiers(_ body: IdentifierTransform) throws(LimitViolation) {
        clientID = try body("client ID", clientID)
        if let identifier = homeAccountID { homeAccountID = try body("home account ID", identifier) }
        if let name = username { username = try body("name", name) }
    }

    /// Removes authorities that are longer than a request can name, and those that are too many.
    package mutating func shortenNames() {
        let isFitting = { (url: String) in
            url.utf8.count <= 2 * ValueLimits.authority && ValueLimits.isPrintable(url)
        }
        if !authorityMap.allSatisfy({ isFitting($0.key) && isFitting($0.value) }) {
            authorityMap = authorityMap.filter { isFitting($0.key) && isFitting($0.value) }
        }
        if authorityMap.count > Self.maximumAuthorities {
            let kept = Set(authorityMap.keys.sorted().prefix(Self.maximumAuthorities))
            authorityMap = authorityMap.filter { kept.contains($0.key) }
        }
    }
}

/// The current account that an app was last given (`GetCurrentAccount`).
package struct CurrentAccountRecord: Sendable, Equatable, Codable {
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

    static func key(of clientID: String) -> String { "principal-\(clientID)".lowercased() }

    var account: Account {
        Account(
            homeAccountID: homeAccountID.flatMap(HomeAccountID.init), username: username, environment: environment,
            source: .msal)
    }
}

extension CurrentAccountRecord: RecordContent {
    package static var kind: RecordKind { .currentAccount }
    package var header: RecordHeader { RecordHeader() }
    package var key: String { Self.key(of: clientID) }
    package var record: CacheRecord { .currentAccount(self) }

    package mutating func mapIdentifiers(_ body: IdentifierTransform) throws(LimitViolation) {
        clientID = try body("client ID", clientID)
        if let identifier = homeAccountID { homeAccountID = try body("home account ID", identifier) }
        environment = try body("environment", environment)
    }

    package mutating func shortenNames() { username = username.map { ValueLimits.name($0) } }
}
