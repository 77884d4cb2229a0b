internal import CacheTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// One account requested from several realms that lead to one tenant, as MSAL for Python and Go write it.
@Suite(.bounded) struct RequestedRealmTests {
    private static let environment = "login.microsoftonline.com"
    private static let b2cHome = "00000000-0000-4000-8000-00000000000b-b2c_1_susi.7a1e0000-0000-4000-8000-000000000001"

    /// Accounts, ID tokens and access tokens of `common` and of a domain are in the export unchanged.
    @Test func exportsEveryImportedRealm() throws {
        let json = try JSONReader.read(Array(Self.file.utf8))
        var cache = CredentialCache()
        let first = try cache.merge(Array(Self.file.utf8), .msalJSON)
        #expect(first.report.accounts == 1)
        #expect(cache.accounts(ListAccounts(clientID: nil)).accounts.map(\.tenantProfiles.count) == [1])
        let exported = try cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
        let after = try JSONReader.read(exported)
        for section in ["Account", "AccessToken", "IdToken"] {
            for entry in json[section]?.members ?? [] {
                let isKept = (after[section]?.members ?? []).contains { kept in
                    entry.value.members.allSatisfy { kept.value[$0.name] == $0.value }
                }
                #expect(isKept, "\(section) \(entry.name)")
            }
        }
    }

    /// Libraries that ask for the home tenant and for `organizations`, as azure-identity's do, find an entry of the account under
    /// each.
    @Test(
        arguments: [
            [CacheBuilder.tenant, "organizations"], ["organizations", CacheBuilder.tenant],
            ["common", CacheBuilder.tenant, "organizations", "contoso.com"],
        ])
    func exportsTheHomeTenantsAccountBesideThoseOfOtherRealms(realms: [String]) throws {
        let file = Self.accounts(realms)
        var cache = CredentialCache()
        #expect(try cache.merge(Array(file.utf8), .msalJSON).report.accounts == 1)
        let exported = try cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
        try Self.expectAccounts(of: file, in: exported)
        #expect(try cache.merge(exported, .msalJSON).changes.isEmpty)
        var copy = CredentialCache()
        try copy.merge(exported, .msalJSON)
        #expect(try copy.export(.msalJSON, of: .standard, now: Fixture.whenWritten) == exported)
        #expect(cache.accounts(ListAccounts(clientID: nil)).accounts.map(\.tenantProfiles.count) == [1])
    }

    /// Each realm comes with an import of its own.
    @Test(arguments: [[CacheBuilder.tenant, "organizations"], ["organizations", CacheBuilder.tenant]])
    func exportsTheAccountsOfSeveralImports(realms: [String]) throws {
        var cache = CredentialCache()
        for realm in realms { try cache.merge(Array(Self.accounts([realm]).utf8), .msalJSON) }
        let exported = try cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
        try Self.expectAccounts(of: Self.accounts(realms), in: exported)
        #expect(try cache.merge(exported, .msalJSON).changes.isEmpty)
        var copy = CredentialCache()
        try copy.merge(exported, .msalJSON)
        #expect(try copy.export(.msalJSON, of: .standard, now: Fixture.whenWritten) == exported)
    }

    /// The agent's own account is exported under the tenant, beside the imported ones.
    @Test func exportsItsOwnAccountBesideThoseOfImportedRealms() throws {
        var builder = CacheBuilder()
        builder.now = 1_795_228_000
        try builder.signIn("alice", builder.parameters(), refreshToken: "rt-mine")
        try builder.cache.merge(Array(Self.accounts(["organizations"]).utf8), .msalJSON)
        let json = try JSONReader.read(builder.cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten))
        let realms = try #require(json["Account"]).members.compactMap { $0.value["realm"]?.string }
        #expect(Set(realms) == ["organizations", CacheBuilder.tenant])
    }

    /// The only app that requested `organizations` signs out, and its ID token is removed: no ID token of the export leads from there to the
    /// tenant.
    @Test func findsTheTenantOfARealmWhoseAppHasSignedOut() throws {
        var builder = CacheBuilder()
        builder.now = 1_795_228_000
        try builder.cache.merge(Array(Self.accounts(["organizations"]).utf8), .msalJSON)
        try builder.signIn("alice", builder.parameters("app-7"))
        let app = try #require(CacheBuilder.app)
        builder.remove(RemoveAccount(clientID: app, account: CacheBuilder.account("alice")))
        let exported = try builder.cache.export(.msalJSON, of: .standard, now: builder.now)
        let realms = try #require(try JSONReader.read(exported)["Account"]).members.map { $0.value["realm"]?.string }
        #expect(realms.contains("organizations"))
        #expect(try builder.cache.merge(exported, .msalJSON).changes.isEmpty)
        var tenants = builder.cache.accounts(ListAccounts(clientID: nil)).accounts.flatMap(\.tenantProfiles)
        #expect(tenants.map(\.realm) == [CacheBuilder.tenant])
        try builder.cache.merge(Array(Self.accounts([CacheBuilder.tenant]).utf8), .msalJSON)
        let both = try builder.cache.export(.msalJSON, of: .standard, now: builder.now)
        var copy = CredentialCache()
        try copy.merge(both, .msalJSON)
        tenants = copy.accounts(ListAccounts(clientID: nil)).accounts.flatMap(\.tenantProfiles)
        #expect(tenants.map(\.realm) == [CacheBuilder.tenant])
        #expect(try copy.export(.msalJSON, of: .standard, now: builder.now) == both)
    }

    private static func expectAccounts(of file: String, in exported: [UInt8]) throws {
        let (before, after) = (try JSONReader.read(Array(file.utf8)), try JSONReader.read(exported))
        let entries = try #require(after["Account"]).members.map(\.value)
        #expect(entries.count == before["Account"]?.members.count)
        for entry in try #require(before["Account"]).members {
            #expect(entries.contains { $0.sorted == entry.value.sorted }, "\(entry.name)")
        }
    }

    /// An account under several realms, which by their ID tokens are one tenant's.
    private static func accounts(_ realms: [String]) -> String {
        let idToken = CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2)
        let idTokens = realms.map { realm in
            #""id-\#(realm)": {\#(base(realm)), "credential_type": "IdToken", "secret": "\#(idToken)"}"#
        }
        let accounts = realms.map { realm in
            #""account-\#(realm)": {"home_account_id": "oid-alice.\#(CacheBuilder.tenant)", "realm": "\#(realm)", "#
                + #""environment": "\#(environment)", "username": "alice@contoso.com", "authority_type": "MSSTS", "#
                + #""local_account_id": "oid-alice-in-7a1e", "account_source": "\#(realm)", "last_modification_time": "1.5"}"#
        }
        return
            "{\"IdToken\": {\(idTokens.joined(separator: ", "))}, \"Account\": {\(accounts.joined(separator: ", "))}}"
    }

    /// An ID token that is not imported, because of its app's name, names no tenant: an export has not got it.
    @Test func findsTheSameTenantInItsExport() throws {
        let tenant = CacheBuilder.tenant
        let idToken = CacheBuilder.idToken("alice", tenant: "00000000-0000-4000-8000-00000000000c", version: .v2)
        let file = """
            {"Account": {"account": {"home_account_id": "oid-alice.\(tenant)", "environment": "\(Self.environment)",
                "realm": "\(tenant)", "username": "alice@contoso.com", "authority_type": "MSSTS"}},
            "RefreshToken": {"refresh": {\(Self.base(tenant)), "credential_type": "RefreshToken", "secret": "rt"}},
            "IdToken": {"id": {\(Self.base(tenant, clientID: "app\\u007f")), "credential_type": "IdToken",
                "secret": "\(idToken)"}}}
            """
        #expect(FormatProperties.brokenImport(Array(file.utf8), .msalJSON) == nil)
    }

    @Test func changesNothingWhenItsExportIsImported() throws {
        var cache = CredentialCache()
        try cache.merge(Array(Self.file.utf8), .msalJSON)
        let exported = try cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
        #expect(try cache.merge(exported, .msalJSON).changes.isEmpty)
        var copy = CredentialCache()
        try copy.merge(exported, .msalJSON)
        #expect(try copy.export(.msalJSON, of: .standard, now: Fixture.whenWritten) == exported)
    }

    /// Python's token of `common` is found by Node, Java and .NET, which look for the tenant.
    @Test func exportsATokenAlsoUnderItsTenant() throws {
        var cache = CredentialCache()
        try cache.merge(Array(UnifiedImportTests.cache(realm: "common").utf8), .msalJSON)
        let json = try JSONReader.read(cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten))
        for section in ["AccessToken", "IdToken"] {
            let realms = (json[section]?.members ?? []).compactMap { $0.value["realm"]?.string }
            #expect(Set(realms) == ["common", CacheBuilder.tenant], "\(section)")
        }
    }

    /// Go and Python name a B2C tenant as the app did, Node by the policy; here the account tells. A policy's tokens are
    /// nothing to another.
    @Test(arguments: ["contoso.onmicrosoft.com", "b2c_1_susi", "tfp", ""])
    func findsB2CTokensOfTheirPolicyOnly(realm: String) throws {
        var cache = CredentialCache()
        let base = Self.base(realm, home: Self.b2cHome, environment: "contoso.b2clogin.com")
        let file = """
            {"AccessToken": {"1": {\(base), "credential_type": "AccessToken", "target": "https://api/read", "secret": "at",
               "cached_at": "1795229000", "expires_on": "1795239000"}},
             "IdToken": {"4": {\(base), "credential_type": "IdToken", "secret": "\(CacheBuilder.idToken(["sub": "bea"]))"}},
             "RefreshToken": {"2": {\(base), "credential_type": "RefreshToken", "secret": "rt"}},
             "Account": {"3": {\(base), "username": "", "authority_type": "MSSTS", "local_account_id": "oid-bea"}}}
            """
        try cache.merge(Array(file.utf8), .msalJSON)
        let account = AccountReference(homeAccountID: HomeAccountID(Self.b2cHome))
        for (path, token) in [("b2c_1_susi", "at"), ("b2c_1_edit", nil)] {
            let authority = try Authority("https://contoso.b2clogin.com/contoso.onmicrosoft.com/\(path)")
            let parameters = TokenParameters(
                clientID: try #require(CacheBuilder.app), authority: authority, scopes: ScopeSet(["https://api/read"]))
            let decision = cache.decide(
                AcquireTokenSilent(parameters: parameters, account: account), now: Fixture.whenWritten)
            #expect(decision.token == token, "\(path)")
            let json = try JSONReader.read(cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten))
            let realms = (json["AccessToken"]?.members ?? []).compactMap { $0.value["realm"] }
            #expect(realms.contains(.text(realm)))
            // Early Node finds whatever there is, and two are one too many.
            #expect(realms.count == 1)
        }
    }

    /// A file with access tokens of one account, whose secrets begin with a text, and with an ID token under each of their realms.
    private static func file(tokens: Int, realms: Int, secret: String) -> String {
        let idToken = CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2)
        let accessTokens = (0..<tokens).map { number in
            let members = base("tenant-\(number % realms).com")
            return """
                "a\(number)": {\(members), "credential_type": "AccessToken", "secret": "\(secret)\(number)", "target": "s\(number)",
                  "cached_at": "1795229000", "expires_on": "1795239000"}
                """
        }
        let idTokens = (0..<realms).map { number in
            #""i\#(number)": {\#(base("tenant-\(number).com")), "credential_type": "IdToken", "secret": "\#(idToken)"}"#
        }
        return """
            {"AccessToken": {\(accessTokens.joined(separator: ","))}, "IdToken": {\(idTokens.joined(separator: ","))}}
            """
    }

    /// Each token is exported under a limited number of realms.
    @Test func limitsTheRealmsThatATokenIsExportedUnder() throws {
        let file = Self.file(tokens: 300, realms: 300, secret: "at-")
        var cache = CredentialCache()
        try cache.merge(Array(file.utf8), .msalJSON)
        let json = try JSONReader.read(cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten))
        let written = try #require(json["AccessToken"]).members
        #expect(written.count == 300 * 17)
        #expect(Set(written.compactMap { $0.value["secret"]?.string }).count == 300)
    }

    /// All entries of one account, with a copy of each token for every realm, can be much longer than the file.
    @Test func writesOneEntryOfAnAccountAtATime() throws {
        let secret = String(repeating: "x", count: 4000)
        let file = Self.file(tokens: 20, realms: 16, secret: secret)
        var cache = CredentialCache()
        try cache.merge(Array(file.utf8), .msalJSON)
        var export = UnifiedExport(cache.partition(.standard), clouds: cache.clouds, now: Fixture.whenWritten)
        var (bytes, longest) = ([UInt8](), 0)
        while let piece = export.next() {
            bytes += piece
            longest = max(longest, piece.count)
        }
        #expect(longest < 2 * secret.utf8.count)
        #expect(try JSONReader.read(bytes)["AccessToken"]?.members.count == 20 * 17)
        #expect(try cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten) == bytes)
    }

    /// There is a limit for all files together, and for what the agent's own section says of an app.
    @Test func limitsTheRealmsOfSeveralFilesAndOfTheOwnSection() throws {
        let host = "https://\(Self.environment)"
        let own = (0..<300).map { #""\#(host)/own-\#($0).com": "\#(host)/\#(CacheBuilder.tenant)""# }
        let section = """
            {"SSOAgent": {"m": {"kind": 6, "record": {"client_id": "app-1", "home_account_id": "oid-alice.\(CacheBuilder.tenant)",
               "issuer": "", "sign_in_state": "signed_in", "authority_map": {\(own.joined(separator: ","))}}}}}
            """
        let idToken = CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2)
        let files = (0..<8).map { number in
            let entries = (0..<10).map { entry in
                let members = Self.base("tenant-\(number)-\(entry).com")
                return #""i\#(entry)": {\#(members), "credential_type": "IdToken", "secret": "\#(idToken)"}"#
            }
            return "{\"IdToken\": {\(entries.joined(separator: ","))}}"
        }
        for imported in [[section], files, files + [section], [section] + files] {
            var cache = CredentialCache()
            for file in imported { try cache.merge(Array(file.utf8), .msalJSON) }
            try cache.merge(Array(UnifiedImportTests.cache(realm: CacheBuilder.tenant).utf8), .msalJSON)
            let maps = cache.records().compactMap { record -> Int? in
                if case .accountMetadata(let metadata) = record { metadata.authorityMap.count } else { nil }
            }
            #expect(maps == [64])
            let exported = try cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
            #expect(try JSONReader.read(exported)["AccessToken"]?.members.count == 65)
            #expect(try cache.merge(exported, .msalJSON).changes.isEmpty)
        }
    }

    /// An account that the agent made is exported under the environment of the library whose cache also has it.
    @Test func exportsAnAccountUnderItsLibrarysNameOfTheCloud() throws {
        var builder = CacheBuilder()
        builder.now = 1_795_228_000
        try builder.signIn("alice", builder.parameters(), refreshToken: "rt-mine")
        let file = UnifiedImportTests.cache(realm: CacheBuilder.tenant)
            .replacingOccurrences(of: #""authority_type""#, with: #""account_source": "device", "authority_type""#)
            .replacingOccurrences(of: #""secret": "rt-1""#, with: #""secret": "rt-1", "target": "User.Read""#)
        try builder.cache.merge(Array(file.utf8), .msalJSON)
        let json = try JSONReader.read(builder.cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten))
        for section in ["Account", "RefreshToken"] {
            let names = (json[section]?.members ?? []).compactMap { $0.value["environment"]?.string }
            #expect(names == [Self.environment], "\(section)")
        }
    }

    private static var file: String {
        let idToken = CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2)
        func entries(_ name: String, _ members: (String) -> String) -> String {
            let list = ["common", "contoso.com"].map { realm in
                "\"\(name)-\(realm)\": {\(base(realm)), \(members(realm))}"
            }
            return "{\(list.joined(separator: ", "))}"
        }
        return """
            {"AccessToken": \(entries("at") { #""credential_type": "AccessToken", "secret": "at-\#($0)", "note": "\#($0)", "#
                + #""target": "\#($0).Read", "cached_at": "1795229000", "expires_on": "1795239000""# }),
             "IdToken": \(entries("id") { _ in #""credential_type": "IdToken", "secret": "\#(idToken)""# }),
             "Account": \(entries("account") { #""username": "alice@contoso.com", "authority_type": "MSSTS", "#
                + #""local_account_id": "oid-alice-in-7a1e", "account_source": "\#($0)""# })}
            """
    }

    private static func base(
        _ realm: String, home: String = "oid-alice.\(CacheBuilder.tenant)", environment: String = environment,
        clientID: String = "app-1"
    ) -> String {
        #""home_account_id": "\#(home)", "environment": "\#(environment)", "client_id": "\#(clientID)", "realm": "\#(realm)""#
    }
}
