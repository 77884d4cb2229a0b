internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenCache

/// The accounts that are listed for an app.
@Suite(.bounded) struct AccountListTests {
    @Test func listsAccountsOfBothLibraries() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        try builder.signIn("bob", builder.parameters(resource: "https://graph.microsoft.com"))
        let accounts = builder.cache.accounts(ListAccounts(clientID: CacheBuilder.app)).accounts
        #expect(accounts.map(\.username) == ["alice@contoso.com", "bob@contoso.com"])
        #expect(accounts.map(\.source) == [.msal, .adal])
        #expect(accounts.map(\.homeAccountID?.text) == ["oid-alice", "oid-bob"].map { "\($0).\(CacheBuilder.tenant)" })
    }

    @Test func isEmptyBeforeTheFirstSignIn() {
        #expect(CacheBuilder().cache.accounts(ListAccounts(clientID: CacheBuilder.app)).accounts.isEmpty)
    }

    @Test func showsOneAccountWithAProfileForEachTenantTheHomeTenantFirst() throws {
        var builder = CacheBuilder()
        let guest = "00570000-0000-4000-8000-000000000002"
        let there = try builder.parameters(authority: "https://login.microsoftonline.com/\(guest)")
        try builder.signIn("alice", there, tenant: guest, homeTenant: CacheBuilder.tenant)
        try builder.signIn("alice", builder.parameters())
        let account = try #require(builder.cache.accounts(ListAccounts(clientID: CacheBuilder.app)).accounts.first)
        #expect(account.tenantProfiles.map(\.realm) == [CacheBuilder.tenant, guest])
        #expect(account.tenantProfiles.map(\.isHome) == [true, false])
        #expect(account.homeIDToken != nil)
    }

    @Test func showsClaimsOnlyOfTokensIssuedToTheApp() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters("app-1"), family: "1")
        let seen = builder.cache.accounts(ListAccounts(clientID: CacheBuilder.otherApp)).accounts
        #expect(seen.count == 1)
        #expect(seen.first?.homeIDToken == nil)
    }

    /// An app of both libraries: a v2 token has the claims that MSAL names.
    @Test(arguments: [true, false]) func showsTheClaimsOfALaterVersion(isADALFirst: Bool) throws {
        var builder = CacheBuilder()
        let (adal, msal) = (try builder.parameters(resource: "https://graph.windows.net"), try builder.parameters())
        for parameters in isADALFirst ? [adal, msal] : [msal, adal] { try builder.signIn("alice", parameters) }
        let account = try #require(builder.cache.accounts(ListAccounts(clientID: CacheBuilder.app)).accounts.first)
        #expect(account.homeIDToken == CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2))
    }

    /// Their accounts are saved under the path of the authority, whatever tenant an ID token names.
    @Test(arguments: [
        ("https://id.example/staff", Authority.Kind.openID, OAuthVersion.v2), ("https://fs.example/adfs", .adfs, .v2),
        ("https://fs.example/adfs", .adfs, .v1),
    ])
    func showsTheClaimsOfProvidersWithoutTenants(url: String, kind: Authority.Kind, version: OAuthVersion) throws {
        var builder = CacheBuilder()
        var parameters = try builder.parameters(resource: version == .v1 ? "https://r" : nil)
        parameters.authority = try Authority(url, kind: kind)
        try builder.signIn("alice", parameters, hasClientInfo: false)
        let account = try #require(builder.cache.accounts(ListAccounts(clientID: CacheBuilder.app)).accounts.first)
        let idToken = CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: version)
        #expect(account.tenantProfiles.map(\.idToken) == [idToken])
        #expect(account.homeIDToken == idToken)
    }

    /// An app of another family sees other accounts.
    @Test func mayHaveOtherAccountsIfTheFamilyOfAnAppChanges() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), family: "1")
        var app = try #require(builder.cache.partition(.standard).apps.values.first)
        let same = builder.cache.accounts(affectedBy: [.save(.appMetadata(app))], in: .standard)
        #expect(same == AffectedAccounts.some([]))
        app.familyID = ""
        let other = builder.cache.accounts(affectedBy: [.save(.appMetadata(app))], in: .standard)
        #expect(other == .any)
    }

    /// An account without an identifier is not listed beside one that has its name and an identifier.
    @Test func mayNotHaveAnAccountWhoseUserGetsAnIdentifier() throws {
        var builder = CacheBuilder()
        let older = try builder.parameters(resource: "https://graph.windows.net")
        try builder.signIn("alice", older, hasClientInfo: false)
        let named = try #require(builder.cache.partition(.standard).accountKeys.first)
        #expect(named.name == "alice@contoso.com")
        let account = AccountRecord(
            homeAccountID: "oid.tid", environment: "login.windows.net", realm: "tid", localAccountID: "oid",
            username: "Alice@contoso.com", authorityType: AccountRecord.entraType, source: AccountRecord.msalSource)
        let affected = builder.cache.accounts(affectedBy: [.save(.account(account))], in: .standard)
        #expect(affected == AffectedAccounts.some([named, account.account]))
    }

    @Test func filtersByEveryCriterion() throws {
        var builder = CacheBuilder()
        for user in ["alice", "bob"] { try builder.signIn(user, builder.parameters()) }
        func names(_ change: (inout ListAccounts) -> Void) -> [String?] {
            var request = ListAccounts(clientID: CacheBuilder.app)
            change(&request)
            return builder.cache.accounts(request).accounts.map(\.username)
        }
        #expect(names { $0.username = "BOB@contoso.com" } == ["bob@contoso.com"])
        #expect(names { $0.homeAccountID = CacheBuilder.account("alice").homeAccountID } == ["alice@contoso.com"])
        #expect(names { $0.localAccountID = "OID-bob-in-7a1e" } == ["bob@contoso.com"])
        #expect(names { $0.username = "carol@contoso.com" } == [])
    }

    /// A guest of an older ADAL, whose identifier is not known: nothing but the name tells that it is the user of the other app.
    @Test func listsAnAccountWithoutAnIdentifierForItsOwnApp() throws {
        var builder = CacheBuilder()
        let guest = "00570000-0000-4000-8000-000000000002"
        let older = try builder.parameters(
            "app-2", resource: "https://graph.windows.net", authority: "https://login.microsoftonline.com/\(guest)")
        try builder.signIn("alice", older, tenant: guest, homeTenant: guest, hasClientInfo: false)
        try builder.signIn("alice", builder.parameters())
        let alice = CacheBuilder.account("alice")
        func identifiers(_ clientID: ClientID?) -> [HomeAccountID?] {
            builder.cache.accounts(ListAccounts(clientID: clientID)).accounts.map(\.homeAccountID)
        }
        #expect(identifiers(CacheBuilder.otherApp) == [nil])
        #expect(identifiers(CacheBuilder.app) == [alice.homeAccountID])
        #expect(identifiers(nil) == [alice.homeAccountID])
        // Both apps of the user: it is one account.
        try builder.signIn("alice", builder.parameters("app-2"))
        #expect(identifiers(CacheBuilder.otherApp) == [alice.homeAccountID])
        builder.remove(RemoveAccount(clientID: older.clientID, account: alice))
        #expect(identifiers(CacheBuilder.otherApp) == [])
        #expect(identifiers(CacheBuilder.app) == [alice.homeAccountID])
    }

    @Test func listsEveryAccountOnSomePage() throws {
        var builder = CacheBuilder()
        for number in 0..<450 { try builder.signIn("user\(number)", builder.parameters()) }
        var (request, seen) = (ListAccounts(clientID: CacheBuilder.app), Set<String>())
        var pages = 0
        repeat {
            let page = builder.cache.accounts(request)
            seen.formUnion(page.accounts.compactMap(\.username))
            request.after = page.next
            pages += 1
        } while request.after != nil
        #expect(seen.count == 450)
        #expect(pages == 450 / CredentialCache.pageItems + 1)
    }
}
