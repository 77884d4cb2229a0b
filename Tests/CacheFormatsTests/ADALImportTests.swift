internal import CacheTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// ADAL's caches: the JSON of Python and Node, and the archives of Objective-C.
@Suite(.bounded) struct ADALImportTests {
    @Test(
        arguments: [
            (0, [1, 1, 1, 0]), (1, [1, 1, 2, 0]), (2, [2, 2, 3, 0]), (3, [0, 0, 0, 0]), (4, [0, 1, 1, 0]),
            (5, [1, 1, 1, 0]),
        ] as [(Int, [Int64])])
    func importsCachesOfADALForPython(index: Int, counts: [Int64]) throws {
        var cache = CredentialCache()
        #expect(cache.merge(try Fixture.adal[index].read()).report.counts == counts)
    }

    @Test(
        arguments: [
            ("adal_keychain_item_ios.bplist", [1, 1, 0, 0], ["it has expired"]),
            ("mac-2.6-cache.plist", [1, 3, 2, 1], ["a tombstone: its refresh token was rejected", "it has expired"]),
            ("mac-2.7-cache.plist", [1, 3, 2, 1], []),
            ("ios-2.6-family-refresh-token.bplist", [1, 1, 0, 0], []),
            (
                "ios-2.7-mam.bplist", [0, 0, 0, 0],
                ["only the app that the device's management gave it to may use it"]
            ),
        ] as [(String, [Int64], [String])])
    func importsArchivesOfADALForObjectiveC(name: String, counts: [Int64], reasons: [String]) throws {
        var cache = CredentialCache()
        let plan = try cache.merge(Fixture.bytes("adal-archive/\(name)"), .adalArchive)
        #expect(plan.report.counts == counts)
        #expect(plan.report.reasons.sorted() == reasons.sorted())
    }

    /// The archive has the refresh token of the app's family, too, which no other app of the archive uses.
    @Test(arguments: ["mac-2.6-cache.plist", "mac-2.7-cache.plist"])
    func removesTheTokensOfAFamilyWithTheSignOutOfItsApp(name: String) throws {
        var cache = CredentialCache()
        try cache.merge(Fixture.bytes("adal-archive/\(name)"), .adalArchive)
        let families = { (cache: CredentialCache) in
            cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values).compactMap(\.familyID)
        }
        #expect(!families(cache).isEmpty)
        let request = RemoveAccount(
            clientID: try #require(ClientID("d3590ed6-52b3-4102-aeff-aad2292ab01c")),
            account: AccountReference(username: "alice@contoso.com"))
        cache.apply(cache.changes(removing: request), in: .standard)
        #expect(families(cache).isEmpty)
        #expect(cache.accounts(ListAccounts(clientID: ClientID("another-app"))).accounts.isEmpty)
    }

    @Test func refusesACacheOfALaterVersion() throws {
        let error = #expect(throws: TokenError.self) {
            try Fixture.read(Fixture.bytes("adal-archive/mac-future-version.plist"), .adalArchive)
        }
        #expect(error?.code == .cacheBadFormat)
        #expect(error?.message.contains("2.0") == true)
    }

    @Test func explainsHowToConvertAnXMLPropertyList() {
        let xml = Array(#"<?xml version="1.0"?><plist version="1.0"><dict/></plist>"#.utf8)
        let error = #expect(throws: TokenError.self) { try Fixture.read(xml, .adalArchive) }
        #expect(error?.message.contains("plutil -convert binary1") == true)
        #expect(error?.message.contains("plistutil -i FILE -o NEW") == true, "plutil is a program of macOS")
    }

    /// An ADAL app gets its imported token without the network.
    @Test(arguments: [
        ("adal-json/01_authcode_single_user.json", CacheFormat.adalJSON, "contoso.onmicrosoft.com", "AT-alice-graph"),
        ("adal-archive/mac-2.6-cache.plist", .adalArchive, "common", "AT-alice"),
        ("adal-archive/mac-2.7-cache.plist", .adalArchive, "common", "AT-alice"),
    ])
    func servesImportedTokensToADALApps(path: String, format: CacheFormat, realm: String, token: String) throws {
        var cache = CredentialCache()
        try cache.merge(Fixture.bytes(path), format)
        let user = format == .adalJSON ? "ALICE@contoso.onmicrosoft.com" : "alice@contoso.com"
        let parameters = TokenParameters(
            clientID: try #require(ClientID("d3590ed6-52b3-4102-aeff-aad2292ab01c")),
            authority: try Authority("https://login.microsoftonline.com/\(realm)"), version: .v1,
            scopes: ScopeSet(resource: "https://graph.microsoft.com"))
        let request = AcquireTokenSilent(parameters: parameters, account: AccountReference(username: user))
        #expect(cache.decide(request, now: Fixture.whenWritten).token == token)
    }

    /// Tokens that an AD FS issued without naming a user are no account that a list has.
    @Test(arguments: Fixture.archives + Fixture.adal)
    func countsTheAccountsThatAreListed(fixture: Fixture) throws {
        var cache = CredentialCache()
        let report = cache.merge(try fixture.read()).report
        let listed = cache.accounts(ListAccounts(clientID: nil)).accounts.count
        #expect(report.accounts == Int64(listed))
        #expect(cache.accountCount == listed)
    }

    @Test func letsMSALAppsRedeemAnImportedRefreshToken() throws {
        var cache = CredentialCache()
        try cache.merge(Fixture.bytes("adal-archive/mac-2.6-cache.plist"), .adalArchive)
        let clientID = try #require(ClientID("d3590ed6-52b3-4102-aeff-aad2292ab01c"))
        let listed = cache.accounts(ListAccounts(clientID: clientID)).accounts
        #expect(listed.count == 1)
        let alice = try #require(listed.first { $0.username == "alice@contoso.com" })
        #expect(alice.source == .adal)
        let parameters = TokenParameters(clientID: clientID, authority: .common, scopes: ScopeSet(["User.Read"]))
        let request = AcquireTokenSilent(parameters: parameters, account: alice.reference)
        #expect(cache.decide(request, now: Fixture.whenWritten).candidates == ["RT-alice"])
    }

    /// The provider takes such a refresh token for its resource only, and may revoke one that it gets for another.
    @Test(arguments: ["", #""isMRRT": false, "#])
    func restrictsARefreshTokenThatIsNotSaidToServeEveryResource(member: String) throws {
        let file = """
            [{"_authority": "https://login.windows.net/common", "_clientId": "app", "resource": "https://a.example", \(member)
              "userId": "alice@contoso.com", "refreshToken": "rt-1"}]
            """
        var cache = CredentialCache()
        try cache.merge(Array(file.utf8), .adalJSON)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values)
        #expect(tokens.map { $0.restriction?.scopes } == [ScopeSet(resource: "https://a.example")])
    }

    /// An AD FS issues one for each.
    @Test func importsTheRefreshTokenOfEachResource() throws {
        let entries = ["a", "b"].map { name in
            """
            {"_authority": "https://fs.contoso.com/adfs", "_clientId": "app", "resource": "https://\(name).example",
              "userId": "alice@contoso.com", "refreshToken": "rt-\(name)"}
            """
        }
        var cache = CredentialCache()
        try cache.merge(Array("[\(entries.joined(separator: ","))]".utf8), .adalJSON)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values)
        #expect(Set(tokens.map { $0.secret.reveal() }) == ["rt-a", "rt-b"])
    }

    /// A cache has the resource as a scope, and scopes are divided by blanks.
    @Test func skipsAResourceWithABlank() throws {
        let file = """
            [{"_authority": "https://login.windows.net/common", "_clientId": "app", "resource": "https://a.example User.Read",
              "userId": "alice@contoso.com", "refreshToken": "rt-1"}]
            """
        var cache = CredentialCache()
        let report = try cache.merge(Array(file.utf8), .adalJSON).report
        #expect(report.counts == [0, 0, 0, 0])
        #expect(report.reasons == ["its resource is not valid: it has white space in it"])
    }

    /// A guest's entry names the tenant where the user is a guest, and the redemption the user's home. The refresh token has been used.
    @Test func recognisesAGuestWhoseAccountHasGotItsIdentifier() throws {
        let guestTenant = "9e570000-0000-4000-8000-000000000002"
        let home = String(decoding: try Fixture.adal[0].bytes, as: UTF8.self)
        let guest = home.replacing("72f988bf-0000-4000-8000-2d7cd011db47", with: guestTenant)
            .replacing("11111111-1111-1111-1111-111111111111", with: "9e570000-1111-1111-1111-111111111111")
        var cache = CredentialCache()
        try cache.merge(Array(guest.utf8), .adalJSON)
        let saved = try cache.redeemForMSAL("d3590ed6-52b3-4102-aeff-aad2292ab01c", now: Fixture.whenWritten + 60)
        cache.apply(saved.changes, in: .standard)
        let again = try cache.merge(Array(guest.utf8), .adalJSON, now: Fixture.whenWritten + 120)
        #expect(again.report.counts == [0, 0, 0, 0])
        let accounts = cache.partition(.standard).accounts
        #expect(accounts.keys.map { $0.homeAccountID?.text } == ["oid.tid"])
        #expect(accounts.values.flatMap(\.refreshTokens.values).map { $0.secret.reveal() } == ["rt-new"])
        let realms = accounts.values.flatMap(\.accounts.values).map(\.realm)
        #expect(Set(realms) == [guestTenant, "72f988bf-0000-4000-8000-2d7cd011db47"])
    }

    /// Apps of ADAL find their tokens by the name in their cache only. The account has other names in two tenants, and neither of its exports
    /// changes it.
    @Test func findsAnAccountThatMSALHasNamedOtherwiseByItsNameInAnArchive() throws {
        var source = CacheBuilder()
        try source.signIn("alice", source.parameters("app-2", resource: "https://r"))
        let archive = try source.cache.export(.adalArchive, of: .standard, now: source.now)
        var builder = CacheBuilder()
        let home = CacheBuilder.account("alice")
        for tenant in [CacheBuilder.tenant, "7a1e0000-0000-4000-8000-000000000002"] {
            let tokens = IssuedTokens(
                accessToken: Secret("at"), refreshToken: Secret("rt"),
                idToken: CacheBuilder.idToken([
                    "ver": "2.0", "tid": tenant, "oid": "oid-in-\(tenant)", "sub": "s",
                    "preferred_username": "al@\(tenant).example",
                ]), homeAccountID: home.homeAccountID)
            try builder.save(tokens, from: .signIn, builder.parameters())
        }
        try builder.cache.merge(archive, .adalArchive, now: builder.now)
        let parameters = try builder.parameters("app-2", resource: "https://r")
        let named = AccountReference(username: "alice@contoso.com")
        #expect(builder.decide(parameters, named).token == "at-alice-\(parameters.scopes.target)")
        let usernames = builder.cache.accounts(ListAccounts(clientID: nil)).accounts.map(\.username)
        #expect(usernames == ["al@\(CacheBuilder.tenant).example"])
        let before = builder.cache
        for format in [CacheFormat.adalArchive, .msalJSON] {
            let exported = try before.export(format, of: .standard, now: builder.now)
            let plan = try builder.cache.merge(exported, format, now: builder.now)
            #expect(plan.changes.isEmpty, "\(format)")
        }
        #expect(try builder.cache.merge(archive, .adalArchive, now: builder.now).changes.isEmpty)
    }

    /// An archive of 1.x, whose ID token is one part without dots and whose user's name is an object.
    @Test func readsAnItemOf1x() throws {
        let archive = try ADALArchive(Fixture.bytes("adal-archive/adal_keychain_item_ios.bplist"))
        let entry = try #require(archive.entries.first)
        #expect(entry.authority == "https://login.microsoftonline.com/common")
        #expect(entry.resource == "<resource>")
        #expect(entry.accessToken == "<access token>")
        #expect(entry.refreshToken == "<refresh token>")
        #expect(entry.userID == "myfakeuser@contoso.com")
        #expect(entry.expiresOn == Int64(979_307_200))
    }

    /// An import replaces a refresh token only by one that is known to be newer. ADAL for Node writes the time of the response.
    @Test func datesTheTokensOfNodeByTheirResponse() throws {
        let file = """
            [{"_authority": "https://login.windows.net/common", "_clientId": "app", "resource": "https://a.example", "isMRRT": true,
              "createdOn": "2026-11-21T02:00:00.000Z", "userId": "alice@contoso.com", "refreshToken": "rt-1"}]
            """
        var cache = CredentialCache()
        try cache.merge(Array(file.utf8), .adalJSON)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values)
        #expect(tokens.map(\.obtainedOn) == [Fixture.whenWritten - 3600])
    }

    /// The names of ADAL 2.7, and of earlier versions.
    @Test(arguments: ["extended_expires_on", "ext_expires_on"])
    func readsTheExtendedLifetimeOfEveryVersion(name: String) throws {
        let archive = try Self.archive { writer in
            let time = (key: writer.add(name), value: writer.add(moment: 1_800_000_000))
            return [(name: "additionalServer", value: writer.add(dictionary: [time], isMutable: false))]
        }
        #expect(archive.entries.map(\.extendedExpiresOn) == [1_800_000_000])
    }

    /// The identifier that the item names itself comes first.
    @Test(arguments: [nil, "OID.TID"]) func identifiesTheAccountOfAnItemByItsClientInfo(identifier: String?) throws {
        let archive = try Self.archive { writer in
            let clientInfo = Base64URL.encode(Data(#"{"uid":"u1","utid":"t1"}"#.utf8))
            return [
                (name: "homeAccountId", value: writer.add(identifier)),
                (name: "clientInfo", value: writer.add(clientInfo)),
            ]
        }
        #expect(archive.entries.map { $0.homeAccountID?.text } == [identifier?.lowercased() ?? "u1.t1"])
    }

    /// ADAL for iOS leaves it in the keychain, where its tokens were.
    @Test func skipsTheRecordOfTheLastRemoval() throws {
        var writer = KeyedArchiveWriter()
        let members = [
            (key: writer.add("bundleId"), value: writer.add("com.contoso.notes")),
            (key: writer.add("wipeTime"), value: writer.add(moment: 1_800_000_000)),
        ]
        let root = writer.add(dictionary: members, isMutable: false)
        writer.finish(root: root)
        let archive = try ADALArchive(writer.drain())
        #expect(archive.entries.isEmpty)
        #expect(archive.skipped.first.map(\.reason) == ["it only says who last removed tokens"])
    }

    /// An archive with one item.
    private static func archive(
        _ members: (inout KeyedArchiveWriter) -> [(name: String, value: Int)]
    ) throws -> ADALArchive {
        var writer = KeyedArchiveWriter()
        let named = members(&writer)
        let item = writer.add("ADTokenCacheStoreItem", named)
        writer.finish(root: item)
        return try ADALArchive(writer.drain())
    }

    @Test(
        arguments: [
            ("2026-11-21 03:38:21.774771", 0, 1_795_232_301), ("2026-11-21 03:38:21", 3600, 1_795_228_701),
            ("2026-11-21T03:38:21.774Z", 3600, 1_795_232_301), ("2026-11-21T03:38:21+01:00", 0, 1_795_228_701),
            ("2026-11-20T21:38:21-05:00", 0, 1_795_228_701),
            ("2026-02-29T99:00:00Z", 0, nil), ("soon", 0, nil), ("1795232301", 0, 1_795_232_301),
        ] as [(String, Int, Int64?)])
    func readsTheTimesOfBothLibraries(text: String, offset: Int, seconds: Int64?) throws {
        let zone = LocalTimeZone(secondsFromGMT: offset)
        #expect(ADALTime.seconds(.text(text), timeZone: zone) == seconds)
    }
}
