internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import CacheFormats
@testable internal import TokenCache

/// The scopes of a token are a set: the cache has one token for them in any order.
@Suite(.bounded) struct ScopeOrderTests {
    @Test(arguments: [("old", 100, "new", 200), ("new", 200, "old", 100)])
    func keepsTheNewerTokenWhateverTheOrderOfItsScopes(
        first: String, firstTime: Int, second: String, secondTime: Int
    ) throws {
        var cache = CredentialCache()
        try cache.merge(Self.file(first, "User.Read Mail.Read openid", firstTime), .msalJSON)
        try cache.merge(Self.file(second, "openid mail.read User.Read", secondTime), .msalJSON)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.accessTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == ["new"])
        let json = try JSONReader.read(cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten))
        let exported = try #require(json["AccessToken"]).members.map(\.value)
        #expect(exported.map { $0["secret"]?.string } == ["new"])
        #expect(
            exported[0]["target"]?.string
                == (first == "new" ? "User.Read Mail.Read openid" : "openid mail.read User.Read"))
    }

    @Test func replacesATokenOfOpenIDScopesOnlyByAnEqualOne() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), granted: ["openid", "email"])
        try builder.signIn("alice", builder.parameters(), granted: ["email", "openid"])
        #expect(try builder.cache.listedCredentials().filter { $0.kind == .accessToken }.count == 1)
    }

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
            let body = try CacheRecord.accessToken(record).stored(in: .standard).body
            let key = RecordKey(
                group: SharingGroup.standard.name, kind: .accessToken,
                key: "u.t-e-accesstoken-c-t-\(target)".lowercased())
            switch CacheRecord.load(StoredRecord(key: key, body: body), in: .standard) {
            case .asStored(let record): cache.load(record, in: .standard)
            case .repaired(let record):
                stale.append(key.key)
                cache.load(try #require(record), in: .standard)
            case .unreadable, .unresolved: Issue.record("not read")
            }
        }
        #expect(stale == ["u.t-e-accesstoken-c-t-b a", "u.t-e-accesstoken-c-t-b a"])
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.accessTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == ["new"])
    }

    private static func file(_ secret: String, _ target: String, _ time: Int) -> [UInt8] {
        let token = """
            {"AccessToken": {"1": {"home_account_id": "u.t", "environment": "e", "client_id": "c", "realm": "t",
              "credential_type": "AccessToken", "secret": "\(secret)", "target": "\(target)", "cached_at": "\(time)",
              "expires_on": "9999999999"}}}
            """
        return Array(token.utf8)
    }
}
