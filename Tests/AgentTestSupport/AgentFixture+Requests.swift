internal import AgentClient
internal import EntraEmulator
internal import TestSupport
internal import Testing
package import TokenModel

/// The requests that most tests make.
extension AgentFixture {
    /// Parameters of an app: with scopes as for MSAL, or with a resource as for ADAL.
    package func parameters(
        _ clientID: String = "app-1", scopes: [String] = ["User.Read"], resource: String? = nil,
        realm: String = "common", group: SharingGroup = .standard, redirectURI: String? = nil, claims: String? = nil
    ) throws -> TokenParameters {
        TokenParameters(
            clientID: try #require(ClientID(clientID)), sharingGroup: group,
            authority: try Authority("\(emulator.url)/\(realm)"), version: resource == nil ? .v2 : .v1,
            scopes: resource.map { ScopeSet(resource: $0) } ?? ScopeSet(scopes), redirectURI: redirectURI,
            claims: claims)
    }

    /// Parameters of an app for an authority of `TestInternet`.
    package func parameters(
        at authority: String, kind: Authority.Kind? = nil, _ clientID: String = "app-1",
        scopes: [String] = ["User.Read"], resource: String? = nil, extra: [String: String] = [:],
        validates: Bool = true
    ) throws -> TokenParameters {
        TokenParameters(
            clientID: try #require(ClientID(clientID)), authority: try Authority(authority, kind: kind),
            version: resource == nil ? .v2 : .v1,
            scopes: resource.map { ScopeSet(resource: $0) } ?? ScopeSet(scopes), extraParameters: extra,
            validatesAuthority: validates)
    }

    /// Signs a user in, with the browser's part.
    @discardableResult
    package func signIn(_ username: String, _ parameters: TokenParameters) async throws -> TokenResult {
        let begun = try await agent.beginInteractive(
            BeginInteractive(parameters: parameters, loginHint: username))
        try await browse(to: begun.authorizationURL)
        return try await agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID))
    }

    /// Opens a page and follows its redirects, as a browser does.
    package func browse(to url: String) async throws {
        if let internet { return try await internet.browse(to: url) }
        _ = try await WebClient.browse(to: url)
    }

    /// Sends a silent request.
    package func silent(
        _ parameters: TokenParameters, _ account: AccountReference, force: Bool = false
    ) async throws(TokenError) -> TokenResult {
        try await agent.acquireTokenSilent(
            AcquireTokenSilent(parameters: parameters, account: account, forceRefresh: force))
    }

    /// The number of redemptions of refresh tokens that the emulator has received.
    package var redemptions: Int { emulator.control.counts[.refreshToken] }

    /// The hosts that refresh tokens were sent to.
    package var redeemers: [String] {
        emulator.control.requests.filter { $0.counter == .refreshToken }.map(\.environment)
    }

    /// The number of sign-ins at the emulator.
    package var signIns: Int { emulator.control.counts.signIns }
}
