/// The tokens of a successful token response (RFC 6749 section 5.1), with Entra's additional fields.
package struct IssuedTokens: Sendable {
    /// The access token; nil if only an ID token was issued.
    package var accessToken: Secret?
    /// The type of the access token, as the issuer spells it; `Bearer` in practice.
    package var tokenType: String
    /// The lifetime of the access token in seconds; 3600 if the response does not name one.
    package var expiresIn: Int64
    /// The lifetime of the access token in an outage, in seconds (`ext_expires_in`).
    package var extendedExpiresIn: Int64?
    /// The number of seconds after which to refresh the access token early (`refresh_in`).
    package var refreshIn: Int64?
    /// The scopes granted; nil if the response names none, which means the requested ones.
    package var scopes: ScopeSet?
    /// Replaces the refresh token that was redeemed; nil if that one remains valid.
    package var refreshToken: Secret?
    /// Whether the refresh token can be redeemed for other resources too. A v2 one always can; a v1 one if the response has a
    /// `resource`.
    package var isMultiResource: Bool
    /// The ID token as a compact JWS.
    package var idToken: String? { didSet { claims = idToken.flatMap { IDTokenClaims(idToken: $0) } } }
    /// The claims of the ID token; nil if there is none, or it cannot be read. They are decoded with the response, since what is done
    /// with the tokens is done on the event loop.
    package private(set) var claims: IDTokenClaims?
    /// The account, from `client_info`.
    package var homeAccountID: HomeAccountID?
    /// `client_info` as received.
    package var clientInfo: String?
    /// The family of the app, from `foci`.
    package var familyID: FamilyID?
    /// The host of the account's cloud, if the response names one (`cloud_instance_host_name`). It is not checked.
    package var cloudName: String?
    /// The token endpoint that issued the tokens; nil if it is the one that Entra's convention gives the authority.
    package var endpoint: URLParts?

    package init(
        accessToken: Secret?, tokenType: String = "Bearer", expiresIn: Int64 = 3600, extendedExpiresIn: Int64? = nil,
        refreshIn: Int64? = nil, scopes: ScopeSet? = nil, refreshToken: Secret? = nil, isMultiResource: Bool = true,
        idToken: String? = nil, homeAccountID: HomeAccountID? = nil, clientInfo: String? = nil,
        familyID: FamilyID? = nil, cloudName: String? = nil, endpoint: URLParts? = nil
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
        self.claims = idToken.flatMap { IDTokenClaims(idToken: $0) }
        self.homeAccountID = homeAccountID
        self.clientInfo = clientInfo
        self.familyID = familyID
        self.cloudName = cloudName
        self.endpoint = endpoint
    }
}
