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
            // Parsed in the form in which it was saved, for which the parser has a fast path.
            if let led = try? Authority(url, kind: authority.kind) { return led }
        }
        guard authority.isTenantless, let home = account.homeAccountID?.tenantID else { return authority }
        // `organizations` admits no personal accounts, so that their home tenant is not used.
        guard authority.realm != "organizations" || !account.isPersonal else { return authority }
        return authority.withRealm(home)
    }

    /// The best access token in the cache for a request; nil if the request asks for a new one.
    func usableToken(
        for request: AcquireTokenSilent, at authority: Authority, of account: AccountKey,
        credentials: AccountCredentials, now: Int64
    ) -> UsableToken? {
        guard !request.forceRefresh, request.parameters.claims == nil else { return nil }
        // A token that was saved in the future is passed over, since the clock was set back and the token's times are meaningless. It may
        // seem to expire after every other one, and hide a valid one.
        var hasTokenOfTheFuture = false
        guard let query = AccessTokenQuery(request.parameters, at: authority, of: account),
            let token = credentials.accessToken(
                answering: query, clouds,
                where: { token in
                    if token.cachedAt > now { hasTokenOfTheFuture = true }
                    return token.cachedAt <= now
                },
                preferring: { $0.expiresOn > now })
        else { return nil }
        let buffer = token.buffer(for: request)
        let isExpired = token.isExpired(at: now, buffer: buffer)
        if isExpired {
            // Usable as a fallback until it has expired, and in an outage for its extended lifetime.
            guard token.expiresOn > now || request.allowsExtendedLifetime && token.isUsableInOutage(at: now) else {
                return nil
            }
        }
        guard var result = result(for: token, request.parameters, at: authority, credentials: credentials) else {
            return nil
        }
        result.isExtendedLifetime = token.expiresOn <= now
        // The token of the future may be preferred once its time has come.
        let times = hasTokenOfTheFuture ? nil : token.freshTimes(buffer: buffer)
        return UsableToken(
            result: result, isFresh: !isExpired && !token.wantsRefresh(at: now),
            freshTimes: times.flatMap { $0.contains(now) ? $0 : nil })
    }

    /// The refresh tokens that may be redeemed for a request, in the order in which the library tries them.
    ///
    /// MSAL: the app's own, then its family's. ADAL: the family's first if the app is known to belong to one.
    func refreshTokens(
        for parameters: TokenParameters, at authority: Authority, credentials: AccountCredentials,
        in partition: Partition
    ) -> [RefreshTokenRecord] {
        let clientID = parameters.clientID
        let known = family(
            of: clientID, at: cacheEnvironment(of: authority), in: partition, isConfined: parameters.isConfined)
        // ADAL also tries the family's token, as the last one, for an app that is not known to belong to the family: it
        // may have joined it since.
        let family = known ?? (parameters.version == .v1 && !parameters.isConfined ? .presumed : nil)
        let usable = credentials.refreshTokens(of: clientID, family, for: parameters.scopes).filter {
            ($0.familyID == nil ? $0.isOwn(of: clientID) : $0.familyID == family)
                && clouds.sameCloud($0.environment, authority.environment) && serves($0, parameters, at: authority)
        }
        let ranked = usable.count < 2 ? usable : sorted(usable, authority)
        let own = ranked.filter { $0.familyID == nil }
        // An app that is not known to belong to a family gets the family's token only if it has a token of its own.
        let shared = known == nil && own.isEmpty ? [] : ranked.filter { $0.familyID != nil }
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

    /// The scopes that an OpenID provider granted last to an app for an account: those of its newest access token. Nil if the cache has none,
    /// and if they do not include `openid`: the provider has not named the granted scopes then, and those saved are the app's.
    package func grantedScopes(
        of account: AccountKey, for clientID: ClientID, at authority: Authority, in group: SharingGroup
    ) -> ScopeSet? {
        guard authority.kind == .openID else { return nil }
        let realm = authority.realm.lowercased()
        let tokens = partition(group)[account].accessTokens.values.filter {
            account.issuer.isSameApp($0.clientID, clientID, realm: realm) && $0.realm == realm
                && clouds.sameCloud($0.environment, authority.environment)
        }
        let newest = tokens.max { ($0.cachedAt, $0.key) < ($1.cachedAt, $1.key) }
        return newest.flatMap { $0.scopes.contains(ScopeSet.openID) ? $0.scopes : nil }
    }

    /// Whether a refresh token may be redeemed for a request.
    func serves(_ token: RefreshTokenRecord, _ parameters: TokenParameters, at authority: Authority) -> Bool {
        guard authority.admits(token.account), let binding = token.binding,
            clouds.isBound(binding, to: authority)
        else { return false }
        // The v1 endpoint has no personal accounts: `consumers` does not refer to an account of an organisation.
        if parameters.version == .v1, authority.kind == .entra, authority.realm == "consumers",
            !token.account.isPersonal
        {
            return false
        }
        guard let restriction = token.restriction else { return true }
        return restriction.realm == authority.realm(for: token.account, parameters.version)
            && (restriction.scopes.isEmpty || restriction.scopes == parameters.scopes)
    }

    /// Sorts refresh tokens by the preference for their hosts, then by their keys.
    private func sorted(_ tokens: [RefreshTokenRecord], _ authority: Authority) -> [RefreshTokenRecord] {
        tokens.map { (clouds.rank(of: $0.environment, from: authority.environment), $0.key, $0) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }

    /// Whether the token endpoint has reported that the app belongs to a family.
    private func isKnownMember(_ clientID: ClientID, _ authority: Authority, _ partition: Partition) -> Bool {
        let app = appMetadata(of: clientID, at: cacheEnvironment(of: authority), in: partition)
        return app.map { !$0.familyID.isEmpty } ?? false
    }
}

extension TokenParameters {
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
        let text = idToken.flatMap { $0.isUnread ? nil : $0.idToken }
        let tenant = idToken?.tenant ?? token.realm
        guard let first = credentials.firstAccount(from: token.environment, clouds) else { return nil }
        let record = credentials.firstAccount(from: token.environment, clouds) { $0.realm == tenant } ?? first
        if token.version == .v2, idToken == nil { return nil }
        var profile = ListedProfile(record).profile
        profile.idToken = text
        var account = ListedProfile(first).account(token.account)
        if profile.isHome { account.homeIDToken = profile.idToken }
        if token.account.homeAccountID == nil { account.username = profile.username }
        return TokenResult(
            accessToken: token.secret, tokenType: token.tokenType, expiresOn: token.expiresOn,
            extendedExpiresOn: token.extendedExpiresOn, scopes: token.scopes.scopes, idToken: text,
            account: account, tenantProfile: profile,
            authority: issuer(of: tenant, parameters, at: authority).url,
            correlationID: parameters.correlationID, isFromCache: true)
    }

    /// The authority in the result. A v1 result repeats the requested one, unless the user was redirected to another cloud. So does
    /// that of a custom domain, whose path identifies the provider.
    private func issuer(of tenant: String, _ parameters: TokenParameters, at authority: Authority) -> Authority {
        if authority.isAtCustomDomain { return parameters.authority }
        guard parameters.version == .v1 else { return authority.withRealm(tenant) }
        let requested = parameters.authority
        return clouds.sameCloud(authority.environment, requested.environment)
            ? requested : requested.withEnvironment(authority.environment)
    }
}
