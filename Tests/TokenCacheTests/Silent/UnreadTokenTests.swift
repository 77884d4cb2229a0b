internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// A cache whose tokens are in the store only.
@Suite(.bounded) struct UnreadTokenTests {
    @Test func isTheWholeCacheOnceItsTokensHaveBeenRead() throws {
        var seed = TestSeed()
        for _ in 0..<6 {
            let whole = try Self.builder(&seed).cache
            var cache = Self.unread(whole)
            for group in try Self.groups {
                let tokens = cache.unreadTokens(of: cache.partition(group).accountKeys, in: group)
                #expect(!tokens.isEmpty, "\(seed)")
                #expect(cache.fill(with: ReadTokens(Self.stored(whole)), of: tokens, in: group).isEmpty, "\(seed)")
            }
            #expect(cache == whole, "\(seed)")
        }
    }

    @Test func listsAndFindsAccountsWithoutTheirTokens() throws {
        var seed = TestSeed()
        let whole = try Self.builder(&seed).cache
        let cache = Self.unread(whole)
        #expect(cache.accountCount == whole.accountCount)
        #expect(cache.credentialCount == whole.credentialCount)
        #expect(cache.environments == whole.environments)
        for group in try Self.groups {
            var tokens = ListedTokens(in: group)
            let list = ListAccounts(clientID: nil, sharingGroup: group)
            #expect(cache.accounts(list, &tokens) == whole.accounts(list), "\(seed)")
            var credentials = ListCredentials(sharingGroup: group)
            credentials.withoutSecrets = true
            #expect(
                cache.credentials(credentials, localScheme: "https", &tokens)
                    == whole.credentials(credentials, localScheme: "https"), "\(seed)")
            #expect(tokens.missing.isEmpty, "no token was needed, \(seed)")
            for account in whole.partition(group).accountKeys {
                let (left, right) = (cache.partition(group), whole.partition(group))
                let names = right.profiles(of: account).usernames
                #expect(left.profiles(of: account).usernames == names)
                for name in names {
                    #expect(left.accounts(named: name) == right.accounts(named: name), "\(seed)")
                }
            }
        }
    }

    /// Whose tokens a request needs is found without them.
    @Test func choosesTheAccountThatTheWholeCacheChooses() throws {
        var seed = TestSeed()
        var found = 0
        for _ in 0..<8 {
            let builder = try Self.builder(&seed)
            let cache = Self.unread(builder.cache)
            for app in ["app-1", "app-2"] {
                for resource in [nil, "https://graph.example"] {
                    for name in [nil, "alice@contoso.com", "bob@contoso.com", "eve@contoso.com"] {
                        let request = AcquireTokenSilent(
                            parameters: try builder.parameters(app, resource: resource),
                            account: AccountReference(username: name))
                        let choices = [cache, builder.cache].map {
                            Self.description($0.account(for: request, in: $0.partition(.standard), now: builder.now))
                        }
                        #expect(choices[0] == choices[1], "\(seed)")
                        if choices[0] != "none" { found += 1 }
                    }
                }
            }
        }
        #expect(found > 0)
    }

    /// An account is unpacked once for a request, however often it is looked at.
    @Test func unpacksAnAccountOnceForASearch() throws {
        var seed = TestSeed()
        let whole = try Self.builder(&seed).cache
        var cache = Self.unread(whole)
        let accounts = cache.partition(.standard).accountKeys
        var searched = SearchedAccounts(cache.partition(.standard))
        for account in accounts + accounts {
            #expect(searched.records(of: account) == cache.partition(.standard)[account])
        }
        #expect(Set(searched.unpacked.keys) == Set(accounts))
        let tokens = cache.unreadTokens(of: accounts, in: .standard)
        #expect(cache.fill(with: ReadTokens(Self.stored(whole)), of: tokens, in: .standard).isEmpty, "\(seed)")
        searched = SearchedAccounts(cache.partition(.standard))
        for account in accounts { #expect(searched.records(of: account) == whole.partition(.standard)[account]) }
        #expect(searched.unpacked.isEmpty)
    }

    @Test func saysWhoseTokensAreNeeded() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let cache = Self.unread(builder.cache)
        let alice = AccountKey(
            issuer: .microsoft, identity: .home(try #require(CacheBuilder.account("alice").homeAccountID)))
        let request = AcquireTokenSilent(parameters: try builder.parameters(), account: CacheBuilder.account("alice"))
        #expect(cache.decide(request, now: builder.now) == .unread(alice))
        var tokens = ListedTokens(in: .standard)
        _ = cache.accounts(ListAccounts(clientID: CacheBuilder.app), &tokens)
        #expect(tokens.missing.map(\.account) == [alice])
        #expect(tokens.missing.map(\.key.kind) == [.idToken])
        tokens = ListedTokens(in: .standard)
        _ = cache.credentials(ListCredentials(), localScheme: "https", &tokens)
        #expect(Set(tokens.missing.map(\.account)) == [alice])
        #expect(Set(tokens.missing.map(\.key.kind)) == [.accessToken, .idToken])
        tokens = ListedTokens(in: .standard)
        _ = try cache.currentAccount(GetCurrentAccount(clientID: try #require(CacheBuilder.app)), &tokens)
        #expect(tokens.missing.map(\.key.kind) == [.idToken])
        let signedOut = AcquireTokenSilent(parameters: try builder.parameters(), account: CacheBuilder.account("bob"))
        #expect(cache.decide(signedOut, now: builder.now).needsInteraction)
    }

    /// What a sign-out removes follows from the keys.
    @Test func removesWhatTheWholeCacheRemoves() throws {
        var seed = TestSeed()
        for extent in [RemoveAccount.Extent.app, .account, .everything] {
            var whole = try Self.builder(&seed).cache
            var cache = Self.unread(whole)
            let removal = RemoveAccount(
                clientID: try #require(CacheBuilder.app), account: CacheBuilder.account("alice"), extent: extent)
            let changes = cache.changes(removing: removal)
            #expect(changes == whole.changes(removing: removal), "\(seed)")
            cache.apply(changes, in: .standard)
            whole.apply(changes, in: .standard)
            for group in try Self.groups {
                let tokens = cache.unreadTokens(of: cache.partition(group).accountKeys, in: group)
                #expect(cache.fill(with: ReadTokens(Self.stored(whole)), of: tokens, in: group).isEmpty, "\(seed)")
            }
            #expect(cache == whole, "\(seed)")
        }
    }

    @Test func packsWhatItHasInTheStore() throws {
        var seed = TestSeed()
        let whole = try Self.builder(&seed).cache
        var cache = whole
        for group in try Self.groups { cache.pack(in: group, leaving: []) }
        #expect(cache == Self.unread(whole), "\(seed)")
    }

    @Test func keepsTheTokensOfAnAccountThatIsRedeeming() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        try builder.signIn("bob", builder.parameters())
        var cache = builder.cache
        cache.pack(in: .standard, leaving: [Secret("rt-alice-app-1")])
        let unread = cache.unreadTokens(of: cache.partition(.standard).accountKeys, in: .standard)
        #expect(Set(unread.map(\.account.homeAccountID)) == [CacheBuilder.account("bob").homeAccountID])
    }

    /// If the tokens cannot be read while one of them is redeemed, the response is saved nevertheless: the token has been used up.
    @Test func savesTheResponseToATokenThatHasLeftMemory() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let account = try #require(builder.cache.partition(.standard).accountKeys.first)
        let used = try #require(builder.cache.partition(.standard)[account].refreshTokens.values.first)
        builder.cache.pack(in: .standard, leaving: [])
        let tokens = IssuedTokens(
            accessToken: Secret("at-2"), refreshToken: Secret("rt-2"),
            idToken: CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2),
            homeAccountID: account.homeAccountID)
        try builder.save(tokens, from: .redemption(used), builder.parameters())
        let held = builder.cache.partition(.standard)[account].refreshTokens.values
        #expect(held.map(\.secret) == [Secret("rt-2")])
    }

    /// It may be the one that is looked for, which is returned if a redemption fails.
    @Test func takesAnUnreadAccessTokenForOneThatIsLookedFor() throws {
        var builder = CacheBuilder()
        let token = try builder.signIn("alice", builder.parameters()).accessToken
        let account = try #require(builder.cache.partition(.standard).accountKeys.first)
        #expect(!builder.cache.stillHolds(Secret("another"), of: account, in: .standard))
        builder.cache.pack(in: .standard, leaving: [])
        #expect(builder.cache.stillHolds(token, of: account, in: .standard))
    }

    @Test func reportsTokensThatTheStoreHasLost() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        var cache = Self.unread(builder.cache)
        let tokens = cache.unreadTokens(of: cache.partition(.standard).accountKeys, in: .standard)
        let remaining = Self.stored(builder.cache).filter { $0.key.kind != .refreshToken }
        let lost = cache.fill(with: ReadTokens(remaining), of: tokens, in: .standard)
        #expect(lost.count == 1)
        cache.apply(lost, in: .standard)
        let account = try #require(cache.partition(.standard).accountKeys.first)
        #expect(cache.partition(.standard)[account].refreshTokens.isEmpty)
        #expect(!cache.partition(.standard)[account].hasUnreadTokens)
    }

    /// Two accounts can have records with one key, and the store has the one that was saved last.
    @Test func acceptsNoRecordOfAnotherAccount() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        try builder.signIn("bob", builder.parameters())
        var cache = Self.unread(builder.cache)
        let tokens = cache.unreadTokens(of: cache.partition(.standard).accountKeys, in: .standard)
        let records = Dictionary(uniqueKeysWithValues: Self.stored(builder.cache).map { ($0.key, $0) })
        let replaced = try #require(tokens.first { $0.key.kind == .refreshToken })
        let other = try #require(tokens.first { $0.key.kind == .refreshToken && $0.account != replaced.account })
        let read = tokens.compactMap { token in
            records[token == replaced ? other.key : token.key].map {
                StoredRecord(key: token.key, body: $0.body, account: $0.account)
            }
        }
        let lost = cache.fill(with: ReadTokens(read), of: tokens, in: .standard)
        #expect(lost == [.remove(replaced.key, account: replaced.account)])
        cache.apply(lost, in: .standard)
        #expect(cache.partition(.standard)[replaced.account].refreshTokens.isEmpty)
        #expect(cache.partition(.standard)[other.account].refreshTokens.count == 1)
        #expect(cache.unreadTokens(of: cache.partition(.standard).accountKeys, in: .standard).isEmpty)
    }

    /// Both accounts have the key, and the record is one account's.
    @Test func readsARecordForTheAccountThatItBelongsTo() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        try builder.signIn("bob", builder.parameters())
        let tokens = Self.unread(builder.cache).unreadTokens(
            of: builder.cache.partition(.standard).accountKeys, in: .standard)
        let first = try #require(tokens.first { $0.key.kind == .refreshToken })
        let other = try #require(tokens.first { $0.key.kind == .refreshToken && $0.account != first.account })
        let twin = UnreadToken(account: other.account, key: first.key)
        for wanted in [[first, twin], [twin, first]] {
            var cache = Self.unread(builder.cache)
            let record = try #require(Self.stored(builder.cache).first { $0.key == first.key })
            // The other account has no such record here: nothing is lost, and nothing is removed.
            #expect(cache.fill(with: ReadTokens([record]), of: wanted, in: .standard).isEmpty)
            let filled = cache.partition(.standard)[first.account].refreshTokens.values
            #expect(filled.map(\.secret.isUnread) == [false])
        }
    }

    @Test func writesNoRecordWithoutItsToken() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let records = Self.unread(builder.cache).partition(.standard).records
        #expect(records.count { CacheChange.save($0).savesUnread } == 3)
        #expect(Self.stored(Self.unread(builder.cache)).allSatisfy { $0.key.kind != .refreshToken })
    }

    private static func description(_ choice: RequestedAccount) -> String {
        switch choice {
        case .one(let account, _): account.key
        case .several: "several"
        case .none: "none"
        }
    }

    // MARK: Caches

    private static var groups: [SharingGroup] {
        get throws { [.standard, try #require(SharingGroup("other"))] }
    }

    private static func builder(_ seed: inout TestSeed) throws -> CacheBuilder {
        var builder = CacheBuilder()
        for _ in 0..<24 {
            let user = ["alice", "bob", "carol"].randomElement(using: &seed) ?? "alice"
            let group = try groups.randomElement(using: &seed) ?? .standard
            let scopes = ["Scope.\(Int.random(in: 0..<12, using: &seed))"]
            let authority = [
                "https://login.microsoftonline.com/common", "https://login.microsoftonline.us/common",
                "https://fs.contoso.example/adfs",
            ].randomElement(using: &seed)
            try builder.signIn(
                user, builder.parameters(scopes: scopes, authority: authority ?? "", group: group),
                family: Bool.random(using: &seed) ? "1" : nil, refreshIn: Bool.random(using: &seed) ? 100 : nil)
            builder.now += 1
        }
        for group in try groups { try builder.signIn("alice", builder.parameters(group: group)) }
        return builder
    }

    private static func stored(_ cache: CredentialCache) -> [StoredRecord] {
        cache.everything().compactMap { if case .put(let record) = $0 { record } else { nil } }
    }

    /// The cache after a start.
    private static func unread(_ cache: CredentialCache) -> CredentialCache {
        var unread = CredentialCache()
        unread.clouds = cache.clouds
        for stored in stored(cache) {
            guard let group = SharingGroup(stored.key.group) else { continue }
            guard case .unread(let record) = CacheRecord.load(stored, in: group, leavesOutTokens: true) else {
                Issue.record("\(stored.key) has been read whole")
                continue
            }
            unread.loadUnread(record, in: group, key: stored.key.key)
        }
        return unread
    }
}
