/// What every acquisition says: which app asks, for what, from whom.
public struct TokenParameters: Sendable, Equatable {
    /// The app.
    public var clientID: ClientID
    /// The partition of the cache to look in and save to.
    public var sharingGroup: SharingGroup
    /// Who is to issue the token.
    public var authority: Authority
    /// Which generation of endpoints to use.
    public var version: OAuthVersion
    /// What is asked for; a v1 resource is `ScopeSet(resource:)`.
    public var scopes: ScopeSet
    /// The app's registered redirect URI; sent with code redemptions, and with refreshes where there is one.
    public var redirectURI: String?
    /// The `claims` parameter, a JSON object (OpenID Connect Core 1.0 section 5.5); skips cached tokens.
    public var claims: String?
    /// Client capabilities such as `cp1`; merged into `claims`, and do not skip cached tokens.
    public var capabilities: [String]
    /// More query parameters for the authorization endpoint, and form parameters for the token endpoint.
    public var extraParameters: [String: String]
    /// Whether the authority has to be a known one; false where the app vouches for it.
    public var validatesAuthority: Bool
    /// The operation.
    public var correlationID: CorrelationID

    /// Parameters with the given members and the libraries' defaults for the others.
    public init(
        clientID: ClientID, sharingGroup: SharingGroup = .standard, authority: Authority = .common,
        version: OAuthVersion = .v2, scopes: ScopeSet, redirectURI: String? = nil, claims: String? = nil,
        capabilities: [String] = [], extraParameters: [String: String] = [:], validatesAuthority: Bool = true,
        correlationID: CorrelationID = CorrelationID()
    ) {
        self.clientID = clientID
        self.sharingGroup = sharingGroup
        self.authority = authority
        self.version = version
        self.scopes = scopes
        self.redirectURI = redirectURI
        self.claims = claims
        self.capabilities = capabilities
        self.extraParameters = extraParameters
        self.validatesAuthority = validatesAuthority
        self.correlationID = correlationID
    }

    /// Whether the app is ready to be sent to another cloud than the authority's, which Entra calls `instance_aware`.
    package var isInstanceAware: Bool { extraParameters["instance_aware"]?.lowercased() == "true" }
}
