package import TokenModel

/// A refresh token in the cache: an app's own, or one that a family of apps shares.
package struct RefreshTokenRecord: Sendable, Equatable {
    package var owner: OwnerID
    package var environment: String
    /// The app it was issued to; for a family's token, the one that saved it last.
    package var clientID: ClientID
    /// The family that shares it; nil for an app's own.
    package var familyID: FamilyID?
    package var secret: Secret
    /// Realm and resource, for a token that serves only one resource (AD FS); nil for the usual kind.
    package var only: Resource?

    /// What a single-resource token is good for.
    package struct Resource: Sendable, Equatable {
        package var realm: String
        package var scopes: ScopeSet
    }

    var key: String {
        let holder = familyID?.text ?? clientID.key
        let target = only.map { "\($0.realm)-\($0.scopes.target)" } ?? "-"
        return "\(owner.key)-\(environment)-refreshtoken-\(holder)-\(target)".lowercased()
    }

    init(
        owner: OwnerID, environment: String, clientID: ClientID, familyID: FamilyID?, secret: Secret,
        only: Resource? = nil
    ) {
        self.owner = owner
        self.environment = environment
        self.clientID = clientID
        self.familyID = familyID
        self.secret = secret
        self.only = only
    }

    init?(_ stored: StoredCredential) {
        guard let clientID = ClientID(stored.clientID), !stored.secret.isEmpty else { return nil }
        let target = stored.target.flatMap { $0.trimmedNonEmpty }
        self.init(
            owner: stored.owner, environment: stored.environment, clientID: clientID,
            familyID: stored.familyID.flatMap(FamilyID.init), secret: Secret(stored.secret),
            only: target.map { Resource(realm: stored.realm ?? "", scopes: ScopeSet(target: $0)) })
    }

    var stored: StoredCredential {
        var stored = StoredCredential(
            type: "RefreshToken", owner: owner, environment: environment, clientID: clientID, secret: secret)
        stored.familyID = familyID?.text
        stored.realm = only?.realm
        stored.target = only?.scopes.target
        return stored
    }
}
