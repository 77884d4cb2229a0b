internal import AgentClient
internal import EntraEmulator
internal import Testing
package import TokenModel

/// The requests that most tests make.
extension AgentFixture {
    /// Parameters of an app: scopes as MSAL asks, or a resource as ADAL does.
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

    /// Parameters of an app at an authority of the fixture's internet.
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

    /// A whole sign-in, the browser's part included.
    @discardableResult
    package func signIn(_ username: String, _ parameters: TokenParameters) async throws -> TokenResult {
        let begun = try await agent.beginInteractive(
            BeginInteractive(parameters: parameters, loginHint: username))
        try await browse(to: begun.authorizationURL)
        return try await agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID))
    }

    /// What a browser does: opens a page and follows it wherever it leads.
    package func browse(to url: String) async throws {
        if let internet { return try await internet.browse(to: url) }
        try await WebBrowser.open(url)
    }

    /// A silent request.
    package func silent(
        _ parameters: TokenParameters, _ account: AccountReference, force: Bool = false
    ) async throws(TokenError) -> TokenResult {
        try await agent.acquireTokenSilent(
            AcquireTokenSilent(parameters: parameters, account: account, forceRefresh: force))
    }

    /// How many refresh tokens the emulator was asked to redeem.
    package var redemptions: Int { emulator.control.counts[.refreshToken] }

    /// Where refresh tokens were sent to.
    package var redeemers: [String] {
        emulator.control.requests.filter { $0.counter == .refreshToken }.map(\.environment)
    }

    /// How many times somebody was asked to sign in.
    package var signIns: Int { emulator.control.counts.signIns }
}
