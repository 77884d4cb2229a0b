internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The errors of failed refreshes, and the entries of the account that remain.
@Suite(.bounded) struct SilentFailureTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: S9 MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_whenATExpired_AndFailedToRefreshToken_
    //   shouldReturnError_AndRemoveExpiredAccesstoken_AndKeepRefreshTokenInCache
    @Test func keepsTheRefreshTokenAfterATransientError() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(.error("invalid_grant", suberror: "basic_action", grant: .refreshToken))
            let error = try #require(await app.refusal(account))
            #expect(error.isInteractionRequired)
            #expect(error.userInfo[MSALOAuthErrorKey] as? String == "invalid_grant")
            #expect(error.userInfo[MSALOAuthSubErrorKey] as? String == "basic_action")
            let beneath = error.userInfo[NSUnderlyingErrorKey] as? NSError
            #expect(beneath?.internalCode == MSALInternalError.internalErrorInvalidGrant.rawValue)
            #expect(try await app.listed() == [account])
            f.expireTokens()
            try await app.token(account)
            #expect(f.signIns == 1)
        }
    }

    // Mirrors: S10 MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_whenATExpired_
    //   AndFailedToRefreshTokenWithBadTokenError_shouldReturnError_AndRemoveExpiredAccesstoken_RemoveRefreshTokenInCache;
    //   S29 testAcquireTokenSilent_whenRevokedAppRefreshTokenInCache_andNoFRT_shouldFail
    @Test func sendsARejectedRefreshTokenOnceOnly() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(.error("invalid_grant", suberror: "bad_token", grant: .refreshToken))
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            f.expireTokens()
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: MSIDJsonResponsePreprocessor, where we differ: it passes on the error of the JSON parser
    @Test func reportsAResponseThatIsNotJSONAndKeepsTheRefreshToken() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(
                Fault {
                    $0.grant = .refreshToken
                    $0.garbage = true
                })
            let error = try #require(await app.refusal(account))
            #expect(error.internalCode == MSALInternalError.internalErrorInvalidResponse.rawValue)
            #expect(error.userInfo[MSALOAuthErrorKey] == nil)
            try await app.token(account)
        }
    }

    // Mirrors: MSIDAADOpenIdConfigurationInfoResponseSerializer; here the token endpoint says it
    @Test func reportsAnUnknownTenantAndKeepsTheRefreshToken() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.emulator.control.inject(
                Fault {
                    $0.grant = .refreshToken
                    $0.error = "invalid_request"
                    $0.errorCodes = [90002]
                })
            let mistyped = try f.msalAuthority("mistyped.example")
            let error = try #require(await app.refusal(account) { $0.authority = mistyped })
            #expect(error.internalCode == MSALInternalError.internalErrorFailedAuthorityValidation.rawValue)
            #expect(error.userInfo[MSALSTSErrorCodesKey] as? [NSNumber] == [90002])
            f.expireTokens()
            try await app.token(account)
        }
    }

    // Mirrors: S11 MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_whenATExpired_
    //   AndFailedToRefreshTokenWithUserAccountDeleted_shouldReturnError_AndRemoveAccountArtifacts
    @Test func removesADeletedUser() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(.error("invalid_grant", suberror: "user_account_deleted", grant: .refreshToken))
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            #expect(try await app.listed().isEmpty)
            f.expireTokens()
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: S12 MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_
    //   whenATExpiredAndFailedToRefreshTokenWithProtectionPoliciesRequired_shouldReturnIt
    @Test func reportsAProtectionPolicyWithTheAccount() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(
                .error("unauthorized_client", suberror: "protection_policy_required", grant: .refreshToken))
            let error = try #require(await app.refusal(account))
            #expect(error.domain == MSALErrorDomain)
            #expect(error.code == MSALError.serverProtectionPoliciesRequired.rawValue)
            #expect(error.userInfo[MSALDisplayableUserIdKey] as? String == Self.alice)
            #expect(error.userInfo[MSALHomeAccountIdKey] as? String == account.identifier)
            f.expireTokens()
            try await app.token(account)
        }
    }

    // Mirrors: S20 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenResiliencyErrorReturned_shouldRetryRequestOnceAndSucceed, where we differ: a grant is sent once
    @Test func reportsAServerErrorAndKeepsTheRefreshToken() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(.status(503, grant: .refreshToken))
            let error = await app.refusal(account)
            #expect(error?.userInfo[MSALHTTPResponseCodeKey] as? String == "503")
            #expect(f.redemptions == 1)
            // The refusal to send more to an overloaded server has ended.
            f.clock.advance(by: 60)
            try await app.token(account)
            #expect(f.redemptions == 2)
        }
    }

    // Mirrors: S21 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_when429ThrottledErrorReturned_shouldReturnAllHeadersAnd429ErrorCode
    @Test func reportsStatusAndHeadersOfAThrottledRequest() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(.status(429, retryAfter: 256, grant: .refreshToken))
            let error = try #require(await app.refusal(account))
            #expect(error.internalCode == MSALInternalError.internalErrorUnhandledResponse.rawValue)
            #expect(error.userInfo[MSALHTTPResponseCodeKey] as? String == "429")
            let headers = try #require(error.userInfo[MSALHTTPHeadersKey] as? [String: String])
            #expect(headers.first { $0.key.lowercased() == "retry-after" }?.value == "256")
            #expect(headers.count > 1)
            #expect(error.userInfo[NSUnderlyingErrorKey] == nil)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: S22 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_when403HttpCodeReturned_shouldReturnMSIDErrorUnexpectedHttpResponseInUnderlyingError
    @Test(arguments: [403, 404])
    func reportsStatus403And404AsUnderlyingErrors(status: Int) async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(.status(status, grant: .refreshToken))
            let error = try #require(await app.refusal(account))
            #expect(error.internalCode == MSALInternalError.internalErrorUnhandledResponse.rawValue)
            #expect(error.userInfo[MSALHTTPResponseCodeKey] as? String == "\(status)")
            let beneath = error.userInfo[NSUnderlyingErrorKey] as? NSError
            #expect(beneath?.internalCode == MSALInternalError.internalErrorUnexpectedHttpResponse.rawValue)
        }
    }

    // Mirrors: M14 MSALAcquireTokenTests
    //   testAcquireTokenSilent_whenExtendedLifetimeTokenDisabledAndServiceUnavailable_shouldNotReturnToken
    @Test func returnsAnExtendedTokenOnlyToAppsThatEnableIt() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(.status(503, grant: .refreshToken, count: 0))
            let error = await app.refusal(account)
            #expect(error?.internalCode == MSALInternalError.internalErrorUnhandledResponse.rawValue)
            #expect(error?.userInfo[MSALHTTPResponseCodeKey] as? String == "503")
        }
    }

    // Mirrors: S33 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenRefreshExpired_and_ServerIsUnavailable_shouldReturnRefreshExpiredAccessToken
    @Test func usesATokenAfterItsRefreshTimeDuringAnOutage() async throws {
        try await AgentFixture.with(settings: .with { $0.refreshIn = 100 }) { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice)
            f.clock.advance(by: 200)
            f.emulator.control.inject(.status(503, grant: .refreshToken, count: 0))
            let result = try await app.token(signedIn.account)
            #expect(result.accessToken == signedIn.accessToken)
            #expect(!result.extendedLifeTimeToken)
        }
    }

    // Mirrors: S31 MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_
    //   whenATExpired_andTokenRefreshReturnsLessScopes_shouldReturnErrorButCacheTokens
    @Test func failsWithFewerScopesAndSavesTheTokens() async throws {
        try await AgentFixture.with(settings: .with { $0.declinedScopes = ["mail.read"] }) { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            let error = try #require(await app.refusal(account, scopes: ["User.Read", "Mail.Read"]))
            #expect(error.domain == MSALErrorDomain)
            #expect(error.code == MSALError.serverDeclinedScopes.rawValue)
            #expect(error.userInfo[MSALGrantedScopesKey] as? [String] == ["User.Read"])
            #expect(error.userInfo[MSALDeclinedScopesKey] as? [String] == ["Mail.Read"])
            let granted = try #require(error.userInfo[MSALInvalidResultKey] as? MSALResult)
            #expect(!granted.scopes.contains("Mail.Read"))
            let cached = try await app.token(account)
            #expect(cached.accessToken == granted.accessToken)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: M15 MSALAcquireTokenTests
    //   testAcquireTokenSilent_whenNoATForScopeInCache_andInvalidRT_shouldReturnInteractionRequired
    @Test func requiresInteractionForOtherScopesWithARevokedRefreshToken() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.emulator.control.revokeTokens()
            let error = await app.refusal(account, scopes: ["Mail.Read"])
            #expect(error?.isInteractionRequired == true)
            #expect(error?.userInfo[MSALSTSErrorCodesKey] as? [NSNumber] == [50173])
        }
    }

    // Mirrors: msal.md 4.7: what is wrong with the request itself is said as it is, and nothing else is tried
    @Test(arguments: [
        ("invalid_scope", MSALInternalError.internalErrorInvalidScope),
        ("invalid_client", .internalErrorInvalidClient),
    ])
    func reportsAFaultyRequestWithoutAskingForASignIn(oauthError: String, code: MSALInternalError) async throws {
        try await AgentFixture.with(settings: .family()) { f in
            let (app, other) = (try f.msalApp("family-1"), try f.msalApp("family-2"))
            let account = try await app.signIn(Self.alice).account
            try await other.signIn(Self.alice)
            f.expireTokens()
            f.emulator.control.inject(.error(oauthError, grant: .refreshToken))
            #expect(await app.refusal(account)?.internalCode == code.rawValue)
            #expect(f.redemptions == 1)
            f.expireTokens()
            try await app.token(account)
        }
    }
}
