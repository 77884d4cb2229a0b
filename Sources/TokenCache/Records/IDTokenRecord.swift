package import TokenModel
package import TokenStore

/// An ID token, with the claims that the cache uses.
package struct IDTokenRecord: Sendable, Equatable {
    package var account: AccountKey
    package var environment: String
    package var clientID: ClientID
    /// The realm of the access token that the ID token came with.
    package var realm: String
    package var version: OAuthVersion
    /// Empty for an unread token; no other is.
    package let idToken: String
    /// The tenant that issued the token: its `tid` claim, or else the realm.
    package let tenant: String
    /// The `sub` claim; nil if there is none.
    package let subject: String?
    /// Fields this version does not know, as JSON; preserved for export. Nil for a record that the agent made.
    package var unknownFields: String?

    /// Returns nil if the token's claims cannot be read.
    package init?(
        account: AccountKey, environment: String, clientID: ClientID, realm: String, version: OAuthVersion,
        idToken: String, unknownFields: String? = nil
    ) {
        guard let claims = IDTokenClaims(idToken: idToken) else { return nil }
        self.init(
            account: account, environment: environment, clientID: clientID, realm: realm, version: version,
            idToken: idToken, claims: claims, unknownFields: unknownFields)
    }

    /// Creates a record of a token whose claims have been read.
    init(
        account: AccountKey, environment: String, clientID: ClientID, realm: String, version: OAuthVersion,
        idToken: String, claims: IDTokenClaims, unknownFields: String? = nil
    ) {
        self.init(
            account: account, environment: environment, clientID: clientID, realm: realm, version: version,
            idToken: idToken, tenant: claims.tenantID?.lowercased() ?? realm, subject: claims.subject,
            unknownFields: unknownFields)
    }

    /// Creates a record of a token whose claims an earlier record had.
    init(
        account: AccountKey, environment: String, clientID: ClientID, realm: String, version: OAuthVersion,
        idToken: String, tenant: String, subject: String?, unknownFields: String?
    ) {
        self.account = account
        self.environment = environment
        self.clientID = clientID
        self.realm = realm
        self.version = version
        self.idToken = idToken
        self.tenant = tenant
        self.subject = subject
        self.unknownFields = unknownFields
    }

    /// Whether the token is in the store only.
    package var isUnread: Bool { idToken.isEmpty }

    /// The same token under another realm.
    package func withRealm(_ realm: String) -> IDTokenRecord? {
        IDTokenRecord(
            account: account, environment: environment, clientID: clientID, realm: realm, version: version,
            idToken: idToken, unknownFields: unknownFields)
    }
}

extension IDTokenRecord: CredentialRecord {
    package static var kind: RecordKind { .idToken }

    package var key: String {
        let type = version == .v1 ? "v1idtoken" : "idtoken"
        let mark = account.issuer.keyMark(realm: realm) { [clientID.text] }
        return "\(account.key)-\(environment)-\(type)-\(clientID.key)-\(realm)-\(mark)".lowercased()
    }

    package var record: CacheRecord { .idToken(self) }

    package func encoded() throws(TokenError) -> [UInt8] { try CacheJSON.encode(stored) }

    package mutating func mapIdentifiers(_ body: IdentifierTransform) throws(LimitViolation) {
        try mapCommonIdentifiers(body)
        realm = try body("realm", realm)
    }

    /// Whether an ID token can be saved.
    package static func isWithinLimits(_ idToken: String) -> Bool {
        idToken.utf8.count <= ValueLimits.idToken && ValueLimits.isPrintable(idToken)
    }

    package func checkSecrets() throws(LimitViolation) {
        guard Self.isWithinLimits(idToken) else {
            throw LimitViolation(
                reason: "its token is longer than \(ValueLimits.idToken) bytes, or has control characters")
        }
        _ = try LimitViolation.checked("tenant", tenant)
    }
}

extension IDTokenRecord {
    init?(_ stored: StoredCredential) {
        guard let clientID = ClientID(stored.clientID) else { return nil }
        self.init(
            account: stored.account, environment: stored.environment, clientID: clientID, realm: stored.realm ?? "",
            version: stored.credentialType == Self.typeV1 ? .v1 : .v2, idToken: stored.secret,
            unknownFields: stored.unknownFields)
    }

    private var stored: StoredCredential {
        var stored = StoredCredential(
            type: version == .v1 ? Self.typeV1 : "IdToken", account: account, environment: environment,
            clientID: clientID, secret: Secret(idToken))
        stored.realm = realm
        stored.unknownFields = unknownFields
        return stored
    }

    private static let typeV1 = "V1IdToken"
}
