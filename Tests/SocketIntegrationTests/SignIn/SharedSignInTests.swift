internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// A sign-in with one library is shared with the other apps.
@Suite(.bounded) struct SharedSignInTests {
    private static let graph = "https://graph.microsoft.com"

    @Test func findsTheAccountOfAnMSALAppByNameInAnADALApp() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters())
            let byName = AccountReference(username: signedIn.account.username)
            let result = try await f.silent(f.parameters(resource: Self.graph), byName)
            #expect(!result.accessToken.isEmpty)
            #expect(result.account.homeAccountID == signedIn.account.homeAccountID)
            #expect(f.signIns == 1)
        }
    }

    @Test func findsTheAccountOfAnADALAppByIdentifierInAnMSALApp() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn("bob@contoso.com", f.parameters(resource: Self.graph))
            let identifier = try #require(signedIn.account.homeAccountID)
            let found = try await f.agent.listAccounts(
                ListAccounts(clientID: f.parameters().clientID, homeAccountID: identifier))
            #expect(found.map(\.homeAccountID) == [identifier])
            let result = try await f.silent(f.parameters(), AccountReference(homeAccountID: identifier))
            #expect(result.account.username == "bob@contoso.com")
            #expect(f.signIns == 1)
        }
    }

    @Test func identifiesAnAccountByObjectAndHomeTenant() async throws {
        try await AgentFixture.with { f in
            let result = try await f.signIn("alice@contoso.com", f.parameters())
            let tenant = f.emulator.control.tenantID("contoso.com")
            let object = f.emulator.control.objectID(of: "alice@contoso.com", in: tenant)
            #expect(result.account.homeAccountID?.text == "\(object).\(tenant)")
            #expect(result.tenantProfile?.isHome == true)
        }
    }

    @Test func listsAGuestAsOneAccountWithAProfileForEachTenant() async throws {
        try await AgentFixture.with { f in
            let home = try await f.signIn("alice@contoso.com", f.parameters())
            let reference = home.account.reference
            let guest = try await f.silent(f.parameters(realm: "fabrikam.com"), reference)
            #expect(guest.account.homeAccountID == home.account.homeAccountID)
            #expect(guest.tenantProfile?.realm == f.emulator.control.tenantID("fabrikam.com"))
            #expect(guest.accessToken != home.accessToken)
            let accounts = try await f.agent.listAccounts(ListAccounts(clientID: f.parameters().clientID))
            #expect(accounts.count == 1)
            #expect(accounts.first?.tenantProfiles.count == 2)
            let again = try await f.silent(f.parameters(realm: "fabrikam.com"), reference)
            #expect(again.isFromCache)
        }
    }

    @Test func sharesARefreshTokenInAFamily() async throws {
        let apps = ["app-1": "1", "app-2": "1"]
        var settings = EmulatorSettings()
        settings.familyApps = apps
        try await AgentFixture.with(settings: settings) { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters("app-1"))
            let other = try await f.silent(f.parameters("app-2"), signedIn.account.reference)
            #expect(other.account.homeAccountID == signedIn.account.homeAccountID)
            #expect(f.signIns == 1)
        }
    }

    @Test func asksAnAppOutsideTheFamilyToSignIn() async throws {
        var settings = EmulatorSettings()
        settings.familyApps = ["app-1": "1"]
        try await AgentFixture.with(settings: settings) { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters("app-1"))
            let reference = signedIn.account.reference
            f.emulator.control.inject(.error("invalid_grant", suberror: "client_mismatch"))
            await #expect(throws: TokenError.self) { try await f.silent(f.parameters("app-9"), reference) }
            let asked = f.redemptions
            await #expect(throws: TokenError.self) { try await f.silent(f.parameters("app-9"), reference) }
            #expect(f.redemptions == asked)
        }
    }

    @Test func appliesASignOutToTheNextCallsOfOtherApps() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters())
            let app = try f.parameters().clientID
            let reply = try await f.agent.removeAccount(
                RemoveAccount(clientID: app, account: signedIn.account.reference))
            #expect(reply.removed)
            let failure = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(resource: Self.graph), AccountReference(username: "alice@contoso.com"))
            }
            #expect(failure?.code == .interactionRequired)
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: app)).isEmpty)
        }
    }

    @Test func removesAnAccountFromEveryApp() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters("app-1"))
            try await f.signIn("alice@contoso.com", f.parameters("app-2"))
            let wipe = RemoveAccount(
                clientID: try f.parameters("app-1").clientID, account: signedIn.account.reference, extent: .account)
            #expect(try await f.agent.removeAccount(wipe).removed)
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil)).isEmpty)
            #expect(try await f.agent.removeAccount(wipe).removed == false)
        }
    }

    @Test func separatesSharingGroups() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters())
            let group = try #require(SharingGroup("another"))
            await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(group: group), signedIn.account.reference)
            }
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil, sharingGroup: group)).isEmpty)
        }
    }
}
