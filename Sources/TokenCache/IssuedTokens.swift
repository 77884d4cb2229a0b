package import TokenModel

/// What a token endpoint issued, as the cache needs to know it.
package struct IssuedTokens: Sendable {
    package var accessToken: Secret?
    package var tokenType: String
    package var expiresIn: Int64
    package var extendedExpiresIn: Int64?
    package var refreshIn: Int64?
    /// As granted; nil when the response did not say, which means as asked.
    package var scopes: ScopeSet?
    package var refreshToken: Secret?
    /// Whether the refresh token serves other resources too.
    package var isMultiResource: Bool
    package var idToken: String?
    package var homeAccountID: HomeAccountID?
    package var clientInfo: String?
    package var familyID: FamilyID?

    package init(
        accessToken: Secret?, tokenType: String, expiresIn: Int64, extendedExpiresIn: Int64?, refreshIn: Int64?,
        scopes: ScopeSet?, refreshToken: Secret?, isMultiResource: Bool, idToken: String?,
        homeAccountID: HomeAccountID?, clientInfo: String?, familyID: FamilyID?
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresIn = expiresIn
        self.extendedExpiresIn = extendedExpiresIn
        self.refreshIn = refreshIn
        self.scopes = scopes
        self.refreshToken = refreshToken
        self.isMultiResource = isMultiResource
        self.idToken = idToken
        self.homeAccountID = homeAccountID
        self.clientInfo = clientInfo
        self.familyID = familyID
    }
}

/// What saving a response amounts to: the steps to take, and what the app will get.
package struct SavedTokens: Sendable {
    package var owner: OwnerID
    package var changes: [CacheChange]
    package var result: TokenResult
}

/// Where a response comes from.
package enum Issuance: Sendable {
    /// A person signed in: this undoes an earlier sign-out.
    case signIn
    /// A refresh token of this account was redeemed.
    case redemption(RefreshTokenRecord)
}
