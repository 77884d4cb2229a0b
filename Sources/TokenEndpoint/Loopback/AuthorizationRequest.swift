package import TokenModel

/// Asks for an authorization code in the user's browser (RFC 6749 section 4.1.1, RFC 7636 section 4.3).
package struct AuthorizationRequest: Sendable {
    private let query: FormParameters

    /// - Parameters:
    ///   - state: comes back unchanged; unguessable.
    ///   - challenge: `PKCE.challenge`.
    ///   - asksForClientInfo: whether the answers are to say whose home account it is, which Microsoft's providers know.
    ///   - extraParameters: what the app adds to the query; names the protocol sets itself are ignored.
    /// - Throws: `invalidDeveloperParameter` when a v1 request does not name exactly one resource.
    package init(
        clientID: ClientID, version: OAuthVersion, scopes: ScopeSet, redirectURI: String, state: String,
        challenge: String, nonce: String? = nil, prompt: String? = nil, loginHint: String? = nil,
        domainHint: String? = nil, claims: String? = nil, extraParameters: [String: String] = [:],
        asksForClientInfo: Bool = true, correlationID: CorrelationID
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
        query.add("client_info", asksForClientInfo ? "1" : nil)
        query.add("prompt", prompt)
        query.add("login_hint", loginHint)
        query.add("domain_hint", domainHint)
        query.add("claims", claims)
        query.add("client-request-id", correlationID.description)
        query.add(extra: extraParameters)
        self.query = query
    }

    /// The URL to open; keeps a query that the endpoint already has.
    package func url(endpoint: String) -> String {
        endpoint + (endpoint.contains("?") ? "&" : "?") + query.encoded
    }
}
