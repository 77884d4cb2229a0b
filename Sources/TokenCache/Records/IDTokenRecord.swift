package import TokenModel

/// An ID token in the cache, with what the cache needs of its claims read once.
package struct IDTokenRecord: Sendable, Equatable {
    package var owner: OwnerID
    package var environment: String
    package var clientID: ClientID
    /// The same realm as that of the access token it came with.
    package var realm: String
    package var version: OAuthVersion
    package let idToken: String
    /// The tenant that issued it: `tid`, or the realm where there is none.
    package let tenant: String
    /// What else another library wrote of it, as JSON, to be written again on export; nil for what the agent saved itself.
    package var foreign: String?

    var key: String {
        let type = version == .v1 ? "v1idtoken" : "idtoken"
        return "\(owner.key)-\(environment)-\(type)-\(clientID.key)-\(realm)-".lowercased()
    }

    /// Nil when the token's claims cannot be read.
    init?(
        owner: OwnerID, environment: String, clientID: ClientID, realm: String, version: OAuthVersion, idToken: String,
        foreign: String? = nil
    ) {
        guard let claims = IDTokenClaims(idToken: idToken) else { return nil }
        self.owner = owner
        self.environment = environment
        self.clientID = clientID
        self.realm = realm
        self.version = version
        self.idToken = idToken
        self.tenant = claims.tenantID?.lowercased() ?? realm
        self.foreign = foreign
    }

    /// The same under another realm.
    func asked(of realm: String) -> IDTokenRecord? {
        IDTokenRecord(
            owner: owner, environment: environment, clientID: clientID, realm: realm, version: version,
            idToken: idToken, foreign: foreign)
    }

    init?(_ stored: StoredCredential) {
        guard let clientID = ClientID(stored.clientID) else { return nil }
        self.init(
            owner: stored.owner, environment: stored.environment, clientID: clientID, realm: stored.realm ?? "",
            version: stored.credentialType == Self.typeV1 ? .v1 : .v2, idToken: stored.secret, foreign: stored.foreign)
    }

    var stored: StoredCredential {
        var stored = StoredCredential(
            type: version == .v1 ? Self.typeV1 : "IdToken", owner: owner, environment: environment, clientID: clientID,
            secret: Secret(idToken))
        stored.realm = realm
        stored.foreign = foreign
        return stored
    }

    private static let typeV1 = "V1IdToken"
}
