package import TokenModel

/// The endpoints of an authority.
package struct Endpoints: Sendable, Equatable {
    /// The token endpoint (RFC 6749 section 3.2).
    package var token: String
    /// The authorization endpoint (RFC 6749 section 3.1).
    package var authorization: String
    /// The device authorization endpoint (RFC 8628 section 3.1); nil if the provider has none.
    package var deviceCode: String?
    /// The pushed authorization request endpoint (RFC 9126 section 5); nil if the provider has none.
    package var pushedAuthorization: String?
    /// The page that ends the session of a browser (OpenID Connect RP-Initiated Logout 1.0 section 2.1); nil if the provider has none, or
    /// names one that must not be opened.
    package var endSession: String?
    /// Whether the provider refuses authorization requests that were not pushed.
    package var requiresPushedAuthorization = false
    /// The reserved scopes that may be sent: without those that an OpenID provider does not have, whose discovery document lists its scopes.
    package var reservedScopes = ScopeSet.reserved
    /// The issuer of an OpenID provider, or of a B2C policy or an AD FS whose discovery document names it; nil for Entra and
    /// External ID, whose issuers depend on the user.
    package var issuer: ExpectedIssuer?

    /// The issuer with which responses are compared, as the discovery document describes it.
    package struct ExpectedIssuer: Sendable, Equatable {
        /// The URL that identifies the issuer, in its spelling: it is compared as a string.
        package var identifier: String
        /// Whether every authorization response names the issuer (RFC 9207 section 3).
        package var isNamedInResponses: Bool

        package init(_ identifier: String, isNamedInResponses: Bool) {
            self.identifier = identifier
            self.isNamedInResponses = isNamedInResponses
        }

        /// Whether an authorization response with this `iss` is the issuer's (RFC 9207 section 2.4).
        func admits(_ named: String?) -> Bool { named.map { $0 == identifier } ?? !isNamedInResponses }
    }

    package init(
        token: String, authorization: String, deviceCode: String? = nil, endSession: String? = nil,
        issuer: ExpectedIssuer? = nil
    ) {
        self.token = token
        self.authorization = authorization
        self.deviceCode = deviceCode
        self.endSession = endSession
        self.issuer = issuer
    }

    /// The endpoints by Entra's convention, which AD FS shares in the v1 form; nil for providers without a convention.
    init?(byConventionOf authority: Authority, version: OAuthVersion) {
        guard authority.kind != .openID else { return nil }
        let base = authority.url + (authority.usesV1Paths(version) ? "/oauth2" : "/oauth2/v2.0")
        self.init(
            token: base + "/token", authorization: base + "/authorize", deviceCode: base + "/devicecode",
            // An AD FS without a discovery document, that of Windows Server 2012 R2, has no such page.
            endSession: authority.kind == .adfs ? nil : base + "/logout")
    }

    /// The URL of the authority's OpenID Connect discovery document.
    static func discoveryURL(of authority: Authority, version: OAuthVersion) -> String {
        let isV2 = authority.kind != .openID && !authority.usesV1Paths(version)
        return authority.url + (isV2 ? "/v2.0" : "") + "/.well-known/openid-configuration"
    }

    /// Decodes a discovery document. If there is none, the convention is used, except where a missing document means that there is no such
    /// policy or tenant.
    init(_ response: HTTPResponse, of authority: Authority, version: OAuthVersion) throws(TokenError) {
        let document = response.status == 200 ? response.json : nil
        let alwaysHasDocument = (authority.kind == .b2c || authority.kind == .ciam) && !authority.isLoopback
        if response.status == 404 && !alwaysHasDocument || response.status == 200 && document == nil,
            let convention = Endpoints(byConventionOf: authority, version: version)
        {
            self = convention
            return
        }
        guard response.status == 200 else { throw Self.refusal(response, of: authority) }
        guard let document, let token = document.text("token_endpoint"),
            let authorization = document.text("authorization_endpoint")
        else { throw response.invalid("does not name a token endpoint and an authorization endpoint") }
        self.init(
            token: token, authorization: authorization, deviceCode: document.text("device_authorization_endpoint"),
            endSession: Self.signOutPage(document, of: authority),
            issuer: try Self.issuer(document, of: authority, response))
        pushedAuthorization = document.text("pushed_authorization_request_endpoint")
        requiresPushedAuthorization = document["require_pushed_authorization_requests"]?.boolean ?? false
        if authority.kind == .openID { reservedScopes = Self.reservedScopes(document) }
        try requireSafe(for: authority, response)
    }

    /// The reserved scopes that a provider accepts, according to its discovery document. The document need not list the scopes; but if it
    /// does, it should list those that OpenID Connect defines (OpenID Connect Discovery 1.0 section 3). Some providers refuse the whole
    /// request for one that they do not have, such as Google and Amazon Cognito for `offline_access`, and Django OAuth Toolkit for `profile`.
    /// Every provider has `openid`.
    private static func reservedScopes(_ document: JSONTree) -> ScopeSet {
        guard case .list(let listed)? = document["scopes_supported"], !listed.isEmpty else { return .reserved }
        let known = Set(listed.compactMap(\.string))
        return ScopeSet(ScopeSet.reserved.scopes.filter { $0 == ScopeSet.openID || known.contains($0) })
    }

    /// The error for a response that is no discovery document: Microsoft's clouds report an unknown tenant as an OAuth error.
    private static func refusal(_ response: HTTPResponse, of authority: Authority) -> TokenError {
        guard authority.kind != .openID, response.isOAuth, let error = response.json.flatMap(OAuthError.init) else {
            return response.unhandled
        }
        return error.tokenError(.authorityValidation, response: response)
    }

    /// Refuses `http` endpoints, unless the authority and the endpoint are both on this machine.
    private func requireSafe(for authority: Authority, _ response: HTTPResponse) throws(TokenError) {
        for url in [token, authorization, deviceCode, pushedAuthorization].compactMap(\.self) {
            guard Self.isSafe(url, for: authority) else {
                throw response.invalid("names an endpoint that does not use https")
            }
        }
        guard isOfOneProvider(authority) else {
            throw response.invalid("names a sign-in page of another provider than its token endpoint")
        }
        for url in [token, authorization, deviceCode, pushedAuthorization].compactMap(\.self) where !Self.isPlain(url) {
            throw response.invalid("names an endpoint that is not the URL of an endpoint")
        }
    }

    /// Whether the endpoints at which a user signs in belong to the provider whose token endpoint gets the code. Otherwise a provider could
    /// have the user sign in at Microsoft's page, and be sent Microsoft's code (RFC 9700 section 4.4).
    ///
    /// The endpoints of an OpenID provider may be at several hosts, but not at Microsoft's if the token endpoint is not. Microsoft's token
    /// endpoint takes no other provider's code.
    private func isOfOneProvider(_ authority: Authority) -> Bool {
        guard let token = try? URLParts(token).environment, !CloudDirectory.isBuiltIn(token) else { return true }
        return [authorization, deviceCode, pushedAuthorization].compactMap(\.self).allSatisfy { url in
            guard let parts = try? URLParts(url), parts.environment != token else { return true }
            return authority.kind == .openID && !CloudDirectory.hasMicrosoftsPages(host: parts.host)
        }
    }

    /// Whether a URL uses `https`, or `http` on this machine for an authority that does so too.
    static func isSafe(_ url: String, for authority: Authority) -> Bool {
        guard let parts = try? URLParts(url) else { return false }
        return parts.scheme == "https" || authority.scheme == "http" && parts.scheme == "http" && parts.isLoopback
    }

    /// Whether a URL has no fragment (RFC 6749 sections 3.1 and 3.2) and no characters that URLs never have, such as line
    /// breaks, and is not too long for a message.
    static func isPlain(_ url: String) -> Bool {
        isURL(url) && !url.utf8.contains(UInt8(ascii: "#"))
    }

    /// Whether a text consists of characters that URLs have, and fits into a message.
    static func isURL(_ text: String) -> Bool {
        text.utf8.count <= ValueLimits.text && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Checks the issuer (OpenID Connect Discovery 1.0 section 4.3), and returns it. Microsoft's issuers differ from their authorities
    /// by design and are not checked. A B2C policy's names the tenant by its ID, with or without the policy. An AD FS may be reached
    /// by another host name than the one in its issuer, which is that of its ID tokens; its access tokens have another one,
    /// `access_token_issuer`.
    private static func issuer(
        _ document: JSONTree, of authority: Authority, _ response: HTTPResponse
    ) throws(TokenError) -> ExpectedIssuer? {
        if authority.kind == .adfs || authority.kind == .b2c {
            guard let issuer = document.text("issuer") else { return nil }
            // Documents are kept, so that what is kept of them is limited.
            guard issuer.utf8.count <= ValueLimits.text else {
                throw response.invalid("names an issuer that is too long")
            }
            return ExpectedIssuer(issuer, isNamedInResponses: false)
        }
        guard authority.kind == .openID else { return nil }
        guard let issuer = document.text("issuer") else { throw response.invalid("names no issuer") }
        guard authority.isIssuer(issuer) else {
            throw response.invalid("belongs to another issuer, \(UntrustedText.clean(issuer, limit: 253))")
        }
        return ExpectedIssuer(
            issuer, isNamedInResponses: document["authorization_response_iss_parameter_supported"]?.boolean ?? false)
    }
}

extension Authority {
    /// Whether `issuer` is this authority. Its own URL has no trailing slash.
    func isIssuer(_ issuer: String) -> Bool { issuer == url || issuer == url + "/" }

    /// Whether the endpoints are under `/oauth2` rather than `/oauth2/v2.0`.
    func usesV1Paths(_ version: OAuthVersion) -> Bool {
        kind == .adfs || (kind == .entra && version == .v1)
    }
}
