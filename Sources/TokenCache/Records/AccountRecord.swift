package import TokenModel
package import TokenStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An account in one tenant.
package struct AccountRecord: Sendable, Equatable, Codable {
    /// The text of the account's issuer; nil in records of earlier versions, until they are repaired.
    private var issuer: String?
    package var homeAccountID: String?
    package var environment: String
    package var realm: String
    package var localAccountID: String?
    package var username: String
    /// The user ID that ADAL has given its apps, in lower case; nil if it is the username, or not known.
    package var adalUserID: String?
    /// The user IDs that ADAL has given its apps before the user was renamed, in lower case, the latest first; nil if there are none.
    package var formerUserIDs: [String]?
    /// `MSSTS`, `ADFS` or `Other`.
    package var authorityType: String
    package var name: String?
    package var givenName: String?
    package var familyName: String?
    package var alternativeAccountID: String?
    package var clientInfo: String?
    /// The library that made the account known: `msal` or `adal`.
    package var source: String
    /// Fields this version does not know, as JSON; preserved for export. Nil for a record that the agent made.
    package var unknownFields: String?

    enum CodingKeys: String, CodingKey {
        case homeAccountID = "home_account_id"
        case issuer, environment, realm, username, name, source
        case localAccountID = "local_account_id"
        case adalUserID = "adal_user_id"
        case formerUserIDs = "former_user_ids"
        case authorityType = "authority_type"
        case givenName = "given_name"
        case familyName = "family_name"
        case alternativeAccountID = "alternative_account_id"
        case clientInfo = "client_info"
        case unknownFields = "foreign"
    }

    /// - Parameter issuer: the account's issuer; nil if it follows from the type and the host, as in records of other libraries.
    package init(
        issuer: Issuer? = nil, homeAccountID: String?, environment: String, realm: String, localAccountID: String?,
        username: String,
        authorityType: String, name: String? = nil, givenName: String? = nil, familyName: String? = nil,
        alternativeAccountID: String? = nil, clientInfo: String? = nil, source: String, unknownFields: String? = nil,
        adalUserID: String? = nil, formerUserIDs: [String]? = nil
    ) {
        self.issuer =
            (issuer ?? Self.issuer(environment: environment, realm: realm, authorityType: authorityType)).text
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.realm = realm
        self.localAccountID = localAccountID
        self.username = username
        self.adalUserID = adalUserID
        self.formerUserIDs = formerUserIDs
        self.authorityType = authorityType
        self.name = name
        self.givenName = givenName
        self.familyName = familyName
        self.alternativeAccountID = alternativeAccountID
        self.clientInfo = clientInfo
        self.source = source
        self.unknownFields = unknownFields
    }

    package var account: AccountKey {
        AccountKey(
            issuer: issuer.map { Issuer($0) }
                ?? Self.issuer(environment: environment, realm: realm, authorityType: authorityType),
            homeAccountID: homeAccountID.flatMap(HomeAccountID.init), username: username)
    }

    /// The names by which requests find the account, in lower case: the username, and ADAL's user ID if that is another one.
    package var names: Set<String> { Set([username.lowercased(), adalUserID].compactMap(\.self)) }

    /// The names by which requests find the account if no account has them now, in lower case.
    var formerNames: Set<String> { Set(formerUserIDs ?? []) }

    /// The number of former user IDs that are kept.
    static let maximumFormerUserIDs = 4

    /// Whether the realm is the account's home tenant. Accounts of other kinds than Entra's have one realm only.
    package var isHome: Bool { authorityType != Self.entraType || Self.isHome(realm, of: homeAccountID) }

    /// Whether a realm is the home tenant of an account of Entra with an identifier.
    static func isHome(_ realm: String, of homeAccountID: String?) -> Bool {
        guard let homeAccountID else { return true }
        let isSame = homeAccountID.utf8.withContiguousStorageIfAvailable { identifier in
            realm.utf8.withContiguousStorageIfAvailable { isTenant($0, identifier) } == true
        }
        if isSame == true { return true }
        guard let home = HomeAccountID(homeAccountID)?.tenantID else { return true }
        return home == realm.lowercased()
    }

    /// A fast path for identifiers as they are saved: object ID, dot, tenant ID.
    private static func isTenant(
        _ realm: UnsafeBufferPointer<UInt8>, _ identifier: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let dot = identifier.count - realm.count - 1
        guard dot > 0, !realm.isEmpty, identifier[dot] == UInt8(ascii: "."), identifier.isGraphicASCII else {
            return false
        }
        var dots = 0
        for byte in identifier { dots &+= byte == UInt8(ascii: ".") ? 1 : 0 }
        let tenant = UnsafeBufferPointer(rebasing: identifier[(dot + 1)...])
        return dots == 1 && UnsafeRawBufferPointer(tenant).hasSameBytes(as: UnsafeRawBufferPointer(realm))
    }

    /// Whether the realm is a tenant's ID. Entries of other libraries need not name the tenant.
    package var hasTenantID: Bool { UUID(uuidString: realm) != nil }

    /// Whether the record is of a user in a tenant's directory.
    package var namesDirectoryUser: Bool { localAccountID != nil && hasTenantID }

    /// The `source` of an account: the library that has made it known.
    package static let adalSource = "adal"
    package static let msalSource = "msal"
    package static let entraType = "MSSTS"
    package static let adfsType = "ADFS"

    /// The authority type of the accounts of an authority.
    package static func type(of authority: Authority) -> String {
        switch authority.kind {
        case .entra, .ciam, .b2c: entraType
        case .adfs: adfsType
        case .openID: "Other"
        }
    }
}

extension AccountRecord: RecordContent {
    package static var kind: RecordKind { .account }
    package var header: RecordHeader {
        RecordHeader(account: account, environment: environment, unknownFields: unknownFields)
    }
    package var key: String { "\(account.key)-\(environment)-\(realm)".lowercased() }
    package var record: CacheRecord { .account(self) }

    package mutating func assign(to account: AccountKey) {
        issuer = account.issuer.text
        homeAccountID = account.homeAccountID?.text
    }

    package mutating func setUnknownFields(_ json: String) { unknownFields = json }

    package mutating func mapIdentifiers(_ body: IdentifierTransform) throws(LimitViolation) {
        if let identifier = homeAccountID {
            homeAccountID = try body("home account ID", identifier)
        } else {
            username = try body("name", username)
        }
        environment = try body("environment", environment)
        realm = try body("realm", realm)
    }

    package mutating func shortenNames() {
        issuer = account.issuer.text
        username = ValueLimits.name(username)
        authorityType = ValueLimits.name(authorityType)
        name = name.map { ValueLimits.name($0) }
        givenName = givenName.map { ValueLimits.name($0) }
        familyName = familyName.map { ValueLimits.name($0) }
        alternativeAccountID = alternativeAccountID.map { ValueLimits.name($0) }
        if let identifier = localAccountID, !ValueLimits.isIdentifier(identifier) { localAccountID = nil }
        if let identifier = adalUserID, !ValueLimits.isIdentifier(identifier) { adalUserID = nil }
        let former = (formerUserIDs ?? []).filter(ValueLimits.isIdentifier).prefix(Self.maximumFormerUserIDs)
        formerUserIDs = former.isEmpty ? nil : Array(former)
        if let info = clientInfo, info.utf8.count > ValueLimits.longText { clientInfo = nil }
    }
}
