package import TokenModel

/// The tokens in a response of a token endpoint.
package struct IssuedTokens: Sendable {
    package var accessToken: Secret?
    package var tokenType: String
    package var expiresIn: Int64
    package var extendedExpiresIn: Int64?
    package var refreshIn: Int64?
    /// The granted scopes; nil if the response does not name them, which means those requested (RFC 6749 section 5.1).
    package var scopes: ScopeSet?
    package var refreshToken: Secret?
    /// Whether the refresh token serves every resource.
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

/// The changes that save a response, and the result for the app.
package struct SavedTokens: Sendable {
    package var account: AccountKey
    package var changes: [CacheChange]
    package var result: TokenResult
}

/// The request that a response answers.
package enum Issuance: Sendable {
    /// An interactive sign-in; it ends an earlier sign-out.
    case signIn
    /// The redemption of a refresh token.
    case redemption(RefreshTokenRecord)
}
