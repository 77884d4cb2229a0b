internal import AgentClient
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import ADALCompat
@testable internal import MSALCompat

/// Apps lock the archive that they keep in `willWrite`, and unlock it in `didWrite`: a removal that fails has to end for them as well.
@Suite(.bounded) struct FailedRemovalTests {
    /// The delegate of an ADAL app.
    ///
    /// Unchecked because the calls of one test come one after another.
    private final class Keeper: NSObject, ADTokenCacheDelegate, @unchecked Sendable {
        var calls: [String] = []

        func willAccessCache(_ cache: ADTokenCache) { calls.append("willAccess") }
        func didAccessCache(_ cache: ADTokenCache) { calls.append("didAccess") }
        func willWrite(_ cache: ADTokenCache) { calls.append("willWrite") }
        func didWrite(_ cache: ADTokenCache) { calls.append("didWrite") }
    }

    /// The delegate of an MSAL app; unchecked for the same reason.
    private final class Provider: NSObject, MSALSerializedADALCacheProviderDelegate, @unchecked Sendable {
        var calls: [String] = []

        func willAccessCache(_ cache: MSALSerializedADALCacheProvider) { calls.append("willAccess") }
        func didAccessCache(_ cache: MSALSerializedADALCacheProvider) { calls.append("didAccess") }
        func willWriteCache(_ cache: MSALSerializedADALCacheProvider) { calls.append("willWrite") }
        func didWriteCache(_ cache: MSALSerializedADALCacheProvider) { calls.append("didWrite") }
    }

    /// The client of an agent that does not run.
    private static var nobody: AgentClient { AgentClient(socketPath: "/nonexistent/agent.sock") }

    private func application(_ delegate: Provider) throws -> MSALPublicClientApplication {
        let config = MSALPublicClientApplicationConfig(clientId: "client-1")
        config.cacheConfig.serializedADALCache = try MSALSerializedADALCacheProvider(delegate: delegate)
        return try MSALPublicClientApplication(configuration: config, client: Self.nobody)
    }

    @Test func endsForTheDelegateOfMSAL() throws {
        let delegate = Provider()
        let app = try application(delegate)
        let error = Sample.failure { try app.remove(MSALAccount(Sample.account())) }
        #expect(error?.internalCode == -42008)
        #expect(delegate.calls == ["willWrite", "didWrite"])
    }

    @Test func endsForTheDelegateOfMSALInTheAsyncForm() async throws {
        let delegate = Provider()
        let app = try application(delegate)
        let parameters = MSALSignoutParameters(webviewParameters: Sample.webview)
        do {
            try await app.signout(with: MSALAccount(Sample.account()), signoutParameters: parameters)
            Issue.record("there is no agent")
        } catch {
            #expect((error as NSError).internalCode == -42008)
        }
        #expect(delegate.calls == ["willWrite", "didWrite"])
    }

    @Test func endsForTheDelegateOfADAL() {
        let (cache, keeper) = (ADTokenCache(agent: Self.nobody), Keeper())
        cache.setDelegate(keeper)
        keeper.calls = []
        #expect(!cache.removeAll(forClientId: "app-1", error: nil))
        #expect(keeper.calls == ["willWrite", "didWrite"])
        keeper.calls = []
        #expect(cache.allItems(nil) == nil)
        #expect(keeper.calls == ["willAccess", "didAccess"])
    }
}
