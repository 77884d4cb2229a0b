internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// Accounts with Entra's authority type at hosts of others: MSAL's libraries write it for providers of every kind.
@Suite(.bounded) struct UnknownHostTests {
    private static let unknown = "id.contoso.example"
    private static let home = "oid-alice.\(CacheBuilder.tenant)"
    private static let now = Fixture.whenWritten

    @Test func takesNoAccountForEntrasAtAHostThatIsNotKnown() throws {
        let file = Self.file(Self.unknown)
        var cache = CredentialCache()
        let plan = try cache.merge(file, .msalJSON)
        #expect(plan.report.counts == [0, 0, 0, 0])
        #expect(plan.report.reasons.count == 4)
        #expect(plan.report.reasons.allSatisfy { $0.hasPrefix("\(Self.unknown) is not known as a host of Entra") })
        #expect(cache.partition(.standard).accounts.isEmpty)
        for path in ["common", CacheBuilder.tenant, "~mallory"] {
            for kind in Authority.Kind.allCases where kind != .adfs {
                let parameters = try Self.parameters("https://\(Self.unknown)/\(path)", kind)
                for account in [CacheBuilder.account("alice"), AccountReference()] {
                    #expect(cache.decide(parameters, account).needsInteraction)
                }
            }
        }
        // The library gets its entries back, and a second import changes nothing.
        let exported = try cache.export(.msalJSON, of: .standard, now: Self.now)
        let (before, after) = (try JSONReader.read(file), try JSONReader.read(exported))
        for section in before.members {
            for entry in section.value.members { #expect(after[section.name]?[entry.name] == entry.value) }
        }
        #expect(try cache.merge(file, .msalJSON).changes.isEmpty)
    }

    @Test(arguments: ["RefreshToken", "AccessToken", "IdToken"])
    func takesNoCredentialForEntrasWithoutAnAccount(section: String) throws {
        let file = try JSONReader.read(Self.file(Self.unknown))
        let only = JSONTree.object(file.members.filter { $0.name == section })
        var cache = CredentialCache()
        let plan = try cache.merge(Array(only.json.utf8), .msalJSON)
        #expect(plan.report.counts == [0, 0, 0, 0])
        #expect(plan.report.reasons.count == 1)
        #expect(cache.partition(.standard).accounts.isEmpty)
    }

    @Test(arguments: [
        "login.windows.net", "login.microsoftonline.us", "contoso.b2clogin.com", "contoso.b2clogin.cn",
        "contoso.ciamlogin.com", "127.0.0.1:8443",
        "localhost", "login.learnt.example", "sts.learnt.example",
    ])
    func importsTheAccountsOfKnownHosts(environment: String) throws {
        var cache = CredentialCache()
        let cloud = CloudDirectory.Cloud(
            aliases: ["login.learnt.example", "sts.learnt.example"], preferredNetwork: "login.learnt.example",
            preferredCache: "sts.learnt.example")
        _ = cache.clouds.learn([cloud], about: "login.learnt.example")
        let foreign = try ForeignCache(
            ForeignFile(Self.file(environment)), format: .msalJSON, now: Self.now, timeZone: .gmt, clouds: cache.clouds)
        #expect(cache.merge(foreign).report.counts == [1, 1, 1, 1])
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.refreshTokens.values)
        #expect(tokens.allSatisfy { $0.binding != nil })
    }

    /// Such entries are imported or skipped, like those of any other host that answers nobody.
    @Test(arguments: ["127.0.0.1:99999", "localhost:0", "\(unknown):99999", "localhost:99999999999999999999"])
    func importsOrSkipsTheEntriesOfAPortThatDoesNotExist(environment: String) throws {
        var cache = CredentialCache()
        let report = try cache.merge(Self.file(environment), .msalJSON).report
        #expect(Int(report.counts.reduce(0, +)) + report.reasons.count == 4)
        #expect(try !cache.export(.msalJSON, of: .standard, now: Self.now).isEmpty)
    }

    /// MSAL for .NET gives Entra's type to accounts of AD FS, without a realm.
    @Test func importsAnAccountOfADFSWithEntrasType() throws {
        var cache = CredentialCache()
        let bytes = try Fixture.bytes("msal-json/dotnet_token_cache_adfs.json")
        let plan = try cache.merge(bytes, .msalJSON, now: 1_613_060_020)
        #expect(plan.report.counts == [1, 1, 1, 0])
        let (account, credentials) = try #require(cache.partition(.standard).accounts.first)
        #expect(account.issuer == Issuer("fs.msidlab8.com/adfs"))
        let token = try #require(credentials.refreshTokens.values.first)
        #expect(token.binding?.kind == .adfs)
        #expect(token.binding?.endpoint == "fs.msidlab8.com")
        let reference = AccountReference(homeAccountID: account.homeAccountID)
        let adfs = try Self.parameters("https://fs.msidlab8.com/adfs", .adfs, clientID: "PublicClientId")
        #expect(cache.decide(adfs, reference).candidates?.count == 1)
        let claimed = try Self.parameters("https://fs.msidlab8.com/~mallory", .entra, clientID: "PublicClientId")
        #expect(cache.decide(claimed, reference).needsInteraction)
    }

    /// ADAL calls every authority Entra's that is not an AD FS.
    @Test func takesNoTokenOfADALForEntrasAtAHostThatIsNotKnown() throws {
        for (authority, isImported) in [
            ("https://login.windows.net/common", true), ("https://localhost:8443/t", true),
            ("https://\(Self.unknown)/t", false), ("https://\(Self.unknown)/adfs", true),
        ] {
            let file = """
                [{"_authority": "\(authority)", "_clientId": "app-1", "resource": "https://r", "userId": "alice",
                  "accessToken": "at", "refreshToken": "rt", "isMRRT": true, "expiresOn": "2030-01-01T00:00:00.000Z"}]
                """
            var cache = CredentialCache()
            let plan = try cache.merge(Array(file.utf8), .adalJSON)
            #expect(plan.report.counts == (isImported ? [1, 1, 1, 0] : [0, 0, 0, 0]), "\(authority)")
            let reason = "\(Self.unknown) is not known as a host of Entra; sign in there instead"
            #expect(plan.report.reasons == (isImported ? [] : [reason]))
        }
    }

    /// The agent's own exports name what the schema has no place for.
    @Test(
        arguments: [
            ("https://login.contoso.com/contoso.onmicrosoft.com/B2C_1_in", .b2c, "alice-b2c_1_in"),
            ("https://login.contoso.com/tfp/contoso.onmicrosoft.com/B2C_1_in", .b2c, "alice-b2c_1_in"),
            ("https://login.contoso.com/contoso.onmicrosoft.com", .ciam, "alice"),
            ("https://login.contoso.com", .ciam, "alice"), ("https://localhost:8443/t", .entra, "alice"),
            ("https://login.contoso.example/common", .entra, "alice"),
            ("https://login.contoso.example:8443/common", .entra, "alice"),
        ] as [(String, Authority.Kind, String)])
    func restoresWhatItExported(url: String, kind: Authority.Kind, user: String) throws {
        var builder = CacheBuilder()
        let parameters = try Self.parameters(url, kind)
        let account = try builder.signIn(user, parameters).account.reference
        let exported = try builder.cache.export(.msalJSON, of: .standard, now: builder.now)
        var same = builder.cache
        #expect(try same.merge(exported, .msalJSON, now: builder.now).changes.isEmpty)
        var copy = CredentialCache()
        try copy.merge(exported, .msalJSON, now: builder.now)
        #expect(copy.decide(parameters, account, now: builder.now).token == "at-\(user)-User.Read")
        let original = builder.decide(parameters, account, force: true)
        #expect(original.candidates != nil)
        #expect(copy.decide(parameters, account, force: true, now: builder.now).candidates == original.candidates)
        #expect(try copy.export(.msalJSON, of: .standard, now: builder.now) == exported)
        #expect(copy.partition(.standard).accountKeys == builder.cache.partition(.standard).accountKeys)
    }

    /// On this machine a port is one program's: the path of a policy is not needed to find what a library has cached.
    @Test(arguments: ["127.0.0.1:8443", "localhost"]) func findsImportedTokensOfB2COnThisMachine(
        environment: String
    ) throws {
        var cache = CredentialCache()
        let home = "00000000-0000-4000-8000-00000000000b-b2c_1_in.\(CacheBuilder.tenant)"
        try cache.merge(Self.file(environment, home: home), .msalJSON)
        let reference = AccountReference(homeAccountID: HomeAccountID(home))
        for (policy, token) in [("B2C_1_in", "at-1"), ("b2c_1_edit", nil)] {
            let authority = "https://\(environment)/tfp/contoso.onmicrosoft.com/\(policy)"
            #expect(try cache.decide(Self.parameters(authority, .b2c), reference).token == token)
        }
    }

    /// An issuer of another host would be another host's account.
    @Test(arguments: ["login.windows.net", "", "evil.example//t", "id.contoso.example/adfs", "id.contoso.example."])
    func believesNoFileAboutAnIssuerOfAnotherHost(issuer: String) throws {
        var cache = CredentialCache()
        let plan = try cache.merge(Self.file(Self.unknown, issuer: issuer), .msalJSON)
        #expect(plan.report.counts == [0, 0, 0, 0])
        #expect(cache.partition(.standard).accounts.isEmpty)
    }

    /// The path of a custom domain is after two slashes.
    @Test(arguments: ["/t/b2c_1_in", "t//b2c_1_in", "t/", "a b"]) func takesNoRealmForThePathOfACustomDomain(
        realm: String
    ) throws {
        let accounts = ["realm": realm, "realm-2": "t/b2c_1_in"].map { key, realm in
            #""\#(key)": {"home_account_id": "\#(key)", "environment": "\#(Self.unknown)", "realm": "\#(realm)", "username": "u", "#
                + #""authority_type": "Other"}"#
        }
        var cache = CredentialCache()
        try cache.merge(Array(#"{"Account": {\#(accounts.joined(separator: ", "))}}"#.utf8), .msalJSON)
        #expect(cache.partition(.standard).accountKeys.map(\.issuer) == [Issuer("\(Self.unknown)/t/b2c_1_in")])
    }

    /// The accounts of Microsoft's hosts have no other issuers.
    @Test(arguments: ["login.windows.net", "contoso.b2clogin.com", "contoso.ciamlogin.com"], ["", "//t/b2c_1_in"])
    func believesNoFileAboutAnIssuerAtMicrosoftsHosts(environment: String, path: String) throws {
        var cache = CredentialCache()
        let plan = try cache.merge(Self.file(environment, issuer: environment + path), .msalJSON)
        #expect(plan.report.counts == [1, 1, 1, 1])
        #expect(cache.partition(.standard).accountKeys.allSatisfy { $0.issuer == Issuer(ofEnvironment: environment) })
    }

    /// No list shows what is kept of an account that is not imported, so that a sign-out has to remove it by its identifier.
    @Test func removesWhatIsKeptOfAnAccountThatIsNotImported() throws {
        for (user, extent, count) in [
            ("bob", RemoveAccount.Extent.account, 4), ("alice", .app, 0), ("alice", .account, 0),
        ] {
            var cache = CredentialCache()
            try cache.merge(Self.file(Self.unknown), .msalJSON)
            #expect(cache.partition(.standard).opaqueRecords.count == 4)
            let request = try RemoveAccount(
                clientID: #require(CacheBuilder.app), account: CacheBuilder.account(user), extent: extent)
            cache.apply(cache.changes(removing: request), in: .standard)
            #expect(cache.partition(.standard).opaqueRecords.count == count, "\(user) \(extent)")
        }
    }

    private static func file(_ environment: String, home: String = home, issuer: String? = nil) -> [UInt8] {
        let idToken = CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2)
        let mark = issuer.map { #", "sso_agent_issuer": "\#($0)""# } ?? ""
        let base =
            #""home_account_id": "\#(home)", "environment": "\#(environment)", "#
            + #""client_id": "app-1"\#(mark)"#
        let realm = #""realm": "\#(CacheBuilder.tenant)""#
        let file = """
            {"AccessToken": {"1": {\(base), \(realm), "secret": "at-1", "credential_type": "AccessToken",
               "target": "User.Read openid", "cached_at": "1795229000", "expires_on": "1795239000"}},
             "IdToken": {"2": {\(base), \(realm), "secret": "\(idToken)", "credential_type": "IdToken"}},
             "RefreshToken": {"3": {\(base), "secret": "rt-1", "credential_type": "RefreshToken"}},
             "Account": {"4": {\(base), \(realm), "local_account_id": "oid-alice-in-7a1e",
               "username": "alice@contoso.com", "authority_type": "MSSTS"}}}
            """
        return Array(file.utf8)
    }

    private static func parameters(
        _ url: String, _ kind: Authority.Kind, clientID: String = "app-1"
    ) throws -> TokenParameters {
        TokenParameters(
            clientID: try #require(ClientID(clientID)), authority: try Authority(url, kind: kind),
            scopes: ScopeSet(["User.Read"]))
    }
}

extension CredentialCache {
    fileprivate func decide(
        _ parameters: TokenParameters, _ account: AccountReference, force: Bool = false,
        now: Int64 = Fixture.whenWritten
    ) -> SilentDecision {
        decide(AcquireTokenSilent(parameters: parameters, account: account, forceRefresh: force), now: now)
    }
}
