internal import ADALCompat
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The objects that `init()` creates, which apps use for test doubles.
@Suite(.bounded) struct TestDoubleTests {
    /// All methods of an application.
    @Test func failsEachCallWithoutAConfiguration() async throws {
        let app = MSALPublicClientApplication()
        #expect(app.configuration.clientId.isEmpty)
        let account = MSALAccount(Sample.account())
        let silent = MSALSilentTokenParameters(scopes: ["User.Read"], account: account)
        let interactive = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview)
        let calls: [() async throws -> Void] = [
            { _ = try app.allAccounts() }, { _ = try app.account(forIdentifier: "uid.utid") },
            { _ = try app.account(forUsername: "anna@contoso.com") },
            { _ = try app.accounts(for: MSALAccountEnumerationParameters()) }, { try app.remove(account) },
            { _ = try await app.accountsFromDevice(for: MSALAccountEnumerationParameters()) },
            { _ = try await app.currentAccount(with: nil) }, { _ = try await app.acquireTokenSilent(with: silent) },
            { _ = try await app.acquireToken(with: interactive) },
            { _ = try await app.signout(with: account, signoutParameters: MSALSignoutParameters()) },
        ]
        for call in calls {
            let error = await #expect(throws: NSError.self) { try await call() }
            #expect(error?.domain == MSALErrorDomain)
            #expect(error?.internalCode == MSALInternalError.internalErrorInvalidParameter.rawValue)
            #expect(error?.localizedDescription.contains("configuration") == true)
        }
    }

    @Test func callsItsBlocksWithoutAConfiguration() {
        let app = MSALPublicClientApplication()
        let codes = Mutex<[Int?]>([])
        let record: @Sendable ((any Error)?) -> Void = { error in
            codes.withLock { $0.append((error as NSError?)?.internalCode) }
        }
        app.accountsFromDevice(for: MSALAccountEnumerationParameters()) { record($1) }
        app.getCurrentAccount(with: nil) { record($2) }
        let silent = MSALSilentTokenParameters(scopes: ["User.Read"], account: MSALAccount(Sample.account()))
        app.acquireTokenSilent(with: silent) { record($1) }
        #expect(codes.withLock { $0 } == [-42000, -42000, -42000])
    }

    @Test func opensNoSignOutPageWithoutWebviewParameters() throws {
        let session = try #require(try MSALPublicClientApplication(clientId: "client-1").session)
        let parameters = MSALSignoutParameters()
        let account = MSALAccount(Sample.account())
        #expect(try session.signout(account, parameters).page == nil)
        parameters.signoutFromBrowser = true
        #expect(Sample.failure { _ = try session.signout(account, parameters) }?.internalCode == -42000)
    }

    @Test func createsEmptyObjects() {
        let result = MSALResult()
        #expect(result.accessToken.isEmpty && result.authorizationHeader.isEmpty && result.scopes.isEmpty)
        #expect(result.expiresOn == nil && result.idToken == nil && !result.extendedLifeTimeToken)
        #expect(result.account.identifier == nil && result.account.username == nil)
        #expect(result.tenantProfile.tenantId == nil)
        #expect(result.correlationId == result.correlationId)
        let profile = MSALTenantProfile()
        #expect(profile.identifier == nil && profile.environment == nil && profile.claims == nil)
        #expect(!profile.isHomeTenantProfile)
        let id = MSALAccountId()
        #expect(id.identifier.isEmpty && id.objectId == nil && id.tenantId == nil)
        #expect(MSALParameters().completionBlockQueue == nil)
        #expect(MSALDeviceInformation().extraDeviceInformation.isEmpty)
        #expect(MSALRedirectUri().brokerCapable)
        #expect(MSALRedirectUri().url.scheme?.hasPrefix("msauth.") == true)
        let cache = MSALSerializedADALCacheProvider()
        cache.announceAccess()
        cache.announceWrite()
        let nobody = ADUserIdentifier()
        #expect(nobody.userId == nil && nobody.type == UniqueId)
        // All objects have the sharing group of the process.
        #expect(ADAuthenticationSettings().defaultKeychainGroup() == "com.microsoft.adalcache")
    }

    @Test func letsTestDoublesOverrideProperties() async throws {
        let app: MSALPublicClientApplication = ApplicationDouble()
        let account = MSALAccount(Sample.account())
        let silent = MSALSilentTokenParameters(scopes: ["User.Read"], account: account)
        #expect(try await app.acquireTokenSilent(with: silent).accessToken == "a token")
        let token = Mutex<String?>(nil)
        app.acquireTokenSilent(with: silent) { result, _ in token.withLock { $0 = result?.accessToken } }
        #expect(token.withLock { $0 } == "a token")
    }
}

private final class ApplicationDouble: MSALPublicClientApplication {
    // Overridden without `@Sendable`, as in an app written before Swift 6.
    override func acquireTokenSilent(
        with parameters: MSALSilentTokenParameters, completionBlock: @escaping (MSALResult?, (any Error)?) -> Void
    ) {
        completionBlock(ResultDouble(), nil)
    }

    override func acquireTokenSilent(with parameters: MSALSilentTokenParameters) async throws -> MSALResult {
        ResultDouble()
    }
}

// Unchecked as `MSALResult` is; it adds no state.
private final class ResultDouble: MSALResult, @unchecked Sendable {
    override var accessToken: String { "a token" }
}
