internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// The validation of an AD FS by the domain of its users (WebFinger, RFC 7033).
@Suite(.bounded) struct FederationTests {
    private static func response(_ body: String) -> HTTPResponse {
        HTTPResponse(endpoint: "x", status: 200, body: Secret(body))
    }

    /// The text becomes a part of URLs. The proxy would see the requests.
    @Test(arguments: ["", "contoso", "contoso.com/x", "contoso.com?x", "contoso.com#x", "me@contoso.com"])
    func asksNobodyAboutATextThatIsNoDomain(domain: String) async throws {
        try await ScriptedServer.with({ _ in .answer(status: 407, body: "") }) { proxy in
            let network = try NetworkSettings(environment: ["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)"])
            try await EndpointFixture.with(network: network, { _ in .silence }) { fixture in
                let authority = try Authority("https://fs.contoso.com/adfs")
                let error = await failure {
                    try await fixture.endpoint.validateFederation(
                        of: authority, domain: domain, correlationID: CorrelationID())
                }
                #expect(error?.code == .invalidDeveloperParameter)
                #expect(proxy.received.isEmpty)
            }
        }
    }

    /// Anybody on the way could name another authority as trusted.
    @Test(
        arguments: [
            ("https://fs.contoso.com/adfs/ls", "fs.contoso.com"), ("http://fs.contoso.com/adfs/ls", nil),
            ("fs.contoso.com", nil),
        ] as [(String, String?)])
    func asksNoFarmWithoutTLS(page: String, expected: String?) {
        let response = Self.response(#"{"IdentityProviderService":{"PassiveAuthEndpoint":"\#(page)"}}"#)
        let farm = try? response.farm()
        #expect(farm == expected)
    }

    /// A farm links to other pages than the authorities that it trusts.
    @Test(arguments: [
        ("http://schemas.microsoft.com/rel/trusted-realm", "https://fs.contoso.com/adfs", true),
        ("http://schemas.microsoft.com/rel/Trusted-Realm", "https://FS.contoso.com", true),
        ("http://schemas.microsoft.com/rel/trusted-realm", "https://fs.contoso.example/adfs", false),
        ("self", "https://fs.contoso.com/adfs", false),
    ])
    func trustsAnAuthorityThatIsLinkedAsTrusted(relation: String, target: String, isTrusted: Bool) throws {
        let response = Self.response(#"{"links":[{"rel":"\#(relation)","href":"\#(target)"}]}"#)
        let authority = try Authority("https://fs.contoso.com/adfs")
        #expect(response.trusts(authority) == isTrusted)
    }
}
