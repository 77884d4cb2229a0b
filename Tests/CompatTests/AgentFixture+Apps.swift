internal import ADALCompat
internal import AgentClient
internal import AgentTestSupport
internal import CompatSupport
internal import EntraEmulator
internal import Foundation
internal import Testing

@testable internal import MSALCompat

/// Apps of both libraries that use the fixture's agent. Each represents a process, and so has a `CurrentSignIn` of its own
/// unless it is given one.
extension AgentFixture {
    private var presenter: SignInPresenter {
        SignInPresenter(method: .browser, browserCommands: [internet?.browser ?? "curl -sSL -o /dev/null %s"])
    }

    /// An MSAL app of the emulator's `common` authority, or of `authority`, which is a known authority if `isKnown`.
    func msal(
        _ authority: MSALAuthority? = nil, _ clientID: String = "app-1", isKnown: Bool = true,
        currentSignIn: CurrentSignIn = CurrentSignIn(),
        _ change: (MSALPublicClientApplicationConfig) -> Void = { _ in }
    ) throws -> MSALPublicClientApplication {
        let authority = try authority ?? MSALAADAuthority(url: try url("\(emulator.url)/common"))
        let config = MSALPublicClientApplicationConfig(
            clientId: clientID, redirectUri: "http://localhost", authority: authority)
        if isKnown { config.knownAuthorities = [authority] }
        change(config)
        let application = try MSALPublicClientApplication(configuration: config, client: agent, presenter: presenter)
        application.session?.currentSignIn = currentSignIn
        return application
    }

    /// An ADAL context of the emulator's `common` authority, which is not validated.
    func adal(currentSignIn: CurrentSignIn = CurrentSignIn()) throws -> ADAuthenticationContext {
        try adal("\(emulator.url)/common", validates: false, currentSignIn: currentSignIn)
    }

    /// An ADAL context of `authority`.
    func adal(
        _ authority: String, validates: Bool = true, currentSignIn: CurrentSignIn = CurrentSignIn()
    ) throws -> ADAuthenticationContext {
        let context = try #require(
            ADAuthenticationContext(authority: authority, validateAuthority: validates, error: nil))
        context.agent = agent
        context.currentSignIn = currentSignIn
        context.presenter = presenter
        return context
    }
}

extension MSALPublicClientApplication {
    /// Signs the named user in.
    func signIn(_ username: String, scopes: [String] = ["User.Read"]) async throws -> MSALResult {
        let parameters = MSALInteractiveTokenParameters(scopes: scopes, webviewParameters: Sample.webview)
        parameters.loginHint = username
        return try await acquireToken(with: parameters)
    }

    /// A silent request.
    func silent(
        _ account: MSALAccount, scopes: [String] = ["User.Read"], authority: MSALAuthority? = nil, force: Bool = false
    ) async throws -> MSALResult {
        let parameters = MSALSilentTokenParameters(scopes: scopes, account: account)
        parameters.authority = authority
        parameters.forceRefresh = force
        return try await acquireTokenSilent(with: parameters)
    }
}

extension ADAuthenticationContext {
    /// Acquires a token from the cache, by a refresh or by a sign-in.
    func acquire(
        _ resource: String, _ userID: String?, query: String? = nil, clientID: String = "app-1"
    ) async throws -> ADAuthenticationResult {
        await acquireToken(
            withResource: resource, clientId: clientID, redirectUri: try #require(URL(string: "http://localhost")),
            userId: userID, extraQueryParameters: query)
    }

    /// Acquires a token without user interaction.
    func silent(
        _ resource: String, _ userID: String? = nil, force: Bool = false, clientID: String = "app-1"
    ) async throws -> ADAuthenticationResult {
        await acquireTokenSilent(
            withResource: resource, clientId: clientID, redirectUri: try #require(URL(string: "http://localhost")),
            userId: userID, forceRefresh: force)
    }
}

/// Returns the error that `body` throws.
func appError(_ body: () async throws -> MSALResult) async -> NSError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as NSError
    }
}

/// Returns the URL `text`, or fails the test.
func url(_ text: String) throws -> URL { try #require(URL(string: text)) }
