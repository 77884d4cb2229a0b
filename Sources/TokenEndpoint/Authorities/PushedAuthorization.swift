package import TokenModel

extension TokenEndpointClient {
    /// The URL of the sign-in page for an authorization request.
    ///
    /// If the provider has a pushed authorization request endpoint (RFC 9126), the parameters are sent there, and the URL has
    /// the client ID and a reference only. A provider that does not let this app push its requests, and does not require it,
    /// gets the parameters in the URL.
    ///
    /// - Throws: the error of the provider, as in an authorization response.
    package func authorizationPage(
        for request: AuthorizationRequest, at endpoints: Endpoints
    ) async throws(TokenError) -> String {
        guard let url = endpoints.pushedAuthorization else { return request.url(endpoint: endpoints.authorization) }
        return try await withCorrelationID(request.correlationID) { () async throws(TokenError) in
            try await transport.send(
                HTTPRequest(url: url, form: request.parameters, correlationID: request.correlationID)
            ) { (response) throws(TokenError) in
                if !endpoints.requiresPushedAuthorization, response.refusesToPush {
                    return request.url(endpoint: endpoints.authorization)
                }
                let requestURI = try response.pushedRequestURI()
                return request.url(endpoint: endpoints.authorization, requestURI: requestURI)
            }
        }
    }
}

extension HTTPResponse {
    /// Whether the provider refuses pushed requests of this app, although its discovery document names the endpoint: it has none, or only
    /// for apps with a secret.
    var refusesToPush: Bool {
        switch status {
        case 403, 404, 405, 501: true
        case 400, 401: ["invalid_client", "unauthorized_client"].contains(json?.text("error"))
        default: false
        }
    }

    /// The reference in a successful response (RFC 9126 section 2.2), or the error (section 2.3).
    func pushedRequestURI() throws(TokenError) -> String {
        // RFC 9126 has 201; some providers send 200.
        if status == 200 || status == 201 {
            guard let requestURI = json?.text("request_uri"), Endpoints.isURL(requestURI) else {
                throw invalid("holds no reference to the pushed request")
            }
            return requestURI
        }
        guard let error = json.flatMap(OAuthError.init) else { throw unhandled }
        throw error.authorizationError()
    }
}
