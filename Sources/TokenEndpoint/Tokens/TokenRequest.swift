package import TokenModel

/// A request to a token endpoint.
package struct TokenRequest: Sendable {
    /// The grant to redeem.
    package var grant: Grant
    /// The app that redeems it.
    package var clientID: ClientID
    /// The authority whose token endpoint receives the request.
    package var authority: Authority
    /// The generation of the endpoint, which takes scopes or a resource.
    package var version: OAuthVersion
    /// The requested scopes; in v1 exactly one `<resource>/.default`.
    package var scopes: ScopeSet
    /// The `claims` parameter as JSON; nil for none.
    package var claims: String?
    /// The app's redirect URI, which v2 requires for refresh tokens too; nil for none.
    package var redirectURI: String?
    /// Further form fields; names that the protocol sets are ignored.
    package var extraParameters: [String: String]
    /// The correlation ID of the operation.
    package var correlationID: CorrelationID
    /// The token endpoints that may receive the grant: each a host, with the port unless it is 443, or a host and a path as in
    /// `URLParts.environmentAndPath`. Nil if any may.
    package var allowedEndpoints: Set<String>?
    /// The `nonce` of the authorization request, which the ID token has to repeat; nil if none was sent.
    package var nonce: String?
    /// The `sub` claim of the app's last ID token for the account, which a refresh must not change; nil if it is not known.
    package var subject: String?
    /// The scopes that an OpenID provider has granted with the refresh token; nil if they are not known.
    package var grantedScopes: ScopeSet?

    package init(
        grant: Grant, clientID: ClientID, authority: Authority, version: OAuthVersion, scopes: ScopeSet,
        claims: String? = nil, redirectURI: String? = nil, extraParameters: [String: String] = [:],
        correlationID: CorrelationID, allowedEndpoints: Set<String>? = nil
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
        self.allowedEndpoints = allowedEndpoints
    }
}

/// A grant, which is redeemed for tokens at the token endpoint.
package enum Grant: Sendable {
    /// A refresh token (RFC 6749 section 6).
    case refreshToken(Secret)
    /// An authorization code (RFC 6749 section 4.1.3, RFC 7636 section 4.5), with the redirect URI of its request.
    case authorizationCode(code: Secret, verifier: Secret, redirectURI: String)
    /// A device code (RFC 8628 section 3.4).
    case deviceCode(Secret)
    /// The XML of a SAML 2.0 assertion (RFC 7522 section 2.1) or of a SAML 1.1 assertion.
    case assertion(Secret, isSAML2: Bool)

    /// Whether the grant is the result of a sign-in, which an OpenID provider answers with an ID token.
    var isSignIn: Bool {
        switch self {
        case .authorizationCode, .deviceCode: true
        case .refreshToken, .assertion: false
        }
    }

    /// The secrets of the grant, also as they are sent: an assertion is encoded.
    var secrets: [Secret] {
        switch self {
        case .refreshToken(let secret), .deviceCode(let secret): [secret]
        case .authorizationCode(let code, let verifier, _): [code, verifier]
        case .assertion(let assertion, _): [Base64URL.encode(assertion), assertion]
        }
    }
}

extension TokenRequest {
    /// Encodes the body. A redemption of a refresh token must not request a scope that was not granted (RFC 6749 section 6): providers refuse
    /// it. So a reserved scope that the app does not name, and that was not granted, is not sent.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) if a v1 request does not name exactly one resource.
    func form(reservedScopes: ScopeSet = .reserved) throws(TokenError) -> FormParameters {
        var form = FormParameters()
        form.add("client_id", clientID.text)
        add(grant, to: &form)
        let granted = grantedScopes ?? reservedScopes
        let reserved = ScopeSet(reservedScopes.scopes.filter { granted.contains($0) })
        try form.addAudience(scopes, version: version, reserved: reserved)
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
            // The v1 endpoint is older than RFC 8628, and has other names.
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

    /// Refuses to send a grant to a token endpoint that did not issue it. Returns the parts of the endpoint's URL.
    func requireAllowedEndpoint(_ url: String) throws(TokenError) -> URLParts {
        let endpoint = try URLParts(url)
        guard let allowedEndpoints, !allowedEndpoints.contains(endpoint.environment),
            !allowedEndpoints.contains(endpoint.environmentAndPath)
        else { return endpoint }
        // The path is named if it is what differs.
        let isOtherPath = allowedEndpoints.contains { $0.hasPrefix("\(endpoint.environment)/") }
        let place = isOtherPath ? endpoint.environmentAndPath : endpoint.environment
        throw TokenError(
            .interactionRequired,
            "the token endpoint of \(authority) is at \(UntrustedText.clean(place, limit: 253)), which did not "
                + "issue this account's refresh token; sign in again", reason: .authority)
    }
}

extension FormParameters {
    /// Adds the requested scopes and the reserved ones in v2, the resource in v1.
    ///
    /// - Parameter reserved: the reserved scopes that the provider accepts. Another one is added only for an app that names it.
    mutating func addAudience(
        _ scopes: ScopeSet, version: OAuthVersion, reserved: ScopeSet
    ) throws(TokenError) {
        switch version {
        case .v2:
            let added = ScopeSet(ScopeSet.reserved.scopes.filter { reserved.contains($0) || scopes.contains($0) })
            // The reserved scopes replace the app's spelling of them.
            add("scope", scopes.subtracting(.reserved).union(added).target)
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

/// A claims request as JSON (OpenID Connect Core 1.0 section 5.5).
package struct ClaimsRequestJSON: Sendable {
    private let request: JSONTree

    /// Returns nil if the text is neither a JSON object nor blank, as that of an empty request may be.
    package init?(_ json: String) {
        guard json.trimmedNonEmpty != nil else {
            request = .object([])
            return
        }
        guard let request = try? JSONReader.read(Array(json.utf8), maximumValues: JSONReader.valuesOfMessage),
            request.isObject
        else { return nil }
        self.request = request
    }

    /// The request with the client capabilities as `access_token.xms_cc.values`.
    package func adding(capabilities: [String]) -> String {
        let values = JSONTree.object([]).setting("values", to: .list(capabilities.map { .text($0) }))
        let accessToken = (request["access_token"] ?? .null).setting("xms_cc", to: values)
        return request.setting("access_token", to: accessToken).sorted.json
    }
}

extension JSONTree {
    /// The object with `value` as its only member with the name; anything but an object counts as an empty one.
    fileprivate func setting(_ name: String, to value: JSONTree) -> JSONTree {
        .object(members.filter { $0.name != name } + [Member(name: name, value: value)])
    }
}
