internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// Numbers in a file that are not times. Both exports can be written after every import.
@Suite(.bounded) struct ImpossibleTimeTests {
    private static let base = """
        "home_account_id": "oid-alice.\(CacheBuilder.tenant)", "environment": "login.microsoftonline.com",
        "client_id": "app-1", "realm": "\(CacheBuilder.tenant)"
        """

    @Test(arguments: ["-9223372036854775808", "9223372036854775807", "-1", "253402300800"])
    func survivesAnyNumberInARecordOfItsOwn(number: String) throws {
        for (cachedAt, expiresOn) in [(number, "1795239000"), ("1795229000", number)] {
            let file = """
                {"SSOAgent": {"x": {"kind": 2, "record": {\(Self.base), "credential_type": "AccessToken", "secret": "at",
                   "target": "https://graph.microsoft.com", "oauth_version": 1, "cached_at": "\(cachedAt)",
                   "expires_on": "\(expiresOn)"}}}}
                """
            try Self.survives(file, tokens: 0)
        }
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807", "-1", "253402300800"])
    func survivesAnyNumberInALibrarysRecord(number: String) throws {
        for (cachedAt, expiresOn) in [(number, "1795239000"), ("1795229000", number)] {
            let file = """
                {"AccessToken": {"1": {\(Self.base), "credential_type": "AccessToken", "secret": "at", "target": "a",
                  "cached_at": "\(cachedAt)", "expires_on": "\(expiresOn)"}}}
                """
            try Self.survives(file, tokens: 0)
        }
    }

    /// A token without these optional times is usable.
    @Test(arguments: ["-9223372036854775808", "9223372036854775807"])
    func removesOptionalTimesThatAreImpossible(number: String) throws {
        let file = """
            {"AccessToken": {"1": {\(Self.base), "credential_type": "AccessToken", "secret": "at", "target": "a",
              "cached_at": "1795229000", "expires_on": "1795239000", "extended_expires_on": "\(number)",
              "refresh_on": "\(number)"}},
             "RefreshToken": {"2": {\(Self.base), "credential_type": "RefreshToken", "secret": "rt",
              "last_modification_time": "\(number)"}}}
            """
        let cache = try Self.survives(file, tokens: 1)
        let credentials = try #require(cache.partition(.standard).accounts.values.first)
        #expect(credentials.accessTokens.values.allSatisfy { $0.extendedExpiresOn == nil && $0.refreshOn == nil })
        // When the access token was obtained, which came with it.
        #expect(credentials.refreshTokens.values.map(\.obtainedOn) == [1_795_229_000])
    }

    @discardableResult
    private static func survives(_ file: String, tokens: Int64) throws -> CredentialCache {
        var cache = CredentialCache()
        let report = try cache.merge(Array(file.utf8), .msalJSON).report
        #expect(report.accessTokens == tokens)
        #expect(report.skipped.count == 1 - Int(tokens))
        for format in [CacheFormat.msalJSON, .adalArchive] {
            _ = try cache.export(format, of: .standard, now: Fixture.whenWritten)
        }
        return cache
    }
}
