internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The authorities that can be created, with their class and canonical form.
@Suite(.bounded) struct MSALAuthorityTests {
    @Test(arguments: [
        ("https://login.microsoftonline.com/common", "MSALAADAuthority", "https://login.microsoftonline.com/common"),
        (
            "https://Login.MicrosoftOnline.com/Contoso.COM/oauth2?x=1", "MSALAADAuthority",
            "https://login.microsoftonline.com/Contoso.COM"
        ),
        ("https://login.example.com:8443/T1", "MSALAADAuthority", "https://login.example.com:8443/T1"),
        ("https://xn--bcher-kva.example:8443/T1", "MSALAADAuthority", "https://xn--bcher-kva.example:8443/T1"),
        ("https://bücher.example/T1", "MSALAADAuthority", "https://xn--bcher-kva.example/T1"),
        ("http://localhost:8080/common", "MSALAADAuthority", "http://localhost:8080/common"),
        (
            "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_in?p=1", "MSALB2CAuthority",
            "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_in"
        ),
        (
            "https://contoso.ciamlogin.com", "MSALCIAMAuthority",
            "https://contoso.ciamlogin.com/contoso.onmicrosoft.com"
        ),
        (
            "https://Contoso.ciamlogin.com/Contoso.onMicrosoft.com", "MSALCIAMAuthority",
            "https://contoso.ciamlogin.com/Contoso.onMicrosoft.com"
        ),
    ]) func picksTheClassThatFits(text: String, className: String, normal: String) throws {
        let authority = try MSALAuthority(url: try #require(URL(string: text)))
        #expect(String(describing: type(of: authority)) == className)
        #expect(authority.url.absoluteString == normal)
    }

    @Test(arguments: [
        "http://login.microsoftonline.com/common", "https://login.microsoftonline.com",
        "https://fs.contoso.com/adfs", "not a url", "ftp://login.microsoftonline.com/common",
        "https://login.microsoftonline.com/tfp", "https://login.microsoftonline.com/tfp/contoso.com",
    ]) func refusesAnInvalidAuthority(text: String) {
        let error = Sample.failure {
            _ = try MSALAuthority(url: URL(string: text) ?? URL(fileURLWithPath: "/"))
        }
        #expect(error?.domain == MSALErrorDomain)
        #expect(error?.code == MSALError.internal.rawValue)
        #expect(error?.internalCode == MSALInternalError.internalErrorUnexpected.rawValue)
    }

    @Test(arguments: [
        ("https://login.microsoftonline.com/common", true, true, false),
        ("https://contoso.ciamlogin.com", false, true, false),
        ("https://login.microsoftonline.com/tfp/t/p", false, true, true),
        ("https://login.contoso.com/t/p", true, true, true), ("https://login.contoso.com", false, true, false),
        ("http://login.microsoftonline.com/common", false, false, false),
    ]) func acceptsAuthoritiesOfItsOwnClassOnly(text: String, isEntra: Bool, isCIAM: Bool, isB2C: Bool) throws {
        let url = try #require(URL(string: text))
        #expect(((try? MSALAADAuthority(url: url)) != nil) == isEntra)
        #expect(((try? MSALCIAMAuthority(url: url)) != nil) == isCIAM)
        // CIAM: any https URL, for custom domains. B2C: any https URL with a path, also one of Entra.
        #expect(((try? MSALB2CAuthority(url: url)) != nil) == (isB2C || isEntra))
    }

    @Test func refusesAnApplicationWithAnUnsupportedAuthority() throws {
        let url = try #require(URL(string: "https://fs.contoso.com/adfs"))
        let authority = MSALAuthority.issuer(try MSALAuthority.authority(parsing: url))
        let config = MSALPublicClientApplicationConfig(clientId: "app-1", redirectUri: nil, authority: authority)
        let error = Sample.failure { _ = try MSALPublicClientApplication(configuration: config) }
        #expect(error?.code == MSALError.internal.rawValue)
    }

    @Test(arguments: [
        (MSALAzureCloudInstance.publicCloudInstance, "login.microsoftonline.com"),
        (.chinaCloudInstance, "login.chinacloudapi.cn"), (.germanyCloudInstance, "login.microsoftonline.de"),
        (.usGovernmentCloudInstance, "login.microsoftonline.us"),
        (.franceCloudInstance, "login.sovcloud-identity.fr"), (.delosCloudInstance, "login.sovcloud-identity.de"),
        (.govSGCloudInstance, "login.sovcloud-identity.sg"),
    ]) func usesTheHostOfTheCloud(cloud: MSALAzureCloudInstance, host: String) throws {
        let authority = try MSALAADAuthority(
            cloudInstance: cloud, audienceType: .azureADMultipleOrgsAudience, rawTenant: nil)
        #expect(authority.url.absoluteString == "https://\(host)/organizations")
    }

    @Test(
        arguments: [
            (MSALAudienceType.azureADAndPersonalMicrosoftAccountAudience, nil, "common"),
            (.azureADMultipleOrgsAudience, nil, "organizations"), (.personalMicrosoftAccountAudience, nil, "consumers"),
            (.azureADMyOrgOnlyAudience, "contoso.com", "contoso.com"), (.azureADMyOrgOnlyAudience, nil, nil),
            (.azureADMultipleOrgsAudience, "contoso.com", nil),
        ] as [(MSALAudienceType, String?, String?)])
    func acceptsATenantForOneAudienceOnly(audience: MSALAudienceType, tenant: String?, path: String?) {
        let authority = try? MSALAADAuthority(
            environment: "login.microsoftonline.com", audienceType: audience, rawTenant: tenant)
        #expect(authority?.url.lastPathComponent == path)
    }

    // Mirrors: M24 MSIDAADAuthorityTests testInitAADAuthority_… with a raw tenant, whose case is kept
    @Test func replacesTheTenantOfTheURLByTheRawTenant() throws {
        let url = try #require(URL(string: "https://login.microsoftonline.com/common"))
        let authority = try MSALAADAuthority(url: url, rawTenant: "Contoso.com")
        #expect(authority.url.absoluteString == "https://login.microsoftonline.com/Contoso.com")
        #expect(authority.description == authority.url.absoluteString)
    }

    @Test func ignoresTheCaseOfATenant() throws {
        let written = try MSALAADAuthority(
            url: try #require(URL(string: "https://login.microsoftonline.com/Contoso.COM")))
        let lower = try MSALAADAuthority(
            url: try #require(URL(string: "https://login.microsoftonline.com/contoso.com")))
        #expect(written == lower)
        #expect(written.hash == lower.hash)
        #expect(written.authority == lower.authority)
        #expect((written.copy() as? MSALAuthority)?.url == written.url)
    }

    @Test func refusesADFS() throws {
        let url = try #require(URL(string: "https://fs.contoso.com/adfs"))
        #expect(Sample.failure { _ = try MSALADFSAuthority(url: url) }?.internalCode == -42008)
    }

    /// MSAL checks the format in `MSALAuthority(url:)` only.
    @Test(arguments: [
        "https://contoso.b2clogin.com", "https://contoso.b2clogin.com/", "https://contoso.b2clogin.com?p=b2c_1_in",
        "http://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_in",
    ]) func refusesAB2CAuthorityWithoutAPathOrTLS(text: String) throws {
        let url = try #require(URL(string: text))
        let error = Sample.failure { _ = try MSALB2CAuthority(url: url) }
        #expect(error?.domain == MSALErrorDomain)
        #expect(error?.code == -50000)
        #expect(error?.internalCode == -42000)
    }

    @Test func keepsAB2CPathWithoutTfp() throws {
        let url = try #require(URL(string: "https://login.contoso.com/tenant/B2C_1_in?x=1"))
        #expect(try MSALB2CAuthority(url: url).url.absoluteString == "https://login.contoso.com/tenant/B2C_1_in")
    }

    // Mirrors: M23 MSIDCIAMAuthorityTests testInitCustomCIAMAuthority_withValidUrl_shouldReturnNilError,
    //   …_whenUrlSchemeIsNotHttps_shouldReturnError, testInitCIAMAuthority_withValidUrlNonCIAMAuthority_shouldReturnError
    @Test func acceptsCustomCIAMDomainsWithoutValidation() throws {
        let url = try #require(URL(string: "https://login.contoso.com/tenantID"))
        #expect(try MSALCIAMAuthority(url: url).url == url)
        #expect(try MSALCIAMAuthority(url: url, validateFormat: false).url == url)
        #expect(throws: (any Error).self) { try MSALCIAMAuthority(url: url, validateFormat: true) }
        let plain = try #require(URL(string: "http://tenantname.ciamextensibility.com/tenantID"))
        #expect(throws: (any Error).self) { try MSALCIAMAuthority(url: plain) }
    }

    @Test func acceptsACustomDomainWithoutATenant() throws {
        let url = try #require(URL(string: "https://login.contoso.com?x=1"))
        #expect(try MSALCIAMAuthority(url: url).url.absoluteString == "https://login.contoso.com")
    }

    @Test func comparesKindAndURL() throws {
        let url = try #require(URL(string: "https://contoso.b2clogin.com/t/p"))
        let upper = try #require(URL(string: "https://CONTOSO.b2clogin.com/t/p"))
        #expect(try MSALB2CAuthority(url: url) == MSALB2CAuthority(url: upper))
        #expect(try MSALB2CAuthority(url: url) != MSALAADAuthority(url: url))
    }
}
