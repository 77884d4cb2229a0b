/// A credential of the cache as an app may see it: an access token, or a refresh token without its secret.
public struct Credential: Sendable, Equatable, Identifiable {
    /// The kind of a credential.
    @nonexhaustive public enum Kind: Int32, Sendable, CaseIterable {
        /// An access token.
        case accessToken = 1
        /// A refresh token. Its secret stays in the agent.
        case refreshToken = 2
    }

    /// The identifier of the credential within its sharing group; opaque.
    public var id: String
    /// The kind of the credential.
    public var kind: Kind
    /// The app to which the credential was issued; for the refresh token of a family, the app that saved it last.
    public var clientID: ClientID
    /// The family that shares the credential; nil if it belongs to one app.
    public var familyID: FamilyID?
    /// The authority of the credential as a URL; the realm is `common` for refresh tokens of Entra, which are valid in every tenant.
    public var authority: String
    /// The generation of the endpoint that issued the access token; nil for refresh tokens, which are valid at both.
    public var version: OAuthVersion?
    /// The scopes of the credential; empty for refresh tokens that are valid for every resource.
    public var scopes: ScopeSet
    /// The access token; nil for refresh tokens.
    public var accessToken: Secret?
    /// The type of the access token, such as `Bearer`; nil for refresh tokens.
    public var tokenType: String?
    /// The expiry of the access token in seconds since 1970; nil for refresh tokens.
    public var expiresOn: Int64?
    /// The end of the access token's extended lifetime, in which it may be used in an outage, in seconds since 1970.
    public var extendedExpiresOn: Int64?
    /// The ID token that was issued with the credential, or another one of the same account.
    public var idToken: String?
    /// The account of the credential; empty if it is not known.
    public var account: AccountReference

    /// Creates a credential.
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

    /// An upper bound of the credential's size in a message, in bytes.
    package var approximateSize: Int {
        let texts = [id, clientID.text, familyID?.text, authority, tokenType, idToken, account.username].compactMap(
            \.self)
        return scopes.scopes.reduce(256 + (accessToken?.count ?? 0) + (account.homeAccountID?.text.utf8.count ?? 0)) {
            $0 + 8 + $1.utf8.count
        } + texts.reduce(0) { $0 + 8 + $1.utf8.count }
    }
}
