public import Foundation

/// Tokens by any means: from the cache, by redeeming a refresh token, or by asking the person to sign in.
///
/// The sign-in page opens in the system browser; without a display, the person is told a code to type on another device.
/// Each call ends exactly once, with a result whose error says why there is no token. A completion block is called on a
/// thread of its own, never before the method returns. One page at a time: another request that needs one meanwhile ends
/// with `ERROR_UI_MULTLIPLE_INTERACTIVE_REQUESTS` (400). Calls may come from any thread.
extension ADAuthenticationContext {
    /// A token of the one person who is signed in, or of whoever signs in now.
    ///
    /// `ERROR_CACHE_MULTIPLE_USERS` (300) when several are signed in.
    @preconcurrency
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        interactive(resource, clientId, redirectUri).run(completionBlock)
    }

    /// A token of the one person who is signed in, or of whoever signs in now.
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL
    ) async -> ADAuthenticationResult {
        await interactive(resource, clientId, redirectUri).run()
    }

    /// A token of the person whose name is `userId`.
    ///
    /// `ERROR_SERVER_WRONG_USER` (204) when somebody else signs in.
    @preconcurrency
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        interactive(resource, clientId, redirectUri, ADUserIdentifier(id: userId)).run(completionBlock)
    }

    /// A token of the person whose name is `userId`.
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String
    ) async -> ADAuthenticationResult {
        await interactive(resource, clientId, redirectUri, ADUserIdentifier(id: userId)).run()
    }

    /// The same, with more query parameters for the sign-in page, such as `domain_hint=contoso.com&nux=1`, URL-encoded.
    @preconcurrency
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String?,
        extraQueryParameters queryParams: String?,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        interactive(
            resource, clientId, redirectUri, userId.flatMap { ADUserIdentifier(id: $0) }, query: queryParams
        ).run(completionBlock)
    }

    /// The same, with more query parameters for the sign-in page, such as `domain_hint=contoso.com&nux=1`, URL-encoded.
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String?,
        extraQueryParameters queryParams: String?
    ) async -> ADAuthenticationResult {
        await interactive(
            resource, clientId, redirectUri, userId.flatMap { ADUserIdentifier(id: $0) }, query: queryParams
        ).run()
    }

    /// The same, and `promptBehavior` says when the sign-in page is shown.
    @preconcurrency
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, promptBehavior: ADPromptBehavior,
        userId: String?, extraQueryParameters queryParams: String?,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        interactive(
            resource, clientId, redirectUri, userId.flatMap { ADUserIdentifier(id: $0) }, promptBehavior,
            query: queryParams
        ).run(completionBlock)
    }

    /// The same, and `promptBehavior` says when the sign-in page is shown.
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, promptBehavior: ADPromptBehavior,
        userId: String?, extraQueryParameters queryParams: String?
    ) async -> ADAuthenticationResult {
        await interactive(
            resource, clientId, redirectUri, userId.flatMap { ADUserIdentifier(id: $0) }, promptBehavior,
            query: queryParams
        ).run()
    }

    /// The same, and the identifier's type says how strictly who signs in is compared with it.
    @preconcurrency
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, promptBehavior: ADPromptBehavior,
        userIdentifier userId: ADUserIdentifier?, extraQueryParameters queryParams: String?,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        interactive(
            resource, clientId, redirectUri, userId, promptBehavior, query: queryParams
        ).run(completionBlock)
    }

    /// The same, and the identifier's type says how strictly who signs in is compared with it.
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, promptBehavior: ADPromptBehavior,
        userIdentifier userId: ADUserIdentifier?, extraQueryParameters queryParams: String?
    ) async -> ADAuthenticationResult {
        await interactive(
            resource, clientId, redirectUri, userId, promptBehavior, query: queryParams
        ).run()
    }

    /// The same, with a claims request (OpenID Connect Core 1.0 section 5.5), which passes over the cached access token.
    ///
    /// `claims` is JSON, URL-encoded; `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when it is not, or when
    /// `extraQueryParameters` has claims too.
    @preconcurrency
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, promptBehavior: ADPromptBehavior,
        userIdentifier userId: ADUserIdentifier?, extraQueryParameters queryParams: String?, claims: String?,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        interactive(
            resource, clientId, redirectUri, userId, promptBehavior, query: queryParams, claims: claims
        ).run(completionBlock)
    }

    /// The same, with a claims request (OpenID Connect Core 1.0 section 5.5), which passes over the cached access token.
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, promptBehavior: ADPromptBehavior,
        userIdentifier userId: ADUserIdentifier?, extraQueryParameters queryParams: String?, claims: String?
    ) async -> ADAuthenticationResult {
        await interactive(
            resource, clientId, redirectUri, userId, promptBehavior, query: queryParams, claims: claims
        ).run()
    }

    private func interactive(
        _ resource: String, _ clientID: String, _ redirectURI: URL, _ identifier: ADUserIdentifier? = nil,
        _ prompt: ADPromptBehavior = AD_PROMPT_AUTO, query: String? = nil, claims: String? = nil
    ) -> TokenRequest {
        var request = TokenRequest(self, resource: resource, clientID: clientID, redirectURI: redirectURI)
        request.prompt = prompt
        request.identifier = identifier
        request.queryParameters = query
        request.claims = claims
        return request
    }
}
