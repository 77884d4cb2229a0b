internal import ADALCompat
internal import AgentClient
internal import CompatSupport
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing

/// App code as it was written for ADAL 2.7: it has to compile, and every call has to end.
@Suite(.bounded) struct ADALAppCodeTests {
    private let resource = "https://graph.microsoft.com"
    private let clientID = "app-1"

    private func redirectURI() throws -> URL { try #require(URL(string: "myapp://auth")) }

    /// A context whose agent does not run.
    private func context() throws -> ADAuthenticationContext {
        var error: ADAuthenticationError?
        let context = try #require(
            ADAuthenticationContext(
                authority: "https://login.microsoftonline.com/common", validateAuthority: true, error: &error))
        context.correlationId = UUID()
        context.logComponent = "mail"
        context.credentialsType = AD_CREDENTIALS_AUTO
        context.extendedLifetimeEnabled = true
        context.clientCapabilities = ["cp1"]
        context.agent = AgentClient(socketPath: "/nonexistent/agent.sock")
        context.currentSignIn = CurrentSignIn()
        return context
    }

    @Test func endsEachSilentCall() async throws {
        let (context, redirectURI) = (try context(), try redirectURI())
        let results = [
            await context.acquireTokenSilent(withResource: resource, clientId: clientID, redirectUri: redirectURI),
            await context.acquireTokenSilent(
                withResource: resource, clientId: clientID, redirectUri: redirectURI, userId: "alice@contoso.com"),
            await context.acquireTokenSilent(
                withResource: resource, clientId: clientID, redirectUri: redirectURI, userId: nil, forceRefresh: true),
            await context.acquireTokenSilent(
                withResource: resource, clientId: clientID, redirectUri: redirectURI, userId: nil,
                claims: "%7B%22a%22%3A1%7D"),
        ]
        expectNoAgent(results, context)
    }

    @Test func endsEachInteractiveCall() async throws {
        let (context, redirectURI) = (try context(), try redirectURI())
        let user = ADUserIdentifier(id: "alice@contoso.com", type: OptionalDisplayableId)
        let results = [
            await context.acquireToken(withResource: resource, clientId: clientID, redirectUri: redirectURI),
            await context.acquireToken(
                withResource: resource, clientId: clientID, redirectUri: redirectURI, userId: "alice@contoso.com"),
            await context.acquireToken(
                withResource: resource, clientId: clientID, redirectUri: redirectURI, userId: nil,
                extraQueryParameters: "nux=1"),
            await context.acquireToken(
                withResource: resource, clientId: clientID, redirectUri: redirectURI, promptBehavior: AD_PROMPT_ALWAYS,
                userId: "alice@contoso.com", extraQueryParameters: nil),
            await context.acquireToken(
                withResource: resource, clientId: clientID, redirectUri: redirectURI,
                promptBehavior: AD_PROMPT_REFRESH_SESSION, userIdentifier: user, extraQueryParameters: nil),
            await context.acquireToken(
                withResource: resource, clientId: clientID, redirectUri: redirectURI, promptBehavior: AD_FORCE_PROMPT,
                userIdentifier: nil, extraQueryParameters: nil, claims: nil),
        ]
        expectNoAgent(results, context)
    }

    private func expectNoAgent(_ results: [ADAuthenticationResult], _ context: ADAuthenticationContext) {
        for result in results {
            #expect(result.status == AD_FAILED)
            #expect(result.error?.domain == ADAuthenticationErrorDomain)
            #expect(result.error?.code == ADErrorCode.ERROR_UNEXPECTED.rawValue)
            #expect(result.correlationId == context.correlationId)
        }
    }

    @Test func callsBackOnceAlsoWhenTheArgumentsAreWrong() async throws {
        let (context, redirectURI) = (try context(), try redirectURI())
        let calls = Mutex(0)
        let codes = await withCheckedContinuation { (done: CheckedContinuation<[Int?], Never>) in
            let codes = Mutex<[Int?]>([])
            let completion: @Sendable (ADAuthenticationResult) -> Void = { result in
                calls.withLock { $0 += 1 }
                let all = codes.withLock { codes in
                    codes.append(result.error?.code)
                    return codes
                }
                if all.count == 2 { done.resume(returning: all) }
            }
            context.acquireTokenSilent(
                withResource: "", clientId: clientID, redirectUri: redirectURI, completionBlock: completion)
            context.acquireToken(
                withResource: resource, clientId: " ", redirectUri: redirectURI, completionBlock: completion)
        }
        #expect(codes == [100, 100])
        #expect(calls.withLock { $0 } == 2)
    }

    @Test func switchesOverTheOldEnumerations() async throws {
        let result = await (try context()).acquireTokenSilent(
            withResource: resource, clientId: clientID, redirectUri: try redirectURI())
        let outcome =
            switch result.status {
            case AD_SUCCEEDED: "token"
            case AD_USER_CANCELLED: "cancelled"
            case AD_FAILED where result.error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue: "sign in"
            default: "failed"
            }
        #expect(outcome == "failed")
        let callback: ADAuthenticationCallback = { #expect($0.accessToken == nil) }
        callback(result)
    }

    @Test func reportsASignOutThatDidNotHappen() throws {
        let cache = try #require(ADKeychainTokenCache(group: "com.contoso"))
        cache.agent = AgentClient(socketPath: "/nonexistent/agent.sock")
        var error: ADAuthenticationError?
        #expect(!cache.removeAll(forClientId: clientID, error: &error))
        #expect(error?.code == ADErrorCode.ERROR_UNEXPECTED.rawValue)
        #expect(!cache.wipeAllItems(forUserId: "alice@contoso.com", error: nil))
        #expect(!cache.removeAll(forUserId: " ", clientId: clientID, error: &error))
        #expect(error?.code == ADErrorCode.ERROR_DEVELOPER_INVALID_ARGUMENT.rawValue)
        #expect(cache.sharedGroup == "com.contoso")
        #expect(ADKeychainTokenCache.keychainCache(forGroup: "com.contoso").sharedGroup == "com.contoso")
        #expect(ADKeychainTokenCache.defaultKeychainGroup() == "com.microsoft.adalcache")
        #expect(ADKeychainTokenCache.defaultKeychain().sharedGroup == ADKeychainTokenCache().sharedGroup)
    }

    @Test func startsWithTheOriginalsSettings() {
        let settings = ADAuthenticationSettings.sharedInstance()
        #expect(settings.requestTimeOut == 300)
        #expect(settings.expirationBuffer == 300)
        #expect(settings.enableFullScreen)
        #expect(settings.defaultKeychainGroup() == "com.microsoft.adalcache")
        #expect(!ADTelemetry.sharedInstance().piiEnabled)
        #expect(!ADAuthenticationContext.handleADALResponse(URL(filePath: "/"), sourceApplication: nil))
    }
}
