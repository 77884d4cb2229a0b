internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// Which accounts are packed while their tokens are in the store only.
@Suite(.bounded) struct PackedAccountTests {
    private static let limit = Int(PackedAccount.maximumRecords)

    /// Adding a record to a packed account reads the earlier ones, of which there are never more than the limit.
    @Test(arguments: [1, limit - 1, limit, limit + 1, 3000])
    func packsAnAccountThatHasFewRecords(count: Int) throws {
        var cache = CredentialCache()
        for token in try Self.tokens(count) {
            cache.loadUnread(.accessToken(token), in: .standard, key: token.key)
        }
        let account = try Self.account
        let partition = cache.partition(.standard)
        #expect((partition.unpackedRecords(of: account) == nil) == (count <= Self.limit))
        #expect(partition.hasCredentials(account))
        #expect(cache.credentialCount == count)
        #expect(cache.unreadTokens(of: [account], in: .standard).count == count)
    }

    /// Tokens leave memory, however many the account has.
    @Test(arguments: [limit, limit + 1, 500])
    func removesTheTokensOfAnAccount(count: Int) throws {
        var whole = CredentialCache()
        var unread = CredentialCache()
        for token in try Self.tokens(count) {
            var stored = token
            stored.secret = Secret("at-\(token.expiresOn)")
            whole.load(.accessToken(stored), in: .standard)
            unread.loadUnread(.accessToken(token), in: .standard, key: token.key)
        }
        var packed = whole
        packed.pack(in: .standard, leaving: [])
        #expect(packed == unread)
        let account = try Self.account
        #expect((packed.partition(.standard).unpackedRecords(of: account) == nil) == (count <= Self.limit))
        let tokens = packed.unreadTokens(of: [account], in: .standard)
        let stored = whole.everything().compactMap { if case .put(let record) = $0 { record } else { nil } }
        #expect(packed.fill(with: ReadTokens(stored), of: tokens, in: .standard).isEmpty)
        #expect(packed == whole)
    }

    /// A token under a key that does not follow from its content could not be found again.
    @Test func keepsTheTokensOfAnAccountWithAnotherKey() throws {
        var cache = CredentialCache()
        var token = try #require(try Self.tokens(1).first)
        token.secret = Secret("at")
        cache.load(.accessToken(token), in: .standard, key: "another")
        cache.pack(in: .standard, leaving: [])
        let account = try Self.account
        #expect(cache.unreadTokens(of: [account], in: .standard).isEmpty)
    }

    /// An account without tokens is not unpacked for a list of tokens.
    @Test func knowsWithoutUnpackingThatAnAccountHasNoCredentials() throws {
        var cache = CredentialCache()
        let record = AccountRecord(
            homeAccountID: "alice.tid", environment: "login.windows.net", realm: "tid", localAccountID: "alice",
            username: "alice", authorityType: "MSSTS", source: "msal")
        cache.loadUnread(.account(record), in: .standard, key: record.key)
        let account = try Self.account
        #expect(!cache.partition(.standard).hasCredentials(account))
        cache.load(.account(record), in: .standard)
        #expect(cache.partition(.standard).unpackedRecords(of: account) != nil)
        #expect(!cache.partition(.standard).hasCredentials(account))
    }

    /// As after a start, before the account is used.
    @Test func findsAnUnreadAccountByAFormerUserID() throws {
        var cache = CredentialCache()
        let record = AccountRecord(
            homeAccountID: "alice.tid", environment: "login.windows.net", realm: "tid", localAccountID: "alice",
            username: "alice@contoso.example", authorityType: "MSSTS", source: "adal",
            formerUserIDs: ["b@contoso.example", "a@contoso.example"])
        cache.loadUnread(.account(record), in: .standard, key: record.key)
        let account = try Self.account
        #expect(cache.partition(.standard).account(formerlyNamed: "A@contoso.example") == account)
        #expect(cache.partition(.standard).account(formerlyNamed: "alice@contoso.example") == nil)
    }

    /// A list reads the fields of packed records where they are, those that repeat an earlier record's too.
    @Test func listsTheProfilesOfThePackedRecords() throws {
        var seed = TestSeed()
        for _ in 0..<200 {
            let key = AccountKey(
                issuer: .microsoft, homeAccountID: seed.next() % 4 == 0 ? nil : HomeAccountID("alice.tid"),
                username: "Alice")
            var credentials = AccountCredentials()
            for record in try Self.tokens(Int(seed.next() % 3)) { credentials.set(.accessToken(record)) }
            for _ in 0..<Int(seed.next() % 5) { credentials.set(.account(Self.record(of: key, &seed))) }
            let known = credentials.accounts.values.map(ListedProfile.init).inListOrder
            for isShared in [true, false] {
                let texts = TextPool(isShared: isShared)
                let listed = PackedAccount(credentials).profiles(of: key.homeAccountID, texts)
                #expect(listed.inListOrder == known, "\(seed)")
            }
        }
    }

    private static func record(of key: AccountKey, _ seed: inout TestSeed) -> AccountRecord {
        func any(_ values: [String?]) -> String? { values[Int(seed.next() % UInt64(values.count))] }
        return AccountRecord(
            issuer: key.issuer, homeAccountID: key.homeAccountID?.text,
            environment: any(["login.windows.net", "login.microsoftonline.us"]) ?? "",
            realm: any(["tid", "TID", "other", ""]) ?? "", localAccountID: any([nil, "", "alice", "guest"]),
            username: key.name ?? any(["", "alice@contoso.example", "Zoë"]) ?? "",
            authorityType: any(["MSSTS", "ADFS", "Other"]) ?? "", name: any([nil, "Alice"]),
            source: any(["msal", "adal", ""]) ?? "", adalUserID: any([nil, "al@contoso.example"]),
            formerUserIDs: any([nil, "a@contoso.example"]).map { [$0, "b@contoso.example"] })
    }

    private static var account: AccountKey {
        get throws { AccountKey(issuer: .microsoft, identity: .home(try #require(HomeAccountID("alice.tid")))) }
    }

    private static func tokens(_ count: Int) throws -> [AccessTokenRecord] {
        let (account, app) = (try account, try #require(CacheBuilder.app))
        return (0..<count).map { number in
            AccessTokenRecord(
                account: account, environment: "login.windows.net", clientID: app, realm: "tid", version: .v2,
                scopes: ScopeSet(["Scope.\(number)"]), tokenType: "Bearer", secret: .unread, cachedAt: 0,
                expiresOn: Int64(number), extendedExpiresOn: nil, refreshOn: nil)
        }
    }
}
