internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// What a large store still takes.
@Suite(.bounded) struct StoreRoomTests {
    @Test(arguments: [
        (0, StoreRoom.ample), (511, .ample), (512, .scarce), (767, .scarce), (768, .exhausted), (2000, .exhausted),
    ])
    func isDecidedByTheSizeOfTheStore(mebibytes: Int, room: StoreRoom) {
        #expect(StoreRoom(storeSize: mebibytes << 20, unsavedSize: 0) == room)
    }

    /// An app whose sign-ins cannot be written would fill the memory, and each later commit would write all of them again.
    @Test func keepsALimitedSizeOfWhatCannotBeWritten() async throws {
        let parts = Parts()
        parts.store.fail()
        let padding = String(repeating: "x", count: 100_000)
        for number in 0..<StoreRoom.unsavedSize / 200_000 + 20 {
            let error = try await parts.signIn("user-\(number)", "\(number)-\(padding)").error()
            #expect(error?.code == .storeUnavailable)
        }
        let tokens = try await parts.refreshTokens()
        #expect(tokens.count <= StoreRoom.unsavedSize / 200_000 + 1)
        #expect(tokens.count > StoreRoom.unsavedSize / 250_000)
        // An account that is there is renewed.
        #expect(try await parts.signIn("user-0", "new").error()?.code == .storeUnavailable)
        #expect(try await parts.refreshTokens().contains("rt-new"))
        parts.store.fail(false)
        try await parts.signIn("user-1", "newer").value()
        #expect(parts.store.refreshTokens.count == tokens.count)
        try await parts.signIn("another", "another").value()
        #expect(parts.store.refreshTokens.count == tokens.count + 1)
    }

    /// The disk has no room for an upgraded store beside the earlier one. Its records are no additions of an app.
    @Test func signsInWhileAnUpgradeCannotBeWritten() async throws {
        let parts = Parts()
        parts.store.fail()
        try await parts.upgrade(StoreRoom.unsavedSize).value()
        #expect(try await parts.signIn("alice", "1").error()?.code == .storeUnavailable)
        #expect(try await parts.refreshTokens() == ["rt-1"])
        parts.store.fail(false)
        try await parts.signIn("bob", "2").value()
        #expect(parts.store.refreshTokens == ["rt-1", "rt-2"])
        #expect(await !parts.hasUnsavedChanges)
    }

    /// Other apps sign in as before.
    @Test func refusesAnotherAccountOfAnAppThatHasMany() throws {
        var builder = CacheBuilder()
        let (crowded, other) = (try builder.parameters("app-1"), try builder.parameters("app-2"))
        for number in 0..<StoreRoom.accountsOfAnApp { try builder.signIn("user-\(number)", crowded) }
        for (room, parameters, isRefused) in [
            (StoreRoom.ample, crowded, false), (.scarce, crowded, true), (.scarce, other, false),
            (.exhausted, other, true), (.unwritable, other, true),
        ] {
            let error = try Self.refusal(room, "new", parameters, builder)
            #expect((error != nil) == isRefused, "\(room)")
            #expect(error.map { $0.code == .storeUnavailable } ?? true)
            #expect(try Self.refusal(room, "user-1", crowded, builder) == nil, "an account that is there")
        }
    }

    /// Each group would have room for as many accounts otherwise.
    @Test func countsTheAccountsOfAnAppInAllSharingGroups() throws {
        var builder = CacheBuilder()
        for number in 0..<StoreRoom.accountsOfAnApp {
            let group = try #require(SharingGroup("group-\(number % 16)"))
            try builder.signIn("user-\(number)", builder.parameters(group: group))
        }
        for name in ["group-1", "another"] {
            let group = try #require(SharingGroup(name))
            let error = try Self.refusal(.scarce, "new", builder.parameters(group: group), builder)
            #expect(error?.code == .storeUnavailable, "\(name)")
        }
    }

    /// A provider that does not take back a refresh token has replaced the old one.
    @Test(arguments: [StoreRoom.scarce, .exhausted, .unwritable])
    func alwaysSavesRefreshTokens(room: StoreRoom) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(scopes: ["User.Read"]))
        let saved = try Self.admitted(
            room, "alice", try builder.parameters(scopes: ["Mail.Read"]), builder, length: 100_000)
        #expect(saved.contains { if case .save(.refreshToken) = $0 { true } else { false } })
        #expect(!saved.contains { if case .save(.accessToken) = $0 { true } else { false } }, "a new one, and long")
        let renewed = try Self.admitted(
            room, "alice", try builder.parameters(scopes: ["User.Read"]), builder, length: 100_000)
        #expect(renewed.contains { if case .save(.accessToken) = $0 { true } else { false } }, "one that it has")
    }

    /// The app asks for a further scope: the new token takes the place of the one that it has.
    @Test(arguments: [StoreRoom.exhausted, .unwritable])
    func keepsAnAccessTokenThatTakesThePlaceOfAnother(room: StoreRoom) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(scopes: ["User.Read"]))
        let parameters = try builder.parameters(scopes: ["User.Read", "Mail.Read"])
        let saved = try Self.admitted(room, "alice", parameters, builder)
        #expect(saved.contains { if case .save(.accessToken) = $0 { true } else { false } })
    }

    /// Otherwise an app would show the user's name of an earlier sign-in.
    @Test(arguments: [StoreRoom.exhausted, .unwritable])
    func renewsTheIDTokenThatAnAccountHas(room: StoreRoom) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let saved = try Self.admitted(room, "alice", builder.parameters(), builder)
        #expect(saved.contains { if case .save(.idToken) = $0 { true } else { false } })
    }

    @Test func keepsFewAccessTokensOfAnAccountInALargeStore() throws {
        var builder = CacheBuilder()
        for number in 0..<StoreRoom.tokensOfAnAccount {
            let parameters = try builder.parameters(scopes: ["Scope.\(number)"])
            let saved = try Self.admitted(.scarce, "alice", parameters, builder)
            #expect(saved.contains { if case .save(.accessToken) = $0 { true } else { false } })
            try builder.signIn("alice", parameters)
        }
        let saved = try Self.admitted(.scarce, "alice", builder.parameters(scopes: ["Another"]), builder)
        #expect(!saved.contains { if case .save(.accessToken) = $0 { true } else { false } })
    }

    /// Other libraries save tokens under another name of the cloud, and the new one takes the place of theirs.
    @Test(arguments: [StoreRoom.scarce, .exhausted]) func renewsAnIDTokenUnderAnotherNameOfTheCloud(room: StoreRoom)
        throws
    {
        var builder = CacheBuilder()
        let parameters = try builder.parameters()
        try builder.signIn("alice", parameters)
        let partition = builder.cache.partition(.standard)
        let account = try #require(partition.accountKeys.first)
        let token = try #require(partition[account].idTokens.values.first)
        var other = token
        other.environment = "login.microsoftonline.com"
        builder.cache.apply(
            [.remove(CacheRecord.idToken(token).key(in: .standard), account: account), .save(.idToken(other))],
            in: .standard)
        let saved = try Self.admitted(room, "alice", parameters, builder)
        let isRenewed = saved.contains { if case .save(.idToken) = $0 { true } else { false } }
        let isRemoved = saved.contains { if case .remove(let key, _) = $0 { key.kind == .idToken } else { false } }
        #expect(isRenewed && isRemoved)
    }

    /// A sign-in gives the identifier to an account that an import has named by the tenant's directory.
    @Test func movesAnAccountToItsIdentifierInAFullStore() throws {
        var builder = CacheBuilder()
        let named = AccountRecord(
            homeAccountID: nil, environment: "login.windows.net", realm: CacheBuilder.tenant,
            localAccountID: "oid-alice-in-7a1e", username: "alice@contoso.com", authorityType: AccountRecord.entraType,
            source: AccountRecord.adalSource)
        builder.cache.apply([.save(.account(named))], in: .standard)
        let saved = try Self.admitted(.exhausted, "alice", try builder.parameters(), builder)
        builder.cache.apply(saved, in: .standard)
        let accounts = builder.cache.partition(.standard).accountKeys
        #expect(accounts.map(\.homeAccountID) == [HomeAccountID(uid: "oid-alice", utid: CacheBuilder.tenant)])
        #expect(try Self.refusal(.exhausted, "bob", try builder.parameters(), builder) != nil)
    }

    @Test func keepsFewIDTokensOfAnAccountInALargeStore() throws {
        var builder = CacheBuilder()
        let tenants = (0...StoreRoom.tokensOfAnAccount).map { "7a1e0000-0000-4000-8000-0000000000\(10 + $0)" }
        for (number, tenant) in tenants.enumerated() {
            let parameters = try builder.parameters(authority: "https://login.microsoftonline.com/\(tenant)")
            let saved = try Self.admitted(.scarce, "alice", parameters, builder, tenant: tenant)
            let isKept = saved.contains { if case .save(.idToken) = $0 { true } else { false } }
            let isNamed = saved.contains { if case .save(.account) = $0 { true } else { false } }
            #expect(isKept == (number < StoreRoom.tokensOfAnAccount) && isNamed == isKept, "\(tenant)")
            try builder.signIn("alice", parameters, tenant: tenant)
        }
    }

    private static func refusal(
        _ room: StoreRoom, _ user: String, _ parameters: TokenParameters, _ builder: CacheBuilder
    ) throws -> TokenError? {
        do {
            _ = try admitted(room, user, parameters, builder)
            return nil
        } catch let error as TokenError {
            return error
        }
    }

    /// What is saved of a sign-in.
    private static func admitted(
        _ room: StoreRoom, _ user: String, _ parameters: TokenParameters, _ builder: CacheBuilder, length: Int = 10,
        tenant: String = CacheBuilder.tenant
    ) throws -> [CacheChange] {
        let tokens = IssuedTokens(
            accessToken: Secret(String(repeating: "a", count: length)), tokenType: "Bearer", expiresIn: 3600,
            extendedExpiresIn: nil, refreshIn: nil, scopes: nil, refreshToken: Secret("rt"), isMultiResource: true,
            idToken: CacheBuilder.idToken(user, tenant: tenant, version: .v2),
            homeAccountID: HomeAccountID(uid: "oid-\(user)", utid: CacheBuilder.tenant), clientInfo: nil, familyID: nil)
        let cache = builder.cache
        let saved = try cache.changes(
            saving: tokens, from: .signIn, parameters, at: parameters.authority, now: builder.now)
        let account = cache.account(of: tokens, from: .signIn, parameters, at: parameters.authority)
        return try room.admitted(saved.changes, of: account, from: .signIn, parameters, in: cache)
    }
}

extension Parts {
    /// Writes a record of an earlier version, with a number of bytes, as a start does.
    fileprivate func upgrade(_ size: Int) -> Pending<Void> {
        let key = RecordKey(group: SharingGroup.standard.name, kind: .opaque, key: "earlier")
        let record = StoredRecord(key: key, body: [UInt8](repeating: 0, count: size))
        return start { parts async throws(TokenError) in
            await parts.core.commits.write(StoreUpgrade(changes: [.put(record)]))
        }
    }
}
