internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// A record's key in the store begins with its account's identifier. An identifier with which a record would replace that of
/// another account is refused; `SavingTests` has the same for a response.
@Suite(.bounded) struct AmbiguousKeyTests {
    private static let environment = "login.microsoftonline.com"
    private static let home = "aaaaaaaa-0000-4000-8000-00000000000b.\(CacheBuilder.tenant)"
    private static let reason = "its identifier could be taken for another account's"

    /// Bob is known by his username, from ADAL.
    @Test func refusesAnIdentifierThatLooksLikeAUsername() throws {
        var cache = CredentialCache()
        cache.merge(try Fixture.adal[0].read())
        let bob = try #require(cache.accounts(ListAccounts(clientID: nil)).accounts.first?.username)
        let client = "d3590ed6-52b3-4102-aeff-aad2292ab01c"
        let before = cache.records()
        let plan = try cache.merge(Self.file("name:\(bob)", Self.environment, client), .msalJSON)
        #expect(plan.changes.isEmpty)
        #expect(plan.report.reasons == [Self.reason, Self.reason])
        #expect(cache.records().count == before.count)
    }

    /// The dash that ends an identifier may be any of those in a GUID. The issuer, which is part of the key, keeps them apart.
    @Test func givesNoHostARecordWithAKeyOfMicrosoftsAccounts() throws {
        for (home, environment) in [
            ("aaaaaaaa", "0000-4000-8000-00000000000b.\(CacheBuilder.tenant)-\(Self.environment)"),
            ("\(Self.home)-login", "microsoftonline.com"),
        ] {
            var cache = CredentialCache()
            try cache.merge(Self.file(home, environment, "app-1"), .msalJSON)
            #expect(cache.records().count == 3)
            #expect(cache.records().allSatisfy { $0.content.key.hasPrefix("@\(environment)/adfs ") })
        }
    }

    /// AD FS's identifiers are random letters and dashes: their keys are ambiguous, and the first account keeps a key.
    @Test func keepsARecordWithItsFirstAccount() throws {
        var cache = CredentialCache()
        let host = "fs.contoso.com"
        try cache.merge(Self.file("a-\(host)-refreshtoken-c", host, "d"), .msalJSON)
        let before = Set(cache.records().map { "\($0)" })
        let plan = try cache.merge(Self.file("a", host, "c-\(host)-refreshtoken-d"), .msalJSON)
        #expect(plan.report.reasons == [Self.reason])
        #expect(Set(cache.records().map { "\($0)" }).isSuperset(of: before))
    }

    @Test(arguments: [
        home, "aaaaaaaa-0000-4000-8000-00000000000b-b2c_1_x.\(CacheBuilder.tenant)", "ab-cd_ef", "google|1.2",
    ])
    func acceptsTheIdentifiersOfEveryProvider(home: String) throws {
        for environment in [
            Self.environment, "login-us.microsoftonline.com", "contoso.b2clogin.com", "my-fs.contoso.com:8443",
        ] {
            var cache = CredentialCache()
            let plan = try cache.merge(Self.file(home, environment, "app-1"), .msalJSON)
            #expect(plan.report.counts == [1, 1, 0, 0], "\(environment)")
        }
    }

    /// An account and a refresh token, of an AD FS unless the host is Microsoft's.
    private static func file(_ home: String, _ environment: String, _ client: String) -> [UInt8] {
        let base = #""home_account_id": "\#(home)", "environment": "\#(environment)", "client_id": "\#(client)""#
        let type = CloudDirectory.isMicrosofts(environment) ? "MSSTS" : "ADFS"
        let file = """
            {"RefreshToken": {"1": {\(base), "credential_type": "RefreshToken", "secret": "rt-\(home)"}},
             "Account": {"2": {\(base), "realm": "r", "username": "eve@contoso.com", "authority_type": "\(type)"}}}
            """
        return Array(file.utf8)
    }
}
