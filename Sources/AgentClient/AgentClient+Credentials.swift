public import TokenModel
internal import TokenWire

/// The cache seen credential by credential, and grants that the app holds itself.
extension AgentClient {
    /// Everything a sharing group holds, in a stable order; fetched a page at a time. Refresh tokens come without their secret.
    public func listCredentials(_ request: ListCredentials) async throws(TokenError) -> [Credential] {
        var (credentials, page) = ([Credential](), request)
        repeat {
            let reply = try await call(page)
            credentials += reply.credentials
            page.after = reply.next
        } while page.after != nil
        return credentials
    }

    /// Removes one credential.
    ///
    /// - Throws: `storeUnavailable` (-53008) when it could not be written down.
    public func removeCredential(
        _ request: RemoveCredential
    ) async throws(TokenError) -> RemoveCredential.Reply {
        return try await call(request)
    }

    /// Trades a refresh token or an assertion of the app's own for tokens, and has them saved; counts as a sign-in.
    ///
    /// - Throws: what the token endpoint answered, such as `invalidGrant` (-51412); the cache is then as it was.
    public func redeemGrant(_ request: RedeemGrant) async throws(TokenError) -> TokenResult {
        return try await call(request)
    }

    /// The one account that is signed in to the app, and the one it was the last time the app asked.
    ///
    /// - Throws: `ambiguousAccount` (-51200) when several are signed in.
    public func currentAccount(_ request: GetCurrentAccount) async throws(TokenError) -> GetCurrentAccount.Reply {
        // Not repeated: the second answer would give the first as the previous one.
        return try await call(request)
    }
}
