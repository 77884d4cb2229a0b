internal import AgentTestSupport
internal import CompatSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The errors of sign-ins.
@Suite(.bounded) struct InteractiveOutcomeTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: msal.md 1.9: each error of the authorization endpoint, as MSAL shows it
    @Test(
        arguments: [
            ("access_denied", MSALError.userCanceled.rawValue, nil),
            ("interaction_required", MSALError.interactionRequired.rawValue, nil),
            ("invalid_request", MSALError.internal.rawValue, -42002),
            ("invalid_client", MSALError.internal.rawValue, -42003),
            ("invalid_scope", MSALError.internal.rawValue, -42005),
            ("unauthorized_client", MSALError.internal.rawValue, -42006),
            ("server_error", MSALError.internal.rawValue, -50006),
            ("temporarily_unavailable", MSALError.internal.rawValue, -42104),
            ("login_required", MSALError.internal.rawValue, -42104),
            ("unheard_of", MSALError.internal.rawValue, -42104),
        ] as [(String, Int, Int?)])
    func mapsEachErrorOfTheAuthorizationEndpoint(oauthError: String, code: Int, inner: Int?) async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .authorize
                    $0.error = oauthError
                    $0.errorDescription = "the emulator says no"
                })
            let app = try f.msalApp()
            let error = try #require(await failure { try await app.signIn(Self.alice) })
            #expect(error.domain == MSALErrorDomain)
            #expect(error.code == code)
            #expect(error.internalCode == inner)
            #expect(error.userInfo[MSALOAuthErrorKey] as? String == oauthError)
            #expect((error.userInfo[MSALErrorDescriptionKey] as? String)?.contains("the emulator says no") == true)
            #expect(error.userInfo[MSALHTTPResponseCodeKey] == nil)
            #expect(error.userInfo[NSUnderlyingErrorKey] == nil)
        }
    }

    // Mirrors: MSIDErrorCodeForOAuthErrorWithSubErrorCode
    @Test(
        arguments: [
            ("invalid_grant", "insufficient_device_strength", MSALError.internal.rawValue, -50007),
            ("invalid_grant", "transfer_token_expired", MSALError.userCanceled.rawValue, nil),
            ("access_denied", "tts_denied", MSALError.userCanceled.rawValue, nil),
            ("access_denied", "user_skipped", MSALError.userCanceled.rawValue, nil),
            ("tokenTransferFailedOTC", nil, MSALError.userCanceled.rawValue, nil),
            ("unauthorized_client", "protection_policy_required", MSALError.internal.rawValue, -42006),
        ] as [(String, String?, Int, Int?)])
    func mapsTheSubErrorsOfTheAuthorizationEndpoint(
        oauthError: String, subError: String?, code: Int, inner: Int?
    ) async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .authorize
                    $0.error = oauthError
                    $0.suberror = subError
                })
            let app = try f.msalApp()
            let error = try #require(await failure { try await app.signIn(Self.alice) })
            #expect(error.domain == MSALErrorDomain)
            #expect(error.code == code)
            #expect(error.internalCode == inner)
            #expect(error.userInfo[MSALOAuthSubErrorKey] as? String == subError)
        }
    }

    // Mirrors: msal.md 1.9: each error of the token endpoint after a page, as MSAL shows it
    @Test(
        arguments: [
            ("invalid_request", -42002), ("invalid_client", -42003), ("invalid_grant", -42004),
            ("invalid_scope", -42005), ("unauthorized_client", -42006), ("unheard_of", -42104),
            ("login_required", -42104), ("consent_required", -42104), ("interaction_required", nil),
        ] as [(String, Int?)])
    func mapsEachErrorOfTheTokenEndpoint(oauthError: String, inner: Int?) async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(.error(oauthError, grant: .authorizationCode))
            let app = try f.msalApp()
            let error = try #require(await failure { try await app.signIn(Self.alice) })
            #expect(error.internalCode == inner)
            #expect(error.userInfo[MSALOAuthErrorKey] as? String == oauthError)
            #expect(error.userInfo[NSUnderlyingErrorKey] == nil)
            #expect(try await app.listed().isEmpty)
        }
    }

    // Mirrors: MSIDAADOpenIdConfigurationInfoResponseSerializer: an OAuth error in place of a discovery document
    @Test(arguments: [nil, "login.microsoftonline.com"])
    func reportsAnUnknownTenantInsteadOfShowingAPage(host: String?) async throws {
        try await AgentFixture.online { f in
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .openIDConfiguration
                    $0.error = "invalid_tenant"
                    $0.errorDescription = "AADSTS90002: Tenant 'mistyped.example' not found."
                    $0.errorCodes = [90002]
                })
            let app = try f.msalApp(realm: "mistyped.example", host: host)
            let error = try #require(await failure { try await app.signIn(Self.alice) })
            #expect(error.internalCode == MSALInternalError.internalErrorFailedAuthorityValidation.rawValue)
            #expect(error.userInfo[MSALOAuthErrorKey] as? String == "invalid_tenant")
            #expect(error.userInfo[MSALSTSErrorCodesKey] as? [NSNumber] == [90002])
            #expect(f.authorized.isEmpty)
        }
    }

    // Mirrors: MSIDAuthority loadOpenIdMetadataWithContext: without a network there is no page
    @Test func reportsAMissingNetworkInsteadOfShowingAPage() async throws {
        try await AgentFixture.online { f in
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .openIDConfiguration
                    $0.drop = true
                    $0.count = 0
                })
            let app = try f.msalApp(host: "login.microsoftonline.com")
            #expect(await failure { try await app.signIn(Self.alice) }?.domain == NSURLErrorDomain)
            #expect(f.authorized.isEmpty)
            // Any other failure is left to the page.
            f.emulator.control.clearFaults()
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .openIDConfiguration
                    $0.status = 503
                    $0.count = 0
                })
            try await app.signIn(Self.alice)
        }
    }

    // Mirrors: msal.md 4.7: Entra's 50142 in a sign-in is -50142
    @Test(arguments: [GrantType.authorizationCode, .refreshToken])
    func reportsAPasswordResetWithItsOwnCodeInASignIn(grant: GrantType) async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(
                Fault {
                    $0.grant = grant
                    $0.error = "invalid_request"
                    $0.errorCodes = [50142]
                })
            let error = try #require(
                await failure {
                    if grant == .refreshToken {
                        try await app.token(account)
                    } else {
                        try await app.signIn(Self.alice)
                    }
                })
            let reset = MSALError.serverInvalidRequestResetPasswordRequired
            let expected = grant == .refreshToken ? MSALError.interactionRequired : reset
            #expect(error.domain == MSALErrorDomain)
            #expect(error.code == expected.rawValue)
            #expect(error.userInfo[MSALSTSErrorCodesKey] as? [NSNumber] == [50142])
        }
    }

    // Mirrors: MSIDErrorCodeForOAuthErrorWithSTSErrorCodes: 50142 counts with invalid_request only
    @Test(arguments: [("invalid_grant", -42004), ("invalid_scope", -42005)])
    func reportsAPasswordResetOfAnotherErrorAsThatError(oauthError: String, inner: Int) async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.grant = .authorizationCode
                    $0.error = oauthError
                    $0.errorCodes = [50142]
                })
            let app = try f.msalApp()
            #expect(await failure { try await app.signIn(Self.alice) }?.internalCode == inner)
        }
    }

    // Mirrors: MSIDDefaultInteractiveTokenRequestTests
    //   testInteractiveRequestFlow_whenProtectionPolicyRequired_shouldReturnNilResultWithError
    @Test(arguments: [false, true]) func namesTheUserOfAProtectionPolicy(inTheErrorToo: Bool) async throws {
        try await AgentFixture.with { f in
            var fault = Fault.error(
                "unauthorized_client", suberror: "protection_policy_required", grant: .authorizationCode)
            fault.members = ["adi": .string(Self.alice)]
            if inTheErrorToo { fault.members["client_info"] = .string(clientInfo(uid: "UID", utid: "utid")) }
            f.emulator.control.inject(fault)
            let app = try f.msalApp()
            let error = try #require(await failure { try await app.signIn(Self.alice) })
            #expect(error.domain == MSALErrorDomain)
            #expect(error.code == MSALError.serverProtectionPoliciesRequired.rawValue)
            #expect(error.userInfo[MSALDisplayableUserIdKey] as? String == Self.alice)
            #expect(error.userInfo[MSALOAuthSubErrorKey] as? String == "protection_policy_required")
            #expect(try await app.listed().isEmpty)
            // The page has named the account, too.
            let signedIn = try await app.signIn(Self.alice).account.identifier
            #expect(error.userInfo[MSALHomeAccountIdKey] as? String == (inTheErrorToo ? "uid.utid" : signedIn))
        }
    }

    // Mirrors: msal.md 4.10, MSIDDefaultTokenResponseValidatorTests testValidateAccount_…: another account is an error
    @Test func failsIfAnotherAccountSignsInThanTheOneRequested() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice).account
            // Without a username, which would be the login hint and let Alice sign in.
            let account = MSALAccount(external: NamedAccount(username: nil, identifier: signedIn.identifier))
            let error = try #require(
                await failure { try await app.signIn("bob@contoso.com") { $0.account = account } })
            #expect(error.internalCode == MSALInternalError.internalErrorMismatchedUser.rawValue)
            let other = try #require(error.userInfo[MSALInvalidResultKey] as? MSALResult)
            #expect(other.account.username == "bob@contoso.com")
        }
    }

    // Mirrors: msal.md 4.10: somebody deleted and made anew in the same tenant, under the same name
    @Test(arguments: [("contoso.com", true), ("fabrikam.com", false)])
    func comparesARecreatedUserByItsTenant(domain: String, isAccepted: Bool) async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            let info = clientInfo(uid: "made-anew", utid: f.emulator.control.tenantID(domain))
            f.emulator.control.settings.tokenReply = ["client_info": .string(info)]
            let error = await failure { try await app.signIn(Self.alice) { $0.account = account } }
            let mismatch = MSALInternalError.internalErrorMismatchedUser.rawValue
            #expect(error?.internalCode == (isAccepted ? nil : mismatch))
        }
    }

    // Mirrors: M39 MSIDInteractiveAuthorizationCodeRequest: an error of the network at the token endpoint is passed on
    @Test func reportsALostConnectionToTheTokenEndpointWithTheErrorOfFoundation() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.grant = .authorizationCode
                    $0.drop = true
                    $0.count = 0
                })
            let app = try f.msalApp()
            let error = try #require(await failure { try await app.signIn(Self.alice) })
            #expect(error.domain == NSURLErrorDomain)
            #expect(error.code == NSURLErrorNetworkConnectionLost)
            #expect(f.authorized.count == 1)
            #expect(try await app.listed().isEmpty)
        }
    }

    // Mirrors: MSALAcquireTokenTests testAcquireTokenInteractive_whenCancelled: the app gives up, the person gives up
    @Test func reportsACancelledSignIn() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .authorize
                    $0.hold = true
                })
            let app = try f.msalApp()
            let (outcomes, ended) = AsyncStream.makeStream(of: NSError?.self)
            let webview = MSALWebviewParameters(authPresentationViewController: await makeViewController())
            let parameters = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: webview)
            parameters.completionBlockQueue = DispatchQueue(label: "app")
            app.acquireToken(with: parameters) { _, error in ended.yield(error.map { $0 as NSError }) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            let second = await failure { try await app.signIn("bob@contoso.com") }
            let running = MSALInternalError.internalErrorInteractiveSessionAlreadyRunning.rawValue
            #expect(second?.internalCode == running)
            #expect(app.session?.currentSignIn.cancel() == true)
            for await error in outcomes {
                #expect(error?.domain == MSALErrorDomain)
                #expect(error?.code == MSALError.userCanceled.rawValue)
                break
            }
            f.emulator.control.release()
        }
    }
}
