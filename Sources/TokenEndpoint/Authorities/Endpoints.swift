internal import TokenModel

/// Where an authority takes which request.
package struct Endpoints: Sendable, Equatable {
    /// Takes grants (RFC 6749 section 3.2).
    package var token: String
    /// Where the browser goes (RFC 6749 section 3.1).
    package var authorization: String
    /// Starts a device code sign-in (RFC 8628 section 3.1); nil when the provider has none.
    package var deviceCode: String?
    /// Where the browser goes to sign out; nil when the provider has none.
    package var endSession: String?

    package init(token: String, authorization: String, deviceCode: String? = nil, endSession: String? = nil) {
        self.token = token
        self.authorization = authorization
        self.deviceCode = deviceCode
        self.endSession = endSession
    }

    /// Entra's paths, which AD FS shares in their v1 form; nil for providers that follow no convention.
    init?(byConventionOf authority: Authority, version: OAuthVersion) {
        guard authority.kind != .openID else { return nil }
        let base = authority.url + (authority.usesV1Paths(version) ? "/oauth2" : "/oauth2/v2.0")
        self.init(
            token: base + "/token", authorization: base + "/authorize", deviceCode: base + "/devicecode",
            endSession: base + "/logout")
    }

    /// Where the authority's OpenID Connect discovery document is.
    static func discoveryURL(of authority: Authority, version: OAuthVersion) -> String {
        let isV2 = authority.kind != .openID && !authority.usesV1Paths(version)
        return authority.url + (isV2 ? "/v2.0" : "") + "/.well-known/openid-configuration"
    }

    /// Reads a discovery document, or falls back to the convention when there is none.
    init(_ response: HTTPResponse, of authority: Authority, version: OAuthVersion) throws(TokenError) {
        let document = response.status == 200 ? response.json : nil
        if response.status == 404 || (response.status == 200 && document == nil),
            let convention = Endpoints(byConventionOf: authority, version: version)
        {
            self = convention
            return
        }
        guard response.status == 200 else { throw response.unhandled }
        guard let document, let token = document.text("token_endpoint"),
            let authorization = document.text("authorization_endpoint")
        else { throw response.invalid("does not name a token endpoint and an authorization endpoint") }
        self.init(
            token: token, authorization: authorization, deviceCode: document.text("device_authorization_endpoint"),
            endSession: document.text("end_session_endpoint"))
        try requireSafe(for: authority, response)
        try Self.requireIssuer(document, of: authority, response)
    }

    /// A document fetched over TLS must not lead to endpoints without it; one from this machine not away from it.
    private func requireSafe(for authority: Authority, _ response: HTTPResponse) throws(TokenError) {
        for url in [token, authorization, deviceCode, endSession].compactMap(\.self) {
            let parts = try? URLParts(url)
            let isSafe =
                parts?.scheme == "https"
                || (authority.scheme == "http" && parts?.scheme == "http" && parts?.isLoopback == true)
            guard isSafe else { throw response.invalid("names an endpoint that does not use https") }
        }
    }

    /// OpenID Connect Discovery 1.0 section 4.3. Microsoft's own issuers differ from their authorities by design.
    private static func requireIssuer(
        _ document: JSONObject, of authority: Authority, _ response: HTTPResponse
    ) throws(TokenError) {
        guard authority.kind == .openID else { return }
        guard document.text("issuer").map(authority.isIssuer) ?? false else {
            throw response.invalid("belongs to another issuer")
        }
    }
}

extension Authority {
    /// Whether an OpenID provider that calls itself so is the one at this URL, which has no slash at its end.
    func isIssuer(_ issuer: String) -> Bool { issuer == url || issuer == url + "/" }

    /// Whether its endpoints lie under `/oauth2` rather than `/oauth2/v2.0`.
    func usesV1Paths(_ version: OAuthVersion) -> Bool {
        kind == .adfs || (kind == .entra && version == .v1)
    }
}
