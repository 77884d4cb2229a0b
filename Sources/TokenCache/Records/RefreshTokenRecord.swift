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
    /// What a token that serves not everything is good for; nil for the usual kind.
    package var only: Resource?
    /// When it was obtained; nil where nobody knows.
    package var obtainedOn: Int64?
    /// What else another library wrote of it, as JSON, to be written again on export; nil for what the agent saved itself.
    package var foreign: String?
    /// Fingerprints of the tokens that it has taken the place of, the latest last: a file must not bring one of them back.
    package private(set) var replaced: [String] = []

    /// The realm that a token is bound to (another OpenID provider's), and the resource, if that too (AD FS).
    package struct Resource: Sendable, Equatable {
        package var realm: String
        /// Empty for all.
        package var scopes: ScopeSet
    }

    /// Whether it has taken the place of this token.
    func hasReplaced(_ secret: Secret) -> Bool { !replaced.isEmpty && replaced.contains(Fingerprint.of(secret)) }

    /// Remembers that it takes the place of another.
    mutating func noteReplacement(of other: RefreshTokenRecord) {
        guard other.secret != secret else { return replaced = other.replaced }
        let known = replaced + other.replaced + [Fingerprint.of(other.secret)]
        var seen: Set<String> = []
        replaced = Array(known.reversed().filter { seen.insert($0).inserted }.prefix(Self.mostReplaced).reversed())
    }

    private static let mostReplaced = 8

    /// Whether it is for one resource and no other.
    var isSingleResource: Bool { only.map { !$0.scopes.isEmpty } ?? false }

    var key: String {
        let holder = familyID?.text ?? clientID.key
        let target = only.map { "\($0.realm)-\($0.scopes.canonicalTarget)" } ?? "-"
        return "\(owner.key)-\(environment)-refreshtoken-\(holder)-\(target)".lowercased()
    }

    init(
        owner: OwnerID, environment: String, clientID: ClientID, familyID: FamilyID?, secret: Secret,
        only: Resource? = nil, obtainedOn: Int64? = nil, foreign: String? = nil
    ) {
        self.owner = owner
        self.environment = environment
        self.clientID = clientID
        self.familyID = familyID
        self.secret = secret
        self.only = only
        self.obtainedOn = obtainedOn
        self.foreign = foreign
    }

    init?(_ stored: StoredCredential) {
        guard let clientID = ClientID(stored.clientID), !stored.secret.isEmpty else { return nil }
        let (realm, target) = (stored.realm?.trimmedNonEmpty, stored.target?.trimmedNonEmpty)
        self.init(
            owner: stored.owner, environment: stored.environment, clientID: clientID,
            familyID: stored.familyID.flatMap(FamilyID.init), secret: Secret(stored.secret),
            only: realm == nil && target == nil
                ? nil : Resource(realm: realm ?? "", scopes: ScopeSet(target: target ?? "")),
            obtainedOn: stored.lastModificationTime.flatMap { Int64($0) }, foreign: stored.foreign)
        replaced = stored.replaced?.suffix(Self.mostReplaced).map(\.self) ?? []
    }

    var stored: StoredCredential {
        var stored = StoredCredential(
            type: "RefreshToken", owner: owner, environment: environment, clientID: clientID, secret: secret)
        stored.familyID = familyID?.text
        stored.realm = only?.realm
        stored.target = only?.scopes.target
        stored.lastModificationTime = obtainedOn.map { String($0) }
        stored.foreign = foreign
        stored.replaced = replaced.isEmpty ? nil : replaced
        return stored
    }
}
