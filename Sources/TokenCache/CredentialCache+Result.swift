internal import TokenModel

extension CredentialCache {
    /// What an app gets for an access token; nil when an MSAL app's account or ID token is missing, without which its result
    /// could not say whose token it is.
    func result(
        for token: AccessTokenRecord, _ parameters: TokenParameters, at authority: Authority, holdings: Holdings
    ) -> TokenResult? {
        let idToken = holdings.idToken(like: token, clouds)
        let tenant = idToken?.tenant ?? token.realm
        let records = holdings.orderedAccounts(from: token.environment, clouds)
        guard let record = records.first(where: { $0.realm == tenant }) ?? records.first else { return nil }
        if token.version == .v2, idToken == nil { return nil }
        let profile = profile(of: record, idToken: idToken?.idToken)
        var account = account(of: token.owner, record: records.first ?? record)
        if profile.isHome { account.homeIDToken = profile.idToken }
        if token.owner.homeAccountID == nil { account.username = record.username }
        return TokenResult(
            accessToken: token.secret, tokenType: token.tokenType, expiresOn: token.expiresOn,
            extendedExpiresOn: token.extendedExpiresOn, scopes: token.scopes.scopes, idToken: idToken?.idToken,
            account: account, tenantProfile: profile,
            authority: issuer(of: tenant, parameters, at: authority).url,
            correlationID: parameters.correlationID, isFromCache: true)
    }

    /// v1 repeats the authority that was asked, unless it sent the person to another cloud.
    private func issuer(of tenant: String, _ parameters: TokenParameters, at authority: Authority) -> Authority {
        guard parameters.version == .v1 else { return authority.withRealm(tenant) }
        let asked = parameters.authority
        return clouds.sameCloud(authority.environment, asked.environment)
            ? asked : asked.withEnvironment(authority.environment)
    }

    /// An account without its tenant profiles.
    func account(of owner: OwnerID, record: AccountRecord) -> Account {
        Account(
            homeAccountID: owner.homeAccountID, username: record.username.isEmpty ? nil : record.username,
            environment: record.environment, source: record.source == "adal" ? .adal : .msal)
    }

    func profile(of record: AccountRecord, idToken: String?) -> TenantProfile {
        TenantProfile(
            realm: record.realm, localAccountID: record.localAccountID, username: record.username,
            environment: record.environment, isHome: record.isHome, idToken: idToken)
    }
}
