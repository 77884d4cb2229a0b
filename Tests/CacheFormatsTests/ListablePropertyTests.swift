internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore
internal import TokenWire

@testable internal import CacheFormats
@testable internal import TokenCache

/// For every input from a provider, a file or an earlier version's store: lists fit into replies, and every record can be removed.
@Suite(.bounded) struct ListablePropertyTests {
    @Test(arguments: [CacheFormat.msalJSON, .adalJSON])
    func listsAndRemovesEveryImportedRecord(format: CacheFormat) async throws {
        try await inBackground {
            var seed = TestSeed()
            for round in 0..<6 {
                var cache = CredentialCache()
                let file = format == .msalJSON ? Self.unified(&seed) : Self.adal(&seed)
                do {
                    try cache.merge(Array(file.json.utf8), format)
                } catch let error as TokenError where error.code == .cacheBadFormat {
                    // No text in a file may have many combining characters in a row, known or not.
                    #expect(error.message.contains("combining characters"), "round \(round), \(seed)")
                }
                try Self.check(cache, "round \(round), \(seed)")
            }
        }
    }

    @Test func listsAndRemovesEveryIssuedRecord() async throws {
        try await inBackground {
            var seed = TestSeed()
            for round in 0..<12 {
                var builder = CacheBuilder()
                for _ in 0..<3 { try Self.save(&builder, &seed) }
                try Self.check(builder.cache, "round \(round), \(seed)")
            }
        }
    }

    @Test func listsAndRemovesEveryStoredRecord() async throws {
        try await inBackground {
            var seed = TestSeed()
            for round in 0..<8 {
                var cache = CredentialCache()
                for record in (0..<8).flatMap({ _ in Self.records(&seed) }) {
                    switch CacheRecord.load(try Self.earlier(record), in: .standard) {
                    case .asStored(let record), .repaired(.some(let record)): cache.load(record, in: .standard)
                    case .repaired(nil), .unresolved, .unreadable, .unread: break
                    }
                }
                try Self.check(cache, "round \(round), \(seed)")
            }
        }
    }

    /// A repaired record is within the limits, and is not repaired again.
    @Test func repairsARecordOnce() throws {
        var seed = TestSeed()
        for record in (0..<60).flatMap({ _ in Self.records(&seed) }) {
            guard let repaired = CacheRecord(try Self.earlier(record))?.repaired else { continue }
            #expect(try repaired.withinLimits() == repaired, "\(seed)")
            let stored = repaired.stored(in: .standard)
            guard case .asStored = CacheRecord.load(stored, in: .standard) else {
                Issue.record("\(stored.key.key) is repaired again, \(seed)")
                return
            }
        }
    }

    /// The record as an earlier version stored it, which did not check its values.
    private static func earlier(_ record: CacheRecord) throws -> StoredRecord {
        StoredRecord(key: record.key(in: .standard), body: try record.content.encoded())
    }

    private static func check(_ cache: CredentialCache, _ comment: String) throws {
        var cache = cache
        let accounts = try cache.listedAccounts()
        _ = try cache.listedCredentials()
        for account in accounts {
            let parameters = TokenParameters(
                clientID: try #require(CacheBuilder.app), authority: .common, scopes: ScopeSet(["User.Read"]))
            let request = AcquireTokenSilent(parameters: parameters, account: account.reference)
            if case .use(let result, _) = cache.decide(request, now: Fixture.whenWritten) {
                _ = try CredentialCache.received(result, to: AcquireTokenSilent.self)
            }
        }
        try cache.removeAllThatIsListed()
        // An account that is known by name only, and that one known by its identifier had stood for, is listed now.
        try cache.removeAllThatIsListed()
        #expect(try cache.listedAccounts().isEmpty, "\(comment)")
        #expect(try cache.listedCredentials().isEmpty, "\(comment)")
        let left = cache.partition(.standard).accounts.values.flatMap(\.records).filter {
            if case .accountMetadata = $0 { false } else { true }
        }
        // ID tokens of nobody who is listed.
        #expect(left.allSatisfy { if case .idToken = $0 { true } else { false } }, "\(comment)")
    }
}

// MARK: What somebody may say

extension ListablePropertyTests {
    /// Some of these are valid, some are too long, and some have invalid characters.
    private static func text(_ seed: inout TestSeed, or usual: String) -> String {
        switch Int.random(in: 0..<12, using: &seed) {
        case 0: String(repeating: "x", count: 5000)
        case 1: String(repeating: "é", count: 512)
        case 2: "\(usual)\0"
        case 3: "a\u{1}\(usual)"
        case 4: String(repeating: "İ", count: 600)
        case 5: " \(usual)\n"
        case 6: "\(usual)\u{202E}"
        case 7 where Int.random(in: 0..<20, using: &seed) == 0: usual + String(repeating: "\u{301}\u{316}", count: 300)
        default: usual
        }
    }

    private static func token(_ seed: inout TestSeed) -> String {
        switch Int.random(in: 0..<20, using: &seed) {
        case 0: String(repeating: "t", count: 262_145)
        case 1: "t\0t"
        case 2: String(repeating: "t", count: 262_144)
        default: "t-\(Int.random(in: 0..<1000, using: &seed))"
        }
    }

    private static func scopes(_ seed: inout TestSeed) -> String {
        switch Int.random(in: 0..<8, using: &seed) {
        case 0: (0..<300).map { "s\($0)" }.joined(separator: " ")
        case 1: (0..<256).map { "https://api.contoso.com/permission-number-\($0)" }.joined(separator: " ")
        case 2: "User.Read \(String(repeating: "x", count: 5000))"
        default: "User.Read"
        }
    }

    private static func idToken(_ seed: inout TestSeed) -> String {
        CacheBuilder.idToken([
            "ver": "2.0", "tid": text(&seed, or: CacheBuilder.tenant), "oid": text(&seed, or: "oid"),
            "sub": text(&seed, or: "sub"), "preferred_username": text(&seed, or: "alice@contoso.com"),
            "upn": text(&seed, or: "alice@contoso.com"), "name": text(&seed, or: "Alice"),
            "groups": Int.random(in: 0..<6, using: &seed) == 0 ? String(repeating: "g", count: 150_000) : "g",
        ])
    }

    private static func unified(_ seed: inout TestSeed) -> JSONTree {
        func entry(_ extra: [(String, String)]) -> JSONTree {
            let usual = [
                ("home_account_id", "oid-\(Int.random(in: 0..<2, using: &seed)).\(CacheBuilder.tenant)"),
                ("environment", "login.microsoftonline.com"), ("client_id", "app-1"),
                ("realm", CacheBuilder.tenant), ("local_account_id", "oid"), ("username", "alice@contoso.com"),
                ("family_id", "1"), ("name", "Alice"), ("client_info", "e30"),
            ]
            return .object(
                usual.map { JSONTree.Member(name: $0.0, value: .text(text(&seed, or: $0.1))) }
                    + extra.map { JSONTree.Member(name: $0.0, value: .text($0.1)) })
        }
        func section(_ name: String, _ extra: () -> [(String, String)]) -> JSONTree.Member {
            let entries = (0..<6).map { JSONTree.Member(name: "\($0)", value: entry(extra())) }
            return JSONTree.Member(name: name, value: .object(entries))
        }
        return .object([
            section("AccessToken") {
                [
                    ("secret", token(&seed)), ("target", scopes(&seed)), ("cached_at", "1795229000"),
                    ("expires_on", "1795239000"),
                ]
            },
            section("RefreshToken") { [("secret", token(&seed))] },
            section("IdToken") { [("secret", idToken(&seed))] },
            section("Account") { [("authority_type", "MSSTS")] },
            section("AppMetadata") { [] },
            JSONTree.Member(name: text(&seed, or: "Unknown"), value: .text(text(&seed, or: "x"))),
        ])
    }

    private static func adal(_ seed: inout TestSeed) -> JSONTree {
        .list(
            (0..<8).map { _ in
                let members = [
                    ("_authority", "https://login.windows.net/\(text(&seed, or: "common"))"),
                    ("_clientId", text(&seed, or: "app-1")), ("resource", text(&seed, or: "https://graph.windows.net")),
                    ("accessToken", token(&seed)), ("refreshToken", token(&seed)),
                    ("userId", text(&seed, or: "alice@contoso.com")), ("oid", text(&seed, or: "oid")),
                    ("tenantId", text(&seed, or: CacheBuilder.tenant)), ("givenName", text(&seed, or: "Alice")),
                    ("expiresOn", "2026-11-21 04:38:21.774771"), ("tokenType", text(&seed, or: "Bearer")),
                ]
                return .object(
                    members.map { JSONTree.Member(name: $0.0, value: .text($0.1)) } + [
                        JSONTree.Member(name: "isMRRT", value: .bool(Bool.random(using: &seed)))
                    ])
            })
    }

    private static func save(_ builder: inout CacheBuilder, _ seed: inout TestSeed) throws {
        let resource = Bool.random(using: &seed) ? "https://graph.windows.net" : nil
        let parameters = try builder.parameters(resource: resource)
        let tokens = IssuedTokens(
            accessToken: Secret(token(&seed)), tokenType: text(&seed, or: "Bearer"), expiresIn: 3600,
            extendedExpiresIn: nil, refreshIn: nil, scopes: ScopeSet(target: scopes(&seed)),
            refreshToken: Secret(token(&seed)), isMultiResource: true, idToken: idToken(&seed),
            homeAccountID: HomeAccountID(
                uid: text(&seed, or: "oid"),
                utid: Bool.random(using: &seed) ? text(&seed, or: CacheBuilder.tenant) : nil),
            clientInfo: text(&seed, or: "e30"),
            familyID: Bool.random(using: &seed) ? FamilyID(text(&seed, or: "1")) : nil)
        do throws(TokenError) {
            let saved = try builder.cache.changes(
                saving: tokens, from: .signIn, parameters, at: parameters.authority, now: builder.now)
            builder.cache.apply(saved.changes, in: .standard)
            #expect(throws: Never.self, "\(seed)") {
                try CredentialCache.received(saved.result, to: AcquireTokenSilent.self)
            }
        } catch {
            #expect(error.code == .serverInvalidResponse, "\(seed)")
        }
    }

    /// Records of an earlier version, which had no limits.
    private static func records(_ seed: inout TestSeed) -> [CacheRecord] {
        let identifier = HomeAccountID(text(&seed, or: "oid.\(CacheBuilder.tenant)"))
        let name = text(&seed, or: "Alice@contoso.com")
        let account = AccountKey(
            issuer: .microsoft, homeAccountID: Bool.random(using: &seed) ? identifier : nil, username: name)
        let environment = text(&seed, or: "login.windows.net")
        let realm = text(&seed, or: CacheBuilder.tenant)
        guard let clientID = ClientID(text(&seed, or: "app-1")) else { return [] }
        var records: [CacheRecord] = [
            .account(
                AccountRecord(
                    issuer: account.issuer, homeAccountID: account.homeAccountID?.text, environment: environment,
                    realm: realm,
                    localAccountID: text(&seed, or: "oid"), username: name, authorityType: text(&seed, or: "MSSTS"),
                    name: text(&seed, or: "Alice"), source: "msal")),
            .accessToken(
                AccessTokenRecord(
                    account: account, environment: environment, clientID: clientID, realm: realm, version: .v2,
                    scopes: ScopeSet(target: scopes(&seed)), tokenType: text(&seed, or: "Bearer"),
                    secret: Secret(token(&seed)), cachedAt: 1_795_229_000, expiresOn: 1_795_239_000,
                    extendedExpiresOn: nil, refreshOn: nil)),
            .refreshToken(
                RefreshTokenRecord(
                    account: account, environment: environment, clientID: clientID,
                    familyID: Bool.random(using: &seed) ? FamilyID(text(&seed, or: "1")) : nil,
                    secret: Secret(token(&seed)))),
            .accountMetadata(
                AccountMetadataRecord(
                    account: account, clientID: clientID, signInState: .signedIn,
                    authorityMap: ["https://login.windows.net/common": "https://\(environment)/\(realm)"])),
        ]
        if let token = IDTokenRecord(
            account: account, environment: environment, clientID: clientID, realm: realm, version: .v2,
            idToken: idToken(&seed))
        {
            records.append(.idToken(token))
        }
        return records
    }
}
