package import TokenModel

/// An access token that may be returned, and whether it need not be renewed first.
struct UsableToken {
    var result: TokenResult
    var isFresh: Bool
    /// The times at which it need not be renewed, and at which the result is the same; nil if the present time is not one of them.
    var freshTimes: ClosedRange<Int64>?
}

extension CredentialCache {
    /// The authority to send a request to: the one that the request's authority led to before, or the account's home tenant if the
    /// request's authority names no tenant.
    ///
    /// v1 requests are sent to the realm that they name.
    func effectiveAuthority(of parameters: TokenParameters, account: AccountKey, credentials: AccountCredentials)
        -> Authority
    {
        let authority = parameters.authority
        if parameters.version == .v1 { return authority }
        if let url = credentials.metadata[parameters.clientID.key]?.authorityMap[parameters.authorityMapKey] {
            if url == authority.url { return authority }
            if let led = try? Authority(url, kind: authority.kind) { return led }
        }
        guard authority.isTenantless, let home = account.homeAccountID?.tenantID else { return authority }
        // Organizations have no tenant for personal accounts.
        guard authority.realm != "organizations" || !account.isPersonal else { return authority }
        return authority.withRealm(home)
    }

    /// The best access token in the cache for a request; nil if the request asks for a new one.
    func usableToken(
        for request: AcquireTokenSilent, at authority: Authority, credentials: AccountCredentials, now: Int64
    ) -> UsableToken? {
        guard !request.forceRefresh, request.parameters.claims == nil else { return nil }
        var best: AccessTokenRecord?
        credentials.forEachAccessToken(of: request.parameters.clientID) { token in
            guard matches(token, request.parameters, at: authority) else { return true }
            if best.map({ isPreferred(token, to: $0, at: authority) }) ?? true { best = token }
            return true
        }
        guard let token = best else { return nil }
        let isExpired = token.isExpired(at: now, buffer: request.expirationBuffer)
        if isExpired, !request.allowsExtendedLifetime || !token.isUsableInOutage(at: now) {
            // About to expire: usable as a fallback until it has expired.
            guard token.expiresOn > now, token.cachedAt <= now else { return nil }
        }
        guard var result = result(for: token, request.parameters, at: authority, credentials: credentials) else {
            return nil
        }
        result.isExtendedLifetime = token.expiresOn <= now
        return UsableToken(
            result: result, isFresh: !isExpired && !token.wantsRefresh(at: now),
            freshTimes: token.freshTimes(buffer: request.expirationBuffer).flatMap { $0.contains(now) ? $0 : nil })
    }

    /// The preferred name of the cloud, then the latest expiry, then the key: independent of the dictionary's order.
    private func isPreferred(_ left: AccessTokenRecord, to right: AccessTokenRecord, at authority: Authority) -> Bool {
        (-rank(left.environment, authority), left.expiresOn, left.key)
            > (-rank(right.environment, authority), right.expiresOn, right.key)
    }

    /// Whether an access token answers a request: its app, version, realm and cloud are equal, and it has every requested scope.
    func matches(_ token: AccessTokenRecord, _ parameters: TokenParameters, at authority: Authority) -> Bool {
        token.version == parameters.version && token.clientID == parameters.clientID
            && parameters.isAnswered(by: token.scopes)
            && token.realm == authority.realm(for: token.account, parameters.version)
            && clouds.sameCloud(token.environment, authority.environment)
            && authority.admits(token.account)
    }

    /// The refresh tokens that may be redeemed for a request, in the order in which the library tries them.
    ///
    /// MSAL: the app's own, then its family's. ADAL: the family's first if the app is known to belong to one.
    func refreshTokens(
        for parameters: TokenParameters, at authority: Authority, credentials: AccountCredentials,
        in partition: Partition
    ) -> [RefreshTokenRecord] {
        let usable = credentials.refreshTokens.values.filter {
            clouds.sameCloud($0.environment, authority.environment) && serves($0, parameters, at: authority)
        }.sorted { (rank($0.environment, authority), $0.key) < (rank($1.environment, authority), $1.key) }
        let own = usable.filter { $0.familyID == nil && $0.clientID == parameters.clientID }
        var family = family(of: parameters.clientID, at: cacheEnvironment(of: authority), in: partition)
        // ADAL also tries the family's token, last, for an app that belonged to none: it may have joined the family since.
        if parameters.version == .v1, !own.isEmpty, family == nil { family = .presumed }
        let shared = usable.filter { $0.familyID != nil && $0.familyID == family }
        let familyFirst = parameters.version == .v1 && isKnownMember(parameters.clientID, authority, partition)
        let ordered = familyFirst ? shared + own : own + shared
        var seen = Set<Secret>()
        return ordered.filter { seen.insert($0.secret).inserted }
    }

    /// The `sub` claim of the last ID token that an app got for an account from an authority; nil if the cache has none.
    package func subject(
        of account: AccountKey, for clientID: ClientID, at authority: Authority, in group: SharingGroup
    ) -> String? {
        let realm = authority.realm.lowercased()
        let tokens = partition(group)[account].idTokens.values.filter {
            $0.clientID == clientID && $0.realm == realm && clouds.sameCloud($0.environment, authority.environment)
        }
        return tokens.min { $0.key < $1.key }?.subject
    }

    /// Whether a refresh token may be redeemed for a request.
    func serves(_ token: RefreshTokenRecord, _ parameters: TokenParameters, at authority: Authority) -> Bool {
        guard authority.admits(token.account), let binding = token.binding,
            clouds.isBound(binding, to: authority)
        else { return false }
        // The v1 endpoint has no personal accounts: `consumers` does not refer to an account of an organization.
        if parameters.version == .v1, authority.kind == .entra, authority.realm == "consumers",
            !token.account.isPersonal
        {
            return false
        }
        guard let restriction = token.restriction else { return true }
        return restriction.realm == authority.realm(for: token.account, parameters.version)
            && (restriction.scopes.isEmpty || restriction.scopes == parameters.scopes)
    }

    /// The rank of a cloud's host name among those that credentials are looked up under; the lowest is preferred.
    private func rank(_ environment: String, _ authority: Authority) -> Int {
        clouds.cacheAliases(of: authority.environment).firstIndex(of: environment) ?? .max
    }

    /// Whether the token endpoint has reported that the app belongs to a family.
    private func isKnownMember(_ clientID: ClientID, _ authority: Authority, _ partition: Partition) -> Bool {
        let app = appMetadata(of: clientID, at: cacheEnvironment(of: authority), in: partition)
        return app.map { !$0.familyID.isEmpty } ?? false
    }
}

extension TokenParameters {
    /// Whether a token with these scopes answers the request: for ADAL those of the resource, for MSAL at least the requested ones.
    fileprivate func isAnswered(by granted: ScopeSet) -> Bool {
        version == .v1 ? scopes == granted : scopes.isSubset(of: granted)
    }

    /// The key in the app's authority map. An instance-aware app may be redirected to another cloud by the same authority.
    var authorityMapKey: String { isInstanceAware ? "instance_aware=YES \(authority.url)" : authority.url }
}

extension CredentialCache {
    /// The result for an access token; nil if its account is missing, or the ID token of a v2 token, without which the result
    /// cannot name the account.
    func result(
        for token: AccessTokenRecord, _ parameters: TokenParameters, at authority: Authority,
        credentials: AccountCredentials
    ) -> TokenResult? {
        let idToken = credentials.idToken(like: token, clouds)
        let tenant = idToken?.tenant ?? token.realm
        let records = credentials.orderedAccounts(from: token.environment, clouds)
        guard let record = records.first(where: { $0.realm == tenant }) ?? records.first else { return nil }
        if token.version == .v2, idToken == nil { return nil }
        let profile = profile(of: record, idToken: idToken?.idToken)
        var account = account(of: token.account, record: records.first ?? record)
        if profile.isHome { account.homeIDToken = profile.idToken }
        if token.account.homeAccountID == nil { account.username = record.username }
        return TokenResult(
            accessToken: token.secret, tokenType: token.tokenType, expiresOn: token.expiresOn,
            extendedExpiresOn: token.extendedExpiresOn, scopes: token.scopes.scopes, idToken: idToken?.idToken,
            account: account, tenantProfile: profile,
            authority: issuer(of: tenant, parameters, at: authority).url,
            correlationID: parameters.correlationID, isFromCache: true)
    }

    /// The authority in the result. A v1 result repeats the requested one, unless the user was redirected to another cloud.
    private func issuer(of tenant: String, _ parameters: TokenParameters, at authority: Authority) -> Authority {
        guard parameters.version == .v1 else { return authority.withRealm(tenant) }
        let requested = parameters.authority
        return clouds.sameCloud(authority.environment, requested.environment)
            ? requested : requested.withEnvironment(authority.environment)
    }

    /// An account without its tenant profiles.
    func account(of account: AccountKey, record: AccountRecord) -> Account {
        Account(
            homeAccountID: account.homeAccountID, username: record.username.isEmpty ? nil : record.username,
            environment: record.environment, source: record.source == "adal" ? .adal : .msal)
    }

    func profile(of record: AccountRecord, idToken: String?) -> TenantProfile {
        TenantProfile(
            realm: record.realm, localAccountID: record.localAccountID, username: record.username,
            environment: record.environment, isHome: record.isHome, idToken: idToken)
    }
}
