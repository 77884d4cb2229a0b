internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// Records in the form in which the store keeps them.
@Suite(.bounded) struct PackedRecordTests {
    @Test func readsEveryFieldOfEveryKindAgain() throws {
        var seed = TestSeed()
        for _ in 0..<200 {
            for record in try Self.records(&seed) {
                let stored = record.stored(in: .standard)
                #expect(CacheRecord(stored) == record, "\(seed)")
                guard case .asStored(record) = CacheRecord.load(stored, in: .standard) else {
                    Issue.record("\(stored.key.key) is not loaded as it is, \(seed)")
                    return
                }
            }
        }
    }

    @Test func readsRecordsWithEmptyTexts() throws {
        let record = AppMetadataRecord(clientID: "", environment: "", familyID: "")
        #expect(CacheRecord(CacheRecord.appMetadata(record).stored(in: .standard)) == .appMetadata(record))
    }

    @Test func isHalfAsLongAsJSONWithoutItsTokens() throws {
        var seed = TestSeed(1)
        for record in try Self.records(&seed) {
            guard case .accessToken(let token) = record else { continue }
            let packed = record.stored(in: .standard).body.count - token.secret.count
            #expect(packed < (try token.encoded().count - token.secret.count) / 2)
        }
    }

    @Test func skipsFieldsOfALaterVersion() throws {
        var seed = TestSeed()
        for record in try Self.records(&seed) {
            var stored = record.stored(in: .standard)
            stored.body += [250, 3, 1, 2, 3]
            #expect(CacheRecord(stored) == record)
        }
    }

    /// Only the agent writes records, and the store authenticates them; a defect must not make them readable as others.
    @Test func readsNoRecordThatIsCutOff() throws {
        var seed = TestSeed()
        for record in try Self.records(&seed) {
            let stored = record.stored(in: .standard)
            let fields = Self.ends(of: stored.body)
            for length in 0..<stored.body.count where !fields.contains(length) {
                let cut = StoredRecord(key: stored.key, body: Array(stored.body[..<length]))
                #expect(CacheRecord(cut) == nil, "\(length) of \(stored.body.count), \(seed)")
            }
        }
    }

    @Test func survivesAnyBytes() throws {
        var seed = TestSeed()
        for record in try Self.records(&seed) {
            let stored = record.stored(in: .standard)
            let selector = try #require(RecordProperties.kinds.firstIndex(of: stored.key.kind))
            for _ in 0..<300 {
                var body = stored.body
                for _ in 0..<Int.random(in: 1...3, using: &seed) {
                    body[Int.random(in: 0..<body.count, using: &seed)] = UInt8.random(in: 0...255, using: &seed)
                }
                #expect(RecordProperties.broken([UInt8(selector)] + body) == nil, "\(seed)")
            }
        }
        for bytes: [UInt8] in [[1], [1, 9], [1, 9, 0xFF], [1, 9, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [1, 0, 0]] {
            #expect(
                CacheRecord(StoredRecord(key: RecordKey(group: "g", kind: .refreshToken, key: "k"), body: bytes)) == nil
            )
        }
    }

    /// The fuzzer's corpus.
    @Test func survivesTheCorpus() throws {
        try FuzzCorpus.check("records", RecordProperties.broken)
    }

    @Test func namesTheAccountOfARecordForTheStore() throws {
        var seed = TestSeed()
        for record in try Self.records(&seed) {
            let account = record.stored(in: .standard).account
            if let identifier = record.header.account?.homeAccountID {
                #expect(account == .account(identifier.text))
            } else {
                #expect(account == .noAccount)
            }
        }
    }

    /// Equal texts of many records share their memory, whatever the pool has held meanwhile.
    @Test func keepsTextsApartInThePool() {
        var seed = TestSeed()
        let pool = TextPool()
        for _ in 0..<20_000 {
            let text = "t\(Int.random(in: 0..<3000, using: &seed))"
            let bytes = Array(text.utf8)
            bytes.withUnsafeBytes { bytes in
                #expect(pool.text(bytes) == text)
                #expect(pool.clientID(bytes)?.text == text)
                #expect(pool.homeAccountID(bytes)?.text == text)
                #expect(pool.scopes(bytes).scopes == [text])
            }
        }
    }

    /// The ends of the fields, at which a record may end.
    private static func ends(of body: [UInt8]) -> Set<Int> {
        var (ends, offset) = (Set([1]), 1)
        while offset < body.count {
            var (length, shift) = (0, 0)
            offset += 1
            while true {
                length |= Int(body[offset] & 0x7F) << shift
                shift += 7
                offset += 1
                if body[offset - 1] & 0x80 == 0 { break }
            }
            offset += length
            ends.insert(offset)
        }
        return ends
    }

    /// A record of each kind, with and without optional values.
    private static func records(_ seed: inout TestSeed) throws -> [CacheRecord] {
        func text(_ name: String) -> String { "\(name)-\(Int.random(in: 0..<1000, using: &seed))-é" }
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &seed) ? value : nil }
        func time() -> Int64 { Int64.random(in: 0...253_402_300_799, using: &seed) }
        let issuer = Bool.random(using: &seed) ? Issuer.microsoft : Issuer("id.example/x")
        let account = AccountKey(
            issuer: issuer, homeAccountID: maybe("uid.utid").flatMap(HomeAccountID.init), username: text("alice"))
        let clientID = try #require(ClientID(text("App")))
        let secret = Secret(String(repeating: "s", count: Int.random(in: 1...40_000, using: &seed)))
        let scopes = ScopeSet(["User.Read", text("Scope")])
        var refreshToken = RefreshTokenRecord(
            account: account, environment: text("e"), clientID: clientID, familyID: maybe("1").flatMap(FamilyID.init),
            secret: secret,
            restriction: maybe(RefreshTokenRecord.Restriction(realm: "adfs", scopes: maybe(scopes) ?? ScopeSet([]))),
            binding: maybe(TokenBinding(kind: .adfs, issuer: issuer, endpoint: "e:8443")), obtainedOn: maybe(time()),
            unknownFields: maybe("{\"a\":1}"))
        for old in 0..<Int.random(in: 0...10, using: &seed) {
            var other = refreshToken
            other.secret = Secret("old-\(old)")
            refreshToken.noteReplacement(of: other)
        }
        let idToken = CacheBuilder.idToken(["tid": text("T"), "sub": text("sub")])
        return [
            .account(
                AccountRecord(
                    issuer: issuer, homeAccountID: account.homeAccountID?.text, environment: text("e"),
                    realm: text("r"), localAccountID: maybe(text("l")), username: text("u"), authorityType: "MSSTS",
                    name: maybe(text("n")), givenName: maybe(text("g")), familyName: maybe(text("f")),
                    alternativeAccountID: maybe(text("a")), clientInfo: maybe(text("c")), source: "msal",
                    unknownFields: maybe("{}"), adalUserID: maybe(text("i")),
                    formerUserIDs: maybe([text("j"), text("k")]))),
            .accessToken(
                AccessTokenRecord(
                    account: account, environment: text("e"), clientID: clientID, realm: text("r"),
                    version: maybe(.v1) ?? .v2, scopes: scopes, tokenType: "Bearer", secret: secret, cachedAt: time(),
                    expiresOn: time(), extendedExpiresOn: maybe(time()), refreshOn: maybe(time()),
                    unknownFields: maybe("{\"b\":[]}"))),
            .refreshToken(refreshToken),
            .idToken(
                try #require(
                    IDTokenRecord(
                        account: account, environment: text("e"), clientID: clientID, realm: text("r"),
                        version: maybe(.v1) ?? .v2, idToken: idToken, unknownFields: maybe("{}")))),
            .appMetadata(
                AppMetadataRecord(
                    clientID: text("c"), environment: text("e"), familyID: maybe("1") ?? "", unknownFields: maybe("{}"))
            ),
            .accountMetadata(
                AccountMetadataRecord(
                    account: account, clientID: clientID, signInState: maybe(.signedIn) ?? .signedOut,
                    authorityMap: maybe(["https://a/common": "https://a/t", "https://b/x": "https://b/y"]) ?? [:])),
            .currentAccount(
                CurrentAccountRecord(
                    clientID: clientID,
                    account: Account(
                        homeAccountID: account.homeAccountID, username: maybe(text("u")), environment: text("e"),
                        source: .msal))),
            .opaque(
                OpaqueRecord(
                    section: text("s"), name: maybe(text("n")), json: "{\"x\":\"\(text("y"))\"}",
                    homeAccountID: maybe(text("h")), clientID: maybe(text("c")))),
        ]
    }
}
