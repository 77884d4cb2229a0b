public import Foundation

/// Tokens for what the app holds itself: a refresh token from before the agent, or somebody else's assertion.
///
/// The tokens are kept, as those of a sign-in are. Each call ends exactly once, with a result whose error says why there is
/// no token. A completion block is called on a thread of its own, never before the method returns.
extension ADAuthenticationContext {
    /// A token for a refresh token; the cache is not asked.
    ///
    /// `ERROR_SERVER_REFRESH_TOKEN_REJECTED` (203) of `ADOAuthServerErrorDomain`, with the server's `protocolCode`, when the
    /// server refuses it; nothing is removed from the cache then.
    @preconcurrency
    public func acquireToken(
        withRefreshToken refreshToken: String, resource: String, clientId: String, redirectUri: URL,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        request(.refreshToken(refreshToken), resource, clientId, redirectUri).run(completionBlock)
    }

    /// A token for a refresh token; the cache is not asked.
    public func acquireToken(
        withRefreshToken refreshToken: String, resource: String, clientId: String, redirectUri: URL
    ) async -> ADAuthenticationResult {
        await request(.refreshToken(refreshToken), resource, clientId, redirectUri).run()
    }

    /// The same, where the app knows whose refresh token it is. Tokens of somebody else are no error.
    @preconcurrency
    public func acquireToken(
        withRefreshToken refreshToken: String, resource: String, clientId: String, redirectUri: URL, userId: String,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        request(.refreshToken(refreshToken), resource, clientId, redirectUri, userID: userId).run(completionBlock)
    }

    /// The same, where the app knows whose refresh token it is. Tokens of somebody else are no error.
    public func acquireToken(
        withRefreshToken refreshToken: String, resource: String, clientId: String, redirectUri: URL, userId: String
    ) async -> ADAuthenticationResult {
        await request(.refreshToken(refreshToken), resource, clientId, redirectUri, userID: userId).run()
    }

    /// A token from the cache, by redeeming a refresh token, or else for a SAML assertion, which is XML.
    ///
    /// `ERROR_SERVER_OAUTH` (202) of `ADOAuthServerErrorDomain` when the server refuses the assertion,
    /// `ERROR_SERVER_WRONG_USER` (204) when it speaks of somebody else than `userId`.
    @preconcurrency
    public func acquireToken(
        forAssertion assertion: String, assertionType: ADAssertionType, resource: String, clientId: String,
        userId: String?, completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        request(.assertion(assertion, assertionType), resource, clientId, userID: userId).run(completionBlock)
    }

    /// A token from the cache, by redeeming a refresh token, or else for a SAML assertion, which is XML.
    public func acquireToken(
        forAssertion assertion: String, assertionType: ADAssertionType, resource: String, clientId: String,
        userId: String?
    ) async -> ADAuthenticationResult {
        await request(.assertion(assertion, assertionType), resource, clientId, userID: userId).run()
    }

    private func request(
        _ grant: TokenRequest.Grant, _ resource: String, _ clientID: String, _ redirectURI: URL? = nil,
        userID: String? = nil
    ) -> TokenRequest {
        var request = TokenRequest(self, resource: resource, clientID: clientID, redirectURI: redirectURI)
        request.grant = grant
        request.identifier = userID.flatMap { ADUserIdentifier(id: $0) }
        return request
    }
}
