internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// Attacks that try to have a refresh token sent to a host that did not issue it.
@Suite(.bounded) struct RefreshTokenTrustTests {
    private static let alice = "alice@contoso.example"
    private static let mallory = "mallory@contoso.com"

    /// Every host that is not built in, as the aliases of a provider on this machine: of an OpenID provider, a B2C tenant, an
    /// AD FS farm, and another cloud of Entra's.
    @Test(arguments: [
        ("https://id.contoso.example/openid/Main", Authority.Kind.openID),
        ("https://contoso.b2clogin.com/contoso.com/b2c_1_signin", .b2c),
        ("https://fs.contoso.example/adfs", .adfs),
        ("https://login.contoso.example/common", .entra),
    ])
    func believesNoProviderOnThisMachineAboutOtherHosts(url: String, kind: Authority.Kind) async throws {
        let victim = try Authority(url, kind: kind)
        var settings = EmulatorSettings()
        settings.hostAliases = [victim.environment]
        try await AgentFixture.online(settings: settings) { f in
            // The attacker's authority is asked, and claims the victim's host.
            _ = try await f.signIn(Self.mallory, f.parameters(realm: "common"))
            #expect(f.emulator.control.counts[.instanceDiscovery] == 1)
            f.emulator.control.settings.hostAliases = []
            f.emulator.control.settings.clouds = [EmulatedCloud(hosts: ["login.contoso.example"])]
            let parameters = try f.parameters(at: url, kind: kind, validates: false)
            let account = try await f.signIn(Self.alice, parameters).account.reference
            _ = try await f.silent(parameters, account, force: true)
            #expect(f.redeemers == [victim.environment])
            try await f.restarted { f in
                _ = try await f.silent(parameters, account, force: true)
                #expect(f.redeemers == [victim.environment, victim.environment])
            }
        }
    }

    @Test func redeemsATokenOfEntraForNoOpenIDProviderOnItsHost() async throws {
        var settings = EmulatorSettings()
        settings.clouds = [EmulatedCloud(hosts: ["login.contoso.example"])]
        try await AgentFixture.online(settings: settings) { f in
            let entra = try f.parameters(at: "https://login.contoso.example/common")
            let account = try await f.signIn(Self.mallory, entra).account.reference
            let claimed = try f.parameters(at: "https://login.contoso.example/openid/mallory", kind: .openID)
            for reference in [account, AccountReference(username: Self.mallory), AccountReference()] {
                let error = await #expect(throws: TokenError.self) { try await f.silent(claimed, reference) }
                #expect(error?.code == .interactionRequired)
            }
            #expect(f.redemptions == 0)
            _ = try await f.silent(entra, account, force: true)
            #expect(f.redeemers == ["login.contoso.example"])
        }
    }

    @Test func sendsAnOpenIDProvidersTokenToTheEndpointOfTheSignInOnly() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: "https://id.contoso.example/openid/Main", kind: .openID)
            let account = try await f.signIn(Self.alice, parameters).account.reference
            // The discovery document is read again after a restart, and names another host now.
            f.emulator.control.settings.tokenHost = "evil.example"
            try await f.restarted { f in
                let error = await #expect(throws: TokenError.self) {
                    try await f.silent(parameters, account, force: true)
                }
                #expect(error?.code == .interactionRequired)
                #expect(error?.message.contains("evil.example") == true)
                #expect(f.redemptions == 0)
                #expect(f.internet?.hosts.contains("evil.example") == false)
            }
        }
    }

    @Test func sendsAnImportedTokenToNoPortThatItsFileDoesNotName() async throws {
        try await AgentFixture.with { f in
            let home = "uid.utid"
            let file = """
                {"Account":{"a":{"home_account_id":"\(home)","environment":"127.0.0.1","realm":"utid",
                "local_account_id":"uid","username":"alice@contoso.com","authority_type":"MSSTS"}},
                "RefreshToken":{"r":{"home_account_id":"\(home)","environment":"127.0.0.1","client_id":"app-1",
                "credential_type":"RefreshToken","secret":"imported"}}}
                """
            let report = try await f.agent.importCache(Secret(file), format: .msalJSON)
            #expect(report.refreshTokens == 1)
            let account = AccountReference(homeAccountID: HomeAccountID(home))
            let error = await #expect(throws: TokenError.self) { try await f.silent(f.parameters(), account) }
            #expect(error?.code == .interactionRequired)
            #expect(f.redemptions == 0)
        }
    }
}
