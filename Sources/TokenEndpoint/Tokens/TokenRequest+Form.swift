internal import TokenModel

extension TokenRequest {
    /// The body to post.
    ///
    /// - Throws: `invalidDeveloperParameter` when a v1 request does not name exactly one resource.
    func form() throws(TokenError) -> FormParameters {
        var form = FormParameters()
        form.add("client_id", clientID.text)
        add(grant, to: &form)
        try form.addAudience(scopes, version: version)
        form.add("client_info", authority.kind == .openID ? nil : "1")
        form.add("claims", claims)
        form.add(extra: extraParameters)
        return form
    }

    private func add(_ grant: Grant, to form: inout FormParameters) {
        switch grant {
        case .refreshToken(let token):
            form.add("grant_type", "refresh_token")
            form.add("refresh_token", secret: token)
            if version == .v2 { form.add("redirect_uri", redirectURI) }
        case .authorizationCode(let code, let verifier, let redirectURI):
            form.add("grant_type", "authorization_code")
            form.add("code", secret: code)
            form.add("code_verifier", secret: verifier)
            form.add("redirect_uri", redirectURI)
        case .deviceCode(let code) where authority.kind == .entra && version == .v1:
            // Older than RFC 8628, and so are its names.
            form.add("grant_type", "device_code")
            form.add("code", secret: code)
        case .deviceCode(let code):
            form.add("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
            form.add("device_code", secret: code)
        case .assertion(let assertion, let isSAML2):
            form.add("grant_type", "urn:ietf:params:oauth:grant-type:saml\(isSAML2 ? "2" : "1_1")-bearer")
            form.add("assertion", secret: Base64URL.encode(assertion))
        }
    }

    /// Keeps a grant inside the cloud that issued it.
    func requireAllowedEnvironment(of url: String) throws(TokenError) {
        guard let allowedEnvironments else { return }
        let environment = try URLParts(url).environment
        guard allowedEnvironments.contains(environment) else {
            throw TokenError(
                .interactionRequired,
                "the token endpoint of \(authority) is at \(environment), outside the account's cloud; sign in there")
        }
    }
}

extension FormParameters {
    /// What the token is for: scopes with the reserved ones in v2, a resource in v1.
    mutating func addAudience(_ scopes: ScopeSet, version: OAuthVersion) throws(TokenError) {
        switch version {
        case .v2:
            // In their own spelling, whatever the app's is.
            add("scope", scopes.subtracting(.reserved).union(.reserved).target)
        case .v1:
            guard let resource = scopes.resource else {
                throw TokenError(
                    .invalidDeveloperParameter,
                    "a v1 request is for one resource, written as the single scope <resource>/.default")
            }
            add("resource", resource)
            add("scope", "openid")
        }
    }
}
