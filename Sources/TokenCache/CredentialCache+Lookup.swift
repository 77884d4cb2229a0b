internal import TokenModel

/// An access token that may be returned, and whether it may be returned without trying for a newer one.
struct UsableToken {
    var result: TokenResult
    var isFresh: Bool
}

extension CredentialCache {
    /// The authority to ask: where this one led before, or the account's home tenant when it names none of its own.
    ///
    /// v1 requests go to the realm they name.
    func effectiveAuthority(of parameters: TokenParameters, owner: OwnerID, holdings: Holdings) -> Authority {
        let authority = parameters.authority
        if parameters.version == .v1 { return authority }
        let asked = authority.url
        if let url = holdings.metadata[parameters.clientID.key]?.authorityMap[asked] {
            if url == asked { return authority }
            if let led = try? Authority(url, kind: authority.kind) { return led }
        }
        guard authority.isTenantless, let home = owner.homeAccountID?.tenantID else { return authority }
        return authority.withRealm(home)
    }

    /// The best access token in the cache for a request, unless it insists on a new one.
    func usableToken(
        for request: AcquireTokenSilent, at authority: Authority, holdings: Holdings, now: Int64
    ) -> UsableToken? {
        guard !request.forceRefresh, request.parameters.claims == nil else { return nil }
        let matching = holdings.accessTokens.values.lazy.filter { matches($0, request.parameters, at: authority) }
        // The one that lives longest, so that the choice does not depend on a dictionary's order.
        guard let token = matching.max(by: { ($0.expiresOn, $0.key) < ($1.expiresOn, $1.key) }) else { return nil }
        let isExpired = token.isExpired(at: now, buffer: request.expirationBuffer)
        if isExpired, !request.allowsExtendedLifetime || !token.isUsableInOutage(at: now) {
            // Not worth returning at once; but until it really expires it is better than nothing.
            guard token.expiresOn > now, token.cachedAt <= now else { return nil }
        }
        guard var result = result(for: token, request.parameters, at: authority, holdings: holdings) else { return nil }
        result.isExtendedLifetime = token.expiresOn <= now
        return UsableToken(result: result, isFresh: !isExpired && !token.wantsRefresh(at: now))
    }

    /// Whether an access token answers a request: app, endpoint generation, realm, cloud, and every scope asked for.
    func matches(_ token: AccessTokenRecord, _ parameters: TokenParameters, at authority: Authority) -> Bool {
        token.version == parameters.version && token.realm == authority.realm(for: parameters.version)
            && token.clientID == parameters.clientID && clouds.sameCloud(token.environment, authority.environment)
            && (parameters.version == .v1
                ? parameters.scopes == token.scopes : parameters.scopes.isSubset(of: token.scopes))
    }

    /// The refresh tokens that could serve a request, in the order each library tries them.
    ///
    /// MSAL: the app's own, then the family's. ADAL: the family's first when the app is known to belong to one.
    func refreshTokens(
        for parameters: TokenParameters, at authority: Authority, holdings: Holdings, in partition: Partition
    ) -> [RefreshTokenRecord] {
        let usable = holdings.refreshTokens.values.filter {
            clouds.sameCloud($0.environment, authority.environment) && serves($0, parameters, at: authority)
        }.sorted { $0.key < $1.key }
        let own = usable.filter { $0.familyID == nil && $0.clientID == parameters.clientID }
        var family = family(of: parameters.clientID, at: cacheEnvironment(of: authority), in: partition)
        // ADAL tries the family's last even for an app that is said to belong to none: it may have joined.
        if parameters.version == .v1, !own.isEmpty, family == nil { family = .presumed }
        let shared = usable.filter { $0.familyID != nil && $0.familyID == family }
        let familyFirst = parameters.version == .v1 && isKnownMember(parameters.clientID, authority, partition)
        let ordered = familyFirst ? shared + own : own + shared
        var seen = Set<Secret>()
        return ordered.filter { seen.insert($0.secret).inserted }
    }

    private func serves(_ token: RefreshTokenRecord, _ parameters: TokenParameters, at authority: Authority) -> Bool {
        guard let only = token.only else { return true }
        return only.realm == authority.realm(for: parameters.version) && only.scopes == parameters.scopes
    }

    /// Whether the token endpoint has said that the app belongs to a family.
    private func isKnownMember(_ clientID: ClientID, _ authority: Authority, _ partition: Partition) -> Bool {
        let environment = cacheEnvironment(of: authority)
        let key = AppMetadataRecord(clientID: clientID.text, environment: environment, familyID: "").key
        return partition.apps[key].map { !$0.familyID.isEmpty } ?? false
    }
}

extension Authority {
    /// The realm that access tokens are found under again: `organizations` is `common` to ADAL.
    func realm(for version: OAuthVersion) -> String {
        let realm = realm.lowercased()
        return version == .v1 && realm == "organizations" ? "common" : realm
    }
}
