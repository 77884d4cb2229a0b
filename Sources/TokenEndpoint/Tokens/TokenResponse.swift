package import TokenModel

/// A token endpoint's answer, read and checked (RFC 6749 section 5.1).
package struct TokenResponse: Sendable {
    /// Nil when only an ID token was issued.
    package var accessToken: Secret?
    /// `Bearer`, as the issuer spells it.
    package var tokenType: String
    /// The access token's lifetime in seconds; 3600 when the issuer said nothing.
    package var expiresIn: Int64
    /// For how many seconds it may be used in an outage (`ext_expires_in`).
    package var extendedExpiresIn: Int64?
    /// After how many seconds to refresh ahead of time (`refresh_in`).
    package var refreshIn: Int64?
    /// The scopes granted; nil when the issuer named none, which means those asked for.
    package var scopes: ScopeSet?
    /// What the access token is for, in v1.
    package var resource: String?
    /// Replaces the one redeemed; nil when that stays good.
    package var refreshToken: Secret?
    /// The raw ID token.
    package var idToken: String?
    /// Whose tokens these are, from `client_info`.
    package var homeAccountID: HomeAccountID?
    /// `client_info` as sent.
    package var clientInfo: String?
    /// The app's family, from `foci`.
    package var familyID: FamilyID?
    /// The cloud the account is at home in, as the issuer words it.
    package var cloudName: String?

    package init(
        accessToken: Secret?, tokenType: String = "Bearer", expiresIn: Int64 = 3600, extendedExpiresIn: Int64? = nil,
        refreshIn: Int64? = nil, scopes: ScopeSet? = nil, resource: String? = nil, refreshToken: Secret? = nil,
        idToken: String? = nil, homeAccountID: HomeAccountID? = nil, clientInfo: String? = nil,
        familyID: FamilyID? = nil, cloudName: String? = nil
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresIn = expiresIn
        self.extendedExpiresIn = extendedExpiresIn
        self.refreshIn = refreshIn
        self.scopes = scopes
        self.resource = resource
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.homeAccountID = homeAccountID
        self.clientInfo = clientInfo
        self.familyID = familyID
        self.cloudName = cloudName
    }
}
