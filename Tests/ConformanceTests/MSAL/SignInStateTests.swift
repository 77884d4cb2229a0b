internal import ADALCompat
internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// Removals and sign-outs: the entries that are removed and kept, and their persistence.
@Suite(.bounded) struct SignInStateTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: A3 MSIDAccountMetadataCacheAccessorTests
    //   testUpdateSignInStateForHomeAccountId_whenSetSignedOut_shouldSetState,
    //   testSignInStateForHomeAccountId_whenMultipleCaches_shouldReadStateFromDisc
    @Test func keepsASignOutInOtherProcessesAndAfterARestart() async throws {
        try await AgentFixture.with { f in
            let (one, other) = (try f.msalApp(), try f.msalApp())
            let account = try await one.signIn(Self.alice).account
            #expect(try await other.listed() == [account])
            try await offPool { try one.remove(account) }
            #expect(try await other.listed().isEmpty)
            #expect(await other.refusal(account)?.isInteractionRequired == true)
            try await f.restarted { again in
                #expect(await other.refusal(account)?.isInteractionRequired == true)
                try await one.signIn(Self.alice)
                try await other.token(account)
                #expect(again.redemptions == 0)
            }
        }
    }

    // Mirrors: D19 MSIDDefaultAccessorSSOIntegrationTests testClearCacheForAccount_whenAccountProvided_shouldRemoveTokens,
    //   …_andNonNilClientId_andClearAccountsYes_…, …_andNilClientId_shouldRemoveTokensForAllClientIds
    @Test(arguments: [false, true])
    func removesTheAppsTokensOnlyUnlessTheAccountIsWiped(wipes: Bool) async throws {
        try await AgentFixture.with { f in
            let (one, other) = (try f.msalApp(), try f.msalApp("app-2"))
            let account = try await one.signIn(Self.alice).account
            try await other.signIn(Self.alice)
            try await one.signIn("bob@contoso.com")
            try await one.signOut(account) { $0.wipeAccount = wipes }
            #expect(await one.refusal(account)?.isInteractionRequired == true)
            #expect((await other.refusal(account) == nil) == !wipes)
            let everybody = MSALAccountEnumerationParameters()
            everybody.returnOnlySignedInAccounts = false
            #expect(try await one.listed(everybody).contains(account) == !wipes)
            #expect(try await one.listed().map(\.username) == ["bob@contoso.com"])
        }
    }

    // Mirrors: M8 MSALPublicClientApplicationTests
    //   testRemoveAccount_whenAccountExists_andIsFociClient_shouldRemoveAccount_andMarkClientNonFoci
    @Test func keepsAMemberSignedOutAlthoughTheFamilyTokenRemains() async throws {
        try await AgentFixture.with(settings: .family()) { f in
            let (one, other) = (try f.msalApp("family-1"), try f.msalApp("family-2"))
            let account = try await one.signIn(Self.alice).account
            try await other.token(account)
            try await offPool { try one.remove(account) }
            f.emulator.control.resetCounts()
            #expect(await one.refusal(account)?.isInteractionRequired == true)
            #expect(try await one.listed().isEmpty)
            #expect(f.emulator.control.counts.requests.isEmpty)
            try await other.token(account) { $0.forceRefresh = true }
            #expect(f.signIns == 0)
        }
    }

    // Mirrors: M9 MSALPublicClientApplicationTests testRemove_whenUserDontExist_shouldReturnTrueWithNoError
    @Test func succeedsInRemovingAMissingAccount() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let stranger = MSALAccount(external: NamedAccount(username: "x@contoso.com", identifier: "no.body"))
            try await offPool { try app.remove(stranger) }
            try await app.signOut(stranger)
        }
    }

    // Mirrors: M9 MSALPublicClientApplicationTests testRemoveUser_whenKeychainError_shouldReturnNoWithError
    @Test func failsTheRemovalIfTheAgentCannotBeReached() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            app.session?.client = AgentClient(socketPath: f.folder.file("nobody.sock"))
            let error = await failure { try await offPool { try app.remove(account) } }
            #expect(error?.internalCode == MSALInternalError.internalErrorUnexpected.rawValue)
        }
    }

    // Mirrors: M10 MSALPublicClientApplicationTests
    //   testSignoutWithAccount_whenNonNilAccount_andWipeAccountTrue_andBrokerDisabled_shouldWipeAccount
    @Test func wipesAnAccountOfBothLibraries() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let legacy = try LegacyApp(f, clientID: "app-2")
            let account = try await app.signIn(Self.alice).account
            try await legacy.signIn(Self.alice)
            try await app.signOut(account) { $0.wipeAccount = true }
            #expect(try await legacy.silent(Self.alice).needsUser)
            try await LegacyApp(f).signIn("bob@contoso.com")
            #expect(try await app.listed().map(\.username) == ["bob@contoso.com"])
        }
    }

    // Mirrors: M10 MSALPublicClientApplicationTests
    //   testSignoutWithAccount_whenNonNilAccount_andWipeAllAccountsTrue_andBrokerDisabled_shouldWipeAllAccounts
    @Test func wipesEverythingInTheSharingGroupOnly() async throws {
        try await AgentFixture.with { f in
            let (app, other) = (try f.msalApp(), try f.msalApp("app-2"))
            let elsewhere = try f.msalApp { $0.cacheConfig.keychainSharingGroup = "another" }
            let account = try await app.signIn(Self.alice).account
            let bob = try await other.signIn("bob@contoso.com").account
            let kept = try await elsewhere.signIn("carl@contoso.com").account
            try await app.signOut(account) { $0.wipeCacheForAllAccounts = true }
            #expect(await other.refusal(bob)?.isInteractionRequired == true)
            let everybody = MSALAccountEnumerationParameters()
            everybody.returnOnlySignedInAccounts = false
            #expect(try await other.listed(everybody).isEmpty)
            try await elsewhere.token(kept)
        }
    }

    // Mirrors: msal.md 6.1: who signed out is asked for credentials, whatever the browser remembers
    @Test(arguments: [
        (MSALPromptType.default, false, "login"), (.selectAccount, false, "login"), (.consent, false, "consent"),
        (.default, true, "login"),
    ])
    func asksForCredentialsAfterASignOut(prompt: MSALPromptType, wipes: Bool, sent: String) async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            try await app.signOut(account) { $0.wipeAccount = wipes }
            f.emulator.control.resetCounts()
            try await app.signIn(Self.alice) {
                $0.account = account
                $0.promptType = prompt
            }
            #expect(f.authorized.map { $0.parameters["prompt"] } == [sent])
            #expect(try await app.listed() == [account])
        }
    }

    // Mirrors: MSALPublicClientApplicationTests testSignoutWithAccount_
    //   whenNonNilAccount_andSignoutFromBrowserTrue_andBrokerDisabled_shouldRemoveAccountFromBrowser
    @Test func opensTheSignOutPageAfterTheRemoval() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            try await app.signOut(account) {
                $0.signoutFromBrowser = true
                $0.extraQueryParameters = ["logout_hint": "alice+notes"]
            }
            #expect(try await app.listed().isEmpty)
            await f.emulator.control.waitForCount(.logout, atLeast: 1)
            let page = f.emulator.control.requests.last { $0.counter == .logout }
            #expect(page?.path == "/common/oauth2/v2.0/logout")
            // Not with a space, which a plus sign means in a form.
            #expect(page?.parameters["logout_hint"] == "alice+notes")
            #expect(page?.parameters["post_logout_redirect_uri"] == nil)
        }
    }
}
