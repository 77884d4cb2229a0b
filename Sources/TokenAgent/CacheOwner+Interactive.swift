internal import Logging
internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

extension CacheOwner {
    /// Listens for the browser and says which page to open.
    func beginInteractive(_ request: BeginInteractive) -> Answer<BeginInteractive.Reply> {
        if let refusal = refusal(of: request.parameters) ?? refusalOfMore { return .now(.failure(refusal)) }
        return .later(
            later { owner async throws(TokenError) in
                let parameters = request.parameters
                let authority = try await owner.resolve(
                    parameters.authority, parameters, username: request.loginHint ?? request.account.username)
                let endpoints = try await owner.endpoint.endpoints(of: authority, version: parameters.version)
                let (pkce, state, nonce) = (PKCE.make(), PKCE.randomText(), PKCE.randomText())
                let redirect = try await LoopbackRedirect.listen(
                    redirectURI: parameters.redirectURI, state: state, on: owner.loop,
                    timeout: owner.options.httpTiming.browser)
                owner.logReplacement(in: parameters, by: redirect)
                let page: AuthorizationRequest
                do throws(TokenError) {
                    page = try owner.authorizationRequest(
                        request, redirectURI: redirect.redirectURI, challenge: pkce.challenge, state: state,
                        nonce: nonce)
                } catch {
                    redirect.close()
                    throw error
                }
                let id = owner.remember(
                    .browser(request, redirect, pkce, state: state, nonce: nonce), for: Interaction.browserLifetime)
                return BeginInteractive.Reply(
                    sessionID: id, authorizationURL: page.url(endpoint: endpoints.authorization),
                    redirectURI: redirect.redirectURI, expiresIn: Interaction.browserLifetime)
            })
    }

    /// Waits for the browser, redeems its code, saves, and answers.
    func completeInteractive(_ request: CompleteInteractive) -> Answer<TokenResult> {
        guard let interaction = interactions[request.sessionID],
            case .browser(let begun, let redirect, let pkce, let state, let nonce) = interaction.way
        else { return .now(.failure(Interaction.unknown)) }
        guard !interaction.isAwaited else { return .now(.failure(Interaction.awaited)) }
        if let ending = interaction.ending {
            forget(request.sessionID)
            return .now(.failure(ending))
        }
        interactions[request.sessionID]?.isAwaited = true
        return .later(
            later { owner async throws(TokenError) in
                defer { owner.forget(request.sessionID) }
                let url: String
                do throws(TokenError) {
                    url =
                        if let url = request.responseURL { url } else { try await redirect.response() }
                } catch {
                    throw owner.interactions[request.sessionID]?.ending ?? error
                }
                let answer = try AuthorizationResponse(url: url, expectedState: state)
                return try await owner.signIn(
                    begun,
                    code: .authorizationCode(
                        code: answer.code, verifier: pkce.verifier, redirectURI: redirect.redirectURI), nonce: nonce,
                    at: owner.authority(begun.parameters, movedTo: answer.cloudName))
            })
    }

    /// Gives up a sign-in; whoever waits for it is told.
    func cancelInteraction(_ request: CancelInteraction) -> Answer<Void> {
        end(request.sessionID, Interaction.cancelled)
        return .now(.success(()))
    }

    /// Keeps a sign-in until it is finished, cancelled or too old.
    func remember(_ way: Interaction.Way, for seconds: Int64) -> String {
        let id = PKCE.randomText()
        let expiry = after(.seconds(seconds)) { $0.expire(id) }
        interactions[id] = Interaction(way: way, expiry: expiry)
        return id
    }

    func forget(_ id: String) {
        interactions.removeValue(forKey: id)?.close()
    }

    /// Ends a sign-in. The reason stays until the wait has picked it up; where nobody waits it is forgotten at once.
    func end(_ id: String, _ reason: TokenError) {
        guard let interaction = interactions[id] else { return }
        guard interaction.isAwaited else { return forget(id) }
        interactions[id]?.ending = reason
        interaction.close()
    }

    /// Ends a sign-in whose time is over. The error is kept until a wait has picked it up, at least for
    /// `Interaction.expiredRetention`.
    private func expire(_ id: String) {
        guard let interaction = interactions[id] else { return }
        if case .browser(let begun, let redirect, _, _, _) = interaction.way {
            options.logger.notice(
                "a browser sign-in expired without a response",
                metadata: RequestLog.redirect(redirect.redirectURI, of: begun.parameters))
        }
        interactions[id]?.ending = interaction.way.expired
        interaction.close()
        if !interaction.isAwaited {
            interactions[id]?.expiry = after(.seconds(Interaction.expiredRetention)) { $0.forget(id) }
        }
    }

    /// Logs that the app's redirect URI was replaced: an identity provider that does not know the replacement shows an error to
    /// the user and sends none to the app.
    private func logReplacement(in parameters: TokenParameters, by redirect: LoopbackRedirect) {
        guard let replaced = BrowserRedirect(parameters.redirectURI).replaced else { return }
        var metadata = RequestLog.redirect(redirect.redirectURI, of: parameters)
        metadata["replaced"] = "\(RequestLog.safe(replaced))"
        options.logger.notice(
            "the app's redirect URI cannot be used here; register http://localhost", metadata: metadata)
    }

    /// Why no more sign-ins can begin now, if that is so.
    var refusalOfMore: TokenError? {
        interactions.values.count { $0.ending == nil } < Interaction.limit ? nil : Interaction.tooMany
    }

    private func authorizationRequest(
        _ request: BeginInteractive, redirectURI: String, challenge: String, state: String, nonce: String
    ) throws(TokenError) -> AuthorizationRequest {
        let parameters = request.parameters
        return try AuthorizationRequest(
            clientID: parameters.clientID, version: parameters.version,
            scopes: parameters.version == .v1 ? parameters.scopes : parameters.scopes.union(request.extraScopes),
            redirectURI: redirectURI, state: state, challenge: challenge, nonce: nonce, prompt: prompt(for: request),
            loginHint: request.loginHint, domainHint: request.domainHint, account: request.account.homeAccountID,
            claims: parameters.mergedClaims, extraParameters: parameters.extraParameters,
            kind: parameters.authority.kind, correlationID: parameters.correlationID)
    }

    /// Somebody who signed out of the app is asked for credentials again, whatever the browser remembers.
    private func prompt(for request: BeginInteractive) -> String? {
        guard let identifier = request.account.homeAccountID, request.prompt != "consent" else { return request.prompt }
        let signedOut = cache.isSignedOut(
            .home(identifier), of: request.parameters.clientID, in: request.parameters.sharingGroup)
        return signedOut ? "login" : request.prompt
    }

    private func signIn(
        _ begun: BeginInteractive, code: Grant, nonce: String, at asked: Authority
    ) async throws(TokenError) -> TokenResult {
        let parameters = begun.parameters
        let authority = try await resolve(asked, parameters, username: begun.loginHint ?? begun.account.username)
        let response = try await endpoint.redeem(tokenRequest(code, at: authority, parameters))
        if let idToken = response.idToken, let claims = IDTokenClaims(idToken: idToken), let echoed = claims.nonce,
            echoed != nonce
        {
            throw TokenError(.serverInvalidResponse, "the ID token's nonce is not the one sent")
        }
        let result = try await save(response, from: .signIn, parameters, at: asked)
        try checkAccount(result, against: begun.account)
        return result
    }

    /// The account that signed in has to be the one asked for; one deleted and made anew in the same tenant counts as the same.
    func checkAccount(_ result: TokenResult, against asked: AccountReference) throws(TokenError) {
        guard let wanted = asked.homeAccountID, let found = result.account.homeAccountID, wanted != found else {
            return
        }
        let sameTenant = wanted.tenantID != nil && wanted.tenantID == found.tenantID
        let sameName = asked.username != nil && asked.username?.lowercased() == result.account.username?.lowercased()
        guard sameTenant && sameName else {
            var details = TokenError.Details()
            details.partialResult = result
            throw TokenError(
                .mismatchedAccount, "another account signed in than the one asked for", details: details)
        }
    }
}
