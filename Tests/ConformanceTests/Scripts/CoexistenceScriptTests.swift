internal import AgentTestSupport
internal import CompatReport
internal import EntraEmulator
internal import TestSupport
internal import Testing

/// The live scripts of the originals: two apps with two libraries, in two processes.
@Suite(.bounded) struct CoexistenceScriptTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: E1 MSALUnifiedADALCacheCoexistenceTests
    //   testCoexistenceWithUnifiedADAL_startSigninInADAL_withAADAccount_andDoTokenRefresh
    @Test func servesMSALAndADALAfterASignInWithADAL() async throws {
        try await AgentProcessFixture.script { f in
            let (adal, msal) = (ScriptedApp.adal(f), ScriptedApp.msal(f))
            let identifier = try #require(try await adal.run("sign-in", Self.alice).identifier)
            #expect(try await msal.run("accounts").accounts?.map(\.username) == [Self.alice])
            try await msal.silentScript(Self.alice, identifier: identifier)
            #expect(try await msal.run("accounts").accounts?.map(\.identifier) == [identifier])
            try await adal.silentScript(Self.alice, identifier: identifier)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: E2 MSALUnifiedADALCacheCoexistenceTests
    //   testCoexistenceWithUnifiedADAL_startSigninInMSAL_withAADAccount_andDoTokenRefresh
    @Test func servesADALAndMSALAfterASignInWithMSAL() async throws {
        try await AgentProcessFixture.script { f in
            let (adal, msal) = (ScriptedApp.adal(f), ScriptedApp.msal(f))
            let identifier = try #require(try await msal.run("sign-in", Self.alice).identifier)
            try await adal.silentScript(Self.alice, identifier: identifier)
            try await msal.silentScript(identifier, identifier: identifier)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: E3 MSALUnifiedADALCacheCoexistenceTests
    //   testCoexistenceWithUnifiedADAL_startSigninInMSAL_withAADAccount_andDoTokenRefresh_withFOCIToken
    @Test func servesAnADALAppOfTheFamilyUnderAnotherHostAfterASignInWithMSAL() async throws {
        try await AgentProcessFixture.script(isOnline: true) { f in
            let msal = ScriptedApp.msal(f).with {
                $0.clientID = "family-1"
                $0.host = "login.windows.net"
            }
            let adal = ScriptedApp.adal(f).with { $0.clientID = "family-2" }
            let identifier = try #require(try await msal.run("sign-in", Self.alice).identifier)
            try await adal.silentScript(Self.alice, identifier: identifier)
            try await msal.silentScript(identifier, identifier: identifier)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: E4 MSALUnifiedADALCacheCoexistenceTests
    //   testMSALCoexistenceWithUnifiedADAL_startSigninInADAL_withAADAccount_andDoTokenRefreshInMSAL_withFOCIToken
    @Test func servesAnMSALAppOfTheFamilyAfterASignInWithADAL() async throws {
        try await AgentProcessFixture.script { f in
            let adal = ScriptedApp.adal(f).with { $0.clientID = "family-1" }
            let msal = ScriptedApp.msal(f).with { $0.clientID = "family-2" }
            let identifier = try #require(try await adal.run("sign-in", Self.alice).identifier)
            try await msal.silentScript(identifier, identifier: identifier)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: E5 MSALNonUnifiedADALCoexistenceCacheTests
    //   testCoexistenceWithNonUnifiedADAL_startSigninInOlderADAL_withAADAccount_andDoTokenRefresh; and E6
    //   …_startSigninInOlderADAL_andDoAuthorityMigration_andDoTokenRefresh, where ADAL knew the host by another name
    @Test(arguments: [nil, "sts.windows.net"] as [String?])
    func addsTheIdentifierToASignInOfAnOlderADALWithTheFirstTokenOfMSAL(host: String?) async throws {
        try await AgentProcessFixture.script(isOnline: true) { f in
            let adal = ScriptedApp.adal(f).with { $0.host = host }
            let msal = ScriptedApp.msal(f)
            // An older ADAL saved no client_info, so that there is no identifier.
            f.emulator.control.settings.tokenReply = ["client_info": nil]
            #expect(try await adal.run("sign-in", Self.alice).identifier == nil)
            f.emulator.control.settings.tokenReply = [:]
            let known = try #require(try await msal.run("accounts").accounts)
            #expect(known.map(\.username) == [Self.alice] && known.map(\.identifier) == [nil])
            let identifier = try #require(try await msal.token("silent", Self.alice).report.identifier)
            try await msal.silentScript(Self.alice, identifier: identifier)
            #expect(try await msal.run("accounts").accounts?.map(\.identifier) == [identifier])
            _ = try await adal.token("silent", Self.alice)
            #expect(f.signIns == 1)
        }
    }
}
