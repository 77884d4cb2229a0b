internal import AgentClient
internal import AgentTestSupport
internal import CompatSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import ADALCompat
@testable internal import MSALCompat

/// Apps that store the archive of a cache themselves, as on macOS.
@Suite(.bounded) struct SerializedCacheTests {
    private static let graph = "https://graph.microsoft.com"
    private static let alice = "alice@contoso.com"

    /// An ADAL app that stores the archive, and records the calls of its delegate in order.
    ///
    /// Unchecked because the calls of one test come one after another.
    private final class Keeper: NSObject, ADTokenCacheDelegate, @unchecked Sendable {
        var blob: Data?
        var calls: [String] = []

        init(_ blob: Data? = nil) { self.blob = blob }

        func willAccessCache(_ cache: ADTokenCache) {
            calls.append("willAccess")
            cache.deserialize(blob, error: nil)
        }

        func didAccessCache(_ cache: ADTokenCache) { calls.append("didAccess") }

        func willWrite(_ cache: ADTokenCache) {
            calls.append("willWrite")
            cache.deserialize(blob, error: nil)
        }

        func didWrite(_ cache: ADTokenCache) {
            calls.append("didWrite")
            blob = cache.serialize()
        }
    }

    /// An MSAL app that stores the archive; unchecked for the same reason.
    private final class Provider: NSObject, MSALSerializedADALCacheProviderDelegate, @unchecked Sendable {
        var blob: Data?
        var accesses = 0

        init(_ blob: Data? = nil) { self.blob = blob }

        func willAccessCache(_ cache: MSALSerializedADALCacheProvider) {
            accesses += 1
            read(cache)
        }

        func didAccessCache(_ cache: MSALSerializedADALCacheProvider) {}
        func willWriteCache(_ cache: MSALSerializedADALCacheProvider) { read(cache) }
        func didWriteCache(_ cache: MSALSerializedADALCacheProvider) { blob = try? cache.serializeData() }

        private func read(_ cache: MSALSerializedADALCacheProvider) {
            if let blob { try? cache.deserialize(blob) }
        }
    }

    @Test func movesASignInToAnotherMachine() async throws {
        try await AgentFixture.with { f in
            let first = Keeper()
            let context = try context(f, first)
            let signedIn = try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let result = await silent(context, forceRefresh: true)
            #expect(result.status == AD_SUCCEEDED)
            #expect(first.calls == ["willAccess", "didAccess", "willAccess", "didAccess", "willWrite", "didWrite"])
            let blob = try #require(first.blob)
            try await f.withAnotherAgent { other in
                let result = await silent(try self.context(f, Keeper(blob), agent: other))
                #expect(result.accessToken?.isEmpty == false)
                let user = result.tokenCacheItem?.userInformation
                #expect(user?.homeAccountId == signedIn.account.homeAccountID?.text)
                #expect(f.signIns == 1)
            }
        }
    }

    /// ADAL's archive, then an MSAL app's, then ADAL's again.
    @Test func sharesTheArchiveWithMSAL() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let keeper = Keeper()
            _ = await silent(try context(f, keeper), forceRefresh: true)
            try await f.withAnotherAgent { other in
                let provider = Provider(keeper.blob)
                let config = MSALPublicClientApplicationConfig(
                    clientId: "app-1", redirectUri: nil,
                    authority: try MSALAADAuthority(url: try #require(URL(string: "\(f.emulator.url)/common"))))
                config.cacheConfig.serializedADALCache = try MSALSerializedADALCacheProvider(delegate: provider)
                let app = try MSALPublicClientApplication(configuration: config, client: other)
                let accounts = try await offPool { try app.allAccounts() }
                #expect(accounts.map(\.username) == [Self.alice])
                let parameters = MSALSilentTokenParameters(scopes: ["User.Read"], account: accounts[0])
                let result = try await app.acquireTokenSilent(with: parameters)
                #expect(!result.accessToken.isEmpty)
                keeper.blob = provider.blob
            }
            try await f.withAnotherAgent { third in
                let result = await silent(try self.context(f, keeper, agent: third))
                #expect(result.status == AD_SUCCEEDED)
            }
            #expect(f.signIns == 1)
        }
    }

    /// An account that signed out in another app is not added again by the archive, which is imported before each use.
    @Test func doesNotImportAnAccountThatSignedOutElsewhere() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let keeper = Keeper()
            let context = try context(f, keeper)
            _ = await silent(context, forceRefresh: true)
            _ = try await f.agent.removeAccount(
                RemoveAccount(clientID: f.parameters().clientID, account: signedIn.account.reference, extent: .account))
            let result = await silent(context)
            #expect(result.error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue)
            // Nor by a context, or a process, that has not read the archive yet.
            let later = await silent(try self.context(f, keeper))
            #expect(later.error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue)
        }
    }

    /// The archive that the app keeps was written by another process, and so is imported at the next use.
    @Test(arguments: [false, true])
    func doesNotImportTheAccountThatItRemoves(signsOut: Bool) async throws {
        try await AgentFixture.with { f in
            let provider = Provider()
            let app = try f.msal {
                $0.cacheConfig.serializedADALCache = try? MSALSerializedADALCacheProvider(delegate: provider)
            }
            let account = try await app.signIn(Self.alice).account
            // Not the archive that the app has exported itself.
            try await f.signIn("bob@contoso.com", f.parameters("app-2"))
            provider.blob = try await offPool { ADTokenCache(agent: f.agent).serialize() }
            if signsOut {
                let parameters = MSALSignoutParameters(webviewParameters: Sample.webview)
                try await app.signout(with: account, signoutParameters: parameters)
            } else {
                try await offPool { try app.remove(account) }
            }
            #expect(try await offPool { try app.allAccounts() } == [])
            let credentials = try await f.agent.listCredentials(ListCredentials())
            #expect(Set(credentials.map(\.clientID.text)) == ["app-2"])
        }
    }

    @Test func readsTheArchiveForTheCurrentAccount() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let archive = try await offPool { ADTokenCache(agent: f.agent).serialize() }
            for isAsynchronous in [false, true] {
                try await AgentFixture.with { other in
                    let authority = try MSALAADAuthority(url: url("\(f.emulator.url)/common"))
                    let app = try other.msal(authority) {
                        $0.cacheConfig.serializedADALCache =
                            try? MSALSerializedADALCacheProvider(delegate: Provider(archive))
                    }
                    let name =
                        isAsynchronous
                        ? try await app.currentAccount(with: nil).0?.username : await Self.currentUsername(of: app)
                    #expect(name == Self.alice)
                }
            }
        }
    }

    /// The current account's username, from the form with a block.
    private static func currentUsername(of app: MSALPublicClientApplication) async -> String? {
        await withCheckedContinuation { continuation in
            app.getCurrentAccount(with: nil) { account, _, _ in continuation.resume(returning: account?.username) }
        }
    }

    @Test func notifiesTheDelegateOfEveryUse() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let (cache, keeper) = (ADTokenCache(agent: f.agent), Keeper())
            cache.setDelegate(keeper)
            cache.setDelegate(keeper)
            #expect(keeper.calls == ["willAccess", "didAccess"])
            keeper.calls = []
            try await offPool {
                let items = try #require(cache.allItems(nil))
                #expect(Set(items.map(\.resource)) == [Self.graph, nil])
                for item in items { #expect(cache.remove(item, error: nil)) }
                #expect(cache.allItems(nil) == [])
                #expect(cache.removeAll(forClientId: "app-1", error: nil))
                #expect(cache.wipeAllItems(forUserId: Self.alice, error: nil))
            }
            let write = ["willWrite", "didWrite"]
            let access = ["willAccess", "didAccess"]
            #expect(keeper.calls == access + write + write + access + write + write)
        }
    }

    /// The SDK would return the result that it keeps, and the delegate may have a newer archive.
    @Test func notifiesTheDelegateOfARepeatedRequestOfADAL() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let (keeper, clock) = (Keeper(), f.clock)
            let client = AgentClient(socketPath: f.socketPath) { clock.now }
            let context = try context(f, keeper, agent: client)
            keeper.calls = []
            for _ in 0..<4 {
                let result = await silent(context)
                #expect(result.status == AD_SUCCEEDED)
            }
            #expect(keeper.calls.count { $0 == "willAccess" } == 4)
        }
    }

    @Test func notifiesTheDelegateOfARepeatedRequestOfMSAL() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn(Self.alice, f.parameters())
            let (provider, clock) = (Provider(), f.clock)
            let app = try f.msal {
                $0.cacheConfig.serializedADALCache = try? MSALSerializedADALCacheProvider(delegate: provider)
            }
            app.session?.client = AgentClient(socketPath: f.socketPath) { clock.now }
            for _ in 0..<4 { _ = try await app.silent(MSALAccount(signedIn.account)) }
            #expect(provider.accesses == 4)
        }
    }

    // Mirrors: 9 ADAcquireTokenTests testSilentExpiredATBadMRRT: the delegate is told of the removal
    @Test(arguments: [true, false])
    func doesNotLeaveARejectedRefreshTokenInTheArchive(isForced: Bool) async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let keeper = Keeper()
            let context = try context(f, keeper)
            _ = await silent(context, forceRefresh: true)
            f.emulator.control.revokeTokens()
            f.clock.advance(by: 3400)
            let result = await silent(context, forceRefresh: isForced)
            #expect(result.error?.userInfo[ADSuberrorKey] as? String == (isForced ? "bad_token" : nil))
            #expect((result.status == AD_SUCCEEDED) != isForced)
            #expect(keeper.calls.suffix(2) == ["willWrite", "didWrite"])
            let redemptions = f.redemptions
            try await f.withAnotherAgent { other in
                let later = await silent(try self.context(f, Keeper(keeper.blob), agent: other), forceRefresh: true)
                #expect(later.error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue)
                #expect(f.redemptions == redemptions)
            }
        }
    }

    // Mirrors: ADResponseCacheHandler processAndCacheResponse, which compares the user after the tokens are saved; a full disk is ours
    @Test(arguments: [false, true]) func writesTheTokensOfASignInThatFailsToTheArchive(isFull: Bool) async throws {
        let (disk, keeper) = (try FaultyDisk(), Keeper())
        try await AgentFixture.with(disk: disk) { f in
            try await f.signIn(Self.alice, f.parameters("app-2"))
            let context = try context(f, keeper)
            if isFull { disk.fail(.full) }
            let result = await context.acquireToken(
                withResource: Self.graph, clientId: "app-1", redirectUri: try url("http://localhost"),
                promptBehavior: AD_PROMPT_ALWAYS,
                userIdentifier: ADUserIdentifier(id: "11111111-1111-1111-1111-111111111111", type: UniqueId),
                extraQueryParameters: nil)
            disk.recover()
            #expect(result.error?.code == (isFull ? -1 : ADErrorCode.ERROR_SERVER_WRONG_USER.rawValue))
            #expect(keeper.calls == ["willAccess", "didAccess", "willAccess", "didAccess", "willWrite", "didWrite"])
            #expect(keeper.blob != nil)
        }
    }

    @Test(arguments: [true, false])
    func writesTheRemovalByARequestOfMSALToTheArchive(isForced: Bool) async throws {
        try await AgentFixture.with { f in
            let provider = Provider()
            let app = try f.msal {
                $0.cacheConfig.serializedADALCache = try? MSALSerializedADALCacheProvider(delegate: provider)
            }
            let account = try await app.signIn(Self.alice).account
            let signedIn = try #require(provider.blob)
            f.emulator.control.revokeTokens()
            f.clock.advance(by: 3400)
            let result = try? await app.silent(account, force: isForced)
            #expect((result == nil) == isForced)
            #expect(provider.blob != signedIn)
        }
    }

    @Test(arguments: [
        ("garbage", Data("garbage".utf8), false), ("nothing", nil, true), ("an empty archive", Data(), false),
    ])
    func reportsWhatItCannotRead(name: String, data: Data?, isRead: Bool) async throws {
        try await AgentFixture.with { f in
            let cache = ADTokenCache(agent: f.agent)
            let before = try await offPool { try #require(cache.serialize()) }
            try await offPool {
                var error: ADAuthenticationError?
                #expect(cache.deserialize(data, error: &error) == isRead, "\(name)")
                #expect(error?.code == (isRead ? nil : ADErrorCode.ERROR_CACHE_BAD_FORMAT.rawValue))
                #expect(cache.serialize() == before)
            }
        }
    }

    /// In a process of its own, whose sharing group is changed.
    @Test func followsTheDefaultSharingGroup() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            await #expect(processExitsWith: .success) { [path = f.socketPath as String] in
                let cache = ADTokenCache(agent: AgentClient(socketPath: path))
                let archive = try #require(cache.serialize())
                ADAuthenticationSettings.sharedInstance().setDefaultKeychainGroup("another")
                try #require(cache.allItems(nil) == [], "the group is not empty")
                try #require(cache.deserialize(archive, error: nil), "the archive is refused")
                try #require(cache.allItems(nil)?.isEmpty == false, "the archive went to another group")
            }
        }
    }

    /// Nobody else finds the tokens of an app that names no group, as in ADAL.
    @Test func hasAGroupOfTheProgramWithoutAName() {
        for name in [nil, "", " "] { #expect(SharingGroup(adalName: name) != .standard) }
    }

    /// An import is in progress when the group changes: the archive is not one that the other group has.
    @Test func importsAnEqualArchiveIntoTheGroupThatIsUsedNext() async throws {
        let another = try #require(SharingGroup("another"))
        let disk = try FaultyDisk()
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let archive = try await f.agent.exportCache(.adalArchive, includesSecrets: true)
            try await AgentFixture.with(disk: disk) { other in
                let cache = ArchivedCache(other.agent, .standard)
                disk.holdFlushes()
                async let imported: Void = offPool { try cache.deserialize(archive) }
                try await disk.waitForHeldFlush()
                cache.move(to: other.agent, another)
                disk.releaseFlushes()
                try await imported
                try await offPool { try cache.deserialize(archive) }
                let credentials = try await other.agent.listCredentials(ListCredentials(sharingGroup: another))
                #expect(!credentials.isEmpty)
            }
        }
    }

    // Mirrors: ADAuthenticationContext initWithAuthority:validateAuthority:cacheDelegate:, which has a cache of its own
    @Test func keepsTheDelegateOfTheDefaultCache() throws {
        /// Does nothing, since other tests use the default cache meanwhile.
        final class Idle: NSObject, ADTokenCacheDelegate {
            func willAccessCache(_ cache: ADTokenCache) {}
            func didAccessCache(_ cache: ADTokenCache) {}
            func willWrite(_ cache: ADTokenCache) {}
            func didWrite(_ cache: ADTokenCache) {}
        }
        #expect(CURRENT_WRAPPER_CACHE_VERSION == 1.0)
        #expect(ADTokenCache.default() === ADTokenCache.default())
        let settings = ADAuthenticationSettings.sharedInstance()
        #expect(settings.defaultStorageDelegate == nil)
        let idle = Idle()
        settings.defaultStorageDelegate = idle
        defer { settings.defaultStorageDelegate = nil }
        #expect(settings.defaultStorageDelegate === idle)
        #expect(ADTokenCache.default().delegate === idle)
        let authority = "https://login.microsoftonline.com/common"
        let usual = try #require(ADAuthenticationContext(authority: authority, error: nil))
        #expect(usual.tokenCache?.delegate === idle)
        let own = try #require(
            ADAuthenticationContext(authority: authority, validateAuthority: true, cacheDelegate: nil, error: nil))
        #expect(own.tokenCache?.delegate == nil)
    }

    private func context(
        _ f: AgentFixture, _ keeper: Keeper, agent: AgentClient? = nil
    ) throws -> ADAuthenticationContext {
        let context = try f.adal()
        context.agent = agent ?? f.agent
        let cache = ADTokenCache(agent: context.agent)
        cache.setDelegate(keeper)
        context.tokenCache = cache
        return context
    }

    private func silent(
        _ context: ADAuthenticationContext, forceRefresh: Bool = false
    ) async -> ADAuthenticationResult {
        await context.acquireTokenSilent(
            withResource: Self.graph, clientId: "app-1", redirectUri: URL(filePath: "/"), userId: Self.alice,
            forceRefresh: forceRefresh)
    }
}

extension AgentFixture {
    /// An agent on another machine, with the same identity provider.
    fileprivate func withAnotherAgent(_ body: (AgentClient) async throws -> Void) async throws {
        try await AgentFixture.with { other in try await body(other.agent) }
    }
}
