internal import CacheTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// The rules by which an import changes the cache.
@Suite(.bounded) struct ImportRuleTests {
    @Test(arguments: Fixture.all)
    func changesNothingTheSecondTime(fixture: Fixture) throws {
        var cache = CredentialCache()
        let now: Int64 = fixture.format == .msalJSON ? 1_790_000_011 : Fixture.whenWritten
        let first = cache.merge(try fixture.read(now: now))
        let second = cache.merge(try fixture.read(now: now))
        #expect(second.changes.isEmpty)
        #expect(second.report.counts == [0, 0, 0, 0])
        #expect(second.report.skippedCount >= first.report.skippedCount)
    }

    @Test(arguments: Fixture.all)
    func survivesTheStore(fixture: Fixture) throws {
        var cache = CredentialCache()
        cache.merge(try fixture.read(now: 1_600_000_000))
        var loaded = CredentialCache()
        let stored = cache.records().map { $0.stored(in: .standard) }
        for record in stored { loaded.load(try #require(CacheRecord(record)), in: .standard) }
        #expect(loaded.records().count == cache.records().count)
        #expect(stored.isEmpty || loaded == cache)
    }

    /// The agent reads no others from its store for an import.
    @Test(arguments: Fixture.all)
    func dependsOnTheTokensOfTheAccountsInTheFileOnly(fixture: Fixture) throws {
        let now: Int64 = fixture.format == .msalJSON ? 1_790_000_011 : Fixture.whenWritten
        var whole = CredentialCache()
        for other in Fixture.all { whole.merge(try other.read(now: now)) }
        let foreign = try fixture.read(now: now)
        var cache = whole
        cache.pack(in: .standard, leaving: [])
        let tokens = cache.unreadTokens(of: cache.accounts(comparedWith: foreign, in: .standard) {}, in: .standard)
        let stored = whole.records().map { $0.stored(in: .standard) }
        let lost = cache.fill(with: ReadTokens(stored), of: tokens, in: .standard)
        #expect(lost.isEmpty)
        let expected = whole.changes(importing: foreign, in: .standard)
        let plan = cache.changes(importing: foreign, in: .standard)
        #expect(plan.report == expected.report)
        #expect(plan.changes.count == expected.changes.count)
    }

    @Test(
        arguments: [
            (held: 100, new: 200, winner: "new"), (held: 200, new: 100, winner: "held"),
            // Of two that were obtained in one second nothing says which was first; the file is what somebody wants now.
            (held: 100, new: 100, winner: "new"),
            (held: 100, new: nil, winner: "held"), (held: nil, new: 100, winner: "held"),
            // A clock that ran ahead proves nothing.
            (held: 100, new: 9_999_999_999, winner: "held"),
        ] as [(held: Int64?, new: Int64?, winner: String)])
    func neverReplacesARefreshTokenByOneThatMayBeOlder(held: Int64?, new: Int64?, winner: String) throws {
        var cache = CredentialCache()
        try cache.merge(Self.refreshToken("held", held), .msalJSON)
        try cache.merge(Self.refreshToken("new", new), .msalJSON)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == [winner])
    }

    /// A refresh token without a time is as old as the access tokens of its app, but for one that a clock which ran ahead has dated: it
    /// would be the newest in every later comparison.
    @Test func datesNoRefreshTokenByAnAccessTokenOfTheFuture() throws {
        let future = Fixture.whenWritten + 100_000
        var cache = CredentialCache()
        try cache.merge(Self.refreshToken("held", 100), .msalJSON)
        let file = """
            {"AccessToken": {"1": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c", "realm": "t",
              "credential_type": "AccessToken", "secret": "at", "target": "s", "cached_at": "\(future)",
              "expires_on": "9999999999"}},
             "RefreshToken": {"1": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c",
              "secret": "new"}}}
            """
        try cache.merge(Array(file.utf8), .msalJSON)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == ["held"])
    }

    /// A library and the agent refresh within one second: the library's token is imported, since the agent's was redeemed for it; the
    /// agent's own earlier ones, which it has redeemed itself, are not.
    @Test func doesNotImportARefreshTokenThatItHasRedeemed() throws {
        var builder = CacheBuilder()
        builder.now = 1_795_229_000
        func file(_ secret: String) -> [UInt8] {
            let file = UnifiedImportTests.cache(realm: "common").replacingOccurrences(
                of: #""secret": "rt-1""#, with: #""secret": "\#(secret)", "last_modification_time": "1795229000""#)
            return Array(file.utf8)
        }
        func held() throws -> [String]? {
            try builder.decide(builder.parameters(), CacheBuilder.account("alice"), force: true).candidates
        }
        try builder.cache.merge(file("rt-1"), .msalJSON, now: builder.now)
        try builder.redeem(for: "rt-2")
        #expect(try held() == ["rt-2"])
        // The first file again: its token is used up.
        try builder.cache.merge(file("rt-1"), .msalJSON, now: builder.now)
        #expect(try held() == ["rt-2"])
        // The library has redeemed what the agent exported.
        try builder.cache.merge(file("rt-3"), .msalJSON, now: builder.now)
        #expect(try held() == ["rt-3"])
        for old in ["rt-1", "rt-2"] {
            let plan = try builder.cache.merge(file(old), .msalJSON, now: builder.now)
            #expect(plan.report.refreshTokens == 0)
        }
        try builder.redeem(for: "rt-4")
        // Also after a restart.
        var later = CredentialCache()
        for record in builder.cache.records() {
            later.load(try #require(CacheRecord(record.stored(in: .standard))), in: .standard)
        }
        builder.cache = later
        for old in ["rt-1", "rt-2", "rt-3"] {
            #expect(try builder.cache.merge(file(old), .msalJSON, now: builder.now).report.refreshTokens == 0)
        }
        #expect(try held() == ["rt-4"])
    }

    /// A second import of the same tokens in another order changes nothing.
    @Test func choosesOneOfManyRefreshTokensOfOneSecond() throws {
        let entries = (0..<20).map { number in
            """
            "\(number)": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c", "secret": "rt-\(number)",
              "target": "s\(number)", "last_modification_time": "100"}
            """
        }
        let file = Array("{\"RefreshToken\": {\(entries.joined(separator: ","))}}".utf8)
        var cache = CredentialCache()
        #expect(try cache.merge(file, .msalJSON).report.refreshTokens == 1)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == ["rt-19"])
        #expect(try cache.merge(file, .msalJSON).changes.isEmpty)
    }

    /// MSAL for Go saves entries under names in lower case since version 1.1, and leaves those of 1.0 where they are. It writes them in any
    /// order.
    @Test(arguments: [true, false]) func prefersTheEntriesOfALaterMSALForGo(isOldFirst: Bool) throws {
        func entries(_ kind: String, _ fields: (_ age: String) -> String) -> String {
            let names = [kind, kind.lowercased()]
            let entries = zip(names, ["old", "new"]).map { name, age in
                """
                "u.t-sts.windows.net-\(name)-c": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c",
                  \(fields(age))}
                """
            }
            return (isOldFirst ? entries : entries.reversed()).joined(separator: ",")
        }
        let json = """
            {"RefreshToken": {\(entries("RefreshToken") { #""secret": "\#($0)""# })},
              "AppMetadata": {\(entries("AppMetaData") { #""family_id": "\#($0)""# })},
              "Account": {\(entries("T") { #""realm": "t", "username": "\#($0)", "authority_type": "MSSTS""# })},
              "AccessToken": {"u.t-sts.windows.net-accesstoken-c-t-s": {"home_account_id": "u.t", "environment": "sts.windows.net",
                "client_id": "c", "realm": "t", "secret": "at", "target": "s", "cached_at": "100", "expires_on": "9999999999"}}}
            """
        var cache = CredentialCache()
        try cache.merge(Array(json.utf8), .msalJSON)
        let partition = cache.partition(.standard)
        let account = try #require(partition.accounts.values.first)
        #expect(account.refreshTokens.values.map { $0.secret.reveal() } == ["new"])
        #expect(account.accounts.values.map(\.username) == ["new"])
        #expect(partition.apps.values.map(\.familyID) == ["new"])
        #expect(try cache.merge(Array(json.utf8), .msalJSON).changes.isEmpty)
    }

    @Test func neverReplacesARefreshTokenThatTheAgentSavedLater() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten
        try builder.signIn("alice", builder.parameters(), refreshToken: "rt-mine")
        let plan = try builder.cache.merge(Array(UnifiedImportTests.cache(realm: "common").utf8), .msalJSON)
        #expect(plan.report.refreshTokens == 0)
        let decision = try builder.decide(builder.parameters(), CacheBuilder.account("alice"), force: true)
        #expect(decision.candidates == ["rt-mine"])
    }

    /// The file's refresh token came with an access token that is newer than what the agent saved.
    @Test func importsARefreshTokenThatIsNewerThanTheAgents() throws {
        var builder = CacheBuilder()
        builder.now = 1_795_228_000
        try builder.signIn("alice", builder.parameters(), refreshToken: "rt-mine")
        let plan = try builder.cache.merge(Array(UnifiedImportTests.cache(realm: "common").utf8), .msalJSON)
        #expect(plan.report.refreshTokens == 1)
        let decision = try builder.decide(builder.parameters(), CacheBuilder.account("alice"), force: true)
        #expect(decision.candidates == ["rt-1"])
    }

    /// Python keeps a refresh token for every set of scopes.
    @Test func importsTheNewestOfSeveralRefreshTokensOfOneApp() throws {
        var cache = CredentialCache()
        let json = """
            {"RefreshToken": {
              "1": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c", "secret": "old", "target": "a",
                    "last_modification_time": "100"},
              "2": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c", "secret": "new", "target": "b",
                    "last_modification_time": "300"},
              "3": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c", "secret": "mid", "target": "c",
                    "last_modification_time": "200"}}}
            """
        let plan = try cache.merge(Array(json.utf8), .msalJSON)
        #expect(plan.report.refreshTokens == 1)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == ["new"])
    }

    @Test func signsAnAppInAgain() throws {
        var cache = CredentialCache()
        let bytes = Array(UnifiedImportTests.cache(realm: "common").utf8)
        try cache.merge(bytes, .msalJSON)
        let app = try #require(ClientID("app-1"))
        let removal = RemoveAccount(clientID: app, account: CacheBuilder.account("alice"))
        cache.apply(cache.changes(removing: removal), in: .standard)
        #expect(cache.accounts(ListAccounts(clientID: app)).accounts.isEmpty)
        try cache.merge(bytes, .msalJSON)
        #expect(cache.accounts(ListAccounts(clientID: app)).accounts.count == 1)
    }

    /// The scopes of a token are a set.
    @Test(arguments: [("old", 100, "new", 200), ("new", 200, "old", 100)])
    func keepsTheNewerTokenWhateverTheOrderOfItsScopes(
        first: String, firstTime: Int, second: String, secondTime: Int
    ) throws {
        var cache = CredentialCache()
        try cache.merge(Self.accessToken(first, "User.Read Mail.Read openid", firstTime), .msalJSON)
        try cache.merge(Self.accessToken(second, "openid mail.read User.Read", secondTime), .msalJSON)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.accessTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == ["new"])
        let json = try JSONReader.read(cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten))
        let exported = try #require(json["AccessToken"]).members.map(\.value)
        #expect(exported.map { $0["secret"]?.string } == ["new"])
        #expect(
            exported[0]["target"]?.string
                == (first == "new" ? "User.Read Mail.Read openid" : "openid mail.read User.Read"))
    }

    /// The clock ran ahead when the cached token was saved.
    @Test func replacesAnAccessTokenOfTheFuture() throws {
        var cache = CredentialCache()
        let ahead = Fixture.whenWritten + 100_000
        try cache.merge(Self.accessToken("ahead", "User.Read", Int(ahead)), .msalJSON, now: ahead)
        try cache.merge(Self.accessToken("new", "User.Read", 200), .msalJSON)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.accessTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == ["new"])
    }

    /// The old cache is imported again after its account has got an identifier: its refresh token has been redeemed.
    @Test func recognisesAnAccountThatHasGotItsIdentifier() throws {
        var cache = CredentialCache()
        let fixture = Fixture.adal[0]
        cache.merge(try fixture.read())
        let saved = try cache.redeemForMSAL("d3590ed6-52b3-4102-aeff-aad2292ab01c", now: Fixture.whenWritten + 60)
        cache.apply(saved.changes, in: .standard)
        let again = cache.merge(try fixture.read(now: Fixture.whenWritten + 120))
        #expect(again.report.counts == [1, 0, 0, 0])
        #expect(cache.partition(.standard).accounts.keys.compactMap(\.homeAccountID).count == 1)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == ["rt-new"])
    }

    /// An archive without ID tokens does not identify its accounts; a username does if only one account has it.
    @Test func identifiesAnAccountOfAnArchiveByItsUsername() throws {
        var cache = CredentialCache()
        cache.merge(try Fixture.adal[0].read())
        let archive = try cache.export(.adalArchive, of: .standard, now: Fixture.whenWritten)
        #expect(try cache.merge(archive, .adalArchive).changes.isEmpty)
        let saved = try cache.redeemForMSAL("d3590ed6-52b3-4102-aeff-aad2292ab01c", now: Fixture.whenWritten + 60)
        cache.apply(saved.changes, in: .standard)
        let accounts = cache.partition(.standard).accounts.keys
        let again = try cache.merge(archive, .adalArchive, now: Fixture.whenWritten + 120)
        #expect(again.report.counts == [0, 0, 0, 0])
        #expect(cache.partition(.standard).accounts.keys == accounts)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == ["rt-new"])
    }

    /// Two accounts in one cloud may have the same username.
    @Test func doesNotMatchAUsernameOfSeveralAccounts() throws {
        var source = CredentialCache()
        source.merge(try Fixture.adal[0].read())
        let archive = try source.export(.adalArchive, of: .standard, now: Fixture.whenWritten)
        let name = try #require(source.accounts(ListAccounts(clientID: nil)).accounts.first?.username)
        var cache = CredentialCache()
        for person in ["one", "two"] {
            let file = """
                {"Account": {"1": {"home_account_id": "\(person).\(CacheBuilder.tenant)", "username": "\(name)",
                  "environment": "login.microsoftonline.com", "realm": "\(CacheBuilder.tenant)",
                  "local_account_id": "\(person)", "authority_type": "MSSTS"}}}
                """
            try cache.merge(Array(file.utf8), .msalJSON)
        }
        try cache.merge(archive, .adalArchive)
        #expect(cache.partition(.standard).accounts.keys.filter { $0.homeAccountID == nil }.count == 1)
    }

    /// The library saved under the host that it requested; the agent saves under the cloud's preferred name.
    @Test func preservesUnknownFieldsWhenARecordIsRenewed() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten
        let file = UnifiedImportTests.cache(realm: "common")
            .replacingOccurrences(of: #""secret": "rt-1""#, with: #""secret": "rt-1", "note": 7"#)
            .replacingOccurrences(of: #""authority_type""#, with: #""account_source": "device", "authority_type""#)
        try builder.cache.merge(Array(file.utf8), .msalJSON)
        try builder.signIn("alice", builder.parameters(), refreshToken: "rt-2")
        let listed = builder.cache.accounts(ListAccounts(clientID: CacheBuilder.app)).accounts
        #expect(listed.map(\.tenantProfiles.count) == [1])
        let json = try JSONReader.read(builder.cache.export(.msalJSON, of: .standard, now: builder.now))
        let tokens = try #require(json["RefreshToken"]).members.map(\.value)
        #expect(tokens.map { $0["secret"]?.string } == ["rt-2"])
        #expect(tokens[0]["note"] == .number("7"))
        #expect(tokens[0]["environment"]?.string == "login.microsoftonline.com")
        let accounts = try #require(json["Account"]).members.map(\.value)
        #expect(accounts.map { $0["account_source"]?.string } == ["device"])
    }

    /// An entry that no reply can hold is skipped, and the rest of the file is imported.
    @Test func skipsEntriesWhoseIdentifiersAreTooLong() throws {
        var cache = CredentialCache()
        let long = String(repeating: "x", count: 1025)
        let file = """
            {"RefreshToken": {
              "1": {"home_account_id": "\(long).t", "environment": "sts.windows.net", "client_id": "c", "secret": "rt-1"},
              "2": {"home_account_id": "u\\u0000.t", "environment": "sts.windows.net", "client_id": "c", "secret": "rt-2"},
              "3": {"home_account_id": "u.t", "environment": "\(long).b2clogin.com", "client_id": "c", "secret": "rt-3"},
              "4": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "\(long)", "secret": "rt-4"},
              "5": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c", "secret": "rt\\u0000"},
              "6": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c", "secret": "rt-6"}}}
            """
        let report = try cache.merge(Array(file.utf8), .msalJSON).report
        #expect(report.refreshTokens == 1)
        #expect(report.skippedCount == 5)
        #expect(report.reasons.filter { $0.contains("1024 bytes") }.count == 4)
        #expect(report.skipped.allSatisfy { $0.entry.utf8.count < 500 })
        #expect(try cache.listedCredentials().count == 1)
    }

    private static func refreshToken(_ secret: String, _ time: Int64?) -> [UInt8] {
        let time = time.map { #", "last_modification_time": "\#($0)""# } ?? ""
        let json = """
            {"RefreshToken": {"1": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c",
              "secret": "\(secret)"\(time)}}}
            """
        return Array(json.utf8)
    }

    private static func accessToken(_ secret: String, _ target: String, _ time: Int) -> [UInt8] {
        let token = """
            {"AccessToken": {"1": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c", "realm": "t",
              "credential_type": "AccessToken", "secret": "\(secret)", "target": "\(target)", "cached_at": "\(time)",
              "expires_on": "9999999999"}}}
            """
        return Array(token.utf8)
    }
}

extension CacheBuilder {
    /// Redeems Alice's refresh token for another.
    mutating func redeem(for refreshToken: String) throws {
        let parameters = try parameters()
        guard case .redeem(let plan) = decide(parameters, Self.account("alice"), force: true),
            let used = plan.candidates.first
        else { throw TokenError(.internalError, "nothing to redeem") }
        let tokens = IssuedTokens(
            accessToken: Secret("at-\(refreshToken)"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil,
            refreshIn: nil, scopes: nil, refreshToken: Secret(refreshToken), isMultiResource: true,
            idToken: Self.idToken("alice", tenant: Self.tenant, version: .v2),
            homeAccountID: Self.account("alice").homeAccountID, clientInfo: nil, familyID: nil)
        try save(tokens, from: .redemption(used), parameters, at: plan.authority)
    }
}
