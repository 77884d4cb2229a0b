internal import CacheTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// The JSON that MSAL for Python, Go, Java, .NET and Node share.
@Suite(.bounded) struct UnifiedImportTests {
    /// The agent serves every token from the cache that MSAL Python serves from its own without the network.
    @Test(arguments: ["basic", "guest", "foci", "adfs"])
    func servesTheTokensThatPythonServes(name: String) throws {
        let expected = try JSONReader.read(Fixture.bytes("msal-json/python_1.39.0_\(name).expected.json"))
        let now = try #require(expected["now"]?.integer)
        var cache = CredentialCache()
        try cache.merge(Fixture.bytes("msal-json/python_1.39.0_\(name).json"), .msalJSON, now: now)
        var served = 0
        for question in expected["silent"]?.values ?? [] {
            let authority = try Authority(try #require(question["authority"]?.string))
            let parameters = TokenParameters(
                clientID: try #require(question["client_id"]?.string.flatMap(ClientID.init)), authority: authority,
                scopes: ScopeSet(question["scopes"]?.values.compactMap(\.string) ?? []))
            let account = AccountReference(
                homeAccountID: question["home_account_id"]?.string.flatMap(HomeAccountID.init))
            let decision = cache.decide(AcquireTokenSilent(parameters: parameters, account: account), now: now)
            guard let token = question["access_token"]?.string else { continue }
            #expect(decision.token == token)
            served += 1
        }
        #expect(served > 0)
    }

    @Test(arguments: ["basic", "guest", "foci", "adfs"])
    func listsTheAccountsThatPythonLists(name: String) throws {
        let expected = try JSONReader.read(Fixture.bytes("msal-json/python_1.39.0_\(name).expected.json"))
        var cache = CredentialCache()
        try cache.merge(Fixture.bytes("msal-json/python_1.39.0_\(name).json"), .msalJSON, now: 1_790_000_011)
        let names = Set(
            (expected["accounts"]?.values ?? []).flatMap { $0["accounts"]?.values ?? [] }
                .compactMap { $0["home_account_id"]?.string?.lowercased() })
        let page = cache.accounts(ListAccounts(clientID: nil, onlySignedIn: false))
        #expect(Set(page.accounts.compactMap { $0.homeAccountID?.text }) == names)
    }

    /// The device's management gives such a token to one app only.
    @Test(arguments: ["application_cache_identifier", "enrollment_id"])
    func keepsAManagedAccessTokenForExportOnly(field: String) throws {
        let file = Self.cache(realm: "common").replacingOccurrences(
            of: #""credential_type": "AccessToken""#, with: #""credential_type": "AccessToken", "\#(field)": "x""#)
        var cache = CredentialCache()
        let plan = try cache.merge(Array(file.utf8), .msalJSON)
        #expect(plan.report.accessTokens == 0)
        #expect(plan.report.reasons == [Self.managed])
        let exported = try cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
        let tokens = try JSONReader.read(exported)["AccessToken"]?.members ?? []
        #expect(tokens.map { $0.value[field]?.string } == ["x"])
    }

    /// A token that is bound to a key, to a claims request or to a user's request to a server answers no other request.
    @Test(
        arguments: [
            (#""token_type": "pop""#, "not a bearer token"),
            (#""requested_claims": "{}""#, "it answers only the request that it was issued for"),
            (#""requestedClaims": "{}""#, "it answers only the request that it was issued for"),
            (#""requestedClaimsHash": "x""#, "it answers only the request that it was issued for"),
            (#""ext_cache_key": "x""#, "it answers only the request that it was issued for"),
            (#""ext": {"a": "x"}"#, "it answers only the request that it was issued for"),
            (#""userAssertionHash": "x""#, "it was issued on behalf of a user to a server"),
            (#""user_assertion_hash": "x""#, "it was issued on behalf of a user to a server"),
        ])
    func keepsAnAccessTokenThatIsBoundForExportOnly(member: String, reason: String) throws {
        let file = Self.cache(realm: "common").replacingOccurrences(
            of: #""credential_type": "AccessToken""#, with: #""credential_type": "AccessToken", \#(member)"#)
        var cache = CredentialCache()
        let plan = try cache.merge(Array(file.utf8), .msalJSON)
        #expect(plan.report.accessTokens == 0)
        #expect(plan.report.reasons == ["\(reason); kept for export only"])
    }

    /// Every member of the family would be served them as its own.
    @Test func takesNoAccessTokenOrIDTokenOfAFamily() throws {
        let file = Self.cache(realm: "common").replacingOccurrences(of: #""app-1""#, with: #""foci-1""#)
        var cache = CredentialCache()
        let plan = try cache.merge(Array(file.utf8), .msalJSON)
        #expect(plan.report.accessTokens == 0 && plan.report.idTokens == 0)
        let reason = "a family of apps has refresh tokens only; kept for export only"
        #expect(plan.report.reasons.count { $0 == reason } == 2, "\(plan.report.reasons)")
    }

    /// Two accounts of different providers at one host may have one identifier. A refresh token that does not name its provider must not be
    /// sent to the wrong one.
    @Test func takesNoRefreshTokenThatMayBeOfEitherOfTwoProviders() throws {
        func account(_ realm: String, _ type: String) -> String {
            """
            {"home_account_id": "u.t", "environment": "idp.contoso.example", "realm": "\(realm)", "local_account_id": "u",
              "username": "alice@contoso.com", "authority_type": "\(type)"}
            """
        }
        let file = """
            {"Account": {"1": \(account("adfs", "ADFS")), "2": \(account("tenant-1", "Other"))},
             "RefreshToken": {"3": {"home_account_id": "u.t", "environment": "idp.contoso.example", "client_id": "app-1",
               "credential_type": "RefreshToken", "secret": "rt-1"}}}
            """
        var cache = CredentialCache()
        let plan = try cache.merge(Array(file.utf8), .msalJSON)
        #expect(plan.report.refreshTokens == 0)
        let reason = "it is not certain which identity provider issued it"
        #expect(plan.report.reasons.contains(reason), "\(plan.report.reasons)")
    }

    /// An export has one of them, by which a later import would find one tenant for the tokens of both.
    @Test func takesOneOfTwoIDTokensOfOneRealmThatNameTwoTenants() throws {
        let other = "ffff0000-0000-4000-8000-000000000002"
        let idToken = CacheBuilder.idToken("alice", tenant: other, version: .v2)
        let entry = """
            "IdToken": {"5": {"home_account_id": "oid-alice.\(CacheBuilder.tenant)", "environment": "login.microsoftonline.com",
              "client_id": "app-1", "realm": "common", "secret": "\(idToken)", "credential_type": "IdToken"},
            """
        let file = Self.cache(realm: "common").replacingOccurrences(of: #""IdToken": {"#, with: entry)
        var cache = CredentialCache()
        let plan = try cache.merge(Array(file.utf8), .msalJSON)
        let reason = "another ID token of the app names the tenant that the realm leads to"
        #expect(plan.report.reasons.contains(reason), "\(plan.report.reasons)")
    }

    /// Early versions of Microsoft's libraries have these types for Entra's accounts, the second one for personal accounts.
    @Test(arguments: ["MSSTS", "AAD", "MSA", "msa", ""]) func takesEveryTypeOfEntraAccounts(type: String) throws {
        let file = Self.cache(realm: CacheBuilder.tenant).replacingOccurrences(of: #""MSSTS""#, with: #""\#(type)""#)
        var cache = CredentialCache()
        try cache.merge(Array(file.utf8), .msalJSON)
        let listed = cache.accounts(ListAccounts(clientID: CacheBuilder.app)).accounts
        #expect(listed.map(\.username) == ["alice@contoso.com"])
    }

    /// An older file must not bring back the claims of a user that have changed since.
    @Test(arguments: [("100", "200", "200"), ("200", "100", "200")])
    func keepsTheIDTokenThatWasIssuedLast(first: String, second: String, kept: String) throws {
        let tokens = [first, second].map { Self.idToken(["tid": CacheBuilder.tenant, "iat": $0]) }
        #expect(try Self.importing(tokens) == Self.idToken(["tid": CacheBuilder.tenant, "iat": kept]))
    }

    /// Without it, an export would name no tenant for the tokens.
    @Test(arguments: [true, false]) func keepsTheIDTokenThatNamesItsTenant(isFirst: Bool) throws {
        let naming = Self.idToken(["tid": CacheBuilder.tenant, "iat": "100"])
        let other = Self.idToken(["iat": "200"])
        #expect(try Self.importing(isFirst ? [naming, other] : [other, naming]) == naming)
    }

    /// The values that the cache has may be newer than those of the file.
    @Test func addsOnlyWhatItDoesNotKnowOfAnAccount() throws {
        let files = [#""name": "Alice New""#, #""name": "Alice Old", "given_name": "Alice""#].map { fields in
            Self.cache(realm: CacheBuilder.tenant)
                .replacingOccurrences(of: #""authority_type""#, with: "\(fields), \"authority_type\"")
        }
        var cache = CredentialCache()
        for file in files { try cache.merge(Array(file.utf8), .msalJSON) }
        let accounts = cache.partition(.standard).accounts.values.flatMap(\.accounts.values)
        #expect(accounts.map(\.name) == ["Alice New"])
        #expect(accounts.map(\.givenName) == ["Alice"])
    }

    /// A file may be older, and would open the tokens of the family to the app.
    @Test func keepsTheFamilyOfAnAppThatTheTokenEndpointHasReported() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten
        try builder.signIn("alice", builder.parameters())
        let file = #"""
            {"AppMetadata": {"1": {"client_id": "app-1", "environment": "login.windows.net", "family_id": "1"}}}
            """#
        try builder.cache.merge(Array(file.utf8), .msalJSON)
        #expect(builder.cache.partition(.standard).apps.values.map(\.familyID) == [""])
    }

    /// Both were saved in one second.
    @Test func keepsTheAccessTokenThatExpiresLaterOfTwoOfOneSecond() throws {
        let file = Self.cache(realm: CacheBuilder.tenant)
        let later = file.replacingOccurrences(of: "1795239000", with: "1795239001")
            .replacingOccurrences(of: #""at-1""#, with: #""at-2""#)
        var cache = CredentialCache()
        for text in [file, later, file] { try cache.merge(Array(text.utf8), .msalJSON) }
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.accessTokens.values)
        #expect(tokens.map { $0.secret.reveal() } == ["at-2"])
    }

    private static func idToken(_ claims: [String: String]) -> String {
        let user = ["ver": "2.0", "oid": "oid-alice", "sub": "sub-alice", "preferred_username": "alice@contoso.com"]
        return CacheBuilder.idToken(user.merging(claims) { $1 })
    }

    /// The ID token that the cache has after imports of files with these.
    private static func importing(_ tokens: [String]) throws -> String? {
        var cache = CredentialCache()
        for token in tokens {
            let file = """
                {"IdToken": {"1": {"home_account_id": "oid-alice.\(CacheBuilder.tenant)", "environment": "login.windows.net",
                  "client_id": "app-1", "realm": "\(CacheBuilder.tenant)", "credential_type": "IdToken", "secret": "\(token)"}}}
                """
            try cache.merge(Array(file.utf8), .msalJSON)
        }
        let held = cache.partition(.standard).accounts.values.flatMap(\.idTokens.values)
        return held.count == 1 ? held[0].idToken : nil
    }

    private static let managed =
        "only the app that the device's management gave it to may use it; kept for export only"

    /// `common` in a library's entry is the requested realm; the agent finds a token by the tenant that issued it.
    @Test func findsATokenOfCommonByItsTenant() throws {
        var cache = CredentialCache()
        try cache.merge(Array(Self.cache(realm: "common").utf8), .msalJSON)
        for authority in [
            "https://login.microsoftonline.com/common", "https://login.windows.net/\(CacheBuilder.tenant)",
        ] {
            let parameters = TokenParameters(
                clientID: try #require(ClientID("app-1")), authority: try Authority(authority),
                scopes: ScopeSet(["User.Read"]))
            let request = AcquireTokenSilent(parameters: parameters, account: CacheBuilder.account("alice"))
            #expect(cache.decide(request, now: Fixture.whenWritten).token == "at-1", "\(authority)")
        }
    }

    @Test func findsATokenByTheDomainThatLedToIt() throws {
        var cache = CredentialCache()
        try cache.merge(Array(Self.cache(realm: "contoso.com").utf8), .msalJSON)
        let parameters = TokenParameters(
            clientID: try #require(ClientID("app-1")),
            authority: try Authority("https://login.microsoftonline.com/contoso.com"), scopes: ScopeSet(["User.Read"]))
        let request = AcquireTokenSilent(parameters: parameters, account: CacheBuilder.account("alice"))
        #expect(cache.decide(request, now: Fixture.whenWritten).token == "at-1")
    }

    /// MSAL for Python omits the port; the agent's apps include it. The refresh token is sent to port 443 only.
    @Test func findsATokenOfAnEnvironmentWithoutItsPort() throws {
        var cache = CredentialCache()
        try cache.merge(Array(Self.cache(realm: "common", environment: "localhost").utf8), .msalJSON)
        let parameters = TokenParameters(
            clientID: try #require(ClientID("app-1")), authority: try Authority("https://localhost:8443/common"),
            scopes: ScopeSet(["User.Read"]))
        var request = AcquireTokenSilent(parameters: parameters, account: CacheBuilder.account("alice"))
        #expect(cache.decide(request, now: Fixture.whenWritten).token == "at-1")
        request.forceRefresh = true
        #expect(cache.decide(request, now: Fixture.whenWritten).candidates == nil)
    }

    /// Other libraries compare names by their bytes.
    @Test func preservesNamesThatDifferByTheirNormalizationOnly() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let base = #""home_account_id": "u.t", "environment": "login.microsoftonline.com", "client_id": "app-1""#
        let fields = #""\#(composed)": "field-1", "\#(decomposed)": "field-2""#
        let file = """
            {"RefreshToken": {
               "\(composed)": {\(base), "credential_type": "RefreshToken", "secret": "rt-1", \(fields)},
               "\(decomposed)": {\(base), "family_id": "1", "credential_type": "RefreshToken", "secret": "rt-2"}},
             "\(composed)": {"section": 1}, "\(decomposed)": {"section": 2}}
            """
        var cache = CredentialCache()
        try cache.merge(Array(file.utf8), .msalJSON)
        let exported = try cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
        let json = try JSONReader.read(exported)
        let tokens = try #require(json["RefreshToken"]).members.map(\.value)
        #expect(Set(tokens.compactMap { $0["secret"]?.string }) == ["rt-1", "rt-2"])
        let token = try #require(tokens.first { $0["secret"]?.string == "rt-1" })
        #expect(token[composed]?.string == "field-1")
        #expect(token[decomposed]?.string == "field-2")
        #expect(json[composed]?["section"]?.integer == 1)
        #expect(json[decomposed]?["section"]?.integer == 2)
        #expect(try cache.merge(exported, .msalJSON).changes.isEmpty)
    }

    @Test func preservesUnknownFieldsAndEntries() throws {
        var cache = CredentialCache()
        let bytes = try Fixture.bytes("msal-json/dotnet_CacheFromTheFuture.json")
        try cache.merge(bytes, .msalJSON, now: 1000)
        let before = try JSONReader.read(bytes)
        let after = try JSONReader.read(cache.export(.msalJSON, of: .standard, now: 1000))
        for section in before.members where UnifiedSection(rawValue: section.name) == nil {
            #expect(after[section.name] == section.value, "\(section.name)")
        }
        let known = before.members.filter { UnifiedSection(rawValue: $0.name) != nil }
        for entry in known.flatMap(\.value.members) {
            for member in entry.value.members where member.name.contains("uture") || member.name.contains("nknown") {
                let isKept = after.members.flatMap(\.value.members).contains {
                    $0.value[member.name] == member.value
                }
                #expect(isKept, "\(member.name) of \(entry.name)")
            }
        }
    }

    /// What is in another JSON object would be in every export from then on. An empty one is an empty cache of MSAL for Python.
    @Test(arguments: [
        ("{}", true), (#"{"a":1}"#, false), (#"{"account":{}}"#, false), (#"{"Account":7}"#, false), ("[]", false),
        (#"{"Account":{}}"#, true), (#"{"Other":{"a":1},"RefreshToken":{}}"#, true),
    ])
    func refusesAnObjectWithoutASectionOfACache(json: String, isCache: Bool) throws {
        var cache = CredentialCache()
        do {
            try cache.merge(Array(json.utf8), .msalJSON)
            #expect(isCache)
        } catch let error as TokenError {
            #expect(!isCache && error.code == .cacheBadFormat)
        }
    }

    @Test func reportsWhyItSkipsEntries() throws {
        var cache = CredentialCache()
        let json = """
            {"AccessToken": {
              "a": {"home_account_id": "u.t", "environment": "login.windows.net", "client_id": "c", "secret": "x", "realm": "t",
                    "target": "s", "credential_type": "AccessToken", "cached_at": "1", "expires_on": "2"},
              "b": {"home_account_id": null, "environment": "login.windows.net", "client_id": "c", "secret": "x", "realm": "t",
                    "target": "s", "credential_type": "AccessToken", "cached_at": "1", "expires_on": "9999999999"},
              "c": {"home_account_id": "u.t", "environment": "login.windows.net", "client_id": "c", "secret": "x", "realm": "t",
                    "target": "s", "credential_type": "AccessToken_With_AuthScheme", "token_type": "pop",
                    "cached_at": "1", "expires_on": "9999999999"},
              "d": {"home_account_id": "u.t", "environment": "login.windows.net", "client_id": "c", "secret": "x", "realm": "t",
                    "target": "s", "credential_type": "AccessToken", "cached_at": "9999999998",
                    "expires_on": "9999999999"}},
             "RefreshToken": {
              "e": {"home_account_id": "u.t", "environment": "login.windows.net", "client_id": "c", "secret": "<tombstone>"},
              "f": {"home_account_id": "u.t", "environment": "login.windows.net", "client_id": "c"}}}
            """
        let plan = try cache.merge(Array(json.utf8), .msalJSON)
        #expect(plan.report.counts == [0, 0, 0, 0])
        #expect(
            plan.report.reasons == [
                "it has expired", "an app's own token, of no account",
                "a credential of another kind; kept for export only",
                "it was saved in what is now the future, so that its times mean nothing",
                "a tombstone: its token was rejected", "it holds no token",
            ])
        #expect(plan.changes.count == 1)
    }

    static func cache(realm: String, environment: String = "login.microsoftonline.com") -> String {
        let idToken = CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2)
        let base =
            #""home_account_id": "oid-alice.\#(CacheBuilder.tenant)", "environment": "\#(environment)", "#
            + #""client_id": "app-1", "realm": "\#(realm)""#
        return """
            {"AccessToken": {"1": {\(base), "secret": "at-1", "credential_type": "AccessToken",
               "target": "User.Read openid", "cached_at": "1795229000", "expires_on": "1795239000"}},
             "IdToken": {"2": {\(base), "secret": "\(idToken)", "credential_type": "IdToken"}},
             "RefreshToken": {"3": {\(base), "secret": "rt-1", "credential_type": "RefreshToken"}},
             "Account": {"4": {\(base), "local_account_id": "oid-alice-in-7a1e", "username": "alice@contoso.com",
               "authority_type": "MSSTS"}}}
            """
    }
}
