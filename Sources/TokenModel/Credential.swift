/// A credential of the cache as an app may see it: an access token, or that there is a refresh token.
public struct Credential: Sendable, Equatable, Identifiable {
    /// What a credential is.
    public enum Kind: Int32, Sendable, CaseIterable {
        /// An access token.
        case accessToken = 1
        /// A refresh token, whose secret stays in the agent.
        case refreshToken = 2
    }

    /// Names the credential within its sharing group; opaque.
    public var id: String
    /// What it is.
    public var kind: Kind
    /// The app it was issued to; for a family's refresh token, the app that saved it last.
    public var clientID: ClientID
    /// The family that shares it; nil for an app's own.
    public var familyID: FamilyID?
    /// The authority it is kept under, as a URL; the realm is `common` for refresh tokens that serve every tenant.
    public var authority: String
    /// The generation of endpoints that issued it; nil for refresh tokens, which serve both.
    public var version: OAuthVersion?
    /// What it is for; empty for refresh tokens that serve every resource.
    public var scopes: ScopeSet
    /// The access token; nil for refresh tokens.
    public var accessToken: Secret?
    /// The access token's type, such as `Bearer`; nil for refresh tokens.
    public var tokenType: String?
    /// When the access token expires, in seconds since 1970; nil for refresh tokens.
    public var expiresOn: Int64?
    /// Until when it may be used in an outage, in seconds since 1970.
    public var extendedExpiresOn: Int64?
    /// The ID token that the app got with it, or another of the same account.
    public var idToken: String?
    /// Whose it is; empty where nobody knows.
    public var account: AccountReference

    /// A credential with these members.
    public init(
        id: String, kind: Kind, clientID: ClientID, familyID: FamilyID? = nil, authority: String,
        version: OAuthVersion? = nil, scopes: ScopeSet = ScopeSet([]), accessToken: Secret? = nil,
        tokenType: String? = nil, expiresOn: Int64? = nil, extendedExpiresOn: Int64? = nil, idToken: String? = nil,
        account: AccountReference
    ) {
        self.id = id
        self.kind = kind
        self.clientID = clientID
        self.familyID = familyID
        self.authority = authority
        self.version = version
        self.scopes = scopes
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresOn = expiresOn
        self.extendedExpiresOn = extendedExpiresOn
        self.idToken = idToken
        self.account = account
    }
}
