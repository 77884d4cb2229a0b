internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The requests of a sign-in to the authorization endpoint and the token endpoint.
@Suite(.bounded) struct InteractiveRequestTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: MSALAcquireTokenTests testAcquireTokenInteractive (prompt types), msal.md 1.4
    @Test(
        arguments: [
            (.promptIfNecessary, nil), (.default, nil), (.selectAccount, "select_account"), (.login, "login"),
            (.consent, "consent"), (.create, "create"),
        ] as [(MSALPromptType, String?)])
    func sendsTheValueOfEachPrompt(prompt: MSALPromptType, word: String?) async throws {
        try await AgentFixture.with { f in
            try await f.msalApp().signIn(Self.alice) { $0.promptType = prompt }
            #expect(f.authorized.map { $0.parameters["prompt"] } == [word])
        }
    }

    // Mirrors: M22 MSIDAADV2WebviewFactoryTests testAuthorizationParametersFromParameters_*: the account's name is the hint
    @Test(arguments: [nil, "bob@contoso.com"])
    func prefersTheAccountsNameAsTheLoginHint(hint: String?) async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.emulator.control.resetCounts()
            try await app.signIn(Self.alice) {
                $0.account = account
                $0.loginHint = hint
            }
            #expect(f.authorized.map { $0.parameters["login_hint"] } == [Self.alice])
        }
    }

    // Mirrors: common MSIDWebviewFactory authorizationParametersFromRequestParameters: the app's own parameters replace the hints
    @Test func prefersTheHintsAmongTheExtraParameters() async throws {
        try await AgentFixture.with { f in
            try await f.msalApp().signIn("bob@contoso.com") {
                $0.domainHint = "fabrikam.com"
                $0.extraQueryParameters = ["login_hint": Self.alice, "domain_hint": "contoso.com"]
            }
            #expect(f.authorized.map { $0.parameters["login_hint"] } == [Self.alice])
            #expect(f.authorized.map { $0.parameters["domain_hint"] } == ["contoso.com"])
        }
    }

    @Test(arguments: [(.none, nil), (.QRPIN, "18")] as [(MSALPreferredAuthMethod, String?)])
    func asksThePageForTheMethodThatTheAppPrefers(method: MSALPreferredAuthMethod, word: String?) async throws {
        try await AgentFixture.with { f in
            try await f.msalApp().signIn(Self.alice) { $0.preferredAuthMethod = method }
            #expect(f.authorized.map { $0.parameters["pc"] } == [word])
        }
    }

    // Mirrors: M22 MSIDAADV2WebviewFactoryTests
    //   testAuthorizationParametersFromParameters_withValidParams_shouldContainAADV2Configuration
    @Test func sendsAppAndAccountToThePage() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            let correlationID = UUID()
            try await app.signIn(Self.alice) {
                $0.account = account
                $0.correlationId = correlationID
            }
            let (anybody, known) = (try #require(f.authorized.first), try #require(f.authorized.last))
            #expect(anybody.parameters["login_req"] == nil)
            #expect(anybody.parameters["domain_req"] == nil)
            #expect(known.parameters["login_req"] == account.homeAccountId?.objectId)
            #expect(known.parameters["domain_req"] == account.homeAccountId?.tenantId)
            #expect(known.parameters["client-request-id"] == correlationID.uuidString.lowercased())
            for page in [anybody, known] {
                #expect(page.parameters["return-client-request-id"] == "true")
                #expect(page.parameters["x-client-SKU"] == "sso-agent")
                #expect(page.parameters["x-client-Ver"]?.isEmpty == false)
                #expect(page.parameters["x-client-OS"]?.isEmpty == false)
                #expect(page.parameters["nux"] == nil)
            }
        }
    }

    // Mirrors: msal.md 1.4: extra scopes are consented to and not asked for; the domain hint is for the page alone
    @Test func sendsSomeParametersToThePageOnly() async throws {
        try await AgentFixture.with { f in
            let result = try await f.msalApp().signIn(Self.alice) {
                $0.domainHint = "contoso.com"
                $0.extraScopesToConsent = ["Calendars.Read"]
            }
            let page = try #require(f.authorized.first?.parameters)
            #expect(page["domain_hint"] == "contoso.com")
            let scopes = ["User.Read", "Calendars.Read", "openid", "profile", "offline_access"]
            #expect(Set(words(page["scope"])) == Set(scopes))
            let exchange = try #require(f.exchanged.first?.parameters)
            #expect(exchange["domain_hint"] == nil)
            #expect(!words(exchange["scope"]).contains("Calendars.Read"))
            #expect(!result.scopes.contains("Calendars.Read"))
        }
    }

    // Mirrors: msal.md 1.4: `extraQueryParameters`, slice and capabilities reach both endpoints
    @Test func sendsExtraParametersToBothEndpoints() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp {
                $0.sliceConfig = MSALSliceConfig(slice: "testslice", dc: "prod")
                $0.clientApplicationCapabilities = ["cp1"]
                $0.multipleCloudsSupported = true
            }
            try await app.signIn(Self.alice) { $0.extraQueryParameters = ["eqp": "a b", "client_id": "mine"] }
            for request in f.authorized + f.exchanged {
                #expect(request.parameters["eqp"] == "a b")
                #expect(request.parameters["slice"] == "testslice")
                #expect(request.parameters["dc"] == "prod")
                #expect(request.parameters["client_id"] == "app-1")
                #expect(request.parameters["claims"] == #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#)
            }
            #expect(f.authorized.first?.parameters["instance_aware"] == "true")
        }
    }

    // Mirrors: MSALAcquireTokenTests testAcquireTokenInteractive_whenClaimsIsPassedViaOverloadedAcquireToken_…;
    //   capabilities are laid into the claims asked for
    @Test func mergesCapabilitiesIntoTheClaims() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp { $0.clientApplicationCapabilities = ["cp1"] }
            let json = #"{"access_token":{"polids":{"essential":true,"values":["p1"]}},"id_token":{"email":null}}"#
            try await app.signIn(Self.alice) { $0.claimsRequest = MSALClaimsRequest(jsonString: json, error: nil) }
            let merged =
                #"{"access_token":{"polids":{"essential":true,"values":["p1"]},"xms_cc":{"values":["cp1"]}},"#
                + #""id_token":{"email":null}}"#
            #expect(f.authorized.map { $0.parameters["claims"] } == [merged])
            #expect(f.exchanged.map { $0.parameters["claims"] } == [merged])
        }
    }

    @Test func mergesCapabilitiesIntoClaimsThatAreAQueryParameter() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp { $0.clientApplicationCapabilities = ["cp1"] }
            try await app.signIn(Self.alice) { $0.extraQueryParameters = ["claims": #"{"id_token":{"email":null}}"#] }
            let merged = #"{"access_token":{"xms_cc":{"values":["cp1"]}},"id_token":{"email":null}}"#
            #expect(f.authorized.map { $0.parameters["claims"] } == [merged])
            #expect(f.exchanged.map { $0.parameters["claims"] } == [merged])
        }
    }

    // Mirrors: MSALAcquireTokenTests testAcquireTokenInteractive_whenDuplicateClaimsIsPassedInEQP_shouldReturnError
    @Test func refusesClaimsGivenTwice() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let error = await failure {
                try await app.signIn(Self.alice) {
                    $0.claimsRequest = MSALClaimsRequest(jsonString: #"{"id_token":{"email":null}}"#, error: nil)
                    $0.extraQueryParameters = ["claims": #"{"id_token":{"name":null}}"#]
                }
            }
            #expect(error?.internalCode == MSALInternalError.internalErrorInvalidParameter.rawValue)
            #expect(f.emulator.control.counts.requests.isEmpty)
        }
    }

    // Mirrors: msal.md 4.6: what goes with a refresh
    @Test func sendsClientAndScopesWithARefresh() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            let correlationID = UUID()
            try await app.token(account, scopes: ["Mail.Read"]) { $0.correlationId = correlationID }
            let request = try #require(f.redeemed.first)
            #expect(request.parameters["client_id"] == "app-1")
            #expect(Set(words(request.parameters["scope"])) == ["Mail.Read", "openid", "profile", "offline_access"])
            #expect(request.parameters["grant_type"] == "refresh_token")
            #expect(request.parameters["client_info"] == "1")
            #expect(request.parameters["redirect_uri"] == "http://localhost")
            #expect(request.headers["client-request-id"]?.lowercased() == correlationID.uuidString.lowercased())
            #expect(request.headers["return-client-request-id"] == "true")
        }
    }

    private func words(_ text: String?) -> [String] { (text ?? "").split(separator: " ").map(String.init) }
}

extension AgentFixture {
    /// The requests that redeemed an authorization code, in order.
    fileprivate var exchanged: [RecordedRequest] {
        emulator.control.requests.filter { $0.counter == .authorizationCode }
    }
}
