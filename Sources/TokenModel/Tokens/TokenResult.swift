/// The result of a successful token acquisition.
///
/// It has no refresh token: refresh tokens stay in the agent. A copy of it is a reference and a few numbers.
public struct TokenResult: Sendable, Equatable {
    private var content: Content
    /// The expiry of the access token in seconds since 1970.
    public var expiresOn: Int64
    /// The end of the access token's extended lifetime, in which it may be used in an outage, in seconds since 1970; nil if
    /// it has none.
    public var extendedExpiresOn: Int64?
    /// The correlation ID of the operation that acquired the token.
    public var correlationID: CorrelationID
    /// Whether the token comes from the cache, without a request to the token endpoint.
    public var isFromCache: Bool
    /// Whether the token has expired and is returned because of an outage of the token endpoint.
    public var isExtendedLifetime: Bool
    /// Whether the agent has a refresh token that is valid for other resources too; false in a result from the cache.
    public var hasMultiResourceRefreshToken: Bool
    /// Whether a redemption for the request has failed, and a refresh token was removed or replaced: the request has changed the cache, also
    /// if the token comes from it.
    package var hasChangedCache = false
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
        content = Content(
            Values(
                accessToken: accessToken, tokenType: tokenType, scopes: scopes, idToken: idToken, account: account,
                tenantProfile: tenantProfile, authority: authority, familyID: familyID))
        self.expiresOn = expiresOn
        self.extendedExpiresOn = extendedExpiresOn
        self.correlationID = correlationID
        self.isFromCache = isFromCache
        self.isExtendedLifetime = isExtendedLifetime
        self.hasMultiResourceRefreshToken = hasMultiResourceRefreshToken
    }

    /// The values that are objects. They are shared by copies of the result, and copied if one of them is changed.
    private final class Content: Sendable, Equatable {
        let values: Values

        init(_ values: Values) { self.values = values }

        static func == (left: Content, right: Content) -> Bool { left === right || left.values == right.values }
    }

    private struct Values: Sendable, Equatable {
        var accessToken: Secret
        var tokenType: String
        var scopes: [String]
        var idToken: String?
        var account: Account
        var tenantProfile: TenantProfile?
        var authority: String
        var familyID: FamilyID?
    }

    private mutating func change(_ body: (inout Values) -> Void) {
        var values = content.values
        body(&values)
        content = Content(values)
    }
}

extension TokenResult {
    /// The access token.
    public var accessToken: Secret {
        get { content.values.accessToken }
        set { change { $0.accessToken = newValue } }
    }

    /// The type of the access token; `Bearer` in practice.
    public var tokenType: String {
        get { content.values.tokenType }
        set { change { $0.tokenType = newValue } }
    }

    /// The scopes granted, in the issuer's case and order, then a requested `.default` that Microsoft's token endpoint does not name.
    public var scopes: [String] {
        get { content.values.scopes }
        set { change { $0.scopes = newValue } }
    }

    /// The ID token for this app and tenant, as received; nil if there is none.
    public var idToken: String? {
        get { content.values.idToken }
        set { change { $0.idToken = newValue } }
    }

    /// The account of the token, without its tenant profiles.
    public var account: Account {
        get { content.values.account }
        set { change { $0.account = newValue } }
    }

    /// The account's profile in the tenant that issued the token; nil if it is not known.
    public var tenantProfile: TenantProfile? {
        get { content.values.tenantProfile }
        set { change { $0.tenantProfile = newValue } }
    }

    /// The URL of the authority that issued the token, with the ID of the tenant. The authority of the request in v1, and for AD FS, OpenID
    /// providers, and B2C and External ID at a domain of the organisation, whose path identifies the provider.
    public var authority: String {
        get { content.values.authority }
        set { change { $0.authority = newValue } }
    }

    /// The family of the app that the token response has named; nil if it named none, and in a result from the cache.
    public var familyID: FamilyID? {
        get { content.values.familyID }
        set { change { $0.familyID = newValue } }
    }
}
