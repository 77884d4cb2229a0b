internal import TokenModel

/// What an entry of an ADAL cache becomes here.
struct ADALRecords {
    let entry: ADALEntry
    let clientID: ClientID
    let authority: Authority
    let claims: IDTokenClaims?
    let owner: OwnerID

    init(_ entry: ADALEntry, _ clientID: ClientID, _ authority: Authority) {
        self.entry = entry
        self.clientID = clientID
        self.authority = authority
        claims = entry.idToken.flatMap { IDTokenClaims(idToken: $0) }
        owner = OwnerID(
            homeAccountID: entry.homeAccountID, username: Self.username(entry, claims)?.lowercased())
    }

    /// As the library knows the person; empty for AD FS sign-ins without a user.
    var username: String { Self.username(entry, claims) ?? "" }

    private static func username(_ entry: ADALEntry, _ claims: IDTokenClaims?) -> String? {
        entry.userID?.trimmedNonEmpty ?? claims?.preferredUsername?.trimmedNonEmpty ?? claims?.v1UserID
    }

    private var tenantID: String? { (entry.tenantID ?? claims?.tenantID)?.trimmedNonEmpty?.lowercased() }
    private var objectID: String? { (entry.objectID ?? claims?.objectID)?.trimmedNonEmpty?.lowercased() }
    private var realm: String { authority.realm(for: owner, .v1) }

    /// Who it is in the tenant's directory.
    var person: ForeignCache.Person? {
        guard let tenantID, let objectID else { return nil }
        return ForeignCache.Person(tenantID: tenantID, objectID: objectID)
    }

    var account: AccountRecord {
        AccountRecord(
            homeAccountID: entry.homeAccountID?.text, environment: authority.environment, realm: tenant,
            localAccountID: objectID ?? claims?.localAccountID, username: username,
            authorityType: AccountRecord.type(of: authority), name: claims?.name,
            givenName: entry.givenName ?? claims?.givenName, familyName: entry.familyName ?? claims?.familyName,
            alternativeAccountID: claims?.alternativeSecurityID, source: "adal",
            foreign: UnifiedItem.nothingForeign)
    }

    /// The tenant that the person is in, as far as the entry knows.
    private var tenant: String { knownTenant ?? realm }

    private var knownTenant: String? {
        // A B2C account is in one tenant only.
        if isB2C, let tenant = entry.homeAccountID?.tenantID { return tenant }
        return tenantID ?? (authority.isTenantless ? entry.homeAccountID?.tenantID : nil)
    }

    private var isB2C: Bool { authority.environment.hasSuffix(UnifiedTenants.b2cHosts) }

    var knowsTenant: Bool { knownTenant != nil }

    /// An entry that names a family says that its app belongs to it.
    var appMetadata: AppMetadataRecord? {
        guard let family = entry.familyID?.trimmedNonEmpty, !isFamilys else { return nil }
        return AppMetadataRecord(
            clientID: clientID.text, environment: authority.environment, familyID: family,
            foreign: UnifiedItem.nothingForeign)
    }

    /// What came with the access token; MSAL's says nothing to ADAL.
    var idToken: IDTokenRecord? {
        guard let idToken = entry.idToken, claims?.version != "2.0" else { return nil }
        return IDTokenRecord(
            owner: owner, environment: authority.environment, clientID: clientID, realm: realm, version: .v1,
            idToken: idToken, foreign: UnifiedItem.nothingForeign)
    }

    var refreshToken: RefreshTokenRecord? {
        guard let secret = entry.refreshToken?.trimmedNonEmpty else { return nil }
        let resource = entry.resource?.trimmedNonEmpty
        let only: RefreshTokenRecord.Resource? =
            if let resource, entry.isMultiResource != true {
                RefreshTokenRecord.Resource(realm: realm, scopes: ScopeSet(resource: resource))
            } else {
                nil
            }
        return RefreshTokenRecord(
            owner: owner, environment: authority.environment, clientID: clientID,
            familyID: isFamilys ? FamilyID(String(clientID.text.dropFirst(ADALEntry.familyPrefix.count))) : nil,
            secret: Secret(secret), only: only, obtainedOn: entry.obtainedOn, foreign: UnifiedItem.nothingForeign)
    }

    var accessToken: AccessTokenRecord? {
        guard let secret = entry.accessToken?.trimmedNonEmpty, let resource = entry.resource?.trimmedNonEmpty,
            let expiresOn = entry.expiresOn
        else { return nil }
        return AccessTokenRecord(
            owner: owner, environment: authority.environment, clientID: clientID, realm: realm, version: .v1,
            scopes: ScopeSet(resource: resource), tokenType: entry.tokenType?.trimmedNonEmpty ?? "Bearer",
            secret: Secret(secret), cachedAt: entry.obtainedOn ?? 0, expiresOn: expiresOn,
            extendedExpiresOn: entry.extendedExpiresOn, refreshOn: nil, foreign: UnifiedItem.nothingForeign)
    }

    /// Whether it is a family's refresh token, which Objective-C's ADAL keeps under a client ID of its own.
    private var isFamilys: Bool { clientID.key.hasPrefix(ADALEntry.familyPrefix) }
}
