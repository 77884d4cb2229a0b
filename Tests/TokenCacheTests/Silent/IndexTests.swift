internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// The indexes of an account's tokens: that they find what a search of all records finds, and compare few records.
@Suite(.bounded) struct IndexTests {
    private static let account = AccountKey(
        issuer: .microsoft, homeAccountID: HomeAccountID(uid: "oid", utid: "tid"), username: nil)
    private static let apps = ["app-1", "app-2"]
    private static let realms = ["tid", "guest"]
    private static let hosts = ["login.windows.net", "login.microsoftonline.com", "login.microsoftonline.us"]
    private static let scopes = ["A", "B", "C", "D", "openid"]

    /// Records that collide often: few apps, realms, hosts and scopes.
    private struct Draw {
        var seed: TestSeed

        mutating func one<Value>(of values: [Value]) -> Value { values[Int(seed.next() % UInt64(values.count))] }

        mutating func scopes() -> ScopeSet { ScopeSet(IndexTests.scopes.filter { _ in seed.next() % 2 == 0 }) }

        mutating func app() throws -> ClientID { try #require(ClientID(one(of: IndexTests.apps))) }

        mutating func record() throws -> CacheRecord {
            let (app, realm, host) = (try app(), one(of: IndexTests.realms), one(of: IndexTests.hosts))
            let version: OAuthVersion = one(of: [.v1, .v2])
            switch seed.next() % 4 {
            case 0:
                return .idToken(
                    try #require(
                        IDTokenRecord(
                            account: IndexTests.account, environment: host, clientID: app, realm: realm,
                            version: version,
                            idToken: CacheBuilder.idToken(["sub": "\(seed.next())"]))))
            case 1:
                let family = seed.next() % 2 == 0 ? FamilyID(one(of: ["1", "2"])) : nil
                let restriction = RefreshTokenRecord.Restriction(realm: realm, scopes: scopes())
                return .refreshToken(
                    RefreshTokenRecord(
                        account: IndexTests.account, environment: host, clientID: app, familyID: family,
                        secret: Secret("\(seed.next())"), restriction: seed.next() % 2 == 0 ? restriction : nil,
                        binding: TokenBinding(kind: .entra, issuer: .microsoft, endpoint: host)))
            default:
                return .accessToken(
                    AccessTokenRecord(
                        account: IndexTests.account, environment: host, clientID: app, realm: realm, version: version,
                        scopes: scopes(), tokenType: "Bearer", secret: Secret("\(seed.next())"), cachedAt: 0,
                        expiresOn: Int64(seed.next() % 4), extendedExpiresOn: nil, refreshOn: nil))
            }
        }

        mutating func query() throws -> (TokenParameters, Authority) {
            let authority = try Authority("https://\(one(of: IndexTests.hosts))/\(one(of: IndexTests.realms))")
            let parameters = TokenParameters(
                clientID: try app(), authority: authority, version: one(of: [.v1, .v2]), scopes: scopes())
            return (parameters, authority)
        }
    }

    /// Accounts with few tokens have no index, and those with many have one; the number goes up and down.
    @Test func findsWhatASearchOfAllRecordsFinds() throws {
        var draw = Draw(seed: TestSeed())
        let seed = "\(draw.seed)"
        var cache = CredentialCache()
        var found = 0
        for round in 0..<1500 {
            // Grows to about 60 records, shrinks to few, and so on.
            let records = cache.partition(.standard).records
            let isShrinking = (round / 150) % 2 == 1
            if !records.isEmpty, draw.seed.next() % 4 < (isShrinking ? 3 : 1) {
                let record = draw.one(of: records)
                cache.apply([.remove(record.key(in: .standard), account: record.header.account)], in: .standard)
            } else if draw.seed.next() % 5 == 0 {
                // As the records of a store are loaded, and of an import.
                cache.load(try draw.record(), in: .standard)
            } else {
                cache.apply([.save(try draw.record())], in: .standard)
            }
            let credentials = cache.partition(.standard)[Self.account]
            let (parameters, authority) = try draw.query()
            let query = try #require(AccessTokenQuery(parameters, at: authority, of: Self.account))
            let all = Array(credentials.accessTokens.values)
            let expected = all.filter { Self.answers($0, parameters, authority, cache.clouds) }.max {
                Self.rank($0, authority, cache.clouds) < Self.rank($1, authority, cache.clouds)
            }
            #expect(credentials.accessToken(answering: query, cache.clouds) == expected, "\(seed), round \(round)")
            if let expected {
                found += 1
                let idToken = credentials.idToken(like: expected, cache.clouds)
                #expect(idToken == Self.idToken(like: expected, credentials, cache.clouds), "\(seed), round \(round)")
            }
            let series = query.series
            #expect(
                credentials.accessTokens(of: series).map(\.key).sorted()
                    == all.filter { $0.series == series }.map(\.key).sorted(), "\(seed), round \(round)")
            let family = FamilyID("1")
            func isServed(_ token: RefreshTokenRecord) -> Bool {
                (token.familyID.map { $0 == family } ?? (token.clientID == parameters.clientID))
                    && (token.restriction.map { $0.scopes.isEmpty || $0.scopes == parameters.scopes } ?? true)
            }
            #expect(
                credentials.refreshTokens(of: parameters.clientID, family, for: parameters.scopes).filter(isServed)
                    .map(\.key).sorted()
                    == credentials.refreshTokens.values.filter(isServed).map(\.key).sorted(), "\(seed), round \(round)")
        }
        #expect(found > 100, "\(seed)")
    }

    private static func answers(
        _ token: AccessTokenRecord, _ parameters: TokenParameters, _ authority: Authority, _ clouds: CloudDirectory
    ) -> Bool {
        token.version == parameters.version && token.clientID == parameters.clientID && token.realm == authority.realm
            && clouds.sameCloud(token.environment, authority.environment)
            && (parameters.version == .v1
                ? parameters.scopes == token.scopes : parameters.scopes.isSubset(of: token.scopes))
    }

    private static func rank(
        _ token: AccessTokenRecord, _ authority: Authority, _ clouds: CloudDirectory
    ) -> (Int, Int64, String) {
        let aliases = clouds.cacheAliases(of: authority.environment)
        return (-(aliases.firstIndex(of: token.environment) ?? .max), token.expiresOn, token.key)
    }

    private static func idToken(
        like token: AccessTokenRecord, _ credentials: AccountCredentials, _ clouds: CloudDirectory
    ) -> IDTokenRecord? {
        credentials.idTokens.values.filter {
            $0.clientID == token.clientID && $0.realm == token.realm && $0.version == token.version
                && clouds.sameCloud($0.environment, token.environment)
        }.min {
            ($0.environment == token.environment ? 0 : 1, $0.key) < (
                $1.environment == token.environment ? 0 : 1, $1.key
            )
        }
    }

    /// The tokens that are compared with a request are as few among 1,000 tokens as among 9.
    @Test(arguments: [9, 100, 1_000]) func comparesFewTokensHoweverManyThereAre(_ count: Int) throws {
        var cache = CredentialCache()
        let app = try #require(ClientID("app-1"))
        for number in 0..<count {
            let token = AccessTokenRecord(
                account: Self.account, environment: "login.windows.net", clientID: app, realm: "tid", version: .v2,
                scopes: ScopeSet(["Scope.\(number)", "openid", "profile"]), tokenType: "Bearer",
                secret: Secret("\(number)"), cachedAt: 0, expiresOn: Int64(number), extendedExpiresOn: nil,
                refreshOn: nil)
            let refreshToken = RefreshTokenRecord(
                account: Self.account, environment: "login.windows.net",
                clientID: try #require(ClientID("app-\(number)")), familyID: nil, secret: Secret("\(number)"))
            cache.apply([.save(.accessToken(token)), .save(.refreshToken(refreshToken))], in: .standard)
        }
        let credentials = cache.partition(.standard)[Self.account]
        let authority = try Authority("https://login.microsoftonline.com/tid")
        func compared(_ scopes: [String], isAccepted: Bool) throws -> Int {
            let parameters = TokenParameters(clientID: app, authority: authority, scopes: ScopeSet(scopes))
            let query = try #require(AccessTokenQuery(parameters, at: authority, of: Self.account))
            var compared = 0
            let token = credentials.accessToken(
                answering: query, cache.clouds,
                where: { _ in
                    compared += 1
                    return isAccepted
                })
            #expect((token != nil) == (isAccepted && compared > 0))
            return compared
        }
        #expect(try compared(["Scope.5"], isAccepted: true) == 1)
        #expect(try compared(["openid", "Scope.5", "profile"], isAccepted: false) == 1)
        #expect(try compared([], isAccepted: true) == 1)
        #expect(try compared(["openid"], isAccepted: true) == 1)
        #expect(try compared(["Unknown", "openid"], isAccepted: true) == 0)
        #expect(credentials.refreshTokens(of: app, nil, for: ScopeSet(["Scope.5"])).count == 1)
    }
}
