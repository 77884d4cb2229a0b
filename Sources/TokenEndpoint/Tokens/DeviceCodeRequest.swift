package import TokenModel

/// Asks for a code that the user types in on another device (RFC 8628 section 3.1).
package struct DeviceCodeRequest: Sendable {
    /// The app that signs in.
    package var clientID: ClientID
    /// Who is asked.
    package var authority: Authority
    /// In which generation's terms: scopes or a resource.
    package var version: OAuthVersion
    /// What the access token is for; in v1 exactly one `<resource>/.default`.
    package var scopes: ScopeSet
    /// The `claims` parameter, JSON text; nil for none.
    package var claims: String?
    /// More form fields; ones the protocol sets itself are ignored.
    package var extraParameters: [String: String]
    /// The operation the request belongs to.
    package var correlationID: CorrelationID

    package init(
        clientID: ClientID, authority: Authority, version: OAuthVersion, scopes: ScopeSet, claims: String? = nil,
        extraParameters: [String: String] = [:], correlationID: CorrelationID
    ) {
        self.clientID = clientID
        self.authority = authority
        self.version = version
        self.scopes = scopes
        self.claims = claims
        self.extraParameters = extraParameters
        self.correlationID = correlationID
    }

    /// The body to post.
    func form() throws(TokenError) -> FormParameters {
        var form = FormParameters()
        form.add("client_id", clientID.text)
        try form.addAudience(scopes, version: version)
        form.add("client_info", authority.kind == .openID ? nil : "1")
        form.add("claims", claims)
        form.add(extra: extraParameters)
        return form
    }
}
