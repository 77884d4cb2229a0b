internal import AgentTestSupport
internal import CompatReport
internal import EntraEmulator
internal import TestSupport
internal import Testing

/// The live scripts of the originals: MSAL apps in separate processes.
@Suite(.bounded) struct MSALScriptTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: E7 MSALMultiAppCacheCoexistenceTests
    //   testCoexistenceWithOtherMSAL_startSigninInCurrentMSAL_withAADAccount_andUseDifferentAuthorities
    @Test func sharesASignInBetweenProcessesUnderTwoHostNames() async throws {
        try await AgentProcessFixture.script(isOnline: true) { f in
            let app = ScriptedApp.msal(f)
            let other = ScriptedApp.msal(f, realm: "common").with { $0.host = "login.windows.net" }
            let identifier = try #require(try await app.run("sign-in", Self.alice).identifier)
            #expect(try await other.run("accounts").accounts?.map(\.identifier) == [identifier])
            let first = try await other.token("silent", identifier).token
            try await app.silentScript(identifier, identifier: identifier)
            let second = try await other.token("silent", identifier).token
            #expect(first != second)
            #expect(try await app.token("silent", identifier).token == second)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: E8 MSALMultiAppCacheCoexistenceTests
    //   testCoexistenceWithOtherMSAL_…_OtherMSALUsesFRTToRefreshAccessToken
    @Test func servesAnotherMemberOfTheFamily() async throws {
        try await AgentProcessFixture.script { f in
            let app = ScriptedApp.msal(f).with { $0.clientID = "family-1" }
            let other = ScriptedApp.msal(f).with { $0.clientID = "family-2" }
            let identifier = try #require(try await app.run("sign-in", Self.alice).identifier)
            try await other.silentScript(identifier, identifier: identifier)
            try await app.silentScript(identifier, identifier: identifier)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: E9 MSALCacheRemovalTests testRemoveAADAccount_whenMultipleAccountsInCache_andConvergedApp
    @Test func removesOneAccountAndKeepsTheOther() async throws {
        try await AgentProcessFixture.script { f in
            let app = ScriptedApp.msal(f)
            let alice = try #require(try await app.run("sign-in", Self.alice).identifier)
            let bob = try #require(try await app.run("sign-in", "bob@contoso.com").identifier)
            #expect(try await app.run("remove", alice).identifier == alice)
            let refused = try await app.run("silent", alice)
            #expect(refused.domain == "MSALErrorDomain")
            #expect(refused.code == -50002)
            #expect(try await app.run("accounts").accounts?.map(\.identifier) == [bob])
            try await app.silentScript(bob, identifier: bob)
        }
    }

    // Mirrors: E10 MSALGuestUserTests (3 tests)
    @Test func givesAGuestOneIdentifierWithATokenAndAProfileForEachTenant() async throws {
        try await AgentProcessFixture.script { f in
            let tenants = ["contoso.com", "fabrikam.com"].map(f.emulator.control.tenantID)
            let home = ScriptedApp.msal(f, realm: tenants[0])
            let guest = ScriptedApp.msal(f, realm: tenants[1])
            let identifier = try #require(try await guest.run("sign-in", Self.alice).identifier)
            #expect(identifier.hasSuffix(".\(tenants[0])"))
            try await f.withLongTokens {
                let (inGuest, guestReport) = try await guest.token("silent", identifier)
                let (atHome, homeReport) = try await home.token("silent", identifier)
                #expect(inGuest != atHome)
                #expect(guestReport.tenant == tenants[1] && homeReport.tenant == tenants[0])
                #expect(guestReport.identifier == homeReport.identifier)
                #expect(try await guest.token("silent", identifier).token == inGuest)
                #expect(try await home.token("silent", identifier).token == atHome)
            }
            let account = try #require(try await home.run("accounts").accounts?.first)
            #expect(account.tenants == tenants)
            #expect(account.identifier == identifier)
            #expect(f.signIns == 1)
        }
    }
}
