internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// Entra's authorities: audiences, tenants and clouds.
@Suite(.bounded) struct EntraAuthorityTests {
    private static let host = "https://login.microsoftonline.com"
    private static let alice = "alice@contoso.com"
    private static let bob = "bob@outlook.com"

    @Test(arguments: [
        ("common", alice), ("organizations", alice), ("common", bob), ("consumers", bob), ("contoso.com", alice),
        ("Contoso.com/", alice), ("9188040d-6c67-4c5b-b112-36a304b66dad", bob),
    ]) func findsTheTokenOfEachAudienceAgain(realm: String, username: String) async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: "\(Self.host)/\(realm)")
            let first = try await f.signIn(username, parameters)
            let tenant = try #require(first.account.homeAccountID?.tenantID)
            #expect(first.authority == "\(Self.host)/\(tenant)")
            #expect(first.account.environment == "login.windows.net")
            #expect(first.tenantProfile?.isHome == true)
            let second = try await f.silent(parameters, first.account.reference)
            #expect(second.isFromCache)
            #expect(second.accessToken == first.accessToken)
            #expect(second.authority == first.authority)
        }
    }

    // Mirrors: MSALAcquireTokenTests testAcquireTokenSilent_whenNoAuthority_andCommonAuthorityInPublicClientApplication_andNoAccountMetadata_shouldUseHomeAuthority
    @Test(arguments: ["common", "organizations", "consumers"])
    func usesTheHomeTenantForAnAuthorityWithoutATenant(realm: String) async throws {
        try await AgentFixture.online { f in
            let tenant = f.emulator.control.tenantID("contoso.com")
            let first = try await f.signIn(Self.alice, f.parameters(at: "\(Self.host)/\(tenant)"))
            let result = try await f.silent(f.parameters(at: "\(Self.host)/\(realm)"), first.account.reference)
            #expect(result.isFromCache)
            #expect(result.authority == "\(Self.host)/\(tenant)")
        }
    }

    // Mirrors: MSIDAADAuthorityTests testNeedsUpdateToHomeAuthority_organizations_MSATenant_shouldReturnFalse
    @Test func refusesAPersonalAccountAtOrganizations() async throws {
        try await AgentFixture.online { f in
            let reference = try await f.signIn(Self.bob, f.parameters(at: "\(Self.host)/consumers")).account.reference
            let error = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(at: "\(Self.host)/organizations"), reference)
            }
            #expect(error?.code == .interactionRequired)
            let asked = try #require(f.emulator.control.requests.last { $0.counter == .refreshToken })
            #expect(asked.path == "/organizations/oauth2/v2.0/token")
        }
    }

    @Test func keepsATokenForEachTenantOfAGuest() async throws {
        try await AgentFixture.online { f in
            let home = try f.parameters(at: "\(Self.host)/common")
            let away = try f.parameters(at: "\(Self.host)/fabrikam.example")
            let reference = try await f.signIn(Self.alice, home).account.reference
            let guest = try await f.silent(away, reference)
            #expect(!guest.isFromCache)
            #expect(guest.tenantProfile?.isHome == false)
            #expect(guest.tenantProfile?.realm == f.emulator.control.tenantID("fabrikam.example"))
            // The request names the domain, the token is cached with the tenant's ID.
            let again = try await f.silent(away, reference)
            #expect(again.accessToken == guest.accessToken)
            let own = try await f.silent(home, reference)
            #expect(own.isFromCache)
            #expect(own.tenantProfile?.isHome == true)
            let account = try #require(try await f.agent.listAccounts(ListAccounts(clientID: home.clientID)).first)
            #expect(account.tenantProfiles.map(\.isHome) == [true, false])
        }
    }

    // Mirrors: MSIDDefaultAccessorSSOIntegrationTests testGetRefreshTokenWithAccount_whenDifferentAuthority_shouldReturnToken
    @Test func redeemsARefreshTokenInEveryTenantAndAliasOfItsCloud() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: "https://login.windows.net/contoso.com")
            let reference = try await f.signIn(Self.alice, parameters).account.reference
            let alias = try f.parameters(at: "https://sts.windows.net/contoso.com")
            #expect(try await f.silent(alias, reference, force: true).account.reference == reference)
            let other = try f.parameters(at: "https://login.microsoft.com/fabrikam.example", scopes: ["Mail.Read"])
            #expect(try await f.silent(other, reference).account.reference == reference)
            #expect(f.redeemers == ["login.microsoftonline.com", "login.microsoftonline.com"])
            #expect(f.emulator.control.counts[.instanceDiscovery] == 0)
        }
    }

    @Test(arguments: ["login.microsoftonline.us", "login.chinacloudapi.cn", "login.microsoftonline.de"])
    func sendsARefreshTokenToNoOtherCloud(host: String) async throws {
        try await AgentFixture.online { f in
            let reference = try await f.signIn(Self.alice, f.parameters(at: "\(Self.host)/common")).account.reference
            let elsewhere = try f.parameters(at: "https://\(host)/common")
            let error = await #expect(throws: TokenError.self) { try await f.silent(elsewhere, reference) }
            #expect(error?.code == .interactionRequired)
            #expect(f.redemptions == 0)
            // An account with the same identifier in the other cloud is served from that cloud.
            #expect(try await f.signIn(Self.alice, elsewhere).account.reference == reference)
            _ = try await f.silent(elsewhere, reference, force: true)
            _ = try await f.silent(f.parameters(at: "\(Self.host)/common"), reference, force: true)
            #expect(f.redeemers.count == 2)
            #expect(f.redeemers.last == "login.microsoftonline.com")
        }
    }

    // Mirrors: MSIDDefaultAccessorSSOIntegrationTests testAllAccountsWithEnvironment_whenTokensInBothCachesWithDifferentAuthorities_andAliasesAvailable_shouldReturnOneAccount
    // Mirrors: MSIDDefaultAccessorSSOIntegrationTests …_andNoClientInfo_andAliasesAvailable_shouldReturnOneAccount
    // Mirrors: MSIDDefaultAccessorSSOIntegrationTests …_andNoAliases_andNilEnvironment_shouldReturnTwoAccounts
    @Test(arguments: [
        ("login.windows.net", true, 1), ("login.windows.net", false, 1), ("login.microsoftonline.us", false, 2),
    ]) func listsAccountsOfBothLibrariesAsOneInACloud(host: String, hasClientInfo: Bool, count: Int) async throws {
        try await AgentFixture.online { f in
            f.emulator.control.settings.sendsClientInfo = hasClientInfo
            let adal = try f.parameters(at: "https://\(host)/common", resource: "https://graph.microsoft.com")
            try await f.signIn(Self.alice, adal)
            f.emulator.control.settings.sendsClientInfo = true
            try await f.signIn(Self.alice, f.parameters(at: "\(Self.host)/common"))
            let accounts = try await f.agent.listAccounts(ListAccounts(clientID: adal.clientID))
            #expect(accounts.count == count)
            #expect(Set(accounts.map(\.username)) == [Self.alice])
        }
    }
}
