internal import TokenModel

/// A token response on its way into the cache: everything that follows from it, worked out once.
struct Saving {
    let tokens: IssuedTokens
    let issuance: Issuance
    let parameters: TokenParameters
    let asked: Authority
    let environment: String
    let now: Int64
    let owner: OwnerID
    let claims: IDTokenClaims?
    let accessToken: AccessTokenRecord?

    init(
        tokens: IssuedTokens, issuance: Issuance, parameters: TokenParameters, asked: Authority, environment: String,
        now: Int64
    ) throws(TokenError) {
        self.tokens = tokens
        self.issuance = issuance
        self.parameters = parameters
        self.asked = asked
        self.now = now
        claims = tokens.idToken.flatMap { IDTokenClaims(idToken: $0) }
        guard tokens.idToken == nil || claims != nil else {
            throw TokenError(.serverInvalidResponse, "the ID token in the response cannot be read")
        }
        owner = Self.owner(tokens, issuance, claims: claims, parameters: parameters, asked: asked)
        guard !owner.isMistakable else {
            throw TokenError(
                .serverInvalidResponse, "the response names an account in a way that could be taken for another's name")
        }
        guard tokens.familyID.map({ ValueLimits.isIdentifier($0.text) }) ?? true else {
            throw TokenError(.serverInvalidResponse, "the response names a family of apps in too many words")
        }
        self.environment = environment
        accessToken = Self.accessToken(
            tokens, owner: owner, parameters: parameters, environment: environment,
            realm: Self.realm(owner: owner, claims: claims, parameters: parameters, asked: asked), now: now)
    }

    /// The tenant that issued the tokens.
    var tenant: String { Self.tenant(owner: owner, claims: claims, asked: asked) }

    private static func tenant(owner: OwnerID, claims: IDTokenClaims?, asked: Authority) -> String {
        switch asked.kind {
        case .entra, .ciam, .adfs: claims?.tenantID?.lowercased() ?? asked.realm.lowercased()
        case .b2c: owner.homeAccountID?.tenantID ?? claims?.tenantID?.lowercased() ?? asked.realm.lowercased()
        // Whatever a stranger's token calls a tenant is not one of ours.
        case .openID: asked.realm.lowercased()
        }
    }

    /// `client_info` says; a provider that does not know it is taken at its `sub`; otherwise whoever was asked for.
    private static func owner(
        _ tokens: IssuedTokens, _ issuance: Issuance, claims: IDTokenClaims?, parameters: TokenParameters,
        asked: Authority
    ) -> OwnerID {
        if let identifier = tokens.homeAccountID { return .home(identifier) }
        if case .redemption(let used) = issuance { return used.owner }
        let isEntra = asked.kind == .entra || asked.kind == .ciam
        if parameters.version == .v2 || !isEntra, let subject = claims?.subject.flatMap(HomeAccountID.init) {
            return .home(subject)
        }
        return .name(claims?.v1UserID ?? "")
    }

    /// What an access token is found by again: MSAL by the tenant that issued it, ADAL by the realm it named.
    private static func realm(
        owner: OwnerID, claims: IDTokenClaims?, parameters: TokenParameters, asked: Authority
    ) -> String {
        parameters.version == .v1
            ? asked.realm(for: owner, .v1) : tenant(owner: owner, claims: claims, asked: asked)
    }

    private static func accessToken(
        _ tokens: IssuedTokens, owner: OwnerID, parameters: TokenParameters, environment: String, realm: String,
        now: Int64
    ) -> AccessTokenRecord? {
        guard let secret = tokens.accessToken else { return nil }
        let granted = (parameters.version == .v1 ? parameters.scopes : tokens.scopes ?? parameters.scopes)
            .limited(keeping: parameters.scopes)
        return AccessTokenRecord(
            owner: owner, environment: environment, clientID: parameters.clientID, realm: realm,
            version: parameters.version, scopes: granted, tokenType: tokens.tokenType, secret: secret, cachedAt: now,
            expiresOn: now + tokens.expiresIn, extendedExpiresOn: tokens.extendedExpiresIn.map { now + $0 },
            refreshOn: tokens.refreshIn.map { now + $0 })
    }

    var idToken: IDTokenRecord? {
        tokens.idToken.flatMap {
            IDTokenRecord(
                owner: owner, environment: environment, clientID: parameters.clientID,
                realm: Self.realm(owner: owner, claims: claims, parameters: parameters, asked: asked),
                version: parameters.version, idToken: $0)
        }
    }
}

extension ScopeSet {
    /// As many of the scopes as the store and a message take, those that were asked for before others.
    func limited(keeping asked: ScopeSet) -> ScopeSet {
        if (try? LimitViolation.check(self)) != nil { return self }
        let sound = scopes.filter { $0.utf8.count <= ValueLimits.text && ValueLimits.isPrintable($0) }
        var kept: Set<String> = []
        var size = 0
        for scope in sound.filter(asked.contains) + sound.filter({ !asked.contains($0) }) {
            size += scope.utf8.count + 1
            guard kept.count < ValueLimits.listItems, size <= ValueLimits.longText else { break }
            kept.insert(scope)
        }
        return ScopeSet(sound.filter(kept.contains))
    }
}
