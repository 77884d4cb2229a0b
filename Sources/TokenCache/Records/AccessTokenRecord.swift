package import TokenModel

/// An access token in the cache.
package struct AccessTokenRecord: Sendable, Equatable {
    package var owner: OwnerID
    package var environment: String
    package var clientID: ClientID
    /// v2: the tenant that issued it; v1: the realm it was asked for under, which is how ADAL finds it again.
    package var realm: String
    package var version: OAuthVersion
    /// As granted, in the issuer's case and order.
    package var scopes: ScopeSet
    package var tokenType: String
    package var secret: Secret
    package var cachedAt: Int64
    package var expiresOn: Int64
    package var extendedExpiresOn: Int64?
    package var refreshOn: Int64?
    /// What else another library wrote of it, as JSON, to be written again on export; nil for what the agent saved itself.
    package var foreign: String?

    /// Whether it is of no use any more: about to expire, or saved in what is now the future, so that its times mean nothing.
    func isExpired(at now: Int64, buffer: Int64) -> Bool { expiresOn < now + buffer || cachedAt > now }

    /// Whether its issuer wants it renewed although it is still good.
    func wantsRefresh(at now: Int64) -> Bool { refreshOn.map { $0 < now } ?? false }

    /// Whether it may still be used in an outage.
    func isUsableInOutage(at now: Int64) -> Bool { extendedExpiresOn.map { $0 > now } ?? false }

    /// Whether it takes the place of another that answers the same requests.
    func isNewer(than other: AccessTokenRecord) -> Bool {
        (cachedAt, expiresOn) > (other.cachedAt, other.expiresOn)
    }

    /// The same for every order of the scopes.
    var key: String {
        let type = version == .v1 ? "accesstoken_v1" : "accesstoken"
        return "\(owner.key)-\(environment)-\(type)-\(clientID.key)-\(realm)-\(scopes.canonicalTarget)".lowercased()
    }

    init?(_ stored: StoredCredential) {
        func time(_ text: String?) -> Int64? {
            text.flatMap { Int64($0) }.flatMap { ADALTime.possible ~= $0 ? $0 : nil }
        }
        guard let clientID = ClientID(stored.clientID), let expiresOn = time(stored.expiresOn),
            let cachedAt = stored.cachedAt == nil ? 0 : time(stored.cachedAt)
        else { return nil }
        self.init(
            owner: stored.owner, environment: stored.environment, clientID: clientID, realm: stored.realm ?? "",
            version: stored.oauthVersion.flatMap(OAuthVersion.init(rawValue:)) ?? .v2,
            scopes: ScopeSet(target: stored.target ?? ""), tokenType: stored.tokenType ?? "Bearer",
            secret: Secret(stored.secret), cachedAt: cachedAt, expiresOn: expiresOn,
            extendedExpiresOn: time(stored.extendedExpiresOn), refreshOn: time(stored.refreshOn),
            foreign: stored.foreign)
    }

    init(
        owner: OwnerID, environment: String, clientID: ClientID, realm: String, version: OAuthVersion,
        scopes: ScopeSet, tokenType: String, secret: Secret, cachedAt: Int64, expiresOn: Int64,
        extendedExpiresOn: Int64?, refreshOn: Int64?, foreign: String? = nil
    ) {
        self.owner = owner
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
        self.foreign = foreign
    }

    var stored: StoredCredential {
        var stored = StoredCredential(
            type: "AccessToken", owner: owner, environment: environment, clientID: clientID, secret: secret)
        stored.realm = realm
        stored.target = scopes.target
        stored.tokenType = tokenType
        stored.cachedAt = String(cachedAt)
        stored.expiresOn = String(expiresOn)
        stored.extendedExpiresOn = extendedExpiresOn.map { String($0) }
        stored.refreshOn = refreshOn.map { String($0) }
        stored.oauthVersion = version.rawValue
        stored.foreign = foreign
        return stored
    }
}
