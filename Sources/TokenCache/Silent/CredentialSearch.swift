package import TokenModel

/// The properties of the access tokens that answer a request: the app, the version and the realm, a host of the authority's cloud, and the
/// scopes.
struct AccessTokenQuery {
    let series: TokenSeries
    /// The host of the authority.
    let environment: String
    let scopes: ScopeSet
    /// Whether the case of the client ID and of the scopes matters.
    private let isExact: Bool

    /// Returns nil if the account cannot belong to the authority.
    init?(_ parameters: TokenParameters, at authority: Authority, of account: AccountKey) {
        guard authority.admits(account) else { return nil }
        let (clientID, realm) = (parameters.clientID, authority.realm(for: account, parameters.version))
        isExact = account.issuer.comparesExactly(realm: realm)
        series = TokenSeries(
            clientID: isExact ? clientID.text : clientID.key, realm: realm, version: parameters.version)
        environment = authority.environment
        scopes = parameters.scopes
    }

    /// Whether a token with these scopes answers the request: for ADAL those of the resource, for MSAL at least the requested ones.
    func isAnswered(by granted: ScopeSet) -> Bool {
        if isExact {
            let (requested, granted) = (Set(scopes.scopes), Set(granted.scopes))
            return series.version == .v1 ? requested == granted : requested.isSubset(of: granted)
        }
        return series.version == .v1 ? scopes == granted : scopes.isSubset(of: granted)
    }

    /// Whether a token is not of another port of its host.
    fileprivate func admits(_ token: AccessTokenRecord) -> Bool {
        CloudDirectory.mayBelong(
            savedUnder: token.environment, byAgent: token.unknownFields == nil, to: environment)
    }

    /// Whether a token has everything but the host.
    fileprivate func isAnswered(by token: AccessTokenRecord) -> Bool {
        token.version == series.version && token.realm.hasSameBytes(as: series.realm)
            && (isExact ? token.clientID.text : token.clientID.key).hasSameBytes(as: series.clientID)
            && isAnswered(by: token.scopes)
    }
}

/// Finding tokens among those of an account.
extension AccountCredentials {
    /// The preferred access token that answers a query and meets a further condition: one that is valid, then at the preferred name of the
    /// cloud, then the one that expires last, then the one with the greatest key. Independent of the dictionary's order.
    ///
    /// - Parameters:
    ///   - isMatch: called for few tokens, those that may answer the query.
    ///   - isValid: whether a token has not expired. Of two under one name of the cloud, the one that expires last is always valid if the
    ///     other is, so that it decides between names only.
    func accessToken(
        answering query: AccessTokenQuery, _ clouds: CloudDirectory,
        where isMatch: (AccessTokenRecord) -> Bool = { _ in true },
        preferring isValid: (AccessTokenRecord) -> Bool = { _ in true }
    ) -> AccessTokenRecord? {
        var best: (token: AccessTokenRecord, entry: AccessTokenIndex.Entry)?
        func offer(_ token: AccessTokenRecord, _ entry: AccessTokenIndex.Entry) {
            if let held = best {
                let ranks = [token, held.token].map {
                    (isValid($0) ? 0 : 1, clouds.rank(of: $0.environment, from: query.environment))
                }
                guard ranks[0] < ranks[1] || ranks[0] == ranks[1] && entry.isPreferred(to: held.entry) else { return }
            }
            best = (token, entry)
        }
        guard let index = accessTokenIndex.index else {
            for (key, token) in accessTokens
            where query.isAnswered(by: token) && clouds.sameCloud(token.environment, query.environment)
                && query.admits(token) && isMatch(token)
            {
                offer(token, token.entry(key))
            }
            return best?.token
        }
        for (host, tokens) in index.hosts(of: query.series) where clouds.sameCloud(host.text, query.environment) {
            let found = tokens.first(with: query.scopes) { entry in
                guard query.isAnswered(by: entry.scopes), let token = accessTokens[entry.key] else { return false }
                return query.admits(token) && isMatch(token)
            }
            if let found, let token = accessTokens[found.key] { offer(token, found) }
        }
        return best?.token
    }

    /// The access tokens of a series, in any order.
    func accessTokens(of series: TokenSeries) -> [AccessTokenRecord] {
        guard let index = accessTokenIndex.index else { return accessTokens.values.filter { $0.series == series } }
        return index.hosts(of: series).values.flatMap { $0.all.compactMap { accessTokens[$0.key] } }
    }

    /// The refresh tokens that an app has for these scopes or for any, and those of its family; perhaps others too. In any order.
    func refreshTokens(of clientID: ClientID, _ family: FamilyID?, for scopes: ScopeSet) -> [RefreshTokenRecord] {
        guard let index = refreshTokenIndex.index else { return Array(refreshTokens.values) }
        return index.keys(of: clientID, family, for: scopes).compactMap { refreshTokens[$0] }
    }

    /// The ID token that came with an access token. Libraries name a cloud differently, and two of them may have saved the two
    /// tokens: an ID token under the same name is preferred to one under another.
    package func idToken(like token: AccessTokenRecord, _ clouds: CloudDirectory) -> IDTokenRecord? {
        guard let index = idTokenIndex.index else {
            var best: (key: String, token: IDTokenRecord)?
            let isExact = token.account.issuer.comparesExactly(realm: token.realm)
            for (key, candidate) in idTokens
            where candidate.clientID == token.clientID && candidate.realm.hasSameBytes(as: token.realm)
                && candidate.version == token.version && clouds.sameCloud(candidate.environment, token.environment)
                && (!isExact || candidate.clientID.text.hasSameBytes(as: token.clientID.text))
            {
                if candidate.environment == token.environment { return candidate }
                if best.map({ key < $0.key }) ?? true { best = (key, candidate) }
            }
            return best?.token
        }
        let keys = index.keys(of: token.series)
        let key =
            keys[token.environment]
            ?? keys.filter { clouds.sameCloud($0.key, token.environment) }.map(\.value).min()
        return key.flatMap { idTokens[$0] }
    }
}

extension CloudDirectory {
    /// The rank of a host among the names of a cloud under which credentials are looked up; the lowest is preferred.
    ///
    /// - Parameter other: a host of the cloud.
    func rank(of environment: String, from other: String) -> Int {
        cacheAliases(of: other).firstIndex(of: environment) ?? .max
    }
}
