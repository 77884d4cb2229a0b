internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// Stores that earlier versions wrote.
@Suite(.bounded) struct LoadedCacheTests {
    private static let group = SharingGroup.standard.name

    @Test func bindsTheRefreshTokensOfAnEarlierVersion() throws {
        let loaded = Self.load([
            Self.refreshToken(at: "login.windows.net"), Self.account(at: "fs.contoso.example", "ADFS"),
            Self.refreshToken(at: "fs.contoso.example"),
        ])
        let tokens = Self.tokens(in: loaded).sorted { $0.environment < $1.environment }
        #expect(tokens.map { $0.binding?.kind } == [.adfs, .entra])
        #expect(tokens.map { $0.binding?.endpoint } == ["fs.contoso.example", "login.microsoftonline.com"])
        #expect(loaded.unboundTokens == 0)
        // Both are written with their bindings, and are bound from then on.
        let written = loaded.repairs().compactMap { if case .put(let record) = $0 { record } else { nil } }
        let again = Self.load(written)
        let read = Self.tokens(in: again).sorted { $0.environment < $1.environment }
        #expect(read.map(\.binding) == tokens.map(\.binding))
        #expect(again.repairs().isEmpty)
    }

    @Test func leavesATokenUnboundWhoseIssuerIsNotCertain() throws {
        let loaded = Self.load([
            Self.account(at: "id.contoso.example", "ADFS", realm: "adfs"),
            Self.account(at: "id.contoso.example", "Other", realm: "tenant"),
            Self.refreshToken(at: "id.contoso.example"), Self.refreshToken(at: "nobody.example"),
        ])
        #expect(Self.tokens(in: loaded).count == 2)
        #expect(Self.tokens(in: loaded).allSatisfy { $0.binding == nil })
        #expect(loaded.unboundTokens == 2)
    }

    /// A token may belong to either of two accounts. It is stored again, so that a later start finds it.
    @Test func keepsATokenWhoseAccountIsNotCertainUntilOneAccountIsLeft() throws {
        let first = Self.account(at: "id.contoso.example", "ADFS", realm: "adfs")
        let second = Self.account(at: "id.contoso.example", "Other", realm: "tenant")
        let loaded = Self.load([first, second, Self.refreshToken(at: "id.contoso.example")])
        var stored = [first, second, Self.refreshToken(at: "id.contoso.example")]
        for change in loaded.repairs() {
            switch change {
            case .put(let record): stored = stored.filter { $0.key != record.key } + [record]
            case .delete(let key): stored.removeAll { $0.key == key }
            case .deleteGroup: break
            }
        }
        let tokens = stored.filter { $0.key.kind == .refreshToken }
        #expect(tokens.count == 1)
        let again = Self.load(stored)
        #expect(Self.tokens(in: again).map { $0.secret.reveal() } == ["rt-id.contoso.example"])
        #expect(again.unboundTokens == 1)
        #expect(again.repairs().isEmpty)

        let only = Self.load([first] + tokens)
        #expect(Self.tokens(in: only).compactMap { $0.binding?.kind } == [.adfs])
        #expect(Set(only.repairs().map(Self.isDeletion)) == [true, false])
    }

    @Test func deletesATokenOfAnEarlierVersionIfItsAccountHasGotANewOne() throws {
        let account = Self.account(at: "id.contoso.example", "ADFS", realm: "adfs")
        let old = Self.refreshToken(at: "id.contoso.example")
        let first = Self.load([account, old])
        var new = try #require(Self.tokens(in: first).first)
        new.secret = Secret("rt-new")
        let loaded = Self.load([account, old, CacheRecord.refreshToken(new).stored(in: .standard)])
        #expect(Self.tokens(in: loaded).map { $0.secret.reveal() } == ["rt-new"])
        #expect(loaded.repairs().contains(.delete(old.key)))
    }

    /// The agent was killed before it could delete the record that an earlier version had stored under another key.
    @Test func keepsATokenThatHasReplacedOneOfAnEarlierVersion() throws {
        var old = Self.refreshToken(at: "login.windows.net")
        old.key.key += "-old"
        var new = try #require(Self.tokens(in: Self.load([old])).first)
        new.secret = Secret("rt-new")
        let loaded = Self.load([old, CacheRecord.refreshToken(new).stored(in: .standard)])
        #expect(Self.tokens(in: loaded).map { $0.secret.reveal() } == ["rt-new"])
        #expect(loaded.repairs().allSatisfy(Self.isDeletion))
    }

    /// A start leaves the tokens of this version in the store.
    @Test func keepsATokenInTheStoreThatHasReplacedOneOfAnEarlierVersion() throws {
        var old = Self.refreshToken(at: "login.windows.net")
        old.key.key += "-old"
        var new = try #require(Self.tokens(in: Self.load([old])).first)
        new.secret = Secret("rt-new")
        var loaded = LoadedCache()
        let context = LoadedCache.makeContext(canReadAgain: true)
        for record in [old, CacheRecord.refreshToken(new).stored(in: .standard)] {
            loaded.add(LoadedCache.decode(record, context))
        }
        loaded.finish()
        #expect(Self.tokens(in: loaded).map(\.secret.isUnread) == [true])
        #expect(loaded.repairs().contains(.delete(old.key)))
        #expect(loaded.repairs().allSatisfy(Self.isDeletion))
    }

    /// The agent could not rewrite the records of an earlier version, as on a full disk, and was killed after a sign-in.
    @Test func keepsASignInThatHasReplacedASignOutOfAnEarlierVersion() {
        let old = [
            Self.account(at: "fs.contoso.example", "ADFS", realm: "adfs"), Self.idToken(at: "fs.contoso.example"),
            Self.signOut,
        ]
        let new = Self.load(old).cache.partition(.standard).records.compactMap(Self.renewed)
        #expect(new.map(\.kind) == [.idToken, .accountMetadata])
        let loaded = Self.load(old + new.map { $0.stored(in: .standard) })
        #expect(loaded.cache.partition(.standard).records.filter { $0.kind != .account } == new)
        let changes = loaded.repairs()
        let written = changes.compactMap { if case .put(let record) = $0 { record.key.kind } else { nil } }
        #expect(written == [.account])
        #expect(old.allSatisfy { changes.contains(.delete($0.key)) })
    }

    /// The earlier version has recorded it once for both accounts.
    @Test func keepsASignOutForEveryAccountWithItsIdentifier() {
        let accounts = [
            Self.account(at: "fs.contoso.example", "ADFS", realm: "adfs"),
            Self.account(at: "id.contoso.example", "Other", realm: "tenant"),
        ]
        for known in [accounts, accounts + [Self.account(at: "login.windows.net", "MSSTS")]] {
            let loaded = Self.load(known + [Self.signOut])
            let cache = loaded.cache.partition(.standard)
            #expect(cache.accountKeys.count == known.count)
            #expect(cache.accountKeys.allSatisfy { cache[$0].metadata["app"]?.signInState == .signedOut })
            let written = loaded.repairs().count { change in
                if case .put(let record) = change { record.key.kind == .accountMetadata } else { false }
            }
            #expect(written == known.count)
            // The others still need the record if one of them is deleted.
            #expect(!loaded.upgrade().formerKeys.values.contains(Self.signOut.key))
        }
    }

    /// The record as another sign-in saves it; nil for an account.
    private static func renewed(_ record: CacheRecord) -> CacheRecord? {
        switch record {
        case .idToken(let old):
            let token = CacheBuilder.idToken(["sub": "uid", "name": "New"])
            return IDTokenRecord(
                account: old.account, environment: old.environment, clientID: old.clientID, realm: old.realm,
                version: old.version, idToken: token
            ).map(CacheRecord.idToken)
        case .accountMetadata(var metadata):
            metadata.signInState = .signedIn
            return .accountMetadata(metadata)
        default: return nil
        }
    }

    /// The agent of the earlier version was killed while the token was being redeemed.
    @Test func movesTheRedemptionNoteWithATokenOfAnEarlierVersion() throws {
        let old = Self.refreshToken(at: "fs.contoso.example")
        let note = StoredRecord(key: Self.note(of: old.key), body: Array("{}".utf8))
        let account = Self.account(at: "fs.contoso.example", "ADFS", realm: "adfs")
        let loaded = Self.load([account, old, note])
        let token = try #require(Self.tokens(in: loaded).first)
        let key = CacheRecord.refreshToken(token).key(in: .standard)
        #expect(key != old.key)
        #expect(loaded.interrupted == [key])
        let written = StoredRecord(key: Self.note(of: key), body: note.body, account: .noAccount)
        #expect(loaded.repairs().contains(.put(written)))
        #expect(loaded.repairs().contains(.delete(note.key)))
        let formerKeys = loaded.upgrade().formerKeys
        #expect(formerKeys[key] == old.key && formerKeys[written.key] == note.key)
    }

    @Test func deletesTheRedemptionNoteOfATokenThatHasBeenReplaced() throws {
        var old = Self.refreshToken(at: "login.windows.net")
        old.key.key += "-old"
        let note = StoredRecord(key: Self.note(of: old.key), body: Array("{}".utf8))
        var new = try #require(Self.tokens(in: Self.load([old])).first)
        new.secret = Secret("rt-new")
        let loaded = Self.load([old, note, CacheRecord.refreshToken(new).stored(in: .standard)])
        #expect(loaded.interrupted.isEmpty)
        #expect(loaded.repairs().contains(.delete(note.key)))
        #expect(loaded.repairs().allSatisfy(Self.isDeletion))
    }

    private static func note(of token: RecordKey) -> RecordKey {
        RecordKey(group: token.group, kind: .redemption, key: token.key)
    }

    private static func isDeletion(_ change: StoreChange) -> Bool { if case .delete = change { true } else { false } }

    @Test func packsTheRecordsOfAnEarlierVersion() throws {
        let loaded = Self.load([
            Self.account(at: "login.windows.net", "MSSTS"), Self.refreshToken(at: "login.windows.net"),
        ])
        let written = loaded.repairs().compactMap { if case .put(let record) = $0 { record } else { nil } }
        #expect(Set(written.map(\.key.kind)) == [.account, .refreshToken])
        #expect(written.allSatisfy { $0.account == .account("uid.utid") && $0.body.first != UInt8(ascii: "{") })
        let again = Self.load(written)
        #expect(again.cache == loaded.cache)
        #expect(again.repairs().isEmpty)
    }

    /// An earlier version had one key for the tokens of two apps of an OpenID provider whose client IDs differ in case only.
    @Test func movesTheTokensOfAnOpenIDProviderWhereCaseMatters() throws {
        var builder = CacheBuilder()
        var parameters = try CacheBuilder.parameters("https://id.contoso.example/p", .openID)
        parameters.clientID = try #require(ClientID("Notes"))
        try builder.signIn("alice", parameters)
        let records = builder.cache.partition(.standard).records.map { $0.stored(in: .standard) }
        let earlier = records.map { record in
            var record = record
            // Without the hash at the end.
            record.key.key = String(record.key.key.prefix { $0 != "#" })
            return record
        }
        let loaded = Self.load(earlier)
        #expect(loaded.cache == builder.cache)
        let moved = zip(earlier, records).filter { $0.key != $1.key }
        #expect(Set(moved.map(\.1.key.kind)) == [.accessToken, .refreshToken, .idToken])
        for (old, new) in moved {
            #expect(loaded.repairs().contains(.delete(old.key)) && loaded.repairs().contains(.put(new)))
        }
        #expect(Self.load(records).repairs().isEmpty)
    }

    /// An earlier version stored whatever a provider on this machine said of other hosts.
    @Test func dropsACloudThatNoMicrosoftCloudHasAttested() throws {
        let key = RecordKey(group: "", kind: .cloud, key: "localhost")
        let aliases = "\"aliases\":[\"localhost\",\"accounts.google.com\"]"
        let bodies = [
            "{\(aliases),\"preferredNetwork\":\"localhost\",\"preferredCache\":\"localhost\"}",
            "{\"attested_by\":\"localhost\",\"cloud\":{\(aliases),\"preferredNetwork\":\"localhost\","
                + "\"preferredCache\":\"localhost\"}}",
        ]
        for body in bodies {
            let loaded = Self.load([StoredRecord(key: key, body: Array(body.utf8))])
            #expect(!loaded.cache.clouds.knows("accounts.google.com"))
            #expect(loaded.droppedClouds == 1)
            #expect(loaded.repairs() == [.delete(key)])
        }
    }

    @Test func keepsACloudThatAMicrosoftCloudHasAttested() throws {
        let cloud = CloudDirectory.Cloud(
            aliases: ["login.one", "sts.one"], preferredNetwork: "login.one", preferredCache: "sts.one")
        let loaded = Self.load([try #require(CloudRecord(cloud).stored)])
        #expect(loaded.cache.clouds.learnt == [cloud])
        #expect(loaded.droppedClouds == 0)
        #expect(loaded.repairs().isEmpty)
    }

    private static func load(_ records: [StoredRecord]) -> LoadedCache {
        var loaded = LoadedCache(records)
        loaded.finish()
        return loaded
    }

    private static func tokens(in loaded: LoadedCache) -> [RefreshTokenRecord] {
        loaded.cache.partition(.standard).records.compactMap {
            if case .refreshToken(let token) = $0 { token } else { nil }
        }
    }

    private static func refreshToken(at environment: String) -> StoredRecord {
        let body = """
            {"credential_type":"RefreshToken","home_account_id":"uid.utid","environment":"\(environment)",
            "client_id":"app","secret":"rt-\(environment)"}
            """
        return StoredRecord(
            key: RecordKey(
                group: group, kind: .refreshToken, key: "uid.utid-\(environment)-refreshtoken-app--"),
            body: Array(body.utf8))
    }

    private static func account(at environment: String, _ type: String, realm: String = "utid") -> StoredRecord {
        let body = """
            {"home_account_id":"uid.utid","environment":"\(environment)","realm":"\(realm)","username":"alice",
            "authority_type":"\(type)","source":"msal"}
            """
        return StoredRecord(
            key: RecordKey(group: group, kind: .account, key: "uid.utid-\(environment)-\(realm)"),
            body: Array(body.utf8))
    }

    private static func idToken(at environment: String) -> StoredRecord {
        let body = """
            {"credential_type":"IdToken","home_account_id":"uid.utid","environment":"\(environment)","client_id":"app",
            "realm":"adfs","secret":"\(CacheBuilder.idToken(["sub": "uid", "name": "Old"]))"}
            """
        return StoredRecord(
            key: RecordKey(group: group, kind: .idToken, key: "uid.utid-\(environment)-idtoken-app-adfs-"),
            body: Array(body.utf8))
    }

    private static var signOut: StoredRecord {
        let body =
            #"{"client_id":"app","home_account_id":"uid.utid","sign_in_state":"signed_out","authority_map":{}}"#
        return StoredRecord(
            key: RecordKey(group: group, kind: .accountMetadata, key: "uid.utid-accountmetadata-app"),
            body: Array(body.utf8))
    }
}
