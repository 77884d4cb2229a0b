package import TokenModel

/// One request to a token endpoint.
package struct TokenRequest: Sendable {
    /// What is traded.
    package var grant: Grant
    /// The app it is traded for.
    package var clientID: ClientID
    /// Who is asked.
    package var authority: Authority
    /// In which generation's terms: scopes or a resource.
    package var version: OAuthVersion
    /// What the access token is for; in v1 exactly one `<resource>/.default`.
    package var scopes: ScopeSet
    /// The `claims` parameter, JSON text; nil for none.
    package var claims: String?
    /// The app's redirect URI, which v2 wants with refreshes too; nil for none.
    package var redirectURI: String?
    /// More form fields; ones the protocol sets itself are ignored.
    package var extraParameters: [String: String]
    /// The operation the request belongs to.
    package var correlationID: CorrelationID
    /// The names of the authority's cloud: the only hosts that may see the grant. Nil when any may.
    package var allowedEnvironments: Set<String>?

    package init(
        grant: Grant, clientID: ClientID, authority: Authority, version: OAuthVersion, scopes: ScopeSet,
        claims: String? = nil, redirectURI: String? = nil, extraParameters: [String: String] = [:],
        correlationID: CorrelationID, allowedEnvironments: Set<String>? = nil
    ) {
        self.grant = grant
        self.clientID = clientID
        self.authority = authority
        self.version = version
        self.scopes = scopes
        self.claims = claims
        self.redirectURI = redirectURI
        self.extraParameters = extraParameters
        self.correlationID = correlationID
        self.allowedEnvironments = allowedEnvironments
    }
}
