// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

public import Foundation

/// Acquires tokens from the cache, by redeeming a refresh token, or by an interactive sign-in.
///
/// The sign-in page opens in the system browser; without a display, a device code is shown. Each request ends exactly
/// once, with a token or an error. A completion block is called on a background thread, and by the method itself only in
/// a copy (`fork`) of the process. If the task of an async form is cancelled, so is the request: `AD_USER_CANCELLED`
/// with `ERROR_UI_USER_CANCEL` (403). Only one sign-in may be in progress in a process, of ADAL or of MSAL: another
/// request that needs one ends with `ERROR_UI_MULTLIPLE_INTERACTIVE_REQUESTS` (400). If the page refuses, or no browser
/// can be used, the error is `ERROR_SERVER_AUTHORIZATION_CODE` (211); if the page sends no response for ten minutes, or
/// the device code expires, `ERROR_UNEXPECTED` (-1). May be called from any thread.
extension ADAuthenticationContext {
    /// Acquires a token of the only account that is signed in, or lets a user sign in.
    ///
    /// `ERROR_CACHE_MULTIPLE_USERS` (300) if ADAL apps have several accounts; several that only MSAL apps have count as none.
    @preconcurrency
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        interactive(resource, clientId, redirectUri).run(completionBlock)
    }

    /// Acquires a token of the only account that is signed in, or lets a user sign in.
    ///
    /// `ERROR_CACHE_MULTIPLE_USERS` (300) if ADAL apps have several accounts; several that only MSAL apps have count as none.
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL
    ) async -> ADAuthenticationResult {
        await interactive(resource, clientId, redirectUri).run()
    }

    /// Acquires a token of the account with the username `userId`.
    ///
    /// `ERROR_SERVER_WRONG_USER` (204) if another user signs in, `ERROR_CACHE_MULTIPLE_USERS` (300) if users of several
    /// tenants have this name, and none of them is of the authority's.
    @preconcurrency
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        interactive(resource, clientId, redirectUri, ADUserIdentifier(id: userId)).run(completionBlock)
    }

    /// Acquires a token of the account with the username `userId`.
    ///
    /// `ERROR_SERVER_WRONG_USER` (204) if another user signs in, `ERROR_CACHE_MULTIPLE_USERS` (300) if users of several
    /// tenants have this name, and none of them is of the authority's.
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String
    ) async -> ADAuthenticationResult {
        await interactive(resource, clientId, redirectUri, ADUserIdentifier(id: userId)).run()
    }

    /// Acquires a token, with additional query parameters for the sign-in page, URL-encoded, such as
    /// `domain_hint=contoso.com&nux=1`.
    ///
    /// Errors as without them; `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if they are not URL-encoded.
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

    /// Acquires a token, with additional query parameters for the sign-in page, URL-encoded, such as
    /// `domain_hint=contoso.com&nux=1`.
    ///
    /// Errors as without them; `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if they are not URL-encoded.
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String?,
        extraQueryParameters queryParams: String?
    ) async -> ADAuthenticationResult {
        await interactive(
            resource, clientId, redirectUri, userId.flatMap { ADUserIdentifier(id: $0) }, query: queryParams
        ).run()
    }

    /// Acquires a token; `promptBehavior` decides when the sign-in page is shown.
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

    /// Acquires a token; `promptBehavior` decides when the sign-in page is shown.
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, promptBehavior: ADPromptBehavior,
        userId: String?, extraQueryParameters queryParams: String?
    ) async -> ADAuthenticationResult {
        await interactive(
            resource, clientId, redirectUri, userId.flatMap { ADUserIdentifier(id: $0) }, promptBehavior,
            query: queryParams
        ).run()
    }

    /// Acquires a token; the type of `userId` decides how the user who signs in is compared with it (`ERROR_SERVER_WRONG_USER`, 204).
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

    /// Acquires a token; the type of `userId` decides how the user who signs in is compared with it (`ERROR_SERVER_WRONG_USER`, 204).
    public func acquireToken(
        withResource resource: String, clientId: String, redirectUri: URL, promptBehavior: ADPromptBehavior,
        userIdentifier userId: ADUserIdentifier?, extraQueryParameters queryParams: String?
    ) async -> ADAuthenticationResult {
        await interactive(
            resource, clientId, redirectUri, userId, promptBehavior, query: queryParams
        ).run()
    }

    /// Acquires a token for a claims request (OpenID Connect Core 1.0 section 5.5), which bypasses the cached access
    /// token.
    ///
    /// `claims` is JSON, URL-encoded; `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if it is not, or if
    /// `extraQueryParameters` holds claims too.
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

    /// Acquires a token for a claims request (OpenID Connect Core 1.0 section 5.5), which bypasses the cached access
    /// token.
    ///
    /// `claims` is JSON, URL-encoded; `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if it is not, or if
    /// `extraQueryParameters` holds claims too.
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
    /// The number in the C enumeration.
    public var rawValue: UInt32

    /// Creates the value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// The user is asked if neither a cached access token nor a refresh token can be used.
public var AD_PROMPT_AUTO: ADPromptBehavior { ADPromptBehavior(0) }

/// The user is always asked, and enters the password again: `prompt=login`.
public var AD_PROMPT_ALWAYS: ADPromptBehavior { ADPromptBehavior(1) }

/// The user is always asked, and the session of the browser is renewed: `prompt=refresh_session`.
public var AD_PROMPT_REFRESH_SESSION: ADPromptBehavior { ADPromptBehavior(2) }

/// As `AD_PROMPT_ALWAYS`: `prompt=login`.
public var AD_FORCE_PROMPT: ADPromptBehavior { ADPromptBehavior(3) }

/// Acquires tokens without user interaction, from the cache or by redeeming a refresh token.
///
/// Each request ends exactly once, with a token or an error. A completion block is called on a background thread, and by
/// the method itself only in a copy (`fork`) of the process. `ERROR_SERVER_USER_INPUT_NEEDED` (200) means that only
/// `acquireToken` can help; the server's error, if the server was asked, is under `NSUnderlyingErrorKey`. If the task of
/// an async form is cancelled, its wait ends with `AD_USER_CANCELLED` and `ERROR_UI_USER_CANCEL` (403). May be called
/// from any thread.
extension ADAuthenticationContext {
    /// Acquires a token of the only account that is signed in, without user interaction.
    ///
    /// `ERROR_CACHE_MULTIPLE_USERS` (300) if ADAL apps have several accounts; several that only MSAL apps have count as none (200).
    @preconcurrency
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        silent(resource, clientId, redirectUri).run(completionBlock)
    }

    /// Acquires a token of the only account that is signed in, without user interaction.
    ///
    /// `ERROR_CACHE_MULTIPLE_USERS` (300) if ADAL apps have several accounts; several that only MSAL apps have count as none (200).
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL
    ) async -> ADAuthenticationResult {
        await silent(resource, clientId, redirectUri).run()
    }

    /// Acquires a token of the account with the username `userId`, such as MSAL's `account.username`, without user
    /// interaction.
    ///
    /// The name is compared without regard to case. A blank name means the only account that is signed in.
    /// `ERROR_CACHE_MULTIPLE_USERS` (300) if users of several tenants have it, and none of them is of the authority's.
    @preconcurrency
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        silent(resource, clientId, redirectUri, userId: userId).run(completionBlock)
    }

    /// Acquires a token of the account with the username `userId`, such as MSAL's `account.username`, without user
    /// interaction.
    ///
    /// The name is compared without regard to case. A blank name means the only account that is signed in.
    /// `ERROR_CACHE_MULTIPLE_USERS` (300) if users of several tenants have it, and none of them is of the authority's.
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String
    ) async -> ADAuthenticationResult {
        await silent(resource, clientId, redirectUri, userId: userId).run()
    }

    /// Acquires a token without user interaction; `forceRefresh` bypasses the cached access token.
    @preconcurrency
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String?, forceRefresh: Bool,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        silent(resource, clientId, redirectUri, userId: userId, forceRefresh: forceRefresh).run(completionBlock)
    }

    /// Acquires a token without user interaction; `forceRefresh` bypasses the cached access token.
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String?, forceRefresh: Bool
    ) async -> ADAuthenticationResult {
        await silent(resource, clientId, redirectUri, userId: userId, forceRefresh: forceRefresh).run()
    }

    /// Acquires a token for a claims request (OpenID Connect Core 1.0 section 5.5), which bypasses the cached access
    /// token, without user interaction.
    ///
    /// `claims` is JSON, URL-encoded; `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if it is not.
    @preconcurrency
    public func acquireTokenSilent(
        withResource resource: String, clientId: String, redirectUri: URL, userId: String?, claims: String?,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        silent(resource, clientId, redirectUri, userId: userId, claims: claims).run(completionBlock)
    }

    /// Acquires a token for a claims request (OpenID Connect Core 1.0 section 5.5), which bypasses the cached access
    /// token, without user interaction.
    ///
    /// `claims` is JSON, URL-encoded; `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if it is not.
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

/// Acquires tokens for a grant that the app holds: a refresh token from the time before the agent, or an assertion of
/// another identity provider.
///
/// The tokens are saved, as those of a sign-in are. Each request ends exactly once, with a token or an error. A completion block is called on
/// a background thread, and by the method itself only in a copy (`fork`) of the process. If the task of an async form is cancelled, its wait
/// ends with `AD_USER_CANCELLED` and `ERROR_UI_USER_CANCEL` (403); the agent continues. May be called from any thread.
extension ADAuthenticationContext {
    /// Redeems a refresh token; the cache is not used.
    ///
    /// `ERROR_SERVER_REFRESH_TOKEN_REJECTED` (203) of `ADOAuthServerErrorDomain`, with the server's `protocolCode`, if
    /// the server rejects it; nothing is removed from the cache then.
    @preconcurrency
    public func acquireToken(
        withRefreshToken refreshToken: String, resource: String, clientId: String, redirectUri: URL,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        request(.refreshToken(refreshToken), resource, clientId, redirectUri).run(completionBlock)
    }

    /// Redeems a refresh token; the cache is not used.
    ///
    /// `ERROR_SERVER_REFRESH_TOKEN_REJECTED` (203) of `ADOAuthServerErrorDomain`, with the server's `protocolCode`, if
    /// the server rejects it; nothing is removed from the cache then.
    public func acquireToken(
        withRefreshToken refreshToken: String, resource: String, clientId: String, redirectUri: URL
    ) async -> ADAuthenticationResult {
        await request(.refreshToken(refreshToken), resource, clientId, redirectUri).run()
    }

    /// Redeems a refresh token of the user `userId`; the cache is not used. Tokens of another user are not an error.
    ///
    /// Errors as without a user.
    @preconcurrency
    public func acquireToken(
        withRefreshToken refreshToken: String, resource: String, clientId: String, redirectUri: URL, userId: String,
        completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        request(.refreshToken(refreshToken), resource, clientId, redirectUri, userID: userId).run(completionBlock)
    }

    /// Redeems a refresh token of the user `userId`; the cache is not used. Tokens of another user are not an error.
    ///
    /// Errors as without a user.
    public func acquireToken(
        withRefreshToken refreshToken: String, resource: String, clientId: String, redirectUri: URL, userId: String
    ) async -> ADAuthenticationResult {
        await request(.refreshToken(refreshToken), resource, clientId, redirectUri, userID: userId).run()
    }

    /// Acquires a token from the cache, by redeeming a refresh token, or else for a SAML assertion, which is XML.
    ///
    /// `ERROR_SERVER_OAUTH` (202) of `ADOAuthServerErrorDomain` if the server rejects the assertion, `ERROR_SERVER_WRONG_USER` (204) if
    /// it is about another user than `userId`, `ERROR_CACHE_MULTIPLE_USERS` (300) if `userId` is nil and ADAL apps have several accounts.
    @preconcurrency
    public func acquireToken(
        forAssertion assertion: String, assertionType: ADAssertionType, resource: String, clientId: String,
        userId: String?, completionBlock: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        request(.assertion(assertion, assertionType), resource, clientId, userID: userId).run(completionBlock)
    }

    /// Acquires a token from the cache, by redeeming a refresh token, or else for a SAML assertion, which is XML.
    ///
    /// `ERROR_SERVER_OAUTH` (202) of `ADOAuthServerErrorDomain` if the server rejects the assertion, `ERROR_SERVER_WRONG_USER` (204) if
    /// it is about another user than `userId`, `ERROR_CACHE_MULTIPLE_USERS` (300) if `userId` is nil and ADAL apps have several accounts.
    public func acquireToken(
        forAssertion assertion: String, assertionType: ADAssertionType, resource: String, clientId: String,
        userId: String?
    ) async -> ADAuthenticationResult {
        await request(.assertion(assertion, assertionType), resource, clientId, userID: userId).run()
    }

    private func request(
        _ grant: TokenAcquisition.AppGrant, _ resource: String, _ clientID: String, _ redirectURI: URL? = nil,
        userID: String? = nil
    ) -> TokenAcquisition {
        var request = TokenAcquisition(self, resource: resource, clientID: clientID, redirectURI: redirectURI)
        request.grant = grant
        request.identifier = userID.flatMap { ADUserIdentifier(id: $0) }
        return request
    }
}

/// The version of SAML in which an assertion is written.
public struct ADAssertionType: Hashable, RawRepresentable, Sendable {
    /// The number in the C enumeration.
    public var rawValue: UInt32

    /// Creates the value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// SAML 1.1 (`urn:ietf:params:oauth:grant-type:saml1_1-bearer`).
public var AD_SAML1_1: ADAssertionType { ADAssertionType(0) }

/// SAML 2.0 (RFC 7522).
public var AD_SAML2: ADAssertionType { ADAssertionType(1) }
