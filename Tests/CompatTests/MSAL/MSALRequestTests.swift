internal import CompatSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// The conversion of MSAL's parameters to requests, and the parameters that are refused.
@Suite(.bounded) struct MSALRequestTests {
    static let b2c = "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_in"

    static func settings(_ change: (MSALPublicClientApplicationConfig) throws -> Void = { _ in }) throws -> AppSettings
    {
        let config = MSALPublicClientApplicationConfig(clientId: "client-1")
        try change(config)
        return try AppSettings(config)
    }

    static func silent(_ scopes: [String] = ["User.Read"]) -> MSALSilentTokenParameters {
        MSALSilentTokenParameters(scopes: scopes, account: MSALAccount(Sample.account()))
    }

    @Test func sendsTheParametersOfTheApp() throws {
        let settings = try Self.settings {
            $0.tokenExpirationBuffer = 60.9
            $0.extendedLifetimeEnabled = true
            $0.clientApplicationCapabilities = ["cp1"]
            $0.sliceConfig = MSALSliceConfig(slice: "s", dc: "d")
            $0.cacheConfig.keychainSharingGroup = "group"
            $0.redirectUri = "http://localhost:1234"
        }
        let parameters = Self.silent([" User.Read ", "user.read", "Mail.Read"])
        parameters.forceRefresh = true
        parameters.correlationId = UUID()
        parameters.extraQueryParameters = ["dc": "mine"]
        let request = try settings.silentRequest(parameters)
        #expect(request.parameters.clientID == ClientID("client-1"))
        #expect(request.parameters.sharingGroup == SharingGroup("group"))
        #expect(request.parameters.scopes.scopes == ["User.Read", "Mail.Read"])
        #expect(request.parameters.authority == .common)
        #expect(request.parameters.redirectURI == "http://localhost:1234")
        #expect(request.parameters.capabilities == ["cp1"])
        #expect(request.parameters.claims == nil)
        #expect(request.parameters.extraParameters == ["slice": "s", "dc": "mine"])
        #expect(request.parameters.correlationID.uuid == parameters.correlationId)
        #expect(request.parameters.validatesAuthority)
        #expect(request.account.homeAccountID?.text == Sample.home)
        #expect(request.forceRefresh)
        #expect(request.expirationBuffer == 60)
        #expect(request.allowsExtendedLifetime)
    }

    /// The memory of requests that were made does not take one account for another whose name looks the same.
    @Test func makesARequestForEachOfTwoNamesThatAreCanonicallyEquivalent() throws {
        let (settings, recent) = (try Self.settings(), RecentSilentRequests())
        for name in ["jos\u{E9}@contoso.com", "jose\u{301}@contoso.com"] {
            var account = Sample.account()
            (account.homeAccountID, account.username) = (nil, name)
            let parameters = MSALSilentTokenParameters(scopes: ["User.Read"], account: MSALAccount(account))
            for _ in 1...2 {
                let request = try settings.silentRequest(parameters, recent: recent)
                #expect(request.account.username.hasSameBytes(as: name))
            }
        }
    }

    @Test(arguments: [(-1, 0), (.nan, 300), (.infinity, Int64(UInt32.max)), (1e12, Int64(UInt32.max)), (0.9, 0)])
    func hasABufferThatAMessageCanCarry(seconds: Double, buffer: Int64) throws {
        #expect(try Self.settings { $0.tokenExpirationBuffer = seconds }.expirationBuffer == buffer)
    }

    @Test func requiresInteractionWithoutAnAccount() throws {
        let parameters = Self.silent()
        parameters.account = nil
        let error = Sample.failure { _ = try Self.settings().silentRequest(parameters) }
        #expect(error?.domain == MSALErrorDomain)
        #expect(error?.code == MSALError.interactionRequired.rawValue)
    }

    @Test(arguments: ["openid", "profile", "offline_access", "client-1"])
    func refusesReservedScopesInTheParameters(scope: String) throws {
        let error = Sample.failure { _ = try Self.settings().silentRequest(Self.silent(["User.Read", scope])) }
        #expect(error?.code == -50000)
        #expect(error?.internalCode == -42000)
    }

    // Mirrors: M34 MSIDRequestParameters initWithAuthority, MSIDInteractiveTokenRequestParameters validateParametersWithError: the error of a
    //   refused request has its correlation ID
    @Test func namesARefusedRequestByItsCorrelationID() throws {
        let refused: [(MSALTokenParameters) throws -> Void] = [
            { $0.scopes = ["openid"] }, { $0.scopes = ["client-1"] },
            {
                $0.claimsRequest = MSALClaimsRequest(jsonString: #"{"id_token":{"nickname":null}}"#, error: nil)
                $0.extraQueryParameters = ["claims": "{}"]
            },
        ]
        let settings = try Self.settings()
        for change in refused {
            let silent = Self.silent()
            let signIn = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview)
            for parameters in [silent, signIn] {
                try change(parameters)
                parameters.correlationId = UUID()
            }
            let errors = [
                (silent.correlationId, Sample.failure { _ = try settings.silentRequest(silent) }),
                (signIn.correlationId, Sample.failure { _ = try settings.interactiveRequest(signIn) }),
            ]
            for (correlationID, error) in errors {
                #expect(error?.internalCode == -42000)
                #expect(error?.userInfo[MSALCorrelationIDKey] as? String == correlationID?.uuidString)
            }
        }
    }

    @Test func acceptsTheClientIDAsAScopeOfB2C() throws {
        let authority = try MSALB2CAuthority(url: try #require(URL(string: Self.b2c)))
        let settings = try Self.settings { $0.authority = authority }
        #expect(try settings.silentRequest(Self.silent(["client-1"])).parameters.scopes.scopes == ["client-1"])
    }

    @Test func refusesAnotherKindOfAuthority() throws {
        let parameters = Self.silent()
        parameters.authority = try MSALAuthority(url: try #require(URL(string: Self.b2c)))
        let error = Sample.failure { _ = try Self.settings().silentRequest(parameters) }
        #expect(error?.internalCode == -42000)
    }

    @Test func doesNotValidateKnownAuthoritiesAndCIAM() throws {
        let url = try #require(URL(string: "https://login.contoso.test/common"))
        let known = try MSALAADAuthority(url: url)
        let settings = try Self.settings { $0.knownAuthorities = [known] }
        let parameters = Self.silent()
        parameters.authority = known
        #expect(try !settings.silentRequest(parameters).parameters.validatesAuthority)
        #expect(try settings.silentRequest(Self.silent()).parameters.validatesAuthority)
        // Neither the same host nor the same URL of another kind is sufficient.
        parameters.authority = try MSALAADAuthority(url: try #require(URL(string: "https://login.contoso.test/t")))
        #expect(try settings.silentRequest(parameters).parameters.validatesAuthority)
        let policy = try MSALB2CAuthority(url: url)
        let otherClass = try Self.settings {
            $0.authority = known
            $0.knownAuthorities = [policy]
        }
        #expect(try otherClass.silentRequest(Self.silent()).parameters.validatesAuthority)
        let ciam = try MSALCIAMAuthority(url: try #require(URL(string: "https://contoso.ciamlogin.com")))
        let customers = try Self.settings { $0.authority = ciam }
        #expect(try !customers.silentRequest(Self.silent()).parameters.validatesAuthority)
    }

    @Test func writesClaimsOnce() throws {
        let parameters = Self.silent()
        parameters.claimsRequest = MSALClaimsRequest()
        #expect(try Self.settings().silentRequest(parameters).parameters.claims == nil)
        try parameters.claimsRequest?.requestClaim(MSALIndividualClaimRequest(name: "nbf"), for: .accessToken)
        #expect(try Self.settings().silentRequest(parameters).parameters.claims == #"{"access_token":{"nbf":null}}"#)
        parameters.extraQueryParameters = ["claims": "{}"]
        #expect(Sample.failure { _ = try Self.settings().silentRequest(parameters) }?.internalCode == -42000)
    }

    /// A scheme that binds a token to a key of the app.
    private final class ProofOfPossession: NSObject, MSALAuthenticationSchemeProtocol {
        let scheme = MSALAuthScheme.pop
        let authenticationScheme = "PoP"
    }

    /// The app would take a token that anybody can use for one that needs its key.
    @Test func refusesAnotherSchemeThanBearer() {
        let parameters = Self.silent()
        parameters.authenticationScheme = ProofOfPossession()
        #expect(Sample.failure { _ = try Self.settings().silentRequest(parameters) }?.internalCode == -42000)
    }

    /// The request for a bearer token is remembered, and has the same parameters otherwise.
    @Test func refusesAnotherSchemeAfterARequestForABearerToken() throws {
        let (settings, recent) = (try Self.settings(), RecentSilentRequests())
        let parameters = Self.silent()
        _ = try settings.silentRequest(parameters, recent: recent)
        parameters.authenticationScheme = ProofOfPossession()
        let error = Sample.failure { _ = try settings.silentRequest(parameters, recent: recent) }
        #expect(error?.internalCode == -42000)
    }

    /// Without its claims, the app would get the token that its API has refused.
    @Test func refusesClaimsThatCannotBeWrittenAsJSON() throws {
        let claim = MSALIndividualClaimRequest(name: "nbf")
        claim.additionalInfo = MSALIndividualClaimRequestAdditionalInfo()
        claim.additionalInfo?.value = Date(timeIntervalSince1970: 0)
        let parameters = Self.silent()
        parameters.claimsRequest = MSALClaimsRequest()
        try parameters.claimsRequest?.requestClaim(claim, for: .accessToken)
        #expect(Sample.failure { _ = try Self.settings().silentRequest(parameters) }?.internalCode == -42000)
    }

    @Test(
        arguments: [
            (MSALPromptType.selectAccount, "select_account"), (.login, "login"), (.consent, "consent"),
            (.create, "create"), (.promptIfNecessary, nil),
        ] as [(MSALPromptType, String?)])
    func sendsThePromptOfAnInteractiveRequest(prompt: MSALPromptType, parameter: String?) throws {
        let parameters = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview)
        parameters.promptType = prompt
        parameters.account = MSALAccount(Sample.account())
        parameters.extraScopesToConsent = ["Mail.Read"]
        parameters.domainHint = "contoso.com"
        let request = try Self.settings { $0.multipleCloudsSupported = true }.interactiveRequest(parameters)
        #expect(request.prompt == parameter)
        #expect(request.loginHint == "Anna@Contoso.com")
        #expect(request.domainHint == "contoso.com")
        #expect(request.extraScopes.scopes == ["Mail.Read"])
        #expect(request.parameters.extraParameters == ["instance_aware": "true"])
        #expect(request.account.homeAccountID?.text == Sample.home)
    }

    @Test func suggestsNoNameThatTheProviderHasNotGiven() throws {
        let parameters = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview)
        parameters.account = MSALAccount(Sample.account(username: "Missing from the token response"))
        #expect(try Self.settings().interactiveRequest(parameters).loginHint == nil)
        parameters.loginHint = "anna@contoso.com"
        #expect(try Self.settings().interactiveRequest(parameters).loginHint == "anna@contoso.com")
    }

    @Test func splitsATextWithSeveralScopes() throws {
        let scopes = ["User.Read Mail.Read", "mail.read", " Files.Read  openid "]
        let split = ["User.Read", "Mail.Read", "Files.Read", "openid"]
        #expect(try Self.settings().silentRequest(Self.silent(scopes)).parameters.scopes.scopes == split)
        let parameters = MSALInteractiveTokenParameters(scopes: scopes, webviewParameters: Sample.webview)
        parameters.extraScopesToConsent = ["Calendars.Read Tasks.Read"]
        let request = try Self.settings().interactiveRequest(parameters)
        #expect(request.parameters.scopes.scopes == split)
        #expect(request.extraScopes.scopes == ["Calendars.Read", "Tasks.Read"])
    }

    @Test func leavesTheHintsOutThatTheAppSendsItself() throws {
        let parameters = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview)
        parameters.account = MSALAccount(Sample.account())
        parameters.loginHint = "bob@contoso.com"
        parameters.domainHint = "contoso.com"
        let hints = ["login_hint": "opaque", "domain_hint": "fabrikam.com"]
        parameters.extraQueryParameters = hints
        let request = try Self.settings().interactiveRequest(parameters)
        #expect(request.loginHint == nil)
        #expect(request.domainHint == nil)
        #expect(request.parameters.extraParameters == hints)
        #expect(request.account.homeAccountID?.text == Sample.home)
    }

    @Test(
        arguments: [
            (.none, [:], nil), (.QRPIN, [:], "18"), (.QRPIN, ["pc": "1"], "1"), (.none, ["pc": "1"], "1"),
        ] as [(MSALPreferredAuthMethod, [String: String], String?)])
    func sendsThePreferredMethodUnlessTheAppSendsItsOwn(
        method: MSALPreferredAuthMethod, extra: [String: String], sent: String?
    ) throws {
        let parameters = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview)
        parameters.preferredAuthMethod = method
        parameters.extraQueryParameters = extra
        #expect(try Self.settings().interactiveRequest(parameters).parameters.extraParameters["pc"] == sent)
    }

    @Test(
        arguments: [
            (nil, nil), ("msauth.com.contoso.notes://auth", "msauth.com.contoso.notes://auth"),
            ("http://localhost", "http://localhost"), ("contoso://back", "contoso://back"),
        ] as [(String?, String?)]) func takesRedirectURIsWithAScheme(given: String?, sent: String?) throws
    {
        #expect(try Self.settings { $0.redirectUri = given }.redirectURI == sent)
    }

    @Test(arguments: [("  ", nil, -42000), ("client-1", "no-scheme", -42011)] as [(String, String?, Int)])
    func refusesAnApplicationThatCannotWork(clientID: String, redirectURI: String?, inner: Int) {
        let config = MSALPublicClientApplicationConfig(clientId: clientID, redirectUri: redirectURI, authority: nil)
        let error = Sample.failure { _ = try MSALPublicClientApplication(configuration: config) }
        #expect(error?.code == -50000)
        #expect(error?.internalCode == inner)
    }

    @Test func removesWhatTheParametersAskFor() throws {
        let account = MSALAccount(Sample.account())
        let parameters = MSALSignoutParameters(webviewParameters: Sample.webview)
        let session = try #require(try MSALPublicClientApplication(clientId: "client-1").session)
        #expect(try session.signout(account, parameters).request.extent == .app)
        parameters.wipeAccount = true
        #expect(try session.signout(account, parameters).request.extent == .account)
        parameters.wipeCacheForAllAccounts = true
        #expect(try session.signout(account, parameters).request.extent == .everything)
        #expect(try session.signout(account, parameters).page == nil)
        parameters.signoutFromBrowser = true
        #expect(
            try session.signout(account, parameters).page
                == "https://login.microsoftonline.com/common/oauth2/v2.0/logout")
    }

    /// Which account it is does not matter if all of them are removed.
    @Test func removesEverythingWithAnAccountThatNamesNobody() throws {
        let nobody = MSALAccount(Sample.account(home: nil, username: nil))
        let settings = try Self.settings()
        for extent in [RemoveAccount.Extent.app, .account] {
            let error = Sample.failure { _ = try settings.removal(of: nobody, extent: extent) }
            #expect(error?.internalCode == -42000)
        }
        #expect(try settings.removal(of: nobody, extent: .everything).extent == .everything)
    }

    /// Nothing listens at the app's redirect URI after a sign-out.
    @Test func sendsTheSignOutPageToThePageThatTheAppNamesOnly() throws {
        let config = MSALPublicClientApplicationConfig(clientId: "client-1")
        config.redirectUri = "http://localhost:1234"
        let session = try #require(try MSALPublicClientApplication(configuration: config).session)
        let parameters = MSALSignoutParameters(webviewParameters: Sample.webview)
        parameters.signoutFromBrowser = true
        let account = MSALAccount(Sample.account())
        let page = "https://login.microsoftonline.com/common/oauth2/v2.0/logout"
        #expect(try session.signout(account, parameters).page == page)
        parameters.extraQueryParameters = ["post_logout_redirect_uri": "https://contoso.com/bye"]
        let named = try #require(try session.signout(account, parameters).page.flatMap { URLComponents(string: $0) })
        #expect(named.queryItems == [URLQueryItem(name: "post_logout_redirect_uri", value: "https://contoso.com/bye")])
    }

    /// In a query, a plus sign means a space.
    @Test func keepsThePlusSignOfAParameterOfTheSignOutPage() throws {
        let session = try #require(try MSALPublicClientApplication(clientId: "client-1").session)
        let parameters = MSALSignoutParameters(webviewParameters: Sample.webview)
        parameters.signoutFromBrowser = true
        parameters.extraQueryParameters = ["logout_hint": "anna+notes"]
        let page = try session.signout(MSALAccount(Sample.account()), parameters).page
        #expect(page?.hasSuffix("/logout?logout_hint=anna%2Bnotes") == true)
    }
}
