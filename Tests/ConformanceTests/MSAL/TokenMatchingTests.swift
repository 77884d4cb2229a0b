internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The cached token for a request, and the tokens that replace each other.
@Suite(.bounded) struct TokenMatchingTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: K1 MSIDDefaultTokenCacheIntegrationTests testSaveTokensWithRequestParams_
    //   withAccessTokenSameEverythingWithScopesIntersect_shouldOverwriteToken
    @Test func replacesATokenThatSharesAScope() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice, scopes: ["User.Read", "Mail.Read"]).account
            try await app.token(account, scopes: ["User.Read", "Files.Read"])
            #expect(f.redemptions == 1)
            // The first token had this scope, and has been replaced.
            try await app.token(account, scopes: ["Mail.Read"])
            #expect(f.redemptions == 2)
        }
    }

    // Mirrors: K2 MSIDDefaultTokenCacheIntegrationTests testSaveTokensWithRequestParams_
    //   withAccessTokenSameEverythingWithScopesDontIntersect_shouldWriteNewToken
    @Test func keepsTokensOfDifferentScopes() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let first = try await app.signIn(Self.alice)
            let second = try await app.token(first.account, scopes: ["Mail.Read"])
            #expect(try await app.token(first.account).accessToken == first.accessToken)
            #expect(try await app.token(first.account, scopes: ["Mail.Read"]).accessToken == second.accessToken)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: K3 MSIDDefaultTokenCacheIntegrationTests
    //   testSaveTokensWithRequestParams_withAccessTokenAndDifferentAuthorities_shouldSave2Tokens, …DifferentUsers_…
    @Test func keepsATokenForEachTenantAndAccount() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let alice = try await app.signIn(Self.alice)
            let bob = try await app.signIn("bob@contoso.com")
            let guest = try await app.token(alice.account) { $0.authority = try? f.msalAuthority("fabrikam.com") }
            #expect(Set([alice, bob, guest].map(\.accessToken)).count == 3)
            f.emulator.control.resetCounts()
            #expect(try await app.token(alice.account).accessToken == alice.accessToken)
            #expect(try await app.token(bob.account).accessToken == bob.accessToken)
            let again = try await app.token(alice.account) { $0.authority = try? f.msalAuthority("fabrikam.com") }
            #expect(again.accessToken == guest.accessToken)
            #expect(f.emulator.control.counts.requests.isEmpty)
        }
    }

    // Mirrors: K4 MSIDAccountCredentialsCacheTests
    //   testGetCredentialsWithQuery_…_targetMatchingOptionsSubset_shouldReturnItems, …Any…; M12 MSALAcquireTokenTests
    //   testAcquireTokenSilent_whenATAvailable_andMixedCaseInputScope_shouldReturnToken
    @Test(arguments: [
        (["User.Read"], true), (["mail.READ", "USER.read"], true), ([], true), ([" User.Read ", "User.Read"], true),
        (["User.Read", "Files.Read"], false), (["User.ReadWrite"], false),
    ])
    func returnsATokenForASubsetOfItsScopes(scopes: [String], isCached: Bool) async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice, scopes: ["User.Read", "Mail.Read"])
            let result = try await app.token(signedIn.account, scopes: scopes)
            #expect((result.accessToken == signedIn.accessToken) == isCached)
            #expect(f.redemptions == (isCached ? 0 : 1))
        }
    }

    // Mirrors: common MSIDRequestParameters, which joins the scopes by spaces, and MSIDConfiguration, which splits them
    @Test func countsEachScopeOfATextWithSeveral() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice, scopes: ["User.Read Mail.Read"])
            let result = try await app.token(signedIn.account, scopes: ["Mail.Read User.Read"])
            #expect(result.accessToken == signedIn.accessToken)
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: K5 MSIDAccountCredentialsCacheTests
    //   testGetCredentialsWithQuery_whenNotExactMatch_andAccessTokenQuery_matchByEnvironmentAliases_shouldReturnItems
    @Test func findsATokenUnderAnotherHostOfItsCloud() async throws {
        try await AgentFixture.online { f in
            let app = try f.msalApp(host: "login.microsoftonline.com")
            let signedIn = try await app.signIn(Self.alice)
            f.emulator.control.resetCounts()
            let renamed = try f.msalApp(host: "login.windows.net")
            #expect(try await renamed.listed() == [signedIn.account])
            #expect(try await renamed.token(signedIn.account).accessToken == signedIn.accessToken)
            #expect(f.emulator.control.counts.requests.isEmpty)
        }
    }

    // Mirrors: D15 MSIDDefaultAccessorSSOIntegrationTests
    //   testGetAccount_whenMultipleAccountsPresent_andRealmHintProvided_shouldReturnMatchingAccount,
    //   …_andNonMatchingRealmHintProvided_shouldReturnAnyAccount
    @Test func selectsTheProfileByTheRequestedTenant() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let home = try await app.signIn(Self.alice)
            for domain in ["fabrikam.com", "tailspin.com", "fabrikam.com"] {
                let result = try await app.token(home.account) { $0.authority = try? f.msalAuthority(domain) }
                let tenant = f.emulator.control.tenantID(domain)
                #expect(result.account.identifier == home.account.identifier)
                #expect(result.tenantProfile.tenantId == tenant)
                #expect(!result.tenantProfile.isHomeTenantProfile)
                #expect(result.tenantProfile.identifier == f.emulator.control.objectID(of: Self.alice, in: tenant))
                #expect(result.account.accountClaims == nil)
                #expect(result.authority.url.lastPathComponent == tenant)
            }
            #expect(f.redemptions == 2)
        }
    }

    // Mirrors: MSALPublicClientApplicationTests testAcquireSilentScopesUser_
    //   whenNoAuthority_andCommonAuthorityInPublicClientApplication_shouldUseAccountHomeAuthority, testAcquireTokenSilent_
    //   whenNoAuthority_andCommonAuthorityInPublicClientApplication_andNoAccountMetadata_shouldUseHomeAuthority
    @Test(arguments: ["common", "organizations"])
    func usesTheAccountsTenantIfTheAuthorityHasNone(realm: String) async throws {
        try await AgentFixture.with { f in
            let tenant = f.emulator.control.tenantID("contoso.com")
            let account = try await f.msalApp(realm: tenant).signIn(Self.alice).account
            let app = try f.msalApp(realm: realm)
            try await app.token(account, scopes: ["Mail.Read"])
            #expect(f.redeemed.map(\.path) == ["/\(tenant)/oauth2/v2.0/token"])
            try await app.token(account)
            #expect(f.redemptions == 1)
        }
    }
}
