internal import CacheTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// Libraries name one cloud differently: Python and Go as the app did, .NET, Java and Node by the name it is cached under.
@Suite(.bounded) struct CloudNameTests {
    private static let names = ["login.microsoftonline.com", "login.windows.net", "sts.windows.net"]

    /// Two libraries' caches of one account: each access token is served with the ID token of either cache.
    @Test(arguments: [0, 1], [true, false])
    func servesATokenWhoseIDTokenHasAnotherNameOfTheCloud(first: Int, isSameTarget: Bool) throws {
        var cache = CredentialCache()
        let targets = isSameTarget ? ["User.Read", "User.Read"] : ["User.Read", "Mail.Read"]
        for index in [first, 1 - first] {
            let file = Self.file(Self.names[index], target: targets[index], cachedAt: 1_795_229_000 + index)
            try cache.merge(Array(file.utf8), .msalJSON)
        }
        for (index, target) in targets.enumerated() {
            for authority in Self.names {
                let token = try Self.decide(cache, at: authority, target).token
                // Of two for the same the one that was saved last.
                #expect(token == (isSameTarget ? "at-\(Self.names[1])" : "at-\(Self.names[index])"), "\(authority)")
            }
        }
        #expect(cache.accounts(ListAccounts(clientID: CacheBuilder.app)).accounts.count == 1)
    }

    /// An access token in one file, the ID token that came with it in another, under another name of the cloud.
    @Test(arguments: [true, false])
    func findsTheIDTokenOfAnotherImport(isAccessTokenFirst: Bool) throws {
        let whole = try JSONReader.read(Array(Self.file(Self.names[0], realm: CacheBuilder.tenant).utf8))
        let other = try JSONReader.read(Array(Self.file(Self.names[1], realm: CacheBuilder.tenant).utf8))
        let accessTokens = JSONTree.object(whole.members.filter { $0.name == "AccessToken" })
        let rest = JSONTree.object(other.members.filter { $0.name != "AccessToken" })
        var cache = CredentialCache()
        for tree in isAccessTokenFirst ? [accessTokens, rest] : [rest, accessTokens] {
            try cache.merge(Array(tree.json.utf8), .msalJSON)
        }
        #expect(try Self.decide(cache, at: Self.names[2], "User.Read").token == "at-\(Self.names[0])")
    }

    /// `organizations` is not a tenant: only the ID token names the tenant that issued the access token.
    @Test func findsTheTenantInTheIDTokenOfTheSameCloud() throws {
        let accessToken = try JSONReader.read(Array(Self.file(Self.names[0]).utf8)).members.filter {
            $0.name == "AccessToken"
        }
        let rest = try JSONReader.read(Array(Self.file(Self.names[1]).utf8)).members.filter { $0.name != "AccessToken" }
        var cache = CredentialCache()
        try cache.merge(Array(JSONTree.object(accessToken + rest).json.utf8), .msalJSON)
        #expect(try Self.decide(cache, at: Self.names[0], "User.Read").token == "at-\(Self.names[0])")
        let listed = try #require(try cache.listedCredentials().first { $0.kind == .accessToken })
        #expect(listed.authority == "https://\(Self.names[0])/\(CacheBuilder.tenant)")
        #expect(listed.idToken != nil)
    }

    /// Renewed records are saved under the cloud's preferred name; others keep the library's.
    @Test func servesRenewedAndImportedTokens() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten
        let file = Self.file(Self.names[0], target: "Mail.Read")
        try builder.cache.merge(Array(file.utf8), .msalJSON)
        guard
            case .redeem(let plan) = try builder.decide(
                builder.parameters(), CacheBuilder.account("alice"), force: true), let used = plan.candidates.first
        else { throw TokenError(.internalError, "nothing to redeem") }
        // Without an ID token, which a refresh need not bring.
        let tokens = IssuedTokens(
            accessToken: Secret("at-new"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
            scopes: nil, refreshToken: Secret("rt-new"), isMultiResource: true, idToken: nil,
            homeAccountID: CacheBuilder.account("alice").homeAccountID, clientInfo: nil, familyID: nil)
        let result = try builder.save(tokens, from: .redemption(used), builder.parameters(), at: plan.authority)
        #expect(result.idToken != nil)
        #expect(try builder.decide(builder.parameters(), CacheBuilder.account("alice")).token == "at-new")
        let mail = try builder.parameters(scopes: ["Mail.Read"])
        #expect(builder.decide(mail, CacheBuilder.account("alice")).token == "at-\(Self.names[0])")
        #expect(
            try builder.decide(builder.parameters(), CacheBuilder.account("alice"), force: true).candidates == [
                "rt-new"
            ])
    }

    /// App metadata is exported under each name; no library replaces another's.
    @Test func exportsAppMetadataUnderEveryImportedName() throws {
        let entries = Self.names.enumerated().map { index, name in
            #""appmetadata-\#(name)-app-1": {"client_id": "app-1", "environment": "\#(name)", "family_id": "\#(index)"}"#
        }
        let file = "{\"AppMetadata\": {\(entries.joined(separator: ", "))}}"
        var cache = CredentialCache()
        try cache.merge(Array(file.utf8), .msalJSON)
        let exported = try cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
        let section = try #require(try JSONReader.read(exported)["AppMetadata"])
        #expect(section.sorted == (try JSONReader.read(Array(file.utf8))["AppMetadata"]?.sorted))
        #expect(try cache.merge(exported, .msalJSON).changes.isEmpty)
    }

    private static func decide(
        _ cache: CredentialCache, at environment: String, _ target: String
    ) throws -> SilentDecision {
        let parameters = TokenParameters(
            clientID: try #require(CacheBuilder.app), authority: try Authority("https://\(environment)/organizations"),
            scopes: ScopeSet([target]))
        let request = AcquireTokenSilent(parameters: parameters, account: CacheBuilder.account("alice"))
        return cache.decide(request, now: Fixture.whenWritten)
    }

    private static func file(
        _ environment: String, target: String = "User.Read", realm: String = "organizations",
        cachedAt: Int = 1_795_229_000
    ) -> String {
        UnifiedImportTests.cache(realm: realm, environment: environment)
            .replacingOccurrences(of: "User.Read openid", with: target)
            .replacingOccurrences(of: #""at-1""#, with: #""at-\#(environment)""#)
            .replacingOccurrences(of: "1795229000", with: "\(cachedAt)")
    }
}
