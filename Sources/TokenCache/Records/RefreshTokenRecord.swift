package import TokenModel
package import TokenStore

/// A refresh token: an app's own, or one that a family of apps shares.
package struct RefreshTokenRecord: Sendable, Equatable {
    package var account: AccountKey
    package var environment: String
    /// The app that the token was issued to; for a family's token, the app that saved it last.
    package var clientID: ClientID
    /// The family that shares the token; nil for an app's own.
    package var familyID: FamilyID?
    package var secret: Secret
    /// The realm and resource that the token is restricted to; nil for a token that serves every resource.
    package var restriction: Restriction?
    /// Where the token was issued; nil if that is not certain, and then the token is never sent.
    package var binding: TokenBinding? { didSet { if binding != nil { unusableBinding = nil } } }
    /// A binding that the token is not sent by: one of an earlier version, which names too little until `binding` is derived, or one of a
    /// later version, to a kind of authority that this version does not know. Nil for any other token.
    package internal(set) var unusableBinding: StoredBinding?
    /// The time at which the token was obtained, in seconds since 1970; nil if unknown.
    package var obtainedOn: Int64?
    /// Fields this version does not know, as JSON; preserved for export. Nil for a record that the agent made.
    package var unknownFields: String?
    /// Fingerprints of the tokens that this one has replaced, the latest last. An import must not restore one of them.
    package internal(set) var replaced: [String] = []

    /// The realm that a token is bound to (an OpenID provider's), and the resource (AD FS).
    package struct Restriction: Sendable, Equatable {
        package var realm: String
        /// The scopes of the resource that the token is restricted to; empty for every resource of the realm.
        package var scopes: ScopeSet

        package init(realm: String, scopes: ScopeSet) {
            self.realm = realm
            self.scopes = scopes
        }
    }

    package init(
        account: AccountKey, environment: String, clientID: ClientID, familyID: FamilyID?, secret: Secret,
        restriction: Restriction? = nil, binding: TokenBinding? = nil, obtainedOn: Int64? = nil,
        unknownFields: String? = nil
    ) {
        self.account = account
        self.environment = environment
        self.clientID = clientID
        self.familyID = familyID
        self.secret = secret
        self.restriction = restriction
        self.obtainedOn = obtainedOn
        self.unknownFields = unknownFields
        storedBinding = binding.map(StoredBinding.init)
    }

    /// The binding as the store keeps it.
    var storedBinding: StoredBinding? {
        get { binding.map(StoredBinding.init) ?? unusableBinding }
        set {
            let known = newValue?.known
            binding = known?.isComplete == true ? known : nil
            unusableBinding = binding == nil ? newValue : nil
        }
    }

    /// Whether the token, which is no family's, was issued to an app.
    func isOwn(of app: ClientID) -> Bool {
        account.issuer.isSameApp(clientID, app, realm: restriction?.realm ?? "")
    }

    /// Whether the token serves one resource only.
    var isSingleResource: Bool { restriction.map { !$0.scopes.isEmpty } ?? false }

    /// Whether the token has replaced the one with this secret.
    package func hasReplaced(_ secret: Secret) -> Bool {
        !replaced.isEmpty && replaced.contains(Fingerprint.of(secret))
    }

    /// Whether no fingerprint of a token that this one has replaced has been dropped.
    package var knowsAllReplaced: Bool { replaced.count < Self.replacedEarlier }

    /// Records that the token replaces another, by the fingerprint of the other.
    package mutating func noteReplacement(of other: RefreshTokenRecord) {
        guard other.secret != secret else { return replaced = other.replaced }
        let known = replaced + other.replaced + (other.secret.isUnread ? [] : [Fingerprint.of(other.secret)])
        var seen: Set<String> = []
        let limit = obtainedOn != nil && obtainedOn == other.obtainedOn ? Self.maximumReplaced : Self.replacedEarlier
        replaced = Array(known.reversed().filter { seen.insert($0).inserted }.prefix(limit).reversed())
    }

    /// The number of fingerprints of tokens that were obtained in earlier seconds.
    private static let replacedEarlier = 8
    /// The maximum number of fingerprints. An import tells an older token by its time, or by its fingerprint if the times are equal, as when
    /// the apps of a family redeem the token that they share one after another.
    static let maximumReplaced = 64
}

extension RefreshTokenRecord: CredentialRecord {
    package static var kind: RecordKind { .refreshToken }

    package var key: String {
        let holder = familyID?.text ?? clientID.key
        var target = "-"
        if let restriction {
            let mark = account.issuer.keyMark(realm: restriction.realm) { [clientID.text] }
            target = "\(restriction.realm)-\(restriction.scopes.canonicalTarget)\(mark)"
        }
        return "\(account.key)-\(environment)-refreshtoken-\(holder)-\(target)".lowercased()
    }

    package var record: CacheRecord { .refreshToken(self) }

    package func encoded() throws(TokenError) -> [UInt8] { try CacheJSON.encode(stored) }

    package mutating func mapIdentifiers(_ body: IdentifierTransform) throws(LimitViolation) {
        try mapCommonIdentifiers(body)
        if let family = familyID { familyID = FamilyID(try body("family ID", family.text)) }
        if let restriction { self.restriction?.realm = try body("realm", restriction.realm) }
    }

    package func checkSecrets() throws(LimitViolation) {
        try LimitViolation.check(secret)
        if let restriction { try LimitViolation.check(restriction.scopes) }
    }

    package mutating func removeImpossibleTimes() -> Bool {
        obtainedOn = RecordTime.checked(obtainedOn)
        return true
    }
}

extension RefreshTokenRecord {
    init?(_ stored: StoredCredential) {
        guard let clientID = ClientID(stored.clientID), !stored.secret.isEmpty else { return nil }
        let (realm, target) = (stored.realm?.trimmedNonEmpty, stored.target?.trimmedNonEmpty)
        self.init(
            account: stored.account, environment: stored.environment, clientID: clientID,
            familyID: stored.familyID.flatMap(FamilyID.init), secret: Secret(stored.secret),
            restriction: realm == nil && target == nil
                ? nil : Restriction(realm: realm ?? "", scopes: ScopeSet(target: target ?? "")),
            obtainedOn: stored.lastModificationTime.flatMap { Int64($0) }, unknownFields: stored.unknownFields)
        storedBinding = stored.binding
        replaced = stored.replaced?.suffix(Self.maximumReplaced).map(\.self) ?? []
    }

    private var stored: StoredCredential {
        var stored = StoredCredential(
            type: "RefreshToken", account: account, environment: environment, clientID: clientID, secret: secret)
        stored.familyID = familyID?.text
        stored.realm = restriction?.realm
        stored.target = restriction?.scopes.target
        stored.binding = storedBinding
        stored.lastModificationTime = obtainedOn.map { String($0) }
        stored.unknownFields = unknownFields
        stored.replaced = replaced.isEmpty ? nil : replaced
        return stored
    }
}
