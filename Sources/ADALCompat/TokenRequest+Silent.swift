internal import AgentClient
internal import TokenModel

extension TokenRequest {
    /// A token from the cache, or by redeeming a refresh token.
    func acquireSilently() async throws(ADAuthenticationError) -> TokenResult {
        try await acquireSilently(try parameters())
    }

    func acquireSilently(_ parameters: TokenParameters) async throws(ADAuthenticationError) -> TokenResult {
        do throws(TokenError) {
            // A claims request asks for a token that the cache cannot have.
            let request = AcquireTokenSilent(
                parameters: parameters, account: try await account(parameters),
                forceRefresh: forceRefresh || parameters.claims != nil, expirationBuffer: expirationBuffer,
                allowsExtendedLifetime: allowsExtendedLifetime)
            return try await agent.acquireTokenSilent(request)
        } catch {
            throw .silent(error)
        }
    }

    /// Whom the identifier names; nobody in particular without one.
    private func account(_ parameters: TokenParameters) async throws(TokenError) -> AccountReference {
        guard let identifier, identifier.type == UniqueId, let id = identifier.userId else {
            return AccountReference(username: identifier?.userId)
        }
        // Accounts are found by name; an object id has to be looked up first.
        let accounts = try await agent.listAccounts(
            ListAccounts(clientID: parameters.clientID, sharingGroup: sharingGroup, localAccountID: id))
        return accounts.count == 1 ? accounts[0].reference : AccountReference(username: id)
    }
}
