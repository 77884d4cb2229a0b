internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The errors that are found before the agent is asked, and their order.
@Suite(.bounded) struct FrontEndTests {
    private static let alice = "alice@contoso.com"
    private static let invalid = MSALInternalError.internalErrorInvalidParameter.rawValue

    // Mirrors: msal.md 4.1 (5): MSIDRequestParametersTests testInitParameters_withIntersectingOIDCScopes_shouldFail,
    //   …_whenReservedScopes…; the client ID is no scope
    @Test(arguments: [
        (["openid"], true), (["User.Read", "profile"], true), (["offline_access"], true), (["app-1"], true),
        (["OpenID"], false), (["email"], false), (["app-1/.default"], false),
    ])
    func refusesReservedScopes(scopes: [String], isRefused: Bool) async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            #expect(await app.refusal(account, scopes: scopes)?.internalCode == (isRefused ? Self.invalid : nil))
            let interactive = await failure { try await app.signIn(Self.alice, scopes: scopes) }
            #expect(interactive?.internalCode == (isRefused ? Self.invalid : nil))
        }
    }

    // Mirrors: msal.md 4.1 (2): an authority of another class
    @Test func refusesAnAuthorityOfAnotherKind() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            let url = try #require(URL(string: "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_in"))
            let other = try MSALB2CAuthority(url: url)
            #expect(await app.refusal(account) { $0.authority = other }?.internalCode == Self.invalid)
            let interactive = await failure { try await app.signIn(Self.alice) { $0.authority = other } }
            #expect(interactive?.internalCode == Self.invalid)
        }
    }

    // Mirrors: msal.md 4.1: account, then authority and scopes, then sign-in state, and only then anybody else
    @Test func checksTheAccountFirstAndTheSignInStateLast() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            #expect(await app.refusal(account, scopes: ["openid"]) { $0.account = nil }?.isInteractionRequired == true)
            try await offPool { try app.remove(account) }
            f.emulator.control.resetCounts()
            #expect(await app.refusal(account, scopes: ["openid"])?.internalCode == Self.invalid)
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            #expect(f.emulator.control.counts.requests.isEmpty)
        }
    }

    // Mirrors: MSALAcquireTokenTests testAcquireTokenSilent_whenNilAccountPassed_shouldReturnInteractionRequiredError; an
    //   account that says nothing is as none
    @Test func rejectsAnAccountWithoutIdentifierAndName() async throws {
        try await AgentFixture.with { f in
            let nobody = MSALAccount(external: NamedAccount(username: " ", identifier: nil))
            let app = try f.msalApp()
            #expect(await app.refusal(nobody)?.isInteractionRequired == true)
        }
    }

    // Mirrors: MSALPublicClientApplicationTests testFetchAccountWithEmptyUsername_shouldReturnError
    @Test(arguments: ["", "  "])
    func reportsABlankNameWithTheErrorOfTheInnerLibrary(name: String) async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let error = await failure { _ = try await app.found(username: name) }
            #expect(error?.domain == "MSIDErrorDomain")
            #expect(error?.code == -51111)
        }
    }

    // Mirrors: MSALPublicClientApplicationTests testInitWithClientId_whenBlank…, msal.md 1.6
    @Test(arguments: [("", nil, -42000), ("app-1", "no-scheme", -42011)] as [(String, String?, Int)])
    func refusesToCreateAnInvalidApplication(clientID: String, redirectURI: String?, inner: Int) async {
        let config = MSALPublicClientApplicationConfig(
            clientId: clientID, redirectUri: redirectURI, authority: nil)
        let error = await failure { _ = try MSALPublicClientApplication(configuration: config) }
        #expect(error?.internalCode == inner)
    }

    // Mirrors: M40 MSALPublicClientApplicationTests testInitWithConfigurationAndAuthorityAndRedirectUri_when…
    //   (NilRedirectUri, CustomRedirectUri with an https scheme, with a missing host), testInitWithConfiguration_WhenBypassRedirectURIIs…
    @Test(
        arguments: [
            (nil, false, true), ("msauth.com.contoso.notes://auth", false, true), ("notes://", false, true),
            ("https://login.microsoftonline.com/common/oauth2/nativeclient", false, true),
            ("urn:ietf:wg:oauth:2.0:oob", false, true), ("no-scheme", false, false), ("no-scheme", true, true),
        ] as [(String?, Bool, Bool)])
    func acceptsARedirectURIWithAScheme(redirectURI: String?, isBypassed: Bool, isAccepted: Bool) async {
        let config = MSALPublicClientApplicationConfig(clientId: "app-1", redirectUri: redirectURI, authority: nil)
        config.bypassRedirectURIValidation = isBypassed
        let error = await failure { _ = try MSALPublicClientApplication(configuration: config) }
        let refusal = MSALInternalError.internalErrorInvalidRedirectURI.rawValue
        #expect(error?.internalCode == (isAccepted ? nil : refusal))
    }

    // Mirrors: msal.md 1.9: without a network, Foundation's own error
    @Test func reportsAMissingNetworkWithTheErrorOfFoundation() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(
                Fault {
                    $0.drop = true
                    $0.count = 0
                })
            let error = try #require(await app.refusal(account))
            #expect(error.domain == NSURLErrorDomain)
            #expect(error.code == NSURLErrorNetworkConnectionLost)
            #expect(error.userInfo[MSALInternalErrorCodeKey] == nil)
        }
    }
}
