/// The result of a successful token acquisition.
///
/// It has no refresh token: refresh tokens stay in the agent.
public struct TokenResult: Sendable, Equatable {
    /// The access token.
    public var accessToken: Secret
    /// The type of the access token; `Bearer` in practice.
    public var tokenType: String
    /// The expiry of the access token in seconds since 1970.
    public var expiresOn: Int64
    /// The end of the access token's extended lifetime, in which it may be used in an outage, in seconds since 1970; nil if
    /// it has none.
    public var extendedExpiresOn: Int64?
    /// The scopes granted, in the issuer's case and order.
    public var scopes: [String]
    /// The ID token for this app and tenant; nil if there is none.
    public var idToken: String?
    /// The account of the token.
    public var account: Account
    /// The account's profile in the tenant that issued the token.
    public var tenantProfile: TenantProfile?
    /// The authority that issued the token, with the ID of the tenant.
    public var authority: String
    /// The correlation ID of the operation that acquired the token.
    public var correlationID: CorrelationID
    /// Whether the token comes from the cache, without a request to the token endpoint.
    public var isFromCache: Bool
    /// Whether the token has expired and is returned because of an outage of the token endpoint.
    public var isExtendedLifetime: Bool
    /// The family of the app; nil if the issuer names none.
    public var familyID: FamilyID?
    /// Whether the agent has a refresh token that is valid for other resources too.
    public var hasMultiResourceRefreshToken: Bool
    /// Whether a message of the result may have the ID token once (`AcquireTokenSilent.acceptsSingleIDToken`).
    package var allowsSingleIDToken = false
    /// The times, in seconds since 1970, at which an equal request has this result, as long as the generations of the agent's
    /// page do not change; nil if that is not certain, or if the request did not ask for it.
    package var freshness: ClosedRange<Int64>?

    /// Creates a result.
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
