internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// Exports, and imports of exports.
@Suite(.bounded) struct ExportTests {
    @Test func restoresTheCacheFromItsUnifiedExport() throws {
        let builder = try Self.everything()
        let exported = try builder.cache.export(.msalJSON, of: .standard, now: builder.now)
        var copy = CredentialCache()
        try copy.merge(exported, .msalJSON, now: builder.now)
        #expect(try copy.export(.msalJSON, of: .standard, now: builder.now) == exported)
        #expect(Self.secrets(copy) == Self.secrets(builder.cache))
        var same = builder.cache
        let changes = try same.merge(exported, .msalJSON, now: builder.now).changes
        #expect(changes.isEmpty)
    }

    @Test(arguments: Fixture.all)
    func exportsWhatItImported(fixture: Fixture) throws {
        var cache = CredentialCache()
        let now: Int64 = fixture.format == .msalJSON ? 1_600_000_000 : Fixture.whenWritten
        cache.merge(try fixture.read(now: now))
        let exported = try cache.export(.msalJSON, of: .standard, now: now)
        var copy = CredentialCache()
        try copy.merge(exported, .msalJSON, now: now)
        #expect(try copy.export(.msalJSON, of: .standard, now: now) == exported)
        #expect(Self.secrets(copy) == Self.secrets(cache))
    }

    /// Every member has the value that Python wrote.
    @Test(arguments: ["basic", "guest", "adfs"])
    func preservesTheFieldsOfPythonsEntries(name: String) throws {
        let bytes = try Fixture.bytes("msal-json/python_1.39.0_\(name).json")
        var cache = CredentialCache()
        try cache.merge(bytes, .msalJSON, now: 1_790_000_011)
        let after = try JSONReader.read(cache.export(.msalJSON, of: .standard, now: 1_790_000_011))
        for section in try JSONReader.read(bytes).members {
            for entry in section.value.members {
                let now = try #require(after[section.name]?[entry.name], "\(section.name) \(entry.name)")
                for member in entry.value.members {
                    #expect(now[member.name] == member.value, "\(member.name) of \(entry.name)")
                }
            }
        }
    }

    /// Early versions of MSAL for Python write `null` for an app that belongs to no family.
    @Test(arguments: ["null", "\"\""]) func exportsWhatItHasLearntInPlaceOfAnEmptyField(empty: String) throws {
        var builder = CacheBuilder()
        let file = """
            {"Account": {"a": {"home_account_id": "oid-alice.\(CacheBuilder.tenant)", "realm": "\(CacheBuilder.tenant)",
              "environment": "login.microsoftonline.com", "authority_type": "MSSTS", "username": \(empty),
              "local_account_id": \(empty), "note": \(empty)}},
             "AppMetadata": {"m": {"client_id": "app-1", "environment": "login.microsoftonline.com",
              "family_id": \(empty)}}}
            """
        try builder.cache.merge(Array(file.utf8), .msalJSON, now: builder.now)
        let before = try JSONReader.read(builder.cache.export(.msalJSON, of: .standard, now: builder.now))
        let written: JSONTree = empty == "null" ? .null : .text("")
        #expect(before["AppMetadata"]?.members.first?.value["family_id"] == written)
        try builder.signIn("alice", builder.parameters(), family: "1")
        let after = try JSONReader.read(builder.cache.export(.msalJSON, of: .standard, now: builder.now))
        let apps = try #require(after["AppMetadata"]).members.map(\.value)
        #expect(apps.map { $0["family_id"]?.string } == ["1"])
        let account = try #require(after["Account"]?.members.first?.value)
        #expect(account["username"] == .text("alice@contoso.com"))
        #expect(account["local_account_id"]?.string?.hasPrefix("oid-alice") == true)
        #expect(account["note"] == written)
    }

    @Test func restoresADALsTokensFromAnArchive() throws {
        let builder = try Self.everything()
        let exported = try builder.cache.export(.adalArchive, of: .standard, now: builder.now)
        var copy = CredentialCache()
        try copy.merge(exported, .adalArchive, now: builder.now)
        #expect(Self.refreshTokens(copy) == Self.refreshTokens(builder.cache))
        var same = builder.cache
        let plan = try same.merge(exported, .adalArchive, now: builder.now)
        #expect(plan.changes.isEmpty)
        #expect(plan.report.reasons.allSatisfy { $0 == "the cache has it already" })
    }

    @Test(arguments: Fixture.archives)
    func archivesWhatItImported(fixture: Fixture) throws {
        var cache = CredentialCache()
        cache.merge(try fixture.read())
        let exported = try cache.export(.adalArchive, of: .standard, now: Fixture.whenWritten)
        var copy = CredentialCache()
        try copy.merge(exported, .adalArchive)
        #expect(Self.secrets(copy) == Self.secrets(cache))
        #expect(cache.partition(.standard).accounts.keys == copy.partition(.standard).accounts.keys)
    }

    /// The family's refresh token is of no app, so that only the metadata of the app names its family.
    @Test(arguments: ["mac-2.6-cache.plist", "mac-2.7-cache.plist"])
    func archivesTheFamilyOfAnImportedApp(name: String) throws {
        var cache = CredentialCache()
        try cache.merge(Fixture.bytes("adal-archive/\(name)"), .adalArchive)
        let exported = try cache.export(.adalArchive, of: .standard, now: Fixture.whenWritten)
        let items = try ADALArchive(exported).entries.filter { $0.refreshToken == "RT-alice" }
        #expect(items.map(\.familyID) == ["1", "1"])
    }

    @Test func archivesTheExtendedLifetimeUnderTheNameOfADAL27() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(resource: "https://r"), extendedExpiresIn: 7200)
        let exported = try builder.cache.export(.adalArchive, of: .standard, now: builder.now)
        #expect(exported.firstRange(of: Array("extended_expires_on".utf8)) != nil)
        var copy = CredentialCache()
        try copy.merge(exported, .adalArchive, now: builder.now)
        let tokens = copy.partition(.standard).accounts.values.flatMap(\.accessTokens.values)
        #expect(tokens.map(\.extendedExpiresOn) == [builder.now + 7200])
    }

    /// ADAL finds its items by username. No item has the identifier of one account and the ID token of another.
    @Test func archivesOneAccountOfSeveralWithOneUsername() throws {
        let personal = "9188040d-6c67-4c5b-b112-36a304b66dad"
        var builder = CacheBuilder()
        let parameters = try builder.parameters(resource: "https://r")
        for (oid, tenant) in [("oid-0", CacheBuilder.tenant), ("oid-9", CacheBuilder.tenant), ("oid-p", personal)] {
            let tokens = IssuedTokens(
                accessToken: Secret("at-\(oid)"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil,
                refreshIn: nil, scopes: nil, refreshToken: Secret("rt-\(oid)"), isMultiResource: true,
                idToken: CacheBuilder.idToken([
                    "ver": "1.0", "tid": tenant, "oid": oid, "sub": oid, "upn": "alice@contoso.com",
                ]), homeAccountID: HomeAccountID(uid: oid, utid: tenant), clientInfo: nil, familyID: nil)
            try builder.save(tokens, from: .signIn, parameters)
            builder.now += 60
        }
        let exported = try builder.cache.export(.adalArchive, of: .standard, now: builder.now)
        var copy = CredentialCache()
        try copy.merge(exported, .adalArchive, now: builder.now)
        let accounts = copy.partition(.standard).accounts
        #expect(accounts.keys.map { $0.homeAccountID?.text } == ["oid-9.\(CacheBuilder.tenant)"])
        #expect(Self.secrets(copy).isSuperset(of: ["rt-oid-9", "at-oid-9"]))
        #expect(Self.secrets(copy).isDisjoint(with: ["rt-oid-0", "at-oid-0", "rt-oid-p", "at-oid-p"]))
        #expect(accounts.values.flatMap(\.accounts.values).allSatisfy { $0.localAccountID == "oid-9" })
    }

    /// The libraries' own examples of a keychain item's name.
    @Test(
        arguments: [
            (
                "https://login.microsoftonline.com/common", "resource", "client",
                "MSOpenTech.ADAL.1|aHR0cHM6Ly9sb2dpbi5taWNyb3NvZnRvbmxpbmUuY29tL2NvbW1vbg|cmVzb3VyY2U|Y2xpZW50"
            ),
            (
                "https://login.windows.net/common", nil, "foci-1",
                "MSOpenTech.ADAL.1|aHR0cHM6Ly9sb2dpbi53aW5kb3dzLm5ldC9jb21tb24|CC3513A0-0E69-4B4D-97FC-DFB6C91EE132|Zm9jaS0x"
            ),
        ] as [(String, String?, String, String)])
    func namesItemsAsADALsKeychainDoes(authority: String, resource: String?, clientID: String, service: String) {
        let key = ADALArchiveExport.Key(authority: authority, resource: resource, clientID: clientID)
        #expect(key.service == service)
    }

    /// A token on behalf of a user has the name that the app's own token will get.
    @Test func exportsAnOpaqueEntryBesideATokenOfTheSameName() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten
        let name = "oid-alice.\(CacheBuilder.tenant)-login.microsoftonline.com-refreshtoken-app-1--"
        let file = """
            {"RefreshToken": {"\(name)": {"home_account_id": "oid-alice.\(CacheBuilder.tenant)", "client_id": "app-1",
              "environment": "login.microsoftonline.com", "credential_type": "RefreshToken", "secret": "rt-carried",
              "user_assertion_hash": "hash"}}}
            """
        try builder.cache.merge(Array(file.utf8), .msalJSON)
        try builder.signIn("alice", builder.parameters(), refreshToken: "rt-own")
        let exported = try builder.cache.export(.msalJSON, of: .standard, now: builder.now)
        let section = try #require(try JSONReader.read(exported)["RefreshToken"])
        #expect(section[name]?["secret"]?.string == "rt-own")
        #expect(Set(section.members.compactMap { $0.value["secret"]?.string }) == ["rt-own", "rt-carried"])
        #expect(try builder.cache.merge(exported, .msalJSON).changes.isEmpty)
        var copy = CredentialCache()
        try copy.merge(exported, .msalJSON)
        #expect(try copy.export(.msalJSON, of: .standard, now: builder.now) == exported)
    }

    @Test func doesNotPrintOpaqueRecords() {
        let record = OpaqueRecord(section: "RefreshToken", name: "alice", json: "top secret")
        var dumped = ""
        dump([CacheRecord.opaque(record)], to: &dumped)
        for text in ["\(record)", String(reflecting: [record]), dumped] {
            #expect(!text.contains("secret") && !text.contains("alice"))
        }
    }

    @Test func doesNotExportExpiredTokens() throws {
        let builder = try Self.everything()
        let json = try builder.cache.export(.msalJSON, of: .standard, now: builder.now + 100_000)
        #expect(try JSONReader.read(json)["AccessToken"]?.members.isEmpty == true)
    }

    /// MSAL for Python, for one, compares only their expiry with the clock, and would use them as long as the clock had been ahead.
    @Test(arguments: [CacheFormat.msalJSON, .adalArchive])
    func doesNotExportAccessTokensOfTheFuture(format: CacheFormat) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), refreshToken: "rt-1")
        try builder.signIn("alice", builder.parameters(resource: "https://r"), refreshToken: "rt-2")
        for (now, isExported) in [(builder.now, true), (builder.now - 1, false)] {
            let exported = try builder.cache.export(format, of: .standard, now: now)
            var copy = CredentialCache()
            // At a time at which an import would accept them.
            try copy.merge(exported, format, now: builder.now)
            let secrets = Self.secrets(copy)
            #expect(secrets.contains("at-alice-https://r/.default") == isExported)
            #expect(secrets.contains("at-alice-User.Read") == (isExported && format == .msalJSON))
            #expect(secrets.contains("rt-2"))
        }
    }

    @Test func exportsItsOwnEntriesUnderTheNetworkHost() throws {
        let builder = try Self.everything()
        let json = try JSONReader.read(builder.cache.export(.msalJSON, of: .standard, now: builder.now))
        let environments = Set((json["RefreshToken"]?.members ?? []).compactMap { $0.value["environment"]?.string })
        #expect(environments == ["login.microsoftonline.com", "localhost"])
    }

    /// MSAL for Python saves the tokens that it gets under the `sub` claim as it is, and looks for them with the identifier of the account.
    @Test func spellsTheSubjectOfAnAccountAsAnADFSDoes() throws {
        var builder = CacheBuilder()
        let subject = "pGLzmSjWyp_i-FtKSo7vvlPdUblcyvChWkh0l9quE6I"
        let tokens = IssuedTokens(
            accessToken: Secret("at"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
            scopes: nil, refreshToken: Secret("rt"), isMultiResource: true,
            idToken: CacheBuilder.idToken(["sub": subject, "upn": "ada@contoso.com"]), homeAccountID: nil,
            clientInfo: nil, familyID: nil)
        try builder.save(tokens, from: .signIn, builder.parameters(authority: "https://fs.contoso.com/adfs"))
        let exported = try builder.cache.export(.msalJSON, of: .standard, now: builder.now)
        let json = try JSONReader.read(exported)
        for section in ["Account", "AccessToken", "IdToken", "RefreshToken"] {
            let identifiers = json[section]?.members.map { $0.value["home_account_id"]?.string }
            #expect(identifiers == [subject], "\(section)")
        }
        #expect(try builder.cache.merge(exported, .msalJSON, now: builder.now).changes.isEmpty)
        var copy = CredentialCache()
        try copy.merge(exported, .msalJSON, now: builder.now)
        #expect(try copy.export(.msalJSON, of: .standard, now: builder.now) == exported)
    }

    /// Their ID tokens may have a `tid` claim, which is no tenant of Entra.
    @Test(arguments: [
        ("https://id.example/staff", Authority.Kind.openID), ("https://id.example", .openID),
        ("https://fs.example/adfs", .adfs),
    ])
    func importsTheAccountOfAProviderWithoutTenants(url: String, kind: Authority.Kind) throws {
        var builder = CacheBuilder()
        let parameters = try CacheBuilder.parameters(url, kind)
        let account = try builder.signIn("alice", parameters, hasClientInfo: false).account.reference
        let exported = try builder.cache.export(.msalJSON, of: .standard, now: builder.now)
        #expect(try builder.cache.merge(exported, .msalJSON, now: builder.now).changes.isEmpty)
        builder.cache = CredentialCache()
        try builder.cache.merge(exported, .msalJSON, now: builder.now)
        #expect(builder.cache.partition(.standard).accountKeys.count == 1)
        #expect(builder.decide(parameters, account).token == "at-alice-User.Read")
        #expect(try builder.cache.export(.msalJSON, of: .standard, now: builder.now) == exported)
    }

    /// Both libraries, two clouds, a family, a guest, a single-resource token, a sign-out, an account without identifier.
    private static func everything() throws -> CacheBuilder {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), family: "1", refreshIn: 600, extendedExpiresIn: 7200)
        try builder.signIn("alice", builder.parameters(), tenant: "9e570000-0000-4000-8000-000000000002")
        try builder.signIn("alice", builder.parameters("app-2", resource: "https://graph.microsoft.com/"))
        try builder.signIn("bob", builder.parameters("App-3", authority: "https://localhost:8443/common"))
        try builder.signIn("carol", builder.parameters("app-4", resource: "https://r"), hasClientInfo: false)
        let adfs = try builder.parameters("app-5", resource: "https://r", authority: "https://fs.contoso.com/adfs")
        let tokens = IssuedTokens(
            accessToken: Secret("at-adfs"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil,
            refreshIn: nil, scopes: nil, refreshToken: Secret("rt-adfs"), isMultiResource: false, idToken: nil,
            homeAccountID: nil, clientInfo: nil, familyID: nil)
        try builder.save(tokens, from: .signIn, adfs)
        builder.remove(
            RemoveAccount(clientID: try #require(ClientID("App-3")), account: CacheBuilder.account("alice")))
        return builder
    }

    private static func refreshTokens(_ cache: CredentialCache) -> Set<Secret> {
        Set(cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values).map(\.secret))
    }

    private static func secrets(_ cache: CredentialCache) -> Set<String> {
        Set(
            cache.records().compactMap { record in
                switch record {
                case .accessToken(let token): token.secret.reveal()
                case .refreshToken(let token): token.secret.reveal()
                case .idToken(let token): token.idToken
                case .account, .appMetadata, .accountMetadata, .opaque, .currentAccount: nil
                }
            })
    }
}
