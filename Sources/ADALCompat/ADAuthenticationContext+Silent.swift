public import Foundation

/// Tokens without bothering anyone: from the cache, or by redeeming a refresh token.
///
/// Each call ends exactly once, with a result whose error says why there is no token. A completion block is called on a
/// thread of its own, never before the method returns. `ERROR_SERVER_USER_INPUT_NEEDED` (200) means that only
/// `acquireToken` can help; what the server said, if it was asked, is under `NSUnderlyingErrorKey`.
extension ADAuthenticationContext {
    /// A token of the one person who is signed in.
    ///
    /// `ERROR_CACHE_MULTIPLE_USERS` (300) when several are.
    @preconcurrency
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        silent(resource, clientId, redirectUri).run(completionBlock)
    }

    /// A token of the one person who is signed in.
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL
    ) async -> ADAuthenticationResult {
        await silent(resource, clientId, redirectUri).run()
    }

    /// A token of the person whose name is `userId`, such as MSAL's `account.username`; case does not matter.
    ///
    /// A blank name means the one person who is signed in.
    @preconcurrency
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        silent(resource, clientId, redirectUri, userId: userId).run(completionBlock)
    }

    /// A token of the person whose name is `userId`, such as MSAL's `account.username`; case does not matter.
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String
    ) async -> ADAuthenticationResult {
        await silent(resource, clientId, redirectUri, userId: userId).run()
    }

    /// The same, passing over the cached access token if `forceRefresh` says so.
    @preconcurrency
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String?, forceRefresh: Bool,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        silent(resource, clientId, redirectUri, userId: userId, forceRefresh: forceRefresh).run(completionBlock)
    }

    /// The same, passing over the cached access token if `forceRefresh` says so.
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String?, forceRefresh: Bool
    ) async -> ADAuthenticationResult {
        await silent(resource, clientId, redirectUri, userId: userId, forceRefresh: forceRefresh).run()
    }

    /// The same, with a claims request (OpenID Connect Core 1.0 section 5.5), which passes over the cached access token.
    ///
    /// `claims` is JSON, URL-encoded; `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when it is not.
    @preconcurrency
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String?, claims: String?,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        silent(resource, clientId, redirectUri, userId: userId, claims: claims).run(completionBlock)
    }

    /// The same, with a claims request (OpenID Connect Core 1.0 section 5.5), which passes over the cached access token.
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String?, claims: String?
    ) async -> ADAuthenticationResult {
        await silent(resource, clientId, redirectUri, userId: userId, claims: claims).run()
    }

    private func silent(
        _ resource: String, _ clientID: String, _ redirectURI: URL, userId: String? = nil, forceRefresh: Bool = false,
        claims: String? = nil
    ) -> TokenRequest {
        var request = TokenRequest(self, resource: resource, clientID: clientID, redirectURI: redirectURI)
        request.identifier = userId.flatMap { ADUserIdentifier(id: $0) }
        request.forceRefresh = forceRefresh
        request.claims = claims
        return request
    }
}
