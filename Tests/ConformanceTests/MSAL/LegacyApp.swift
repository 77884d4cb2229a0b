internal import AgentClient
internal import AgentTestSupport
internal import CompatSupport
internal import EntraEmulator
internal import Foundation
internal import Testing

@testable internal import ADALCompat

/// An ADAL app that shares the cache with MSAL apps.
struct LegacyApp {
    static let graph = "https://graph.microsoft.com"
    private static let redirect = "http://localhost"

    let clientID: String
    let context: ADAuthenticationContext

    init(_ f: AgentFixture, clientID: String = "app-1", realm: String = "common") throws {
        self.clientID = clientID
        context = try #require(
            ADAuthenticationContext(authority: "\(f.emulator.url)/\(realm)", validateAuthority: false, error: nil))
        context.agent = AgentClient(socketPath: f.socketPath)
        context.presenter = SignInPresenter(method: .browser, browserCommands: ["curl -sSL -o /dev/null %s"])
        context.currentSignIn = CurrentSignIn()
    }

    /// Signs a user in.
    @discardableResult
    func signIn(_ userID: String) async throws -> ADAuthenticationResult {
        let result = await context.acquireToken(
            withResource: Self.graph, clientId: clientID, redirectUri: try #require(URL(string: Self.redirect)),
            userId: userID)
        try #require(result.status == AD_SUCCEEDED, "\(result.error?.description ?? "no error")")
        return result
    }

    /// Acquires a token silently, for a user or for the only one that is signed in.
    func silent(_ userID: String? = nil, resource: String = graph) async throws -> ADAuthenticationResult {
        let redirect = try #require(URL(string: Self.redirect))
        guard let userID else {
            return await context.acquireTokenSilent(
                withResource: resource, clientId: clientID, redirectUri: redirect)
        }
        return await context.acquireTokenSilent(
            withResource: resource, clientId: clientID, redirectUri: redirect, userId: userID)
    }
}

extension ADAuthenticationResult {
    /// Whether a sign-in is required.
    var needsUser: Bool {
        status == AD_FAILED && error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue
    }
}
