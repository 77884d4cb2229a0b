internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// Records of the store that this version does not load as they are.
@Suite(.bounded) struct StoredRecordTests {
    /// Earlier versions kept one token for each order of the scopes.
    @Test func keepsTheNewerOfTwoTokensOfAnEarlierVersion() throws {
        var cache = CredentialCache()
        var stale: [String] = []
        for (secret, target, time) in [("new", "b a", 200), ("old", "a b", 100), ("older", "B A", 50)] {
            let record = AccessTokenRecord(
                account: AccountKey(issuer: .microsoft, homeAccountID: HomeAccountID("u.t"), username: nil),
                environment: "e",
                clientID: try #require(ClientID("c")),
                realm: "t", version: .v2, scopes: ScopeSet(target: target), tokenType: "Bearer", secret: Secret(secret),
                cachedAt: Int64(time), expiresOn: 9_999_999_999, extendedExpiresOn: nil, refreshOn: nil)
            let body = try record.encoded()
            let key = RecordKey(
                group: SharingGroup.standard.name, kind: .accessToken,
                key: "u.t-e-accesstoken-c-t-\(target)".lowercased())
            switch CacheRecord.load(StoredRecord(key: key, body: body), in: .standard) {
            case .asStored(let record): cache.load(record, in: .standard)
            case .repaired(let repaired):
                let record = try #require(repaired)
                if record.key(in: .standard) != key { stale.append(key.key) }
                cache.load(record, in: .standard)
            case .unreadable, .unresolved, .unread: Issue.record("not read")
            }
        }
        #expect(stale == ["u.t-e-accesstoken-c-t-b a", "u.t-e-accesstoken-c-t-b a"])
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.accessTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == ["new"])
    }

    @Test func doesNotLoadARecordWithAnImpossibleTime() {
        for number in ["-9223372036854775808", "-1", "253402300800"] {
            let body = """
                {"home_account_id": "oid-alice.\(CacheBuilder.tenant)", "environment": "login.microsoftonline.com",
                 "client_id": "app-1", "realm": "\(CacheBuilder.tenant)", "credential_type": "AccessToken",
                 "secret": "at", "cached_at": "\(number)", "expires_on": "1795239000"}
                """
            let key = RecordKey(group: "group", kind: .accessToken, key: "key")
            #expect(CacheRecord(StoredRecord(key: key, body: Array(body.utf8))) == nil)
        }
    }

    /// An unread record is looked for in the store by the key that follows from its content.
    @Test func readsATokenThatIsStoredUnderAnotherKeyAndStoresItUnderItsOwn() throws {
        let token = try Self.refreshToken()
        var stored = CacheRecord.refreshToken(token).stored(in: .standard)
        guard case .unread = CacheRecord.load(stored, in: .standard, leavesOutTokens: true) else {
            Issue.record("read whole")
            return
        }
        stored.key.key += "-2"
        guard case .repaired(let record?) = CacheRecord.load(stored, in: .standard, leavesOutTokens: true) else {
            Issue.record("not read whole, or not stored again")
            return
        }
        #expect(record == .refreshToken(token))
    }

    /// It is bound when the store has been loaded, and stored again.
    @Test func readsATokenThatIsNotBoundYet() throws {
        let token = try Self.refreshToken(isBound: false)
        let stored = CacheRecord.refreshToken(token).stored(in: .standard)
        guard case .asStored(let record) = CacheRecord.load(stored, in: .standard, leavesOutTokens: true) else {
            Issue.record("not read whole")
            return
        }
        #expect(record == .refreshToken(token))
    }

    /// An export has these elsewhere, or not at all. A file must not name the current account of an app in the agent's own section.
    @Test func readsNoRecordOfAnExportThatBelongsToNoAccount() throws {
        let app = try #require(ClientID("c"))
        let account = Account(
            homeAccountID: HomeAccountID("u.t"), username: "u", environment: "login.windows.net", source: .msal)
        let records: [CacheRecord] = [
            .appMetadata(AppMetadataRecord(clientID: "c", environment: "login.windows.net", familyID: "1")),
            .currentAccount(CurrentAccountRecord(clientID: app, account: account)),
            .opaque(OpaqueRecord(section: "Other", name: "n", json: "{}")),
        ]
        for record in records {
            let body = try record.content.encoded()
            #expect(CacheRecord(exportedAs: record.kindNumber, body) == nil, "\(record.kind)")
        }
    }

    /// An import must not bring back what has been replaced just now.
    @Test func knowsTheLatestTokensThatATokenHasReplaced() throws {
        var token = try Self.refreshToken()
        for number in 0...10 {
            let earlier = token
            token.secret = Secret("rt-\(number)")
            token.noteReplacement(of: earlier)
        }
        let known = (0...10).filter { token.hasReplaced(Secret("rt-\($0)")) }
        #expect(known == Array(2...9))
    }

    /// Their times do not tell which of them is the newest.
    @Test func knowsEveryTokenOfTheSameSecondThatATokenHasReplaced() throws {
        var token = try Self.refreshToken()
        for number in 0...40 {
            let earlier = token
            token.secret = Secret("rt-\(number)")
            token.obtainedOn = number < 10 ? 1 : 2
            token.noteReplacement(of: earlier)
        }
        let stored = CacheRecord.refreshToken(token).stored(in: .standard)
        #expect(CacheRecord(stored) == .refreshToken(token))
        let known = (0...40).filter { token.hasReplaced(Secret("rt-\($0)")) }
        #expect(known == Array(2...39))
        let last = token
        (token.secret, token.obtainedOn) = (Secret("rt-41"), 3)
        token.noteReplacement(of: last)
        #expect(token.replaced.count == 8)
    }

    private static func refreshToken(isBound: Bool = true) throws -> RefreshTokenRecord {
        let binding = TokenBinding(kind: .entra, issuer: .microsoft, endpoint: "login.microsoftonline.com")
        return RefreshTokenRecord(
            account: AccountKey(issuer: .microsoft, homeAccountID: HomeAccountID("u.t"), username: nil),
            environment: "login.windows.net", clientID: try #require(ClientID("c")), familyID: nil,
            secret: Secret("rt"), binding: isBound ? binding : nil)
    }

    /// The fast path for identifiers as they are saved must tell the same as parsing the identifier does.
    @Test func tellsTheHomeTenantByTheIdentifier() throws {
        var random = TestSeed()
        let parts = ["a", "B", ".", "tid", "TID", " ", "tid.x", "é", ""]
        func text() -> String { (0..<Int(random.next() % 5)).map { _ in parts[Int(random.next() % 9)] }.joined() }
        var homes = 0
        for round in 0..<3000 {
            let realm = round % 2 == 0 ? "tid" : text()
            let identifier = round % 3 == 0 ? "\(text()).\(realm)" : text()
            let record = AccountRecord(
                homeAccountID: identifier, environment: "login.windows.net", realm: realm, localAccountID: nil,
                username: "",
                authorityType: AccountRecord.entraType, source: "msal")
            let tenant = HomeAccountID(identifier)?.tenantID
            #expect(record.isHome == (tenant.map { $0 == realm.lowercased() } ?? true), "\(identifier), \(realm)")
            if tenant != nil, record.isHome { homes += 1 }
        }
        #expect(homes > 100)
    }
}
