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
        if let url = holdings.metadata[parameters.clientID.key]?.authorityMap[parameters.authorityMapKey] {
            if url == authority.url { return authority }
            if let led = try? Authority(url, kind: authority.kind) { return led }
        }
        guard authority.isTenantless, let home = owner.homeAccountID?.tenantID else { return authority }
        // Organizations have no tenant for personal accounts.
        guard authority.realm != "organizations" || !owner.isPersonal else { return authority }
        return authority.withRealm(home)
    }

    /// The best access token in the cache for a request, unless it insists on a new one.
    func usableToken(
        for request: AcquireTokenSilent, at authority: Authority, holdings: Holdings, now: Int64
    ) -> UsableToken? {
        guard !request.forceRefresh, request.parameters.claims == nil else { return nil }
        let matching = holdings.accessTokens.values.lazy.filter { matches($0, request.parameters, at: authority) }
        // The best name of the cloud, then the one that lives longest: the choice must not depend on a dictionary's order.
        let best = matching.max { left, right in
            (-rank(left.environment, authority), left.expiresOn, left.key)
                < (-rank(right.environment, authority), right.expiresOn, right.key)
        }
        guard let token = best else { return nil }
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
        token.version == parameters.version && token.realm == authority.realm(for: token.owner, parameters.version)
            && token.clientID == parameters.clientID && clouds.sameCloud(token.environment, authority.environment)
            && authority.admits(token.owner)
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
        }.sorted { (rank($0.environment, authority), $0.key) < (rank($1.environment, authority), $1.key) }
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

    func serves(_ token: RefreshTokenRecord, _ parameters: TokenParameters, at authority: Authority) -> Bool {
        guard authority.admits(token.owner) else { return false }
        // v1 knows no personal accounts: what is asked for there is another account's.
        if parameters.version == .v1, authority.kind == .entra, authority.realm == "consumers", !token.owner.isPersonal
        {
            return false
        }
        guard let only = token.only else { return true }
        return only.realm == authority.realm(for: token.owner, parameters.version)
            && (only.scopes.isEmpty || only.scopes == parameters.scopes)
    }

    /// How good a name of the cloud it is to find credentials under; less is better.
    private func rank(_ environment: String, _ authority: Authority) -> Int {
        clouds.cacheAliases(of: authority.environment).firstIndex(of: environment) ?? .max
    }

    /// Whether the token endpoint has said that the app belongs to a family.
    private func isKnownMember(_ clientID: ClientID, _ authority: Authority, _ partition: Partition) -> Bool {
        let app = appMetadata(of: clientID, at: cacheEnvironment(of: authority), in: partition)
        return app.map { !$0.familyID.isEmpty } ?? false
    }
}

extension TokenParameters {
    /// What the app's authority map is asked for: an app that follows to other clouds is led elsewhere by the same authority.
    var authorityMapKey: String { isInstanceAware ? "instance_aware=YES \(authority.url)" : authority.url }
}
