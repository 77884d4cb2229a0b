internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// External account providers: they are asked and notified, and their errors do not fail a request.
@Suite(.bounded) struct ExternalAccountTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: M5 MSALAccountsProviderTests
    //   testAllAccounts_whenLegacyAccountInCache_andSameExternalAccountExists_shouldReturnOneMergedAccount
    @Test func listsAnAccountOfTwoSourcesOnce() async throws {
        try await AgentFixture.with { f in
            try await LegacyApp(f).signIn(Self.alice)
            let provider = Provider()
            let app = try f.msalApp { $0.cacheConfig.addExternalAccountProvider(provider) }
            let known = try #require(try await app.listed().first)
            provider.known = [
                NamedAccount(username: "other name", identifier: known.identifier?.uppercased()),
                NamedAccount(username: "carl@contoso.com", identifier: nil),
            ]
            let accounts = try await app.listed()
            #expect(accounts.map(\.username) == [Self.alice, "carl@contoso.com"])
            #expect(accounts.first?.identifier == known.identifier)
            #expect(provider.asked?.returnOnlySignedInAccounts == true)
            #expect(provider.asked?.username == nil)
        }
    }

    // Mirrors: MSALAccount initWithMSALExternalAccount: the claims make the one tenant profile
    @Test(
        arguments: [
            (["oid": "CARL", "tid": "home"], ["home"], true), (["oid": "other", "tid": "guest"], ["guest"], false),
            (["sub": "carl", "tid": "home"], ["home"], true), (["oid": "carl"], [], false),
        ] as [([String: String], [String], Bool)])
    func showsAnExternalAccountInTheTenantOfItsClaims(
        claims: [String: String], tenants: [String], isHome: Bool
    ) async throws {
        try await AgentFixture.with { f in
            let provider = Provider()
            provider.known = [NamedAccount(username: "carl@contoso.com", identifier: "carl.home", claims: claims)]
            let app = try f.msalApp { $0.cacheConfig.addExternalAccountProvider(provider) }
            let account = try #require(try await app.listed().first)
            let profiles = account.tenantProfiles ?? []
            #expect(profiles.map(\.tenantId) == tenants)
            #expect(profiles.allSatisfy { $0.isHomeTenantProfile == isHome })
            #expect(profiles.allSatisfy { $0.claims as? [String: String] == claims })
            #expect(account.accountClaims as? [String: String] == (isHome ? claims : nil))
        }
    }

    // Mirrors: MSALAccountsProvider msalAccountsFromMSIDAccounts:externalAccounts: the claims of the home tenant replace the others
    @Test(arguments: [true, false])
    func takesTheUsernameAndTheClaimsOfAnExternalAccountWithClaimsOfTheHomeTenant(isHome: Bool) async throws {
        try await AgentFixture.with { f in
            let provider = Provider()
            let app = try f.msalApp { $0.cacheConfig.addExternalAccountProvider(provider) }
            let signedIn = try await app.signIn(Self.alice).account
            let home = try #require(signedIn.homeAccountId)
            let objectID = isHome ? home.objectId : "guest"
            let claims = ["oid": objectID, "tid": isHome ? home.tenantId : "fabrikam", "nickname": "Al"]
                .compactMapValues(\.self)
            provider.known = [NamedAccount(username: "other name", identifier: home.identifier, claims: claims)]
            let accounts = try await app.listed()
            let account = try #require(accounts.first)
            #expect(accounts.count == 1)
            #expect(account.username == (isHome ? "other name" : Self.alice))
            #expect(account.accountClaims?["nickname"] as? String == (isHome ? "Al" : nil))
            #expect(account.tenantProfiles?.count == (isHome ? 1 : 2))
        }
    }

    // Mirrors: M18 MSALPublicClientApplicationAccountUpdateTests
    //   testAcquireTokenSilent_whenSuccessfulResponse_shouldUpdateExternalAccount,
    //   testAcquireToken_whenSuccessfulResponse_shouldUpdateExternalAccount
    @Test func notifiesProvidersOfNewTokensOnly() async throws {
        try await AgentFixture.with { f in
            let provider = Provider()
            let app = try f.msalApp { $0.cacheConfig.addExternalAccountProvider(provider) }
            let account = try await app.signIn(Self.alice).account
            #expect(provider.updates == [Self.alice])
            try await app.token(account)
            #expect(provider.updates.count == 1)
            try await app.token(account) { $0.forceRefresh = true }
            #expect(provider.updates == [Self.alice, Self.alice])
            f.emulator.control.revokeTokens()
            #expect(await app.refusal(account) { $0.forceRefresh = true } != nil)
            #expect(provider.updates.count == 2)
        }
    }

    // Mirrors: msal.md 1.10: a provider that fails is logged, and a token is a token
    @Test func returnsTheTokenAlthoughAProviderFails() async throws {
        try await AgentFixture.with { f in
            let provider = Provider()
            provider.fails = true
            let app = try f.msalApp { $0.cacheConfig.addExternalAccountProvider(provider) }
            let account = try await app.signIn(Self.alice).account
            #expect(try await app.listed() == [account])
        }
    }

    // Mirrors: MSALPublicClientApplicationAccountUpdateTests
    //   testRemoveAccount_whenAccountExistsInExternalCache_shouldCallRemoveAccountFromExternalCache; msal.md 6.1
    @Test(arguments: [false, true])
    func notifiesProvidersOfARemovalEvenIfOneFails(fails: Bool) async throws {
        try await AgentFixture.with { f in
            let provider = Provider()
            let app = try f.msalApp { $0.cacheConfig.addExternalAccountProvider(provider) }
            let account = try await app.signIn(Self.alice).account
            provider.fails = fails
            let error = await failure { try await offPool { try app.remove(account) } }
            #expect(error?.domain == (fails ? "provider" : nil))
            #expect(provider.removals == [false])
            provider.fails = false
            #expect(try await app.listed().isEmpty)
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            try await app.signOut(account) { $0.wipeAccount = true }
            #expect(provider.removals == [false, true])
        }
    }

    /// A provider may block; the code of a task occupies a thread of Swift's cooperative pool, or the main thread.
    @Test func isNotCalledByTheTaskOfAnAsyncForm() async throws {
        try await AgentFixture.with { f in
            let provider = Provider()
            let app = try f.msalApp { $0.cacheConfig.addExternalAccountProvider(provider) }
            let account = try await app.signIn(Self.alice).account
            #expect(try await app.accountsFromDevice(for: MSALAccountEnumerationParameters()) == [account])
            #expect(try await app.currentAccount(with: nil).0 == account)
            try await app.signOut(account)
            #expect(provider.asked != nil)
            #expect(provider.updates.count == 1)
            #expect(provider.removals.count == 1)
            #expect(provider.callsByTasks == 0)
        }
    }

    @Test func opensTheSignOutPageAlthoughAProviderFails() async throws {
        try await AgentFixture.with { f in
            let provider = Provider()
            let app = try f.msalApp { $0.cacheConfig.addExternalAccountProvider(provider) }
            let account = try await app.signIn(Self.alice).account
            provider.fails = true
            let error = await failure { try await app.signOut(account) { $0.signoutFromBrowser = true } }
            #expect(error?.domain == "provider")
            await f.emulator.control.waitForCount(.logout, atLeast: 1)
        }
    }
}

/// A provider that records its calls.
///
/// Unchecked because MSAL's protocol is of classes that are not `Sendable`; what may change is behind the lock.
private final class Provider: NSObject, MSALExternalAccountProviding, @unchecked Sendable {
    private struct State {
        var known: [NamedAccount] = []
        var updates: [String?] = []
        var removals: [Bool] = []
        var asked: MSALAccountEnumerationParameters?
        var fails = false
        var callsByTasks = 0
    }

    private let lock = NSLock()
    private var state = State()

    var known: [NamedAccount] {
        get { lock.withLock { state.known } }
        set { lock.withLock { state.known = newValue } }
    }

    var fails: Bool {
        get { lock.withLock { state.fails } }
        set { lock.withLock { state.fails = newValue } }
    }

    var updates: [String?] { lock.withLock { state.updates } }
    var removals: [Bool] { lock.withLock { state.removals } }
    /// The number of calls on a thread that runs a task.
    var callsByTasks: Int { lock.withLock { state.callsByTasks } }
    var asked: MSALAccountEnumerationParameters? { lock.withLock { state.asked } }

    func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws {
        lock.withLock { state.updates.append(account.username) }
        try failIfAsked()
    }

    func remove(_ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?) throws {
        lock.withLock { state.removals.append(wipeAccount) }
        try failIfAsked()
    }

    func accounts(with parameters: MSALAccountEnumerationParameters) throws -> [any MSALAccountProtocol] {
        lock.withLock { state.asked = parameters }
        try failIfAsked()
        return known
    }

    private func failIfAsked() throws {
        if withUnsafeCurrentTask(body: { $0 != nil }) { lock.withLock { state.callsByTasks += 1 } }
        if fails { throw NSError(domain: "provider", code: 1) }
    }
}
