internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// The sign-outs that an import does not undo.
@Suite(.bounded) struct KeptSignOutTests {
    /// A file that an app keeps may be older than a sign-out, of the app or of the account everywhere.
    @Test(arguments: [RemoveAccount.Extent.app, .account], Fixture.all)
    func keepsSignOutsIfTheFileIsKeptByAnApp(extent: RemoveAccount.Extent, fixture: Fixture) throws {
        let now: Int64 = fixture.format == .msalJSON ? 1_790_000_011 : Fixture.whenWritten
        var cache = CredentialCache()
        let foreign = try fixture.read(now: now)
        cache.merge(foreign)
        let partition = cache.partition(.standard)
        // Tokens of AD FS without a user are no account that could sign out.
        let accounts = partition.accountKeys.filter { !$0.isUnnamed }
        for account in accounts {
            let reference = AccountReference(homeAccountID: account.homeAccountID, username: account.name)
            for app in Set(partition[account].refreshTokens.values.map(\.clientID)) {
                let request = RemoveAccount(clientID: app, account: reference, extent: extent)
                cache.apply(cache.changes(removing: request), in: .standard)
            }
        }
        let signedOut = cache
        let plan = cache.changes(importing: try fixture.read(now: now), in: .standard, keepsSignOuts: true)
        cache.apply(plan.changes, in: .standard)
        for account in accounts {
            let (before, after) = (partition[account], cache.partition(.standard)[account])
            let own = before.refreshTokens.values.filter { $0.familyID == nil }
            let left = after.refreshTokens.values.filter { $0.familyID == nil }.map(\.secret)
            #expect(Set(left).isDisjoint(with: own.map(\.secret)))
            for app in Set(own.map(\.clientID)) { #expect(after.isSignedOut(app) || extent == .account) }
        }
        // An import that somebody asks for signs in.
        var other = signedOut
        other.merge(try fixture.read(now: now))
        let secrets = { (cache: CredentialCache) in
            Set(cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values).map(\.secret))
        }
        #expect(secrets(other).count >= secrets(cache).count)
        #expect(partition.accounts.values.allSatisfy(\.refreshTokens.isEmpty) || !secrets(other).isEmpty)
    }

    /// No list has the account again.
    @Test func bringsBackNoAccountThatWasSignedOutEverywhere() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten
        try builder.signIn("alice", builder.parameters())
        let file = try builder.cache.export(.msalJSON, of: .standard, now: builder.now)
        try builder.remove(Self.removal)
        let foreign = try Fixture.read(file, .msalJSON, now: builder.now)
        let plan = builder.cache.changes(importing: foreign, in: .standard, keepsSignOuts: true)
        builder.cache.apply(plan.changes, in: .standard)
        #expect(plan.report.accounts == 0)
        #expect(builder.cache.accounts(ListAccounts(clientID: nil)).accounts.isEmpty)
    }

    /// A file of ADAL for Python names the user by the tenant's directory only.
    @Test func keepsTheSignOutOfAUserOfADirectory() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten
        try builder.signIn("alice", builder.parameters())
        try builder.remove(Self.removal)
        let file = """
            [{"_authority": "https://login.microsoftonline.com/common", "_clientId": "app-1", "isMRRT": true,
              "resource": "https://r.example", "userId": "alice@contoso.com", "tenantId": "\(CacheBuilder.tenant)",
              "oid": "oid-alice", "refreshToken": "rt-old"}]
            """
        let foreign = try Fixture.read(Array(file.utf8), .adalJSON, now: builder.now)
        let plan = builder.cache.changes(importing: foreign, in: .standard, keepsSignOuts: true)
        #expect(plan.report.refreshTokens == 0)
        #expect(builder.cache.changes(importing: foreign, in: .standard).report.refreshTokens == 1)
    }

    private static var removal: RemoveAccount {
        get throws {
            RemoveAccount(
                clientID: try #require(CacheBuilder.app), account: CacheBuilder.account("alice"), extent: .account)
        }
    }

    /// The family's refresh token is imported for its other apps. It must not sign in the app that has signed out.
    @Test func keepsTheSignOutOfAnAppWhoseFamilysTokenIsImported() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten
        try builder.signIn("alice", builder.parameters("app-1"), refreshToken: "rt-1", family: "1")
        let (app, other) = (try builder.parameters("app-1"), try builder.parameters("app-2"))
        let file = try builder.cache.export(.msalJSON, of: .standard, now: builder.now)
        let account = CacheBuilder.account("alice")
        builder.remove(RemoveAccount(clientID: app.clientID, account: account))
        #expect(builder.decide(other, account).needsInteraction, "the family's token went with its last member")
        let foreign = try Fixture.read(file, .msalJSON, now: builder.now)
        let plan = builder.cache.changes(importing: foreign, in: .standard, keepsSignOuts: true)
        builder.cache.apply(plan.changes, in: .standard)
        #expect(builder.decide(other, account).candidates == ["rt-1"])
        #expect(builder.decide(app, account).needsInteraction)
        #expect(builder.cache.accounts(ListAccounts(clientID: app.clientID)).accounts.isEmpty)
    }
}
