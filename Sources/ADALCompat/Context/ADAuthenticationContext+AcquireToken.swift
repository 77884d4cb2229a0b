// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

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
    ) -> TokenAcquisition {
        var request = TokenAcquisition(self, resource: resource, clientID: clientID, redirectURI: redirectURI)
        request.prompt = prompt
        request.identifier = identifier
        request.queryParameters = query
        request.claims = claims
        return request
    }
}

/// When `acquireToken` shows the sign-in page.
public struct ADPromptBehavior: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Only when neither a cached access token nor a refresh token helps.
public var AD_PROMPT_AUTO: ADPromptBehavior { ADPromptBehavior(0) }

/// Always, and the person types the password again: `prompt=login`.
public var AD_PROMPT_ALWAYS: ADPromptBehavior { ADPromptBehavior(1) }

/// Always, so that the browser's session is renewed: `prompt=refresh_session`.
public var AD_PROMPT_REFRESH_SESSION: ADPromptBehavior { ADPromptBehavior(2) }

/// Always, as `AD_PROMPT_ALWAYS`: `prompt=login`.
public var AD_FORCE_PROMPT: ADPromptBehavior { ADPromptBehavior(3) }

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
    ) -> TokenAcquisition {
        var request = TokenAcquisition(self, resource: resource, clientID: clientID, redirectURI: redirectURI)
        request.identifier = userId.flatMap { ADUserIdentifier(id: $0) }
        request.forceRefresh = forceRefresh
        request.claims = claims
        return request
    }
}

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
        _ grant: TokenAcquisition.Grant, _ resource: String, _ clientID: String, _ redirectURI: URL? = nil,
        userID: String? = nil
    ) -> TokenAcquisition {
        var request = TokenAcquisition(self, resource: resource, clientID: clientID, redirectURI: redirectURI)
        request.grant = grant
        request.identifier = userID.flatMap { ADUserIdentifier(id: $0) }
        return request
    }
}

/// Which version of SAML an assertion is written in.
public struct ADAssertionType: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// SAML 1.1 (`urn:ietf:params:oauth:grant-type:saml1_1-bearer`).
public var AD_SAML1_1: ADAssertionType { ADAssertionType(0) }

/// SAML 2.0 (RFC 7522).
public var AD_SAML2: ADAssertionType { ADAssertionType(1) }
