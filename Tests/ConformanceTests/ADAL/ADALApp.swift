internal import ADALCompat
internal import AgentClient
internal import AgentTestSupport
internal import CompatSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// An ADAL app with one client ID, one resource and one authority, which uses the fixture's agent.
struct ADALApp {
    static let graph = "https://graph.microsoft.com"
    static let alice = "alice@contoso.com"
    static let bob = "bob@contoso.com"

    let f: AgentFixture
    var clientID = "app-1"
    var resource = graph
    var tenant = "common"
    var extendedLifetime = false

    init(_ f: AgentFixture, _ clientID: String = "app-1", resource: String = graph, tenant: String = "common") {
        self.f = f
        self.clientID = clientID
        self.resource = resource
        self.tenant = tenant
    }

    var authority: String { "\(f.emulator.url)/\(tenant)" }

    func context() throws -> ADAuthenticationContext {
        let context = try #require(
            ADAuthenticationContext(authority: authority, validateAuthority: false, error: nil))
        context.agent = f.agent
        context.currentSignIn = CurrentSignIn()
        context.presenter = SignInPresenter(method: .browser, browserCommands: ["curl -sSL -o /dev/null %s"])
        context.extendedLifetimeEnabled = extendedLifetime
        return context
    }

    /// `acquireTokenSilent`.
    func silent(
        _ userID: String? = nil, forceRefresh: Bool = false
    ) async throws -> ADAuthenticationResult {
        await (try context()).acquireTokenSilent(
            withResource: resource, clientId: clientID, redirectUri: try Self.redirectURI(), userId: userID,
            forceRefresh: forceRefresh)
    }

    /// `acquireTokenSilent` with a claims request, URL-encoded.
    func silent(_ userID: String?, claims: String) async throws -> ADAuthenticationResult {
        await (try context()).acquireTokenSilent(
            withResource: resource, clientId: clientID, redirectUri: try Self.redirectURI(), userId: userID,
            claims: claims)
    }

    /// `acquireToken`.
    func acquire(
        _ identifier: ADUserIdentifier?, _ prompt: ADPromptBehavior = AD_PROMPT_AUTO, query: String? = nil
    ) async throws -> ADAuthenticationResult {
        await (try context()).acquireToken(
            withResource: resource, clientId: clientID, redirectUri: try Self.redirectURI(), promptBehavior: prompt,
            userIdentifier: identifier, extraQueryParameters: query)
    }

    /// Signs a user in, regardless of the cache.
    @discardableResult
    func signIn(_ userID: String = alice) async throws -> ADAuthenticationResult {
        let result = try await acquire(ADUserIdentifier(id: userID, type: OptionalDisplayableId), AD_PROMPT_ALWAYS)
        try #require(result.status == AD_SUCCEEDED, "\(result.error?.description ?? "")")
        return result
    }

    /// `acquireToken(withRefreshToken:)`.
    func redeem(_ refreshToken: String, userID: String? = nil) async throws -> ADAuthenticationResult {
        let (context, redirectURI) = (try context(), try Self.redirectURI())
        guard let userID else {
            return await context.acquireToken(
                withRefreshToken: refreshToken, resource: resource, clientId: clientID, redirectUri: redirectURI)
        }
        return await context.acquireToken(
            withRefreshToken: refreshToken, resource: resource, clientId: clientID, redirectUri: redirectURI,
            userId: userID)
    }

    /// `acquireToken(forAssertion:)`.
    func redeem(
        assertion: String, _ type: ADAssertionType = AD_SAML2, userID: String? = nil
    ) async throws -> ADAuthenticationResult {
        await (try context()).acquireToken(
            forAssertion: assertion, assertionType: type, resource: resource, clientId: clientID, userId: userID)
    }

    /// A refresh token that is not in the cache, as an app may have stored one before the agent existed.
    func forgottenRefreshToken(of userID: String = alice) async throws -> String {
        f.emulator.control.settings.rotation = .none
        try await signIn(userID)
        _ = try await silent(userID, forceRefresh: true)
        let token = try #require(refreshes.last?["refresh_token"])
        let cache = cache
        try #require(try await offPool { cache.wipeAllItems(forUserId: userID, error: nil) })
        f.emulator.control.settings.rotation = .strict
        f.emulator.control.resetCounts()
        return token
    }

    /// The default sharing group's cache.
    var cache: ADKeychainTokenCache {
        let cache = ADKeychainTokenCache()
        cache.agent = f.agent
        return cache
    }

    /// `allItems` in the order of resources, those that represent refresh tokens last.
    func items() async throws -> [ADTokenCacheItem] {
        let cache = cache
        let items = try #require(try await offPool { cache.allItems(nil) })
        return items.sorted { ($0.resource ?? "~", $0.clientId ?? "") < ($1.resource ?? "~", $1.clientId ?? "") }
    }

    /// The parameters of the refresh requests, in order.
    var refreshes: [[String: String]] {
        f.emulator.control.requests.filter { $0.counter == .refreshToken }.map(\.parameters)
    }

    static func redirectURI() throws -> URL { try #require(URL(string: "http://localhost")) }
}

extension AgentFixture {
    /// Lets every access token and every throttling record expire.
    func letTokensExpire() { clock.advance(by: 4000) }

    /// Fails the next redemption of a refresh token.
    func failRefresh(_ error: String, suberror: String? = nil, count: Int = 1) {
        emulator.control.inject(.error(error, suberror: suberror, grant: .refreshToken, count: count))
    }
}

/// Checks that `result` requires a sign-in (200), and returns its underlying error.
@discardableResult
func expectInputNeeded(
    _ result: ADAuthenticationResult, sourceLocation: SourceLocation = #_sourceLocation
) -> ADAuthenticationError? {
    #expect(result.status == AD_FAILED, sourceLocation: sourceLocation)
    #expect(result.tokenCacheItem == nil, sourceLocation: sourceLocation)
    #expect(result.accessToken == nil, sourceLocation: sourceLocation)
    #expect(result.authority == nil, sourceLocation: sourceLocation)
    #expect(result.correlationId != nil, sourceLocation: sourceLocation)
    #expect(result.error?.domain == ADAuthenticationErrorDomain, sourceLocation: sourceLocation)
    #expect(
        result.error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue, sourceLocation: sourceLocation)
    #expect(result.error?.protocolCode == nil, sourceLocation: sourceLocation)
    return result.error?.userInfo[NSUnderlyingErrorKey] as? ADAuthenticationError
}
