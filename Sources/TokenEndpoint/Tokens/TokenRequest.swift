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

/// What is traded for tokens at the token endpoint.
package enum Grant: Sendable {
    /// RFC 6749 section 6.
    case refreshToken(Secret)
    /// RFC 6749 section 4.1.3 with RFC 7636 section 4.5; the redirect URI is the one the code was asked for with.
    case authorizationCode(code: Secret, verifier: Secret, redirectURI: String)
    /// RFC 8628 section 3.4.
    case deviceCode(Secret)
    /// RFC 7522 section 2.1, and its like for SAML 1.1; the XML as it is.
    case assertion(Secret, isSAML2: Bool)
}
