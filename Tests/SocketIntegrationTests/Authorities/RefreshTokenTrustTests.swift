internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

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

    /// `Authority` does not have such a path, so the request is written byte by byte, as an app without the SDK may do.
    @Test func redeemsATokenOfADFSForNoOtherPathOfItsHost() async throws {
        try await AgentFixture.online { f in
            let farm = try f.parameters(
                at: "https://fs.contoso.example/adfs", kind: .adfs, resource: "https://r", validates: false)
            let account = try await f.signIn(Self.alice, farm).account.reference
            let honest = try RequestFrame.encode(
                AcquireTokenSilent(parameters: farm, account: account, forceRefresh: true), id: 1)
            let attack = try #require(Self.replaced(honest, "contoso.example/adfs", "contoso.example/~mal"))
            let code: TokenError.Code? = try await offPool {
                let peer = try RawPeer(f.socketPath)
                peer.write(attack)
                do {
                    _ = try peer.reply()?.reply(to: AcquireTokenSilent.self)
                    return nil
                } catch let error as TokenError {
                    return error.code
                }
            }
            #expect(code == .invalidDeveloperParameter)
            #expect(f.redemptions == 0)
            _ = try await f.silent(farm, account, force: true)
            #expect(f.redeemers == ["fs.contoso.example"])
        }
    }

    private static func replaced(_ bytes: [UInt8], _ old: String, _ new: String) -> [UInt8]? {
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        let starts = bytes.indices.filter { bytes[$0...].starts(with: old) }
        guard old.count == new.count, starts.count == 1, let start = starts.first else { return nil }
        return Array(bytes[..<start] + new + bytes[(start + old.count)...])
    }

    /// At a domain of their organisation, B2C and External ID are identified by the path, too.
    @Test(arguments: [
        (Authority.Kind.ciam, "contoso.onmicrosoft.com", "~mallory"),
        (.b2c, "tfp/contoso.onmicrosoft.com/b2c_1_signin", "~mallory/b2c_1_signin"),
        (.b2c, "tfp/contoso.onmicrosoft.com/b2c_1_signin", "tfp/~mallory/b2c_1_signin"),
    ])
    func redeemsATokenOfACustomDomainForNoOtherPathOfIt(kind: Authority.Kind, path: String, other: String) async throws
    {
        try await AgentFixture.online { f in
            let own = try f.parameters(at: "https://login.contoso.com/\(path)", kind: kind, validates: false)
            let account = try await f.signIn("alice@contoso.onmicrosoft.com", own).account.reference
            let claimed = try f.parameters(at: "https://login.contoso.com/\(other)", kind: kind, validates: false)
            for reference in [account, AccountReference()] {
                let error = await #expect(throws: TokenError.self) {
                    try await f.silent(claimed, reference, force: true)
                }
                #expect(error?.code == .interactionRequired)
            }
            #expect(f.redemptions == 0)
            // The app itself gets new tokens, also after a restart.
            _ = try await f.silent(own, account, force: true)
            try await f.restarted { f in
                _ = try await f.silent(own, account, force: true)
                #expect(f.redeemers == ["login.contoso.com", "login.contoso.com"])
            }
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
                // The token is still valid, and is sent as soon as the document names its endpoint again.
                f.emulator.control.settings.tokenHost = nil
                _ = try await f.silent(parameters, account, force: true)
                #expect(f.redemptions == 1)
            }
        }
    }

    /// MSAL for Python gives Entra's type to the accounts of any OpenID provider. Every path of a host of Entra's may have its tokens.
    @Test func sendsAnImportedTokenToNoHostThatIsNotKnownAsEntras() async throws {
        try await AgentFixture.online { f in
            let host = "id.contoso.example"
            let home = "uid.utid"
            let file = """
                {"Account":{"a":{"home_account_id":"\(home)","environment":"\(host)","realm":"utid",
                "local_account_id":"uid","username":"\(Self.alice)","authority_type":"MSSTS"}},
                "RefreshToken":{"r":{"home_account_id":"\(home)","environment":"\(host)","client_id":"app-1",
                "credential_type":"RefreshToken","secret":"imported"}}}
                """
            let report = try await f.agent.importCache(Secret(file), format: .msalJSON)
            #expect(report.accounts == 0)
            #expect(report.refreshTokens == 0)
            #expect(report.skipped.allSatisfy { $0.reason.contains("\(host) is not known as a host of Entra") })
            #expect(report.skipped.count == 2)
            for kind in [Authority.Kind.entra, .ciam, .b2c, .openID] {
                let claimed = try f.parameters(at: "https://\(host)/~mallory", kind: kind, validates: false)
                for account in [
                    AccountReference(homeAccountID: HomeAccountID(home)), AccountReference(username: Self.alice),
                    AccountReference(),
                ] {
                    let error = await #expect(throws: TokenError.self) { try await f.silent(claimed, account) }
                    #expect(error?.code == .interactionRequired)
                }
            }
            #expect(f.redemptions == 0)
            #expect(f.internet?.hosts.contains(host) == false)
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
