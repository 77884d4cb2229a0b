internal import TokenModel

extension Saving {
    /// What to write, in the order in which a reader of a half-written cache would want it.
    ///
    /// What another library wrote of a record stays with it when it is renewed.
    ///
    /// - Throws: `serverInvalidResponse` (-51401) when something in the response is longer than the store takes.
    func records(
        knownBefore holdings: Holdings, app: AppMetadataRecord?, _ clouds: CloudDirectory
    ) throws(TokenError) -> [CacheRecord] {
        var records = refreshTokens.map { token in
            var token = token
            token.foreign = holdings.refreshTokens[token.key]?.foreign
            if let held = holdings.refreshToken(like: token, clouds) { token.noteReplacement(of: held) }
            if case .redemption(let used) = issuance { token.noteReplacement(of: used) }
            return CacheRecord.refreshToken(token)
        }
        if var accessToken {
            let held = holdings.accessToken(like: accessToken, clouds)
            accessToken.foreign = held?.environment == accessToken.environment ? held?.foreign : nil
            let record = CacheRecord.accessToken(accessToken)
            records.append(held.map { record.inheriting(from: .accessToken($0)) } ?? record)
        }
        if var idToken {
            idToken.foreign = holdings.idTokens[idToken.key]?.foreign
            records.append(.idToken(idToken))
        }
        if let account = account(knownBefore: holdings) { records.append(.account(account)) }
        if tokens.isMultiResource { records.append(.appMetadata(appMetadata(knownBefore: app))) }
        records.append(.accountMetadata(metadata(knownBefore: holdings)))
        return try Self.withinLimits(records)
    }

    private static func withinLimits(_ records: [CacheRecord]) throws(TokenError) -> [CacheRecord] {
        do throws(LimitViolation) {
            var fitting: [CacheRecord] = []
            for record in records { fitting.append(try record.withinLimits()) }
            return fitting
        } catch {
            throw TokenError(.serverInvalidResponse, "a part of the response cannot be kept: \(error.reason)")
        }
    }

    /// The app's own refresh token, and the family's where there is one. None in the response: the old ones stay.
    private var refreshTokens: [RefreshTokenRecord] {
        guard let secret = tokens.refreshToken else { return [] }
        let own = RefreshTokenRecord(
            owner: owner, environment: environment, clientID: parameters.clientID, familyID: nil, secret: secret,
            only: onlyResource, obtainedOn: now)
        guard let family = tokens.familyID else { return [own] }
        var shared = own
        shared.familyID = family
        return [own, shared]
    }

    /// What the refresh token is bound to. Several OpenID providers may share a host: what one of them issued is not for the next.
    private var onlyResource: RefreshTokenRecord.Resource? {
        let realm = asked.realm(for: owner, parameters.version)
        if !tokens.isMultiResource { return RefreshTokenRecord.Resource(realm: realm, scopes: parameters.scopes) }
        return asked.kind == .openID ? RefreshTokenRecord.Resource(realm: realm, scopes: ScopeSet([])) : nil
    }

    private func account(knownBefore holdings: Holdings) -> AccountRecord? {
        guard let claims else {
            // Without an ID token nothing new is known of the account.
            guard holdings.accounts.isEmpty, case .name(let name) = owner else { return nil }
            return blankAccount(username: name)
        }
        var record = blankAccount(username: username(claims) ?? "")
        record.localAccountID = claims.localAccountID
        record.name = claims.name
        record.givenName = claims.givenName
        record.familyName = claims.familyName
        record.alternativeAccountID = claims.alternativeSecurityID
        record.clientInfo = tokens.clientInfo
        // MSAL's knowledge of an account is the fuller one: ADAL's does not take its place, nor ADAL's lower case its spelling.
        let known = holdings.accounts[record.key]
        record.foreign = known?.foreign
        if let known, known.source == "msal" {
            record.source = "msal"
            if known.username.lowercased() == record.username.lowercased() { record.username = known.username }
        }
        return record
    }

    private func username(_ claims: IDTokenClaims) -> String? {
        let preferred = claims.preferredUsername?.trimmedNonEmpty
        switch (asked.kind, parameters.version) {
        // MSAL's words for it, which apps may have come to know.
        case (.b2c, .v2): return preferred ?? "Missing from the token response"
        case (.openID, _):
            return preferred ?? claims.upn?.trimmedNonEmpty ?? claims.email?.trimmedNonEmpty ?? claims.subject
        case (_, .v1): return claims.preferredUsername ?? claims.v1UserID
        case (_, .v2): return claims.username
        }
    }

    private func blankAccount(username: String) -> AccountRecord {
        AccountRecord(
            homeAccountID: owner.homeAccountID?.text, environment: environment, realm: tenant, localAccountID: nil,
            username: username, authorityType: AccountRecord.type(of: asked),
            source: parameters.version == .v1 ? "adal" : "msal")
    }

    private func appMetadata(knownBefore known: AppMetadataRecord?) -> AppMetadataRecord {
        AppMetadataRecord(
            clientID: parameters.clientID.text, environment: known?.environment ?? environment,
            familyID: tokens.familyID?.text ?? "", foreign: known?.foreign)
    }

    private func metadata(knownBefore holdings: Holdings) -> AccountMetadataRecord {
        var map = holdings.metadata[parameters.clientID.key]?.authorityMap ?? [:]
        if parameters.version == .v2 { map[parameters.authorityMapKey] = asked.withRealm(tenant).url }
        return AccountMetadataRecord(
            owner: owner, clientID: parameters.clientID, signInState: .signedIn, authorityMap: map)
    }

    /// What the app gets. B2C issues an ID token alone when no resource was asked for; the access token is empty then.
    ///
    /// - Parameter records: what is written.
    /// - Throws: `serverInvalidResponse` (-51401) when there is no token or nobody it belongs to.
    func result(
        of records: [CacheRecord], cache: CredentialCache, holdings: Holdings
    ) throws(TokenError) -> TokenResult {
        var after = holdings
        var accessToken: AccessTokenRecord?
        for record in records {
            switch record {
            case .account(let account): after.accounts[account.key] = account
            case .idToken(let token): after.idTokens[token.key] = token
            case .accessToken(let token): accessToken = token
            case .refreshToken, .appMetadata, .accountMetadata, .principal, .carried: break
            }
        }
        guard let accessToken = accessToken ?? emptyToken,
            var result = cache.result(for: accessToken, parameters, at: asked, holdings: after)
        else {
            throw TokenError(.serverInvalidResponse, "the response holds no access token, or does not say whose it is")
        }
        result.isFromCache = false
        result.familyID = tokens.familyID
        result.hasMultiResourceRefreshToken = tokens.isMultiResource && tokens.refreshToken != nil
        return result
    }

    private var emptyToken: AccessTokenRecord? {
        guard parameters.version == .v2, let idToken else { return nil }
        return AccessTokenRecord(
            owner: owner, environment: environment, clientID: idToken.clientID, realm: idToken.realm, version: .v2,
            scopes: (tokens.scopes ?? ScopeSet([])).limited(keeping: parameters.scopes), tokenType: tokens.tokenType,
            secret: Secret(""), cachedAt: now,
            expiresOn: now + tokens.expiresIn, extendedExpiresOn: nil, refreshOn: nil)
    }
}
