package import TokenModel
package import TokenStore

/// An access token of an app, for the scopes that it was granted.
package struct AccessTokenRecord: Sendable, Equatable {
    package var account: AccountKey
    package var environment: String
    package var clientID: ClientID
    /// v2: the tenant that issued the token; v1: the realm that was requested, by which ADAL finds it.
    package var realm: String
    package var version: OAuthVersion
    /// The granted scopes, in the issuer's case and order.
    package var scopes: ScopeSet
    package var tokenType: String
    package var secret: Secret
    /// The time at which the token was saved, in seconds since 1970.
    package var cachedAt: Int64
    /// The time at which the token expires, in seconds since 1970.
    package var expiresOn: Int64
    /// The time until which the token is used in an outage, in seconds since 1970; nil if the issuer does not say so.
    package var extendedExpiresOn: Int64?
    /// The time from which the token is renewed early, in seconds since 1970; nil if the issuer does not say so.
    package var refreshOn: Int64?
    /// Fields this version does not know, as JSON; preserved for export. Nil for a record that the agent made.
    package var unknownFields: String?

    package init(
        account: AccountKey, environment: String, clientID: ClientID, realm: String, version: OAuthVersion,
        scopes: ScopeSet, tokenType: String, secret: Secret, cachedAt: Int64, expiresOn: Int64,
        extendedExpiresOn: Int64?, refreshOn: Int64?, unknownFields: String? = nil
    ) {
        self.account = account
        self.environment = environment
        self.clientID = clientID
        self.realm = realm
        self.version = version
        self.scopes = scopes
        self.tokenType = tokenType
        self.secret = secret
        self.cachedAt = cachedAt
        self.expiresOn = expiresOn
        self.extendedExpiresOn = extendedExpiresOn
        self.refreshOn = refreshOn
        self.unknownFields = unknownFields
    }

    /// Whether the token expires within `buffer` seconds, or was saved in what is now the future, so that its times are
    /// meaningless.
    func isExpired(at now: Int64, buffer: Int64) -> Bool { expiresOn < now + buffer || cachedAt > now }

    /// The time before its expiry from which on the token counts as expired for a request, in seconds.
    ///
    /// OpenID providers issue tokens for five minutes, such as Keycloak without other settings, of which the standard buffer would leave
    /// nothing. Of a token that lives for less than ten minutes, it is half of that.
    func buffer(for request: AcquireTokenSilent) -> Int64 {
        let buffer = request.expirationBuffer
        guard request.parameters.authority.kind == .openID, buffer == Self.standardBuffer else { return buffer }
        return min(buffer, max((expiresOn - cachedAt) / 2, 1))
    }

    /// The default of `AcquireTokenSilent.expirationBuffer`.
    private static let standardBuffer: Int64 = 300

    /// Whether the token may be given to another library: it has not expired, and its times mean something.
    package func isExportable(at now: Int64) -> Bool { expiresOn > now && cachedAt <= now }

    /// Whether the token's issuer asks for it to be renewed, although it has not expired.
    func wantsRefresh(at now: Int64) -> Bool { refreshOn.map { $0 < now } ?? false }

    /// The times at which the token is valid, is not about to expire, and need not be renewed; nil if there is none.
    func freshTimes(buffer: Int64) -> ClosedRange<Int64>? {
        // At the very time of its expiry it counts as expired in results.
        let end = min(expiresOn - max(buffer, 1), refreshOn ?? .max)
        return cachedAt <= end ? cachedAt...end : nil
    }

    /// Whether the token may still be used while the token endpoint cannot be reached.
    func isUsableInOutage(at now: Int64) -> Bool { extendedExpiresOn.map { $0 > now } ?? false }

    /// Whether the token replaces another that answers the same requests.
    package func isNewer(than other: AccessTokenRecord) -> Bool {
        (cachedAt, expiresOn) > (other.cachedAt, other.expiresOn)
    }
}

extension AccessTokenRecord: CredentialRecord {
    package static var kind: RecordKind { .accessToken }

    /// The key of the record: the same for every order of the scopes.
    package var key: String {
        let type = version == .v1 ? "accesstoken_v1" : "accesstoken"
        let mark = account.issuer.keyMark(realm: realm) { [clientID.text] + scopes.scopes.sorted() }
        let target = scopes.canonicalTarget + mark
        return "\(account.key)-\(environment)-\(type)-\(clientID.key)-\(realm)-\(target)".lowercased()
    }

    package var record: CacheRecord { .accessToken(self) }

    package func encoded() throws(TokenError) -> [UInt8] { try CacheJSON.encode(stored) }

    package mutating func mapIdentifiers(_ body: IdentifierTransform) throws(LimitViolation) {
        try mapCommonIdentifiers(body)
        realm = try body("realm", realm)
    }

    package func checkSecrets() throws(LimitViolation) {
        try LimitViolation.check(secret)
        try LimitViolation.check(scopes)
    }

    package mutating func shortenNames() { tokenType = ValueLimits.name(tokenType) }

    package mutating func removeImpossibleTimes() -> Bool {
        extendedExpiresOn = RecordTime.checked(extendedExpiresOn)
        refreshOn = RecordTime.checked(refreshOn)
        return RecordTime.checked(cachedAt) != nil && RecordTime.checked(expiresOn) != nil
    }
}

extension AccessTokenRecord {
    init?(_ stored: StoredCredential) {
        func time(_ text: String?) -> Int64? { RecordTime.checked(text.flatMap { Int64($0) }) }
        guard let clientID = ClientID(stored.clientID), let expiresOn = time(stored.expiresOn),
            let cachedAt = stored.cachedAt == nil ? 0 : time(stored.cachedAt)
        else { return nil }
        self.init(
            account: stored.account, environment: stored.environment, clientID: clientID, realm: stored.realm ?? "",
            version: stored.oauthVersion.flatMap(OAuthVersion.init(rawValue:)) ?? .v2,
            scopes: ScopeSet(target: stored.target ?? ""), tokenType: stored.tokenType ?? "Bearer",
            secret: Secret(stored.secret), cachedAt: cachedAt, expiresOn: expiresOn,
            extendedExpiresOn: time(stored.extendedExpiresOn), refreshOn: time(stored.refreshOn),
            unknownFields: stored.unknownFields)
    }

    private var stored: StoredCredential {
        var stored = StoredCredential(
            type: "AccessToken", account: account, environment: environment, clientID: clientID, secret: secret)
        stored.realm = realm
        stored.target = scopes.target
        stored.tokenType = tokenType
        stored.cachedAt = String(cachedAt)
        stored.expiresOn = String(expiresOn)
        stored.extendedExpiresOn = extendedExpiresOn.map { String($0) }
        stored.refreshOn = refreshOn.map { String($0) }
        stored.oauthVersion = version.rawValue
        stored.unknownFields = unknownFields
        return stored
    }
}
