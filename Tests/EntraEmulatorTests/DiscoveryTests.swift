internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

@Suite(.bounded) struct DiscoveryTests {
    @Test func acceptsItsOwnHostsAndAliases() async throws {
        try await withEmulator { emulator in
            emulator.control.settings.hostAliases = ["login.example"]
            emulator.control.settings.preferredCache = "sts.example"
            let port = try #require(URL(string: emulator.url)?.port)
            for host in ["127.0.0.1:\(port)", "localhost:\(port)", "login.example"] {
                let reply = try await instance(emulator, host)
                #expect(reply.status == 200)
                #expect(
                    reply["metadata"] == [
                        [
                            "preferred_network": "127.0.0.1:\(port)", "preferred_cache": "sts.example",
                            "aliases": ["127.0.0.1:\(port)", "localhost:\(port)", "login.example"],
                        ]
                    ])
                #expect(
                    reply["tenant_discovery_endpoint"]
                        == "\(emulator.url)/common/v2.0/.well-known/openid-configuration")
            }
        }
    }

    @Test(arguments: ["login.evil.example", "127.0.0.1:1", ""])
    func refusesAHostItDoesNotKnow(host: String) async throws {
        try await withEmulator { emulator in
            let reply = try await instance(emulator, host)
            #expect(reply.status == 400)
            #expect(reply["error"] == "invalid_instance")
            #expect(reply["error_codes"] == [50049])
        }
    }

    @Test(arguments: [
        (path: "common/v2.0", token: "common/oauth2/v2.0/token"),
        ("common", "common/oauth2/token"),
        ("contoso.example/v2.0", "contoso.example/oauth2/v2.0/token"),
        ("adfs", "adfs/oauth2/token"),
        ("openid/main", "openid/main/token"),
        ("tfp/contoso.example/b2c_1_x/v2.0", "tfp/contoso.example/b2c_1_x/oauth2/v2.0/token"),
    ])
    func pointsToTheEndpointsOfTheAuthority(row: (path: String, token: String)) async throws {
        try await withEmulator { emulator in
            let reply = try await HTTP.get("\(emulator.url)/\(row.path)/.well-known/openid-configuration")
            #expect(reply["token_endpoint"] == "\(emulator.url)/\(row.token)")
            #expect(try await HTTP.get(reply.text("jwks_uri") ?? "").fields["keys"] != nil)
        }
    }

    @Test func listsTheEmulatedClouds() async throws {
        try await withEmulator { emulator in
            emulator.control.settings.clouds = [EmulatedCloud(hosts: ["login.us.example", "sts.us.example"])]
            let reply = try await instance(emulator, "sts.us.example")
            let clouds: [JSON] = if case .array(let clouds) = reply["metadata"] { clouds } else { [] }
            #expect(
                clouds.last == [
                    "preferred_network": "login.us.example", "preferred_cache": "login.us.example",
                    "aliases": ["login.us.example", "sts.us.example"],
                ])
        }
    }

    @Test func answersFederationRequestsAtConfiguredHostsOnly() async throws {
        try await withEmulator { emulator in
            emulator.control.settings.adfs.hosts = ["contoso.com": "fs.contoso.com"]
            #expect(try await HTTP.get("\(emulator.url)/enrollmentserver/contract?api-version=1.0").status == 404)
            #expect(try await HTTP.get("\(emulator.url)/contoso.com/enrollmentserver/contract").status == 404)
            let finger = try await HTTP.get(
                "\(emulator.url)/.well-known/webfinger?resource=https%3A%2F%2Ffs.contoso.com%2Fadfs")
            #expect(finger["links"] == [])
        }
    }

    @Test func namesTheIssuerOfItsTokens() async throws {
        try await withEmulator { emulator in
            let configuration = try await HTTP.get(
                "\(emulator.url)/contoso.example/v2.0/.well-known/openid-configuration")
            let tokens = try await App(emulator: emulator).signIn()
            #expect(configuration["issuer"] == tokens.claims("id_token")["iss"])
            let common = try await HTTP.get("\(emulator.url)/common/v2.0/.well-known/openid-configuration")
            #expect(common["issuer"] == "\(emulator.url)/{tenantid}/v2.0")
        }
    }

    /// RFC 9207.
    @Test func namesTheIssuerOfAnOpenIDProvidersResponses() async throws {
        try await withEmulator { emulator in
            let provider = "\(emulator.url)/openid/main"
            let page =
                "\(provider)/authorize?client_id=a&response_type=code&state=s&redirect_uri=http%3A%2F%2Flocalhost"
            let configuration = "\(provider)/.well-known/openid-configuration"
            let parameter = "authorization_response_iss_parameter_supported"
            #expect(try await HTTP.get(configuration)[parameter] == true)
            #expect(try await HTTP.get(configuration)["subject_types_supported"] == ["public"])
            #expect(try await HTTP.get(page).redirect["iss"] == provider)
            emulator.control.settings.openIDConfiguration = [parameter: nil, "jwks_uri": "https://x"]
            emulator.control.settings.authorizationReply = ["iss": "https://other", "state": nil]
            #expect(try await HTTP.get(configuration)[parameter] == nil)
            #expect(try await HTTP.get(configuration)["jwks_uri"] == "https://x")
            #expect(try await HTTP.get(page).redirect["iss"] == "https://other")
            #expect(try await HTTP.get(page).redirect["state"] == nil)
            let entra = try await HTTP.get("\(emulator.url)/common/v2.0/.well-known/openid-configuration")
            #expect(entra[parameter] == nil)
        }
    }

    @Test func answersAtTheHostItWasAskedAt() async throws {
        try await withEmulator { emulator in
            let url = emulator.url.replacing("127.0.0.1", with: "localhost")
            let reply = try await HTTP.get("\(url)/common/v2.0/.well-known/openid-configuration")
            #expect(reply["token_endpoint"] == "\(url)/common/oauth2/v2.0/token")
        }
    }

    @Test(arguments: ["/common", "/common/oauth2/v2.0", "/a/b/c/d/oauth2/token", "/common/oauth2/v2.0/tokens"])
    func answersUnknownPathsWithNotFound(path: String) async throws {
        try await withEmulator { emulator in
            let reply = try await HTTP.get(emulator.url + path)
            #expect(reply.status == 404)
        }
    }

    private func instance(_ emulator: Emulator, _ host: String) async throws -> Reply {
        let parameters = Parameters([
            "api-version": "1.1", "authorization_endpoint": "https://\(host)/common/oauth2/v2.0/authorize",
        ])
        return try await HTTP.get("\(emulator.url)/common/discovery/instance?\(parameters.encoded)")
    }
}
