internal import TokenCache
internal import TokenModel

// Each record as an entry of the schema that Microsoft's libraries share, and the entry as a record.

extension UnifiedItem {
    init(_ record: AccountRecord) {
        put(.homeAccountID, record.homeAccountID)
        put(.environment, record.environment)
        put(.realm, record.realm)
        put(.localAccountID, record.localAccountID)
        put(.username, record.username)
        put(.authorityType, record.authorityType)
        for (field, path) in AccountRecord.optionalTexts { put(field, record[keyPath: path]) }
        if record.source == AccountRecord.adalSource { put(.source, record.source) }
    }
}

extension AccountRecord {
    fileprivate static let optionalTexts: [(UnifiedField, any WritableKeyPath<AccountRecord, String?> & Sendable)] = [
        (.name, \.name), (.givenName, \.givenName), (.familyName, \.familyName),
        (.alternativeAccountID, \.alternativeAccountID), (.clientInfo, \.clientInfo),
    ]

    /// - Parameter issuer: the account's identity provider; nil if it follows from the type and the host.
    init(
        _ item: UnifiedItem, _ home: HomeAccountID, of issuer: Issuer?, environment: String, realm: String,
        authorityType: String
    ) {
        self.init(
            issuer: issuer, homeAccountID: home.text, environment: environment, realm: realm,
            localAccountID: item.text(.localAccountID)?.lowercased(), username: item.text(.username) ?? "",
            authorityType: authorityType,
            source: item.text(.source) == Self.adalSource ? Self.adalSource : Self.msalSource)
        for (field, path) in Self.optionalTexts { self[keyPath: path] = item.text(field) }
    }

    /// The authority type, as it is saved. Early versions wrote `AAD` and `MSA` for Entra's accounts.
    static func authorityType(_ text: String?) -> String {
        let type = text.map { ValueLimits.name($0) } ?? ""
        return switch type.uppercased() {
        case "", "MSSTS", "AAD", "MSA": entraType
        case adfsType: adfsType
        default: type
        }
    }

    /// The record as an export writes it.
    var exported: UnifiedItem { UnifiedItem(self).merging(unknownFields: unknownFields) }

    /// Whether the record is exported as an entry of this realm and environment. A record that the agent made is equal under
    /// every name of its cloud. An entry whose realm cannot be part of an authority counts as one of the tenant.
    func isWritten(under realm: String, _ environment: String) -> Bool {
        let written = exported
        guard written.requestableRealm ?? self.realm == realm else { return false }
        return unknownFields == nil || written.text(.environment)?.lowercased() == environment
    }
}

extension UnifiedItem {
    /// The environment in lower case; nil if there is none, or it is no host.
    var environment: String? {
        guard let text = text(.environment)?.lowercased(), URLParts.isEnvironment(text) else { return nil }
        return text
    }

    /// The realm in lower case; nil if there is none, or it cannot be part of an authority as it is written.
    var requestableRealm: String? {
        guard let text = text(.realm)?.lowercased(), TenantName(text)?.text == text else { return nil }
        return text
    }

    init(_ record: AppMetadataRecord) {
        put(.clientID, record.clientID)
        put(.environment, record.environment)
        if !record.familyID.isEmpty { put(.familyID, record.familyID) }
    }
}

extension AppMetadataRecord {
    /// Returns nil if the entry does not name an app.
    init?(_ item: UnifiedItem) {
        guard let clientID = item.text(.clientID), let environment = item.environment else { return nil }
        self.init(
            clientID: clientID, environment: environment, familyID: item.text(.familyID) ?? "")
        unknownFields = item.unknownFields(beyond: UnifiedItem(self))
    }

    /// The record as an export writes it.
    var exported: UnifiedItem { UnifiedItem(self).merging(unknownFields: unknownFields) }

    /// Whether the record is exported as an entry of this environment.
    func isWritten(under environment: String) -> Bool {
        unknownFields == nil || exported.text(.environment)?.lowercased() == environment
    }
}

/// The fields of an entry that the three kinds of credentials have in common.
struct UnifiedCredential {
    var account: AccountKey
    var environment: String
    var clientID: ClientID
    var secret: String
}

extension UnifiedItem {
    fileprivate init(_ section: UnifiedSection, _ record: some CredentialRecord, secret: String) {
        put(.homeAccountID, record.account.homeAccountID?.text)
        put(.environment, record.environment)
        put(.credentialType, section.rawValue)
        put(.clientID, record.clientID.text)
        put(.secret, secret)
    }

    init(_ record: AccessTokenRecord) {
        self.init(.accessToken, record, secret: record.secret.reveal())
        put(.realm, record.realm)
        put(.target, record.scopes.target)
        put(.tokenType, record.tokenType)
        put(.cachedAt, record.cachedAt)
        put(.expiresOn, record.expiresOn)
        put(.extendedExpiresOn, record.extendedExpiresOn)
        put(.refreshOn, record.refreshOn)
    }

    init(_ record: RefreshTokenRecord) {
        self.init(.refreshToken, record, secret: record.secret.reveal())
        put(.familyID, record.familyID?.text)
        put(.lastModificationTime, record.obtainedOn)
    }

    init(_ record: IDTokenRecord) {
        self.init(.idToken, record, secret: record.idToken)
        put(.realm, record.realm)
    }

    fileprivate func merging(unknownFields: String?) -> UnifiedItem {
        var item = self
        item.merge(unknownFields: unknownFields)
        return item
    }
}

extension AccessTokenRecord {
    /// Returns nil if the entry does not say when the token expires.
    init?(_ item: UnifiedItem, _ credential: UnifiedCredential, realm: String, scopes: ScopeSet) {
        guard let expiresOn = item[.expiresOn]?.integer else { return nil }
        func time(_ value: JSONTree?) -> Int64? { value?.integer.flatMap { $0 > 0 ? $0 : nil } }
        self.init(
            account: credential.account, environment: credential.environment, clientID: credential.clientID,
            realm: realm, version: .v2, scopes: scopes, tokenType: "Bearer", secret: Secret(credential.secret),
            cachedAt: item[.cachedAt]?.integer ?? 0, expiresOn: expiresOn,
            extendedExpiresOn: time(item[.extendedExpiresOn] ?? item[.extendedExpiresOnShort]),
            refreshOn: time(item[.refreshOn]))
    }
}

extension RefreshTokenRecord {
    /// A token with the agent's own issuer for the whole host is Entra's: the agent writes it for no other kind.
    init(_ item: UnifiedItem, _ credential: UnifiedCredential, _ clouds: CloudDirectory) {
        self.init(
            account: credential.account, environment: credential.environment, clientID: credential.clientID,
            familyID: item.text(.familyID).flatMap(FamilyID.init), secret: Secret(credential.secret),
            obtainedOn: item[.lastModificationTime]?.integer)
        if item.agentIssuer(at: credential.environment) == Issuer(credential.environment),
            let authority = try? Authority("https://\(credential.environment)/common", kind: .entra)
        {
            binding = clouds.binding(to: authority)
        }
    }
}

extension IDTokenRecord {
    /// Returns nil if the token's claims cannot be read.
    init?(_ credential: UnifiedCredential, realm: String) {
        self.init(
            account: credential.account, environment: credential.environment, clientID: credential.clientID,
            realm: realm, version: .v2, idToken: credential.secret)
    }
}
