internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// The records that a sign-out removes.
@Suite(.bounded) struct RemovalTests {
    @Test func removesOneAppsTokensAndKeepsTheOthers() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"))
        try builder.signIn("alice", builder.parameters("app-2"))
        let account = CacheBuilder.account("alice")
        builder.remove(RemoveAccount(clientID: try #require(CacheBuilder.app), account: account))
        #expect(try builder.decide(builder.parameters("app-1"), account).needsInteraction)
        #expect(try builder.decide(builder.parameters("app-2"), account).token != nil)
        #expect(builder.cache.accounts(ListAccounts(clientID: CacheBuilder.app)).accounts.isEmpty)
        #expect(builder.cache.accounts(ListAccounts(clientID: CacheBuilder.otherApp)).accounts.count == 1)
    }

    /// Only the username is certain if several accounts have it.
    @Test func findsTheAccountOfASignOutRegardlessOfWhatElseTheRequestNames() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let app = try #require(CacheBuilder.app)
        let alice = AccountReference(
            homeAccountID: CacheBuilder.account("alice").homeAccountID, username: "alice@contoso.com")
        func found(_ account: AccountReference, _ extent: RemoveAccount.Extent = .app) -> AccountReference {
            builder.cache.account(removedBy: RemoveAccount(clientID: app, account: account, extent: extent))
        }
        #expect(found(AccountReference(homeAccountID: alice.homeAccountID, username: "bob@contoso.com")) == alice)
        #expect(found(AccountReference(username: "ALICE@contoso.com")) == alice)
        #expect(found(alice, .everything).isEmpty)
        let unknown = CacheBuilder.account("carol")
        #expect(found(AccountReference(homeAccountID: unknown.homeAccountID, username: "bob@contoso.com")) == unknown)
        let other = "7a1e0000-0000-4000-8000-000000000002"
        try builder.signIn("alice", builder.parameters(), tenant: other, homeTenant: other)
        let ambiguous = AccountReference(username: "alice@contoso.com")
        #expect(found(ambiguous) == ambiguous)
    }

    @Test func isUndoneByTheNextSignIn() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        builder.remove(RemoveAccount(clientID: try #require(CacheBuilder.app), account: CacheBuilder.account("alice")))
        try builder.signIn("alice", builder.parameters())
        #expect(try builder.decide(builder.parameters(), CacheBuilder.account("alice")).token != nil)
    }

    @Test func signsOutAnAppThatFoundTheAccountThroughItsFamily() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), family: "1")
        let account = CacheBuilder.account("alice")
        builder.remove(RemoveAccount(clientID: try #require(CacheBuilder.otherApp), account: account))
        #expect(try builder.decide(builder.parameters("app-2"), account).needsInteraction)
        #expect(try builder.decide(builder.parameters("app-1"), account).token != nil)
    }

    @Test func removesEverythingOfAWipedAccount() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), family: "1")
        try builder.signIn("alice", builder.parameters("App-2"))
        try builder.signIn("bob", builder.parameters("app-1"))
        let wipe = RemoveAccount(
            clientID: try #require(CacheBuilder.app), account: CacheBuilder.account("alice"), extent: .account)
        builder.remove(wipe)
        #expect(builder.cache.accounts(ListAccounts(clientID: nil)).accounts.map(\.username) == ["bob@contoso.com"])
        #expect(builder.cache.changes(removing: wipe).isEmpty)
        let left = Self.count(.accountMetadata, in: builder.cache)
        #expect(left == 2, "that bob is signed in, and that the app has signed out alice")
    }

    /// The tokens of an account that an older ADAL knew by its username only are those of a work account.
    @Test func removesNeitherAPersonalAccountNorOneWithoutAnIdentifierWithTheOther() throws {
        var builder = CacheBuilder()
        let tenant = HomeAccountID.personalTenantID
        try builder.signIn("alice", builder.parameters(resource: "https://graph.windows.net"), hasClientInfo: false)
        try builder.signIn("alice", builder.parameters(), tenant: tenant, homeTenant: tenant)
        let personal = CacheBuilder.account("alice", tenant: tenant)
        let older = AccountReference(username: "alice@contoso.com")
        for (removed, left) in [(personal, older), (older, personal)] {
            var copy = builder
            copy.remove(
                RemoveAccount(clientID: try #require(CacheBuilder.app), account: removed, extent: .account))
            let accounts = copy.cache.accounts(ListAccounts(clientID: nil)).accounts
            #expect(accounts.map(\.homeAccountID) == [left.homeAccountID])
        }
    }

    /// An AD FS may have a user of the same name, whom an older ADAL has named by it only.
    @Test func removesNoAccountOfAnotherProviderWithTheSameName() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let other = AccountRecord(
            homeAccountID: nil, environment: "fs.contoso.com", realm: "adfs", localAccountID: nil,
            username: "alice@contoso.com", authorityType: AccountRecord.adfsType, source: AccountRecord.adalSource)
        builder.cache.load(.account(other), in: .standard)
        let wipe = RemoveAccount(
            clientID: try #require(CacheBuilder.app), account: CacheBuilder.account("alice"), extent: .account)
        builder.remove(wipe)
        #expect(builder.cache.partition(.standard)[other.account].accounts.count == 1)
    }

    /// An earlier version has stored it, and not whose it is.
    @Test func removesATokenThatMayBelongToEitherOfTwoAccountsOfAUsername() throws {
        var cache = CredentialCache()
        for (type, realm) in [(AccountRecord.adfsType, "adfs"), ("Other", "tenant")] {
            let account = AccountRecord(
                homeAccountID: "uid.utid", environment: "id.contoso.com", realm: realm, localAccountID: nil,
                username: "Alice", authorityType: type, source: AccountRecord.msalSource)
            cache.load(.account(account), in: .standard)
        }
        let token = RefreshTokenRecord(
            account: AccountKey(issuer: .unresolved, homeAccountID: HomeAccountID("uid.utid"), username: nil),
            environment: "id.contoso.com", clientID: try #require(CacheBuilder.app), familyID: nil,
            secret: Secret("rt"))
        cache.load(.refreshToken(token), in: .standard)
        let wipe = RemoveAccount(
            clientID: try #require(CacheBuilder.otherApp), account: AccountReference(username: "alice"),
            extent: .account)
        cache.apply(cache.changes(removing: wipe), in: .standard)
        #expect(Self.count(.refreshToken, in: cache) == 0)
        #expect(Self.count(.account, in: cache) == 0)
        #expect(Self.count(.accountMetadata, in: cache) == 2, "that the app has signed out both")
    }

    /// An earlier version has stored it for an account that was known by its username.
    @Test(arguments: [("fs.contoso.com", 0), ("id.contoso.com", 1)])
    func removesATokenOfTheUsernameOfAnAccount(host: String, left: Int) throws {
        var cache = CredentialCache()
        let account = AccountRecord(
            homeAccountID: "uid.utid", environment: "fs.contoso.com", realm: "adfs", localAccountID: nil,
            username: "Alice", authorityType: AccountRecord.adfsType, source: AccountRecord.msalSource)
        cache.load(.account(account), in: .standard)
        let token = RefreshTokenRecord(
            account: AccountKey(issuer: .unresolved, homeAccountID: nil, username: "alice"), environment: host,
            clientID: try #require(CacheBuilder.app), familyID: nil, secret: Secret("rt"))
        cache.load(.refreshToken(token), in: .standard)
        let wipe = RemoveAccount(
            clientID: try #require(CacheBuilder.otherApp),
            account: AccountReference(homeAccountID: HomeAccountID("uid.utid")), extent: .account)
        cache.apply(cache.changes(removing: wipe), in: .standard)
        #expect(Self.count(.refreshToken, in: cache) == left)
        #expect(Self.count(.account, in: cache) == 0)
        #expect(Self.count(.accountMetadata, in: cache) == 1, "that the app has signed out the account")
    }

    /// Any process may name any number of apps.
    @Test func keepsTheSignOutsOfFewAppsThatHaveGotNoToken() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), family: "1")
        try builder.signIn("alice", builder.parameters("app-2"))
        let account = CacheBuilder.account("alice")
        builder.remove(RemoveAccount(clientID: try #require(CacheBuilder.otherApp), account: account))
        for number in 0..<300 {
            let parameters = try builder.parameters("unknown-\(number)")
            builder.remove(RemoveAccount(clientID: parameters.clientID, account: account))
            #expect(builder.decide(parameters, account).needsInteraction)
        }
        #expect(Self.count(.accountMetadata, in: builder.cache) == 258)
        #expect(try builder.decide(builder.parameters("app-1"), account).token != nil)
        #expect(try builder.decide(builder.parameters("app-2"), account).needsInteraction)
    }

    /// The account is found through the family of an app.
    @Test func remembersTheCurrentAccountOfFewAppsThatHaveGotNoToken() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), family: "1")
        for name in ["app-1"] + (0..<300).map({ "unknown-\($0)" }) {
            let app = try #require(ClientID(name))
            let current = try builder.cache.currentAccount(GetCurrentAccount(clientID: app))
            builder.cache.apply(current.changes, in: .standard)
            let again = try builder.cache.currentAccount(GetCurrentAccount(clientID: app))
            #expect(again.reply.previous != nil)
        }
        #expect(Self.count(.currentAccount, in: builder.cache) == 257)
        let app = try #require(CacheBuilder.app)
        let current = try builder.cache.currentAccount(GetCurrentAccount(clientID: app))
        #expect(current.reply.previous != nil)
    }

    /// The record names an account. It may have been written while everything else was removed.
    @Test func removesTheCurrentAccountOfAnAppWithEverythingAlsoIfNothingElseIsLeft() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let app = try #require(CacheBuilder.app)
        let current = try builder.cache.currentAccount(GetCurrentAccount(clientID: app))
        builder.cache = CredentialCache()
        builder.cache.apply(current.changes, in: .standard)
        try #require(Self.count(.currentAccount, in: builder.cache) == 1)
        builder.remove(RemoveAccount(clientID: app, account: CacheBuilder.account("alice"), extent: .everything))
        #expect(Self.count(.currentAccount, in: builder.cache) == 0)
    }

    /// The number of records of a kind.
    private static func count(_ kind: RecordKind, in cache: CredentialCache) -> Int {
        cache.everything().count { change in
            guard case .put(let stored) = change else { return false }
            return stored.key.kind == kind
        }
    }

    /// Opaque records are kept for their library only, and may name an account that is not here.
    @Test func removesTheOpaqueRecordsThatNameTheAccount() throws {
        var cache = CredentialCache()
        func save(_ name: String, of user: String?, _ app: String = "app-1") {
            let account = user.map { HomeAccountID(uid: $0, utid: "tenant")?.text ?? "" }
            let record = OpaqueRecord(section: "Other", name: name, json: "{}", homeAccountID: account, clientID: app)
            cache.apply([.save(.opaque(record))], in: .standard)
        }
        for name in ["a", "b", "moved"] { save(name, of: "alice") }
        save("other-app", of: "alice", "app-2")
        save("bob", of: "bob")
        save("nobody", of: nil)
        save("moved", of: "bob")
        func signOut(_ user: String, _ extent: RemoveAccount.Extent) throws -> [String] {
            let account = AccountReference(homeAccountID: HomeAccountID(uid: user, utid: "tenant"))
            let request = RemoveAccount(clientID: try #require(CacheBuilder.app), account: account, extent: extent)
            cache.apply(cache.changes(removing: request), in: .standard)
            return cache.partition(.standard).opaqueRecords.values.compactMap(\.name).sorted()
        }
        let afterTheApp = try signOut("alice", .app)
        #expect(afterTheApp == ["bob", "moved", "nobody", "other-app"])
        let afterAlice = try signOut("alice", .account)
        #expect(afterAlice == ["bob", "moved", "nobody"])
        let afterAnUnknownUser = try signOut("carol", .account)
        #expect(afterAnUnknownUser == afterAlice)
        let afterBob = try signOut("bob", .account)
        #expect(afterBob == ["nobody"])
    }

    /// The agent would store what no other request may name, and write it again under another name after a restart.
    @Test(arguments: [String(repeating: "x", count: 1025), "app\u{1}1"])
    func recordsNothingOfAnAppWhoseClientIDMayNotBeStored(_ text: String) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), family: "1")
        let app = try #require(ClientID(text))
        let request = RemoveAccount(clientID: app, account: CacheBuilder.account("alice"))
        #expect(builder.cache.changes(removing: request).isEmpty)
        let current = try builder.cache.currentAccount(GetCurrentAccount(clientID: app))
        #expect(current.reply.account != nil)
        #expect(current.changes.isEmpty)
    }

    @Test func removesNothingOfAnUnknownAccount() throws {
        let builder = CacheBuilder()
        let request = RemoveAccount(clientID: try #require(CacheBuilder.app), account: CacheBuilder.account("alice"))
        #expect(builder.cache.changes(removing: request).isEmpty)
    }

    @Test(arguments: [("bad_token", 0), (nil, 1), ("basic_action", 1)])
    func removesARefreshTokenOnlyIfItIsInvalid(_ subError: String?, _ left: Int) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        guard
            case .redeem(let plan) = try builder.decide(
                builder.parameters(), CacheBuilder.account("alice"), force: true)
        else {
            Issue.record("expected a redemption")
            return
        }
        var error = TokenError(.invalidGrant, "refused")
        (error.details.oauthError, error.details.subError) = ("invalid_grant", subError)
        let changes = builder.cache.changes(
            rejecting: plan.candidates[0], for: try #require(CacheBuilder.app), in: .standard, error)
        builder.cache.apply(changes, in: .standard)
        let after = try builder.decide(builder.parameters(), CacheBuilder.account("alice"), force: true)
        #expect((after.candidates?.count ?? 0) == left)
    }

    /// A user who was deleted may have been restored since, and has signed in.
    @Test(arguments: ["bad_token", "user_account_deleted"])
    func keepsARefreshTokenThatHasBeenReplaced(subError: String) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), refreshToken: "old")
        guard
            case .redeem(let plan) = try builder.decide(
                builder.parameters(), CacheBuilder.account("alice"), force: true)
        else {
            Issue.record("expected a redemption")
            return
        }
        try builder.signIn("alice", builder.parameters(), refreshToken: "new")
        var error = TokenError(.invalidGrant, "refused")
        (error.details.oauthError, error.details.subError) = ("invalid_grant", subError)
        let changes = builder.cache.changes(
            rejecting: plan.candidates[0], for: try #require(CacheBuilder.app), in: .standard, error)
        #expect(changes.isEmpty)
    }

    /// Otherwise the family's refresh token would sign the app in again, without the user, if the account is restored.
    @Test func keepsTheSignOutsOfOtherAppsIfTheUserIsDeleted() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "own-1", family: "1")
        try builder.signIn("alice", builder.parameters("app-2"), refreshToken: "own-2", family: "1")
        let account = CacheBuilder.account("alice")
        let (app, otherApp) = (try #require(CacheBuilder.app), try #require(CacheBuilder.otherApp))
        builder.remove(RemoveAccount(clientID: otherApp, account: account))
        guard case .redeem(let plan) = try builder.decide(builder.parameters("app-1"), account, force: true) else {
            Issue.record("expected a redemption")
            return
        }
        var error = TokenError(.invalidGrant, "refused")
        (error.details.oauthError, error.details.subError) = ("invalid_grant", "user_account_deleted")
        let changes = builder.cache.changes(rejecting: plan.candidates[0], for: app, in: .standard, error)
        builder.cache.apply(changes, in: .standard)
        #expect(try builder.decide(builder.parameters("app-1"), account).candidates == ["own-2"])
        #expect(try builder.decide(builder.parameters("app-2"), account).needsInteraction)
        #expect(builder.cache.accounts(ListAccounts(clientID: otherApp)).accounts.isEmpty)
    }
}
