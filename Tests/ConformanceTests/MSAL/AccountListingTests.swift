internal import ADALCompat
internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// The accounts that an app lists, and their properties.
@Suite(.bounded) struct AccountListingTests {
    private static let alice = "alice@contoso.com"
    private static let bob = "bob@contoso.com"

    private static var everybody: MSALAccountEnumerationParameters {
        let parameters = MSALAccountEnumerationParameters()
        parameters.returnOnlySignedInAccounts = false
        return parameters
    }

    // Mirrors: D12 MSIDDefaultAccessorSSOIntegrationTests testAccountsWithAuthority_
    //   whenReturnSignedInAccountTrue_shouldFilterOutSignedOutAccountInBothDefaultAndLegacyCache
    @Test func hidesAccountsOfBothLibrariesAfterASignOut() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            try await app.signIn(Self.alice)
            try await LegacyApp(f).signIn(Self.bob)
            let accounts = try await app.listed()
            #expect(accounts.count == 2)
            for account in accounts { try await offPool { try app.remove(account) } }
            #expect(try await app.listed().isEmpty)
            #expect(Set(try await app.listed(Self.everybody)) == Set(accounts))
        }
    }

    // Mirrors: D13 MSIDDefaultAccessorSSOIntegrationTests
    //   testAccountsWithAuthority_whenReturnSignedInAccountTrue_shouldIncludeSignedInAccountWithoutRefreshToken
    @Test func listsASignInWithoutARefreshToken() async throws {
        try await AgentFixture.with(settings: .with { $0.tokenReply = ["refresh_token": nil] }) { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            #expect(try await app.listed() == [account])
            #expect(try await f.msalApp("app-2").listed().isEmpty)
        }
    }

    // Mirrors: D14 MSIDDefaultAccessorSSOIntegrationTests
    //   testAccountsWithAuthority_whenReturnSignedInAccountFalse_shouldReturnAllAvailableAccounts
    @Test func listsEveryAccountOfTheGroupOnRequest() async throws {
        try await AgentFixture.with { f in
            try await f.msalApp().signIn(Self.alice)
            try await LegacyApp(f, clientID: "app-2").signIn(Self.bob)
            let app = try f.msalApp("app-3")
            #expect(try await app.listed().isEmpty)
            #expect(Set(try await app.listed(Self.everybody).map(\.username)) == [Self.alice, Self.bob])
            let elsewhere = try f.msalApp("app-3") { $0.cacheConfig.keychainSharingGroup = "another" }
            #expect(try await elsewhere.listed(Self.everybody).isEmpty)
        }
    }

    // Mirrors: D16 MSIDDefaultAccessorSSOIntegrationTests
    //   testGetAccount_whenNoAccountsInCache_shouldReturnNilAndNilError; M6 MSALPublicClientApplicationTests
    //   testAccountWithHomeAccountId_whenAccountExistsButNotMatching_shouldReturnNoAccountNoError
    @Test func reportsAMissWithoutAnMSALError() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            for _ in 1...2 {
                let byIdentifier = await failure { _ = try await app.found(identifier: "no.body") }
                #expect(byIdentifier.map { $0.domain != MSALErrorDomain } == true)
                let byName = await failure { _ = try await app.found(username: "nobody@contoso.com") }
                #expect(byName.map { $0.domain != MSALErrorDomain } == true)
                #expect(try await app.listed(MSALAccountEnumerationParameters(identifier: "no.body")).isEmpty)
                try await app.signIn(Self.alice)
            }
        }
    }

    /// A guest can have the name of somebody else in the tenant that invited it.
    @Test func findsTheAccountWhoseHomeTenantKnowsTheName() async throws {
        try await AgentFixture.with { f in
            let environment = try #require(URL(string: f.emulator.url)?.hostAndPort)
            let accounts = [("aa.guest-home", "host"), ("zz.host", "host")].map { (home, realm) in
                """
                "\(home)":{"home_account_id":"\(home)","environment":"\(environment)","realm":"\(realm)",
                "local_account_id":"\(home.prefix(2))","username":"\(Self.alice)","authority_type":"MSSTS"}
                """
            }
            let tokens = ["aa.guest-home", "zz.host"].map { home in
                """
                "\(home)":{"home_account_id":"\(home)","environment":"\(environment)","client_id":"app-1",
                "credential_type":"RefreshToken","secret":"imported"}
                """
            }
            let file =
                #"{"Account":{\#(accounts.joined(separator: ","))},"RefreshToken":{\#(tokens.joined(separator: ","))}}"#
            _ = try await f.agent.importCache(Secret(file), format: .msalJSON)
            let app = try f.msalApp()
            #expect(try await app.listed().compactMap(\.identifier).sorted() == ["aa.guest-home", "zz.host"])
            #expect(try await app.found(username: Self.alice).identifier == "zz.host")
            // White space around the name does not matter.
            #expect(try await app.found(username: " \(Self.alice)\n").identifier == "zz.host")
        }
    }

    // Mirrors: M1 MSALAccountsProviderTests testAllAccounts_whenLegacyAccountInCache_shouldReturnAccount
    @Test func listsAnAccountOfADALWithItsTenantAndItsClaims() async throws {
        try await AgentFixture.with { f in
            try await LegacyApp(f).signIn(Self.alice)
            let account = try #require(try await f.msalApp().listed().first)
            #expect(account.username == Self.alice)
            #expect(account.environment == URL(string: f.emulator.url)?.hostAndPort)
            #expect(account.tenantProfiles?.map(\.tenantId) == [f.emulator.control.tenantID("contoso.com")])
            #expect(account.tenantProfiles?.first?.isHomeTenantProfile == true)
            #expect(account.accountClaims?["upn"] as? String == Self.alice)
        }
    }

    // Mirrors: M2 MSALAccountsProviderTests testAllAccounts_
    //   whenDefaultAccountInCacheWithDifferentClientIdButSameFamily_shouldFindItButNotExposeAllClaims, and its legacy twin
    @Test(arguments: [true, false])
    func listsTheAccountOfAnotherMemberWithoutItsClaims(signedInWithMSAL: Bool) async throws {
        try await AgentFixture.with(settings: .family()) { f in
            if signedInWithMSAL {
                try await f.msalApp("family-1").signIn(Self.alice)
            } else {
                try await LegacyApp(f, clientID: "family-1").signIn(Self.alice)
            }
            let account = try #require(try await f.msalApp("family-2").listed().first)
            #expect(account.username == Self.alice)
            #expect(account.accountClaims == nil)
            #expect(account.tenantProfiles?.count == 1)
            #expect(account.tenantProfiles?.first?.claims == nil)
        }
    }

    // Mirrors: M3 MSALAccountsProviderTests
    //   testAllAccounts_whenMixLegacyAccountsAndDefaultAccountsInCache_shouldReturnThemProperly; M4
    //   testAccountForUsername_whenMix…, testAccountForHomeAccountId_whenMix…
    @Test func mergesAccountsOfBothLibrariesWithAllTheirTenants() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let (first, second) = ("fabrikam.com", "tailspin.com")
            let alice = try await app.signIn(Self.alice).account
            try await app.token(alice) { $0.authority = try? f.msalAuthority(first) }
            #expect(try await LegacyApp(f, realm: second).silent(Self.alice).status == AD_SUCCEEDED)
            try await LegacyApp(f).signIn(Self.bob)
            let bob = try await app.found(username: Self.bob)
            try await app.token(bob) { $0.authority = try? f.msalAuthority(first) }
            let accounts = try await app.listed()
            #expect(accounts.count == 2)
            let tenants = Dictionary(
                accounts.map { ($0.username, ($0.tenantProfiles ?? []).compactMap(\.tenantId)) },
                uniquingKeysWith: +)
            let ids = ["contoso.com", first, second].map(f.emulator.control.tenantID)
            #expect(tenants[Self.alice]?.first == ids.first)
            #expect(Set(tenants[Self.alice] ?? []) == Set(ids))
            #expect(Set(tenants[Self.bob] ?? []) == Set(ids.prefix(2)))
            #expect(try await app.found(username: Self.alice).tenantProfiles?.count == 3)
            let identifier = try #require(bob.identifier)
            #expect(try await app.found(identifier: identifier).tenantProfiles?.count == 2)
        }
    }

    // Mirrors: MSALAccountsProvider filteredAccountsForParameters, where we differ: it filters records before it merges them
    @Test func showsAllTenantsOfAnAccountThatIsFoundByOneOfThem() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let alice = try await app.signIn(Self.alice).account
            try await app.token(alice) { $0.authority = try? f.msalAuthority("fabrikam.com") }
            let profiles = try #require(try await app.listed().first?.tenantProfiles)
            let guest = try #require(profiles.first { !$0.isHomeTenantProfile }?.identifier)
            #expect(guest != alice.homeAccountId?.objectId)
            let found = try await app.listed(MSALAccountEnumerationParameters(tenantProfileIdentifier: guest))
            #expect(found == [alice])
            #expect(found.first?.tenantProfiles?.map(\.tenantId) == profiles.map(\.tenantId))
            #expect(found.first?.accountClaims?["preferred_username"] as? String == Self.alice)
        }
    }

    // Mirrors: M7 MSALPublicClientApplicationTests testAllAccount_
    //   whenFociTokenExistsForOtherClient_andAppMetadataWithNoFamilyIdInCache_shouldReturnNoAccountNoError; and
    //   …_andAppMetadataWithSameFamilyIdInCache_shouldReturnAccountNoError; testAccountWithUsername_
    //   whenFociTokenExistsForOtherClient_andNoAppMetadataInCache_shouldReturnAccountNoError
    @Test func listsTheAccountsOfAFamilyForMembersAndPossibleMembers() async throws {
        try await AgentFixture.with(settings: .family()) { f in
            try await f.msalApp("family-1").signIn(Self.alice)
            try await f.msalApp("family-2").signIn(Self.bob)
            #expect(try await f.msalApp("family-2").listed().count == 2)
            let app = try f.msalApp("stranger")
            #expect(try await app.found(username: Self.alice).username == Self.alice)
            try await app.signIn("carl@contoso.com")
            #expect(try await app.listed().map(\.username) == ["carl@contoso.com"])
        }
    }

    // Mirrors: M41 MSALPublicClientApplicationTests testAllAccount_whenAccountExistsForOtherClient_andNotFociClient_
    //   shouldReturnNoAccountNoError, testAccountWithHomeAccountId_whenFociTokenExistsForOtherClient_andAppMetadataInCache_
    //   shouldReturnAccountNoError
    @Test func findsAnAccountOfAnotherAppOnlyInItsFamily() async throws {
        try await AgentFixture.with(settings: .family()) { f in
            let ofFamily = try await f.msalApp("family-1").signIn(Self.alice).account
            let other = try await f.msalApp("app-1").signIn(Self.bob).account
            let (member, stranger) = (try f.msalApp("family-2"), try f.msalApp("app-2"))
            try await member.signIn("carl@contoso.com")
            try await stranger.signIn("dora@contoso.com")
            let identifier = try #require(ofFamily.identifier)
            #expect(try await member.found(identifier: identifier) == ofFamily)
            #expect(await failure { _ = try await stranger.found(identifier: identifier) } != nil)
            let foreign = try #require(other.identifier)
            #expect(await failure { _ = try await member.found(identifier: foreign) } != nil)
            #expect(await failure { _ = try await stranger.found(identifier: foreign) } != nil)
        }
    }

    // Mirrors: K8 MSIDAccountCredentialsCacheTests
    //   testGetAccountsWithQuery_…_matchingByHomeAccountIdWithDifferentCasing_shouldReturnAccount
    @Test func findsIdentifiersAndNamesWithoutRegardToCase() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn("Alice@Contoso.com").account
            #expect(account.username == "Alice@Contoso.com")
            let identifier = try #require(account.identifier)
            #expect(try await app.found(identifier: identifier.uppercased()) == account)
            #expect(try await app.found(username: "ALICE@contoso.COM") == account)
            let objectID = try #require(account.homeAccountId?.objectId).uppercased()
            let byProfile = MSALAccountEnumerationParameters(tenantProfileIdentifier: objectID)
            #expect(try await app.listed(byProfile) == [account])
        }
    }
}

extension URL {
    /// `host:port`, the environment of an authority.
    fileprivate var hostAndPort: String? { host.map { host in port.map { "\(host):\($0)" } ?? host } }
}
