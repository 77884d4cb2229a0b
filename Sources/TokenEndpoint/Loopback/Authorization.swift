internal import Crypto
package import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The request for an authorization code, sent by the browser (RFC 6749 section 4.1.1, RFC 7636 section 4.3), or pushed to the
/// provider, so that the browser sends a reference to it only (RFC 9126).
package struct AuthorizationRequest: Sendable {
    /// The app for which the user signs in.
    package let clientID: ClientID
    /// The correlation ID of the operation.
    package let correlationID: CorrelationID
    /// The parameters, in a query or in the form of a pushed request.
    let parameters: FormParameters

    /// - Parameters:
    ///   - state: a random text that the response has to repeat.
    ///   - challenge: `PKCE.challenge`.
    ///   - account: the account that has to sign in, if the app names one.
    ///   - extraParameters: further parameters of the app; names that the protocol sets are ignored.
    ///   - kind: the kind of identity provider. Microsoft's are sent `client_info` and the parameters of Microsoft's
    ///     libraries; others are sent the parameters of OpenID Connect only.
    ///   - reservedScopes: `Endpoints.reservedScopes` of the provider.
    /// - Throws: `invalidDeveloperParameter` (-51112) if a v1 request does not name exactly one resource.
    package init(
        clientID: ClientID, version: OAuthVersion, scopes: ScopeSet, redirectURI: String, state: String,
        challenge: String, nonce: String? = nil, prompt: String? = nil, loginHint: String? = nil,
        domainHint: String? = nil, account: HomeAccountID? = nil, claims: String? = nil,
        extraParameters: [String: String] = [:], kind: Authority.Kind = .entra, reservedScopes: ScopeSet = .reserved,
        correlationID: CorrelationID
    ) throws(TokenError) {
        var query = FormParameters()
        query.add("client_id", clientID.text)
        query.add("response_type", "code")
        query.add("redirect_uri", redirectURI)
        try query.addAudience(scopes, version: version, reserved: reservedScopes)
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
        if kind != .openID { query.addMicrosoftParameters(version, account, nux: extraParameters["nux"] ?? "1") }
        query.add(extra: extraParameters)
        self.clientID = clientID
        self.correlationID = correlationID
        self.parameters = query
    }

    /// The URL to open. A query of the endpoint is kept.
    package func url(endpoint: String) -> String { parameters.added(to: endpoint) }

    /// The URL to open after the parameters have been pushed (RFC 9126 section 4).
    func url(endpoint: String, requestURI: String) -> String {
        var query = FormParameters()
        query.add("client_id", clientID.text)
        query.add("request_uri", requestURI)
        return query.added(to: endpoint)
    }
}

extension FormParameters {
    /// Adds the parameters that MSAL and ADAL send besides those of OpenID Connect: the client description; in v2, as MSAL,
    /// the two parts of the expected home account ID; in v1, as ADAL, `nux` ("new user experience").
    fileprivate mutating func addMicrosoftParameters(_ version: OAuthVersion, _ account: HomeAccountID?, nux: String) {
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

/// The authorization response (RFC 6749 section 4.1.2).
package struct AuthorizationResponse: Sendable {
    /// The authorization code. It can be redeemed once, with the PKCE verifier of the request.
    package let code: Secret
    /// The host of the cloud in which to redeem the code, if it is not the requested one (`cloud_instance_host_name`). The
    /// caller has to check it: the response is not authenticated.
    package let cloudName: String?
    /// The account that signed in, which Microsoft's clouds name (`client_info`). As little authenticated as `cloudName`.
    package let account: HomeAccountID?

    /// Decodes the URL to which the browser was redirected. The parameters may be in its query or in its fragment.
    ///
    /// - Parameter issuer: the issuer of the sign-in page, if it is an OpenID provider. A response of another issuer, with a code
    ///   or an error, is rejected, so that no code is sent to a provider that has not issued it (RFC 9207).
    /// - Throws: `invalidState` (-51420) if the response is to another request; `accessDenied` (-51416) if the user has
    ///   declined; `interactionRequired` (-51115) if a sign-in was not possible without user interaction;
    ///   `authorizationFailed` (-51440) for other errors; `serverInvalidResponse` (-51401) if there is neither an error nor
    ///   a code, or if the response is another issuer's.
    package init(url: String, expectedState: String, issuer: Endpoints.ExpectedIssuer?) throws(TokenError) {
        guard let parameters = Self.parameters(of: url) else {
            throw TokenError(.serverInvalidResponse, "the response of the authorization endpoint cannot be decoded")
        }
        guard let state = parameters["state"], Secret(state) == Secret(expectedState) else {
            throw TokenError(.invalidState, "the response of the authorization endpoint belongs to another sign-in")
        }
        guard issuer?.admits(parameters["iss"]) ?? true else {
            throw TokenError(.serverInvalidResponse, "the authorization endpoint's answer is of another issuer")
        }
        if let error = OAuthError(parameters) { throw error.authorizationError() }
        guard let code = parameters["code"]?.trimmedNonEmpty else {
            throw TokenError(
                .serverInvalidResponse, "the response of the authorization endpoint has neither a code nor an error")
        }
        self.code = Secret(code)
        self.cloudName = parameters["cloud_instance_host_name"]?.trimmedNonEmpty
        self.account = parameters["client_info"].flatMap(HomeAccountID.storable)
    }

    private static func parameters(of url: String) -> FormParameters? {
        let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
        let inQuery = FormParameters(decoding: query ?? "")
        guard let inQuery, inQuery["state"] == nil, parts.count > 1 else { return inQuery }
        return FormParameters(decoding: parts[1])
    }
}

/// The verifier and the challenge of an authorization request, which bind its code to this process (RFC 7636, method S256).
package struct PKCE: Sendable {
    /// Sent with the code to the token endpoint.
    package let verifier: Secret
    /// Sent with the authorization request.
    package let challenge: String

    init(verifier: Secret) {
        self.verifier = verifier
        self.challenge = verifier.withBytes { Base64URL.encode(Data(SHA256.hash(data: $0))) }
    }

    /// Creates a pair from 32 random bytes, as section 4.1 recommends.
    package static func make() -> PKCE {
        PKCE(verifier: Secret(randomText()))
    }

    /// 32 random bytes in base64url, for a verifier, a `state` or a `nonce`.
    package static func randomText() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode(Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }))
    }
}
