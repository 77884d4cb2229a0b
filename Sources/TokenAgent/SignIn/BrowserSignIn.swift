internal import Logging
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

/// Sign-in with a browser: authorization code flow with PKCE and a loopback redirect (RFC 8252).
extension SignInSessions {
    /// Begins a sign-in: listens for the redirect, and returns the URL of the sign-in page, and a URL of the listener
    /// that redirects to it.
    func begin(_ request: BeginInteractive, as id: String) async throws(TokenError) -> BeginInteractive.Reply {
        let parameters = request.parameters
        let authority = try await authorities.resolve(
            parameters.authority, parameters, username: request.loginHint ?? request.account.username)
        let endpoints = try await service.signInEndpoints(
            of: authority, version: parameters.version, correlationID: parameters.correlationID)
        let (pkce, state, nonce) = (PKCE.make(), PKCE.randomText(), PKCE.randomText())
        let redirect = try await LoopbackRedirect.listen(
            redirectURI: parameters.redirectURI, state: state, userID: userID, timeout: browserTimeout,
            onRefusal: logRefusal(in: parameters))
        logReplacement(in: parameters, by: redirect)
        let url: String
        do throws(TokenError) {
            let page = try authorizationRequest(
                request, at: endpoints, redirectURI: redirect.redirectURI, challenge: pkce.challenge, state: state,
                nonce: nonce)
            url = try await service.authorizationPage(for: page, at: endpoints)
            guard url.utf8.count <= ValueLimits.longText else { throw Self.tooLongURL }
        } catch {
            redirect.close()
            throw error
        }
        try register(
            .browser(
                SignInSession.BrowserState(
                    begun: request, redirect: redirect, pkce: pkce, state: state, nonce: nonce,
                    issuer: endpoints.issuer)),
            as: id, lifetime: Self.browserLifetime)
        return BeginInteractive.Reply(
            sessionID: id, authorizationURL: url, redirectURI: redirect.redirectURI,
            expiresIn: Self.browserLifetime, launchURL: redirect.launchURL(leadingTo: url))
    }

    /// Waits for the redirect, redeems its authorization code and saves the tokens.
    func complete(_ request: CompleteInteractive, for connection: ConnectionID) async throws(TokenError) -> TokenResult
    {
        let id = request.sessionID
        let session = try claim(id, for: connection) { $0.isBrowser }
        guard case .browser(let browser) = session.method else { throw Self.unknown }
        let (begun, redirect) = (browser.begun, browser.redirect)
        defer { finish(id) }
        let url: String
        do throws(TokenError) {
            url = if let url = request.responseURL { url } else { try await redirect.response() }
        } catch {
            throw ending(of: id) ?? error
        }
        let answer = try response(at: url, to: begun, state: browser.state, issuer: browser.issuer)
        do throws(TokenError) {
            return try await signIn(
                begun,
                code: .authorizationCode(
                    code: answer.code, verifier: browser.pkce.verifier, redirectURI: redirect.redirectURI),
                nonce: browser.nonce, at: authorities.authority(begun.parameters, movedTo: answer.cloudName))
        } catch {
            var error = error
            // The app applies the policy to the account that has signed in.
            if error.code == .protectionPolicyRequired, error.details.homeAccountID == nil {
                error.details.homeAccountID = answer.account
            }
            throw error
        }
    }

    /// Decodes the URL of the redirect. An error of the identity provider without a correlation ID gets that of the sign-in, which the
    /// authorization request had. A response without a code and without an error is an invalid response for MSAL, and a failed
    /// authorization for ADAL.
    private func response(
        at url: String, to begun: BeginInteractive, state: String, issuer: Endpoints.ExpectedIssuer?
    ) throws(TokenError) -> AuthorizationResponse {
        do throws(TokenError) {
            return try AuthorizationResponse(url: url, expectedState: state, issuer: issuer)
        } catch {
            var error = error.answering(begun.parameters.correlationID)
            if error.code == .serverInvalidResponse, begun.parameters.version == .v1 {
                (error.code, error.details.reason) = (.authorizationFailed, .provider)
            }
            throw error
        }
    }

    /// Redeems the authorization code and saves the tokens.
    private func signIn(
        _ begun: BeginInteractive, code: Grant, nonce: String, at requested: Authority
    ) async throws(TokenError) -> TokenResult {
        let parameters = begun.parameters
        let authority = try await authorities.resolve(
            requested, parameters, username: begun.loginHint ?? begun.account.username)
        var request = authorities.tokenRequest(code, at: authority, parameters)
        request.nonce = nonce
        let response = try await service.redeem(request, nil)
        let result = try await saver.save(response, from: .signIn, parameters, at: requested)
        try check(result, against: begun.account, parameters)
        return result
    }

    private func authorizationRequest(
        _ request: BeginInteractive, at endpoints: Endpoints, redirectURI: String, challenge: String, state: String,
        nonce: String
    ) throws(TokenError) -> AuthorizationRequest {
        let parameters = request.parameters
        return try AuthorizationRequest(
            clientID: parameters.clientID, version: parameters.version,
            scopes: parameters.version == .v1 ? parameters.scopes : parameters.scopes.union(request.extraScopes),
            redirectURI: redirectURI, state: state, challenge: challenge, nonce: nonce, prompt: prompt(for: request),
            loginHint: request.loginHint, domainHint: request.domainHint, account: request.account.homeAccountID,
            claims: parameters.mergedClaims, extraParameters: parameters.extraParameters,
            kind: parameters.authority.kind, reservedScopes: endpoints.reservedScopes,
            correlationID: parameters.correlationID)
    }

    /// The `prompt` parameter. A user who has signed out of the app has to enter credentials again, even if the browser still has
    /// a session.
    private func prompt(for request: BeginInteractive) -> String? {
        guard let identifier = request.account.homeAccountID, request.prompt != "consent" else { return request.prompt }
        let signedOut = memory.cache.isSignedOut(identifier, of: request.parameters)
        return signedOut ? "login" : request.prompt
    }

    /// Logs that the app's redirect URI was replaced: an identity provider that does not know the replacement shows an error to
    /// the user and sends none to the app.
    private func logReplacement(in parameters: TokenParameters, by redirect: LoopbackRedirect) {
        guard let replaced = BrowserRedirect(parameters.redirectURI).replaced, messageLimit.admitsMessage() else {
            return
        }
        var metadata = RequestLog.redirect(redirect.redirectURI, of: parameters)
        metadata["replaced"] = "\(RequestLog.safe(replaced))"
        logger.notice("the app's redirect URI cannot be used here; register http://localhost", metadata: metadata)
    }

    /// Logs connections to the redirect URI that are refused because of their user.
    private func logRefusal(in parameters: TokenParameters) -> @Sendable (LoopbackRedirect.Refusal) -> Void {
        { [logger, messageLimit] refusal in
            guard messageLimit.admitsMessage() else { return }
            var metadata = RequestLog.redirect(BrowserRedirect(parameters.redirectURI).registration, of: parameters)
            switch refusal {
            case .anotherUser(let user):
                metadata["uid"] = "\(user)"
                logger.warning("refused a connection of another user to the redirect URI", metadata: metadata)
            case .unknownUser:
                logger.info("refused a connection of an unknown user to the redirect URI", metadata: metadata)
            }
        }
    }

    /// Logs that a browser sign-in has expired, with the redirect URI that got no response.
    func logExpiry(of method: SignInSession.Method) {
        guard case .browser(let browser) = method, messageLimit.admitsMessage() else { return }
        logger.notice(
            "a browser sign-in expired without a response",
            metadata: RequestLog.redirect(browser.redirect.redirectURI, of: browser.begun.parameters))
    }

    private static let tooLongURL = TokenError(
        .invalidDeveloperParameter,
        "the sign-in page's URL would be longer than \(ValueLimits.longText) bytes; shorten claims, scopes or extra parameters"
    )

    /// The time within which the redirect has to arrive, in seconds: the lifetime of Entra's authorization codes.
    fileprivate static let browserLifetime: Int64 = 600
}

extension SignInSession.Method {
    /// The error of a session that has expired. An unregistered redirect URI is a likely reason: the identity provider shows that
    /// error on its page, and does not redirect the browser.
    var expired: TokenError {
        guard case .browser(let browser) = self else { return Self.expiredDeviceCode }
        let target = BrowserRedirect(browser.begun.parameters.redirectURI)
        let own = target.replaced.map { "; the app's own, \($0), cannot be used on this system" } ?? ""
        return TokenError(
            .timedOut,
            "no response from the sign-in page arrived at \(browser.redirect.redirectURI) within "
                + "\(SignInSessions.browserLifetime) seconds. If the page showed AADSTS50011, \(target.remedy)\(own). "
                + "Then start the sign-in again")
    }

    static let expiredDeviceCode = TokenError(.timedOut, "the sign-in was not finished in time; start it again")
}
