package import TokenModel

/// Asks for an authorization code in the user's browser (RFC 6749 section 4.1.1, RFC 7636 section 4.3).
package struct AuthorizationRequest: Sendable {
    private let query: FormParameters

    /// - Parameters:
    ///   - state: comes back unchanged; unguessable.
    ///   - challenge: `PKCE.challenge`.
    ///   - account: who has to sign in, where the app knows.
    ///   - kind: of the identity provider. Microsoft's get `client_info` and the parameters that their own libraries send; any
    ///     other gets the parameters of OpenID Connect only.
    ///   - extraParameters: what the app adds to the query; names the protocol sets itself are ignored.
    /// - Throws: `invalidDeveloperParameter` when a v1 request does not name exactly one resource.
    package init(
        clientID: ClientID, version: OAuthVersion, scopes: ScopeSet, redirectURI: String, state: String,
        challenge: String, nonce: String? = nil, prompt: String? = nil, loginHint: String? = nil,
        domainHint: String? = nil, account: HomeAccountID? = nil, claims: String? = nil,
        extraParameters: [String: String] = [:], kind: Authority.Kind = .entra, correlationID: CorrelationID
    ) throws(TokenError) {
        var query = FormParameters()
        query.add("client_id", clientID.text)
        query.add("response_type", "code")
        query.add("redirect_uri", redirectURI)
        try query.addAudience(scopes, version: version)
        query.add("state", state)
        query.add("nonce", nonce)
        query.add("code_challenge", challenge)
        query.add("code_challenge_method", "S256")
        query.add("client_info", kind == .openID ? nil : "1")
        query.add("prompt", prompt)
        query.add("login_hint", loginHint)
        query.add("domain_hint", domainHint)
        query.add("claims", claims)
        query.add("client-request-id", correlationID.description)
        if kind != .openID { query.addMicrosofts(version, account, nux: extraParameters["nux"] ?? "1") }
        query.add(extra: extraParameters)
        self.query = query
    }

    /// The URL to open; keeps a query that the endpoint already has.
    package func url(endpoint: String) -> String {
        endpoint + (endpoint.contains("?") ? "&" : "?") + query.encoded
    }
}

extension FormParameters {
    /// Adds what MSAL and ADAL send besides the parameters of OpenID Connect: the client description; in v2, as MSAL, the two parts
    /// of the home account ID that has to sign in; in v1, as ADAL, `nux` ("new user experience").
    fileprivate mutating func addMicrosofts(_ version: OAuthVersion, _ account: HomeAccountID?, nux: String) {
        for field in ClientDescription.fields { add(field.name, field.value) }
        switch version {
        case .v1: add("nux", nux)
        case .v2:
            add("return-client-request-id", "true")
            add("login_req", account?.objectID)
            add("domain_req", account?.tenantID)
        }
    }
}
