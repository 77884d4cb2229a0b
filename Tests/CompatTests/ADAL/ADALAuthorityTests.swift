internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import ADALCompat

@Suite(.bounded) struct ADALAuthorityTests {
    @Test(arguments: [
        ("https://Login.Windows.NET/Contoso.com/oauth2/x", "https://login.windows.net/contoso.com"),
        ("https://login.microsoftonline.com/common", "https://login.microsoftonline.com/common"),
        ("  https://login.microsoftonline.com/common/\n", "https://login.microsoftonline.com/common"),
        ("https://login.microsoftonline.com/common?x=1#y", "https://login.microsoftonline.com/common"),
        ("https://login.microsoftonline.com:8443/Common/", "https://login.microsoftonline.com:8443/common"),
        ("https://login.microsoftonline.com//Common//", "https://login.microsoftonline.com/common"),
        ("https://fs.contoso.com/ADFS/ls", "https://fs.contoso.com/adfs"),
        ("http://localhost:8080/common", "http://localhost:8080/common"),
        ("http://127.0.0.1:8080/Contoso", "http://127.0.0.1:8080/contoso"),
        ("http://[::1]:8080/common", "http://[::1]:8080/common"),
        ("https://xn--bcher-kva.example/ADFS/", "https://xn--bcher-kva.example/adfs"),
        ("https://Bücher.example:8443/adfs", "https://xn--bcher-kva.example:8443/adfs"),
    ])
    func canonicalises(given: String, expected: String) throws {
        var error: ADAuthenticationError?
        let context = try #require(ADAuthenticationContext(authority: given, validateAuthority: false, error: &error))
        #expect(context.authority == expected)
        #expect(error == nil)
    }

    /// The cache has one entry for both names of the authority of all work accounts, so that an item of one removes that of the other.
    @Test func namesTheAuthorityOfAllWorkAccountsInOneWay() throws {
        func authority(_ tenant: String) throws -> String {
            let url = "https://login.microsoftonline.com/\(tenant)"
            return try #require(CanonicalAuthority(url)).cacheAuthority(isTenantless: false)
        }
        let common = try authority("common")
        #expect(try authority("organizations") == common)
        for tenant in ["consumers", "contoso.com"] { #expect(try authority(tenant) != common) }
    }

    @Test(arguments: [
        "", "   ", "common", "https://", "https:///common", "https://login.microsoftonline.com",
        "https://login.microsoftonline.com/", "https://login.microsoftonline.com//",
        "http://login.microsoftonline.com/common", "ftp://login.microsoftonline.com/common", "https://a b/common",
    ])
    func refusesAnInvalidAuthority(given: String) {
        var error: ADAuthenticationError?
        #expect(ADAuthenticationContext(authority: given, error: &error) == nil)
        #expect(error?.domain == ADAuthenticationErrorDomain)
        #expect(error?.code == ADErrorCode.ERROR_DEVELOPER_INVALID_ARGUMENT.rawValue)
        #expect(ADAuthenticationContext(authority: given, error: nil) == nil)
    }

    @Test func checksTheAuthorityUnlessTold() throws {
        let authority = "https://login.microsoftonline.com/common"
        #expect(try #require(ADAuthenticationContext(authority: authority, error: nil)).validateAuthority)
        #expect(
            try #require(ADAuthenticationContext(authority: authority, sharedGroup: "com.contoso", error: nil))
                .validateAuthority)
    }
}
