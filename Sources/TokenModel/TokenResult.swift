/// What an app gets when a token was acquired, by any means.
///
/// It never carries a refresh token: those stay in the agent.
public struct TokenResult: Sendable, Equatable {
    /// The access token.
    public var accessToken: Secret
    /// The `token_type` of the response, `Bearer` in practice.
    public var tokenType: String
    /// When it expires, in seconds since 1970.
    public var expiresOn: Int64
    /// Until when it may still be used in an outage, in seconds since 1970; nil when the issuer said nothing.
    public var extendedExpiresOn: Int64?
    /// The scopes granted, in the issuer's case and order.
    public var scopes: [String]
    /// The raw ID token for this app and tenant; nil when there is none.
    public var idToken: String?
    /// Whose token it is.
    public var account: Account
    /// The account in the tenant that issued the token.
    public var tenantProfile: TenantProfile?
    /// The authority that issued it, with the tenant's own realm.
    public var authority: String
    /// The operation that acquired it.
    public var correlationID: CorrelationID
    /// Whether it came from the cache without asking the token endpoint.
    public var isFromCache: Bool
    /// Whether it has expired and was returned because the token endpoint is down.
    public var isExtendedLifetime: Bool
    /// The family of client IDs the app belongs to, where the issuer said so.
    public var familyID: FamilyID?
    /// Whether the agent holds a refresh token that serves other resources too.
    public var hasMultiResourceRefreshToken: Bool

    /// A result with these members.
    public init(
        accessToken: Secret, tokenType: String, expiresOn: Int64, extendedExpiresOn: Int64? = nil, scopes: [String],
        idToken: String?, account: Account, tenantProfile: TenantProfile?, authority: String,
        correlationID: CorrelationID, isFromCache: Bool, isExtendedLifetime: Bool = false, familyID: FamilyID? = nil,
        hasMultiResourceRefreshToken: Bool = false
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresOn = expiresOn
        self.extendedExpiresOn = extendedExpiresOn
        self.scopes = scopes
        self.idToken = idToken
        self.account = account
        self.tenantProfile = tenantProfile
        self.authority = authority
        self.correlationID = correlationID
        self.isFromCache = isFromCache
        self.isExtendedLifetime = isExtendedLifetime
        self.familyID = familyID
        self.hasMultiResourceRefreshToken = hasMultiResourceRefreshToken
    }
}
