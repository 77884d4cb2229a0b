internal import TokenCache
internal import TokenModel

/// An entry of an ADAL cache, of any library and in any format.
struct ADALEntry: Sendable, Equatable {
    var authority: String?
    var resource: String?
    var clientID: String?
    var familyID: String?
    var accessToken: String?
    var tokenType: String?
    var refreshToken: String?
    /// Times are seconds since 1970.
    var expiresOn: Int64?
    var extendedExpiresOn: Int64?
    /// The time at which the tokens were obtained; nil if unknown.
    var obtainedOn: Int64?
    /// Whether the refresh token serves every resource; nil if the entry does not say, and its resource decides.
    var isMultiResource: Bool?
    var userID: String?
    var homeAccountID: HomeAccountID?
    var idToken: String?
    var tenantID: String?
    var objectID: String?
    var givenName: String?
    var familyName: String?
    /// Whether the device's management restricts the access token to one app.
    var isManaged = false
    /// Whether the entry only records that a refresh token was rejected.
    var isTombstone = false

    /// The text by which ADAL for Objective-C replaces a rejected refresh token.
    static let tombstone = "<tombstone>"
}

/// The records that an entry of an ADAL cache is converted to.
struct ADALRecords {
    let entry: ADALEntry
    let clientID: ClientID
    let authority: Authority
    let claims: IDTokenClaims?
    let account: AccountKey

    init(_ entry: ADALEntry, _ clientID: ClientID, _ authority: Authority, _ clouds: CloudDirectory) {
        self.entry = entry
        self.clientID = clientID
        self.authority = authority
        claims = entry.idToken.flatMap { IDTokenClaims(idToken: $0) }
        account = AccountKey(
            issuer: clouds.issuer(of: authority), homeAccountID: entry.homeAccountID,
            username: Self.username(entry, claims)?.lowercased())
    }

    /// The username under which the library saved the entry; empty for AD FS sign-ins without a user.
    var username: String { Self.username(entry, claims) ?? "" }

    private static func username(_ entry: ADALEntry, _ claims: IDTokenClaims?) -> String? {
        entry.userID?.trimmedNonEmpty ?? claims?.preferredUsername?.trimmedNonEmpty ?? claims?.v1UserID
    }

    private var tenantID: String? {
        (entry.tenantID.flatMap { TenantName($0) }?.text ?? claims?.tenantID)?.lowercased()
    }
    private var objectID: String? { (entry.objectID ?? claims?.objectID)?.trimmedNonEmpty?.lowercased() }
    private var realm: String { authority.realm(for: account, .v1) }

    /// The user in the tenant's directory; nil if the entry does not say.
    var directoryUser: ForeignCache.DirectoryUser? {
        guard let tenantID, let objectID else { return nil }
        return ForeignCache.DirectoryUser(tenantID: tenantID, objectID: objectID)
    }

    var accountRecord: AccountRecord {
        AccountRecord(
            issuer: account.issuer, homeAccountID: entry.homeAccountID?.text, environment: authority.environment,
            realm: tenant,
            localAccountID: objectID ?? claims?.localAccountID, username: username,
            authorityType: AccountRecord.type(of: authority), name: claims?.name,
            givenName: entry.givenName ?? claims?.givenName, familyName: entry.familyName ?? claims?.familyName,
            alternativeAccountID: claims?.alternativeSecurityID, source: AccountRecord.adalSource,
            unknownFields: UnknownFields.none)
    }

    /// The account's tenant; the realm if the entry does not name one.
    private var tenant: String { knownTenant ?? realm }

    private var knownTenant: String? {
        tenantID ?? (authority.isTenantless ? entry.homeAccountID?.tenantID : nil)
    }

    var knowsTenant: Bool { knownTenant != nil }

    /// The app's membership in the family that the entry names.
    var appMetadata: AppMetadataRecord? {
        guard let family = entry.familyID?.trimmedNonEmpty, !clientID.isOfFamily else { return nil }
        return AppMetadataRecord(
            clientID: clientID.text, environment: authority.environment, familyID: family,
            unknownFields: UnknownFields.none)
    }

    /// The ID token that came with the access token; ADAL does not use one of the v2 endpoint.
    var idToken: IDTokenRecord? {
        guard let idToken = entry.idToken, claims?.version != "2.0" else { return nil }
        return IDTokenRecord(
            account: account, environment: authority.environment, clientID: clientID, realm: realm, version: .v1,
            idToken: idToken, unknownFields: UnknownFields.none)
    }

    var refreshToken: RefreshTokenRecord? {
        guard let secret = entry.refreshToken?.trimmedNonEmpty else { return nil }
        let resource = entry.resource?.trimmedNonEmpty
        let restriction: RefreshTokenRecord.Restriction? =
            if let resource, entry.isMultiResource != true {
                RefreshTokenRecord.Restriction(realm: realm, scopes: ScopeSet(resource: resource))
            } else {
                nil
            }
        return RefreshTokenRecord(
            account: account, environment: authority.environment, clientID: clientID,
            familyID: clientID.isOfFamily
                ? FamilyID(String(clientID.text.dropFirst(FamilyID.clientIDPrefix.count))) : nil,
            secret: Secret(secret), restriction: restriction, obtainedOn: entry.obtainedOn,
            unknownFields: UnknownFields.none)
    }

    var accessToken: AccessTokenRecord? {
        guard let secret = entry.accessToken?.trimmedNonEmpty, let resource = entry.resource?.trimmedNonEmpty,
            let expiresOn = entry.expiresOn
        else { return nil }
        return AccessTokenRecord(
            account: account, environment: authority.environment, clientID: clientID, realm: realm, version: .v1,
            scopes: ScopeSet(resource: resource), tokenType: entry.tokenType?.trimmedNonEmpty ?? "Bearer",
            secret: Secret(secret), cachedAt: entry.obtainedOn ?? 0, expiresOn: expiresOn,
            extendedExpiresOn: entry.extendedExpiresOn, refreshOn: nil, unknownFields: UnknownFields.none)
    }
}
