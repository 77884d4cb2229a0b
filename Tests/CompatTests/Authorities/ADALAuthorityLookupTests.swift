internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// The authorities under which an ADAL app finds its tokens.
@Suite(.bounded) struct ADALAuthorityLookupTests {
    private static let graph = "https://graph.microsoft.com"
    private static let alice = "alice@contoso.com"
    private static let host = "https://login.microsoftonline.com"

    // Mirrors: MSIDLegacyTokenCacheIntegrationTests organizations authority, consumers authority
    @Test func treatsOrganizationsAsCommonAndConsumersAsSeparate() async throws {
        try await AgentFixture.online { f in
            let first = try await f.adal("\(Self.host)/common").acquire(Self.graph, Self.alice)
            let organizations = try await f.adal("\(Self.host)/organizations").silent(Self.graph, Self.alice)
            #expect(organizations.accessToken == first.accessToken)
            #expect(organizations.authority == "\(Self.host)/organizations")
            let consumers = try await f.adal("\(Self.host)/consumers").silent(Self.graph, Self.alice)
            #expect(consumers.error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue)
            #expect(f.redemptions == 0)
        }
    }

    @Test func servesATenantFromATokenIssuedByCommon() async throws {
        try await AgentFixture.online { f in
            #expect(try await f.adal("\(Self.host)/common").acquire(Self.graph, Self.alice).status == AD_SUCCEEDED)
            let tenant = try f.adal("\(Self.host)/Contoso.com")
            let there = try await tenant.silent(Self.graph, Self.alice)
            #expect(there.status == AD_SUCCEEDED)
            #expect(there.authority == "\(Self.host)/contoso.com")
            #expect(try await tenant.silent(Self.graph, Self.alice).accessToken == there.accessToken)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: AADAuthorityValidationIntegrationTests whenDifferentPreferredNetwork
    @Test(arguments: [true, false])
    func sendsRequestsToThePreferredHostOfTheCloud(validates: Bool) async throws {
        try await AgentFixture.online { f in
            let context = try f.adal("https://login.windows.net/common", validates: validates)
            let first = try await context.acquire(Self.graph, Self.alice)
            #expect(first.authority == "https://login.windows.net/common")
            #expect(try await context.silent(Self.graph, Self.alice, force: true).status == AD_SUCCEEDED)
            #expect(f.redeemers == ["login.microsoftonline.com"])
            let alias = try await f.adal("https://sts.windows.net/common").silent(Self.graph, Self.alice)
            #expect(alias.authority == "https://sts.windows.net/common")
            #expect(f.redemptions == 1)
        }
    }

    @Test func refusesAnUnknownHostUnlessTheAppTrustsIt() async throws {
        try await AgentFixture.online { f in
            let refused = try await f.adal("https://login.contoso.example/common").acquire(Self.graph, Self.alice)
            #expect(refused.error?.domain == ADAuthenticationErrorDomain)
            #expect(refused.error?.code == ADErrorCode.ERROR_DEVELOPER_AUTHORITY_VALIDATION.rawValue)
            let vouched = try f.adal("https://login.contoso.example/common", validates: false)
            #expect(try await vouched.acquire(Self.graph, Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: ADAuthorityValidation checkAuthority:validateAuthority:completionBlock:, which precedes every refresh
    @Test func sendsNoRefreshTokenToAnUnknownHost() async throws {
        try await AgentFixture.online { f in
            let authority = "https://login.contoso.example/common"
            let vouched = try f.adal(authority, validates: false)
            #expect(try await vouched.acquire(Self.graph, Self.alice).status == AD_SUCCEEDED)
            let context = try f.adal(authority)
            let silent = try await context.silent(Self.graph, Self.alice, force: true)
            let redeemed = await context.acquireToken(
                withRefreshToken: "r", resource: Self.graph, clientId: "app-1",
                redirectUri: try #require(URL(string: "http://localhost")))
            for result in [silent, redeemed] {
                #expect(result.error?.domain == ADAuthenticationErrorDomain)
                #expect(result.error?.code == ADErrorCode.ERROR_DEVELOPER_AUTHORITY_VALIDATION.rawValue)
                #expect(result.error?.protocolCode == "invalid_instance")
            }
            #expect(f.redemptions == 0)
        }
    }
}
