internal import TokenModel

extension Saving {
    /// What to write, in the order in which a reader of a half-written cache would want it.
    func records(knownBefore holdings: Holdings) -> [CacheRecord] {
        var records = refreshTokens.map(CacheRecord.refreshToken)
        if let accessToken { records.append(.accessToken(accessToken)) }
        if let idToken { records.append(.idToken(idToken)) }
        if let account = account(knownBefore: holdings) { records.append(.account(account)) }
        if tokens.isMultiResource { records.append(.appMetadata(appMetadata)) }
        records.append(.accountMetadata(metadata(knownBefore: holdings)))
        return records
    }

    /// The app's own refresh token, and the family's where there is one. None in the response: the old ones stay.
    private var refreshTokens: [RefreshTokenRecord] {
        guard let secret = tokens.refreshToken else { return [] }
        let only =
            tokens.isMultiResource
            ? nil : RefreshTokenRecord.Resource(realm: asked.realm(for: parameters.version), scopes: parameters.scopes)
        let own = RefreshTokenRecord(
            owner: owner, environment: environment, clientID: parameters.clientID, familyID: nil, secret: secret,
            only: only)
        guard let family = tokens.familyID else { return [own] }
        var shared = own
        shared.familyID = family
        return [own, shared]
    }

    private func account(knownBefore holdings: Holdings) -> AccountRecord? {
        guard let claims else {
            // Without an ID token nothing new is known of the account.
            guard holdings.accounts.isEmpty, case .name(let name) = owner else { return nil }
            return blankAccount(username: name)
        }
        let username = parameters.version == .v1 ? claims.preferredUsername ?? claims.v1UserID : claims.username
        var record = blankAccount(username: username ?? "")
        record.localAccountID = claims.localAccountID
        record.name = claims.name
        record.givenName = claims.givenName
        record.familyName = claims.familyName
        record.alternativeAccountID = claims.alternativeSecurityID
        record.clientInfo = tokens.clientInfo
        // MSAL's knowledge of an account is the fuller one: ADAL's does not take its place, nor ADAL's lower case its spelling.
        if let known = holdings.accounts[record.key], known.source == "msal" {
            record.source = "msal"
            if known.username.lowercased() == record.username.lowercased() { record.username = known.username }
        }
        return record
    }

    private func blankAccount(username: String) -> AccountRecord {
        let isEntra = asked.kind == .entra || asked.kind == .ciam || asked.kind == .b2c
        return AccountRecord(
            homeAccountID: owner.homeAccountID?.text, environment: environment, realm: tenant, localAccountID: nil,
            username: username,
            authorityType: asked.kind == .adfs ? "ADFS" : isEntra ? AccountRecord.entraType : "Other",
            source: parameters.version == .v1 ? "adal" : "msal")
    }

    private var appMetadata: AppMetadataRecord {
        AppMetadataRecord(
            clientID: parameters.clientID.text, environment: environment, familyID: tokens.familyID?.text ?? "")
    }

    private func metadata(knownBefore holdings: Holdings) -> AccountMetadataRecord {
        var map = holdings.metadata[parameters.clientID.key]?.authorityMap ?? [:]
        if parameters.version == .v2 { map[parameters.authority.url] = asked.withRealm(tenant).url }
        return AccountMetadataRecord(
            owner: owner, clientID: parameters.clientID, signInState: .signedIn, authorityMap: map)
    }

    /// What the app gets.
    ///
    /// - Throws: `serverInvalidResponse` (-51401) when there is no access token or nobody it belongs to.
    func result(cache: CredentialCache, holdings: Holdings) throws(TokenError) -> TokenResult {
        var after = holdings
        if let account = account(knownBefore: holdings) { after.accounts[account.key] = account }
        if let idToken { after.idTokens[idToken.key] = idToken }
        guard let accessToken,
            var result = cache.result(for: accessToken, parameters, at: asked, holdings: after)
        else {
            throw TokenError(.serverInvalidResponse, "the response holds no access token, or does not say whose it is")
        }
        result.isFromCache = false
        result.familyID = tokens.familyID
        result.hasMultiResourceRefreshToken = tokens.isMultiResource && tokens.refreshToken != nil
        return result
    }
}
