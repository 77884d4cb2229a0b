internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

extension IssuedTokens {
    /// What the cache needs to know of a token response.
    ///
    /// A v1 refresh token serves every resource only if the response names one; a v2 one always does.
    init(_ response: TokenResponse, version: OAuthVersion) {
        self.init(
            accessToken: response.accessToken, tokenType: response.tokenType, expiresIn: response.expiresIn,
            extendedExpiresIn: response.extendedExpiresIn, refreshIn: response.refreshIn, scopes: response.scopes,
            refreshToken: response.refreshToken, isMultiResource: version == .v2 || response.resource != nil,
            idToken: response.idToken, homeAccountID: response.homeAccountID, clientInfo: response.clientInfo,
            familyID: response.familyID)
    }
}
