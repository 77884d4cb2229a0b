internal import AgentClient
internal import TokenModel

extension TokenRequest {
    /// A token by any means: silently unless the prompt forbids it, else by a sign-in.
    func acquire(_ prompt: ADPromptBehavior) async throws(ADAuthenticationError) -> TokenResult {
        let (parameters, query) = (try parameters(), try decodedQuery())
        if prompt == AD_PROMPT_AUTO {
            do throws(ADAuthenticationError) {
                return try await acquireSilently(parameters)
            } catch {
                guard error.invitesInteraction else { throw error }
            }
        }
        let token = try await signIn(parameters, prompt, query)
        try check(token)
        return token
    }

    private func signIn(
        _ parameters: TokenParameters, _ prompt: ADPromptBehavior, _ query: [String: String]
    ) async throws(ADAuthenticationError) -> TokenResult {
        var parameters = parameters
        parameters.claims = parameters.claims ?? query["claims"]
        parameters.extraParameters = query.filter { $0.key != "claims" }
        let hint = identifier.flatMap { $0.isDisplayable() ? $0.userId : nil }
        let request = BeginInteractive(parameters: parameters, prompt: prompt.parameter, loginHint: hint)
        let (agent, presenter) = (agent, presenter ?? SignInPresenter())
        log.opens(BrowserRedirect(parameters.redirectURI))
        do throws(TokenError) {
            return try await session.run { () throws(TokenError) in
                try await agent.signIn(request, presenter: presenter)
            }
        } catch {
            throw ADAuthenticationError(error)
        }
    }

    /// Throws `ERROR_SERVER_WRONG_USER` (204) when somebody else signed in. Their tokens are kept: they did sign in.
    func check(_ token: TokenResult) throws(ADAuthenticationError) {
        guard let idToken = token.idToken else { return }
        let info = ADUserInformation(idToken: idToken, homeAccountID: token.account.homeAccountID?.text)
        guard ADUserIdentifier.identifier(identifier, matchesInfo: info) else {
            throw ADAuthenticationError(.ERROR_SERVER_WRONG_USER, "somebody else signed in than the one asked for")
        }
    }
}

extension ADPromptBehavior {
    /// The `prompt` parameter (OpenID Connect Core 1.0 section 3.1.2.1, and Entra's own `refresh_session`).
    fileprivate var parameter: String? {
        switch self {
        case AD_PROMPT_ALWAYS, AD_FORCE_PROMPT: "login"
        case AD_PROMPT_REFRESH_SESSION: "refresh_session"
        default: nil
        }
    }
}
