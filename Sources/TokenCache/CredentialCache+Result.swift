internal import TokenModel

extension CredentialCache {
    /// What an app gets for an access token; nil when an MSAL app's account or ID token is missing, without which its result
    /// could not say whose token it is.
    func result(
        for token: AccessTokenRecord, _ parameters: TokenParameters, at authority: Authority, holdings: Holdings
    ) -> TokenResult? {
        let idToken = holdings.idToken(like: token)
        let tenant = idToken?.tenant ?? token.realm
        let records = holdings.orderedAccounts
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
            authority: parameters.version == .v1 ? parameters.authority.url : authority.withRealm(tenant).url,
            correlationID: parameters.correlationID, isFromCache: true)
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
