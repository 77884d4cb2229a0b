internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// The errors of ADAL for errors of the server.
@Suite(.bounded) struct ADALServerErrorTests {
    private static let alice = ADALApp.alice
    private static let claims = "%7B%22access_token%22%3A%7B%22polids%22%3A%7B%7D%7D%7D"

    // Mirrors: 13 ADAcquireTokenTests testMRRT_whenInteractionRequiredError_andSubError_shouldReturnSuberror
    @Test func reportsTheSuberrorOfARefusal() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.failRefresh("interaction_required", suberror: "basic_action")
            let result = try await app.silent(Self.alice)
            let cause = expectInputNeeded(result)
            #expect(result.error?.userInfo[ADSuberrorKey] as? String == "basic_action")
            #expect(cause?.userInfo[ADSuberrorKey] as? String == "basic_action")
            #expect(cause?.protocolCode == "interaction_required")
            f.letTokensExpire()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 14 ADAcquireTokenTests testMRRT_whenSubErrorNull_shouldReturnMainError
    @Test func ignoresANullSuberror() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            var fault = Fault.error("interaction_required", grant: .refreshToken)
            fault.members = ["suberror": nil, "error_codes": nil]
            f.emulator.control.inject(fault)
            let result = try await app.silent(Self.alice)
            let cause = expectInputNeeded(result)
            #expect(result.error?.userInfo[ADSuberrorKey] == nil)
            #expect(cause?.protocolCode == "interaction_required")
        }
    }

    // Mirrors: 15 ADAcquireTokenTests testMRRT_whenUnauthorizedClientAndProtectionPoliciesRequired_shouldReturnIntuneError
    // Mirrors: 34 ADAcquireTokenTests testMRRT_whenPolicyProtectionRequired_shouldNotRemoveTokenAndReturnUserId
    @Test func passesAProtectionPolicyOn() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.failRefresh("unauthorized_client", suberror: "protection_policy_required")
            expectProtectionPolicy(try await app.silent(Self.alice))
            f.letTokensExpire()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 34 ADAcquireTokenTests testMRRTInDifferentCache_whenPolicyProtectionRequired_shouldNotRemoveTokenAndReturnUserId
    @Test func namesTheUserOfAPolicyAfterASignInWithMSAL() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            f.failRefresh("unauthorized_client", suberror: "protection_policy_required")
            expectProtectionPolicy(try await ADALApp(f).silent(Self.alice))
            f.letTokensExpire()
            #expect(try await ADALApp(f).silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 34 ADAcquireTokenTests testMRRT_whenPolicyProtectionRequired_shouldNotRemoveTokenAndReturnUserId, for both tokens
    @Test func passesAProtectionPolicyOnThatTheFamilyMeetsToo() async throws {
        try await AgentFixture.with(settings: .family(of: "app-2")) { f in
            let app = ADALApp(f)
            try await app.signIn()
            try await ADALApp(f, "app-2").signIn()
            f.letTokensExpire()
            f.failRefresh("unauthorized_client", suberror: "protection_policy_required", count: 2)
            expectProtectionPolicy(try await app.silent(Self.alice))
            #expect(f.redemptions == 2)
        }
    }

    // Mirrors: MSIDAADV1Oauth2FactoryTests testVerifyResponse_whenProtectionPolicyRequiredErrorViaRefreshToken_…
    @Test func namesTheUserOfAPolicyInASignIn() async throws {
        try await AgentFixture.with { f in
            var fault = Fault.error(
                "unauthorized_client", suberror: "protection_policy_required", grant: .authorizationCode)
            fault.members = ["adi": .string(Self.alice)]
            f.emulator.control.inject(fault)
            expectProtectionPolicy(try await ADALApp(f).acquire(nil, AD_PROMPT_ALWAYS))
        }
    }

    // Mirrors: ADAuthenticationContext errorFromDictionary:errorCode:
    @Test func passesOnAProtectionPolicyThatThePageNames() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.authorizationReply = [
                "suberror": "protection_policy_required", "adi": .string(Self.alice),
            ]
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .authorize
                    $0.error = "unauthorized_client"
                })
            expectProtectionPolicy(try await ADALApp(f).acquire(nil, AD_PROMPT_ALWAYS))
        }
    }

    private func expectProtectionPolicy(
        _ result: ADAuthenticationResult, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = result.error
        #expect(result.status == AD_FAILED, sourceLocation: sourceLocation)
        #expect(result.authority == nil, sourceLocation: sourceLocation)
        #expect(error?.domain == ADOAuthServerErrorDomain, sourceLocation: sourceLocation)
        #expect(
            error?.code == ADErrorCode.ERROR_SERVER_PROTECTION_POLICY_REQUIRED.rawValue, sourceLocation: sourceLocation)
        #expect(error?.protocolCode == "unauthorized_client", sourceLocation: sourceLocation)
        #expect(
            error?.userInfo[ADSuberrorKey] as? String == "protection_policy_required", sourceLocation: sourceLocation)
        #expect(error?.userInfo[ADUserIdKey] as? String == Self.alice, sourceLocation: sourceLocation)
        #expect(error?.userInfo[NSUnderlyingErrorKey] == nil, sourceLocation: sourceLocation)
    }

    // Mirrors: 16 ADAcquireTokenTests testMRRTUnauthorizedClient
    @Test(arguments: [
        "unauthorized_client", "interaction_required", "temporarily_unavailable", "invalid_client", "made_up",
    ])
    func keepsTheRefreshTokenAfterOtherErrors(error: String) async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.failRefresh(error)
            let cause = try await expectInputNeeded(app.silent(Self.alice))
            #expect(cause?.protocolCode == error)
            f.letTokensExpire()
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 27 ADAcquireTokenTests testAcquireTokenSilent_whenClaimsIsPassedInAndValidMRRT_shouldSkipAccessTokenCache
    @Test func asksTheServerWhenThereAreClaims() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let old = try await app.signIn()
            let result = try await app.silent(Self.alice, claims: Self.claims)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.accessToken != old.accessToken)
            #expect(app.refreshes.last?["claims"] == #"{"access_token":{"polids":{}}}"#)
        }
    }

    // Mirrors: 28 ADAcquireTokenTests testAcquireTokenSilent_whenClaimsIsPassedInAndInValidMRRT_shouldFailWithInputNeededError
    @Test func asksForASignInWhenTheClaimsAreRefused() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.failRefresh("invalid_grant", suberror: "bad_token")
            let cause = try await expectInputNeeded(app.silent(Self.alice, claims: Self.claims))
            #expect(cause?.protocolCode == "invalid_grant")
        }
    }

    // Mirrors: MSIDAADV1Oauth2Factory verifyResponse: an ID token alone is not enough
    @Test func reportsAResponseWithoutAnAccessTokenAsUnexpected() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.tokenReply = ["access_token": nil]
            let error = try #require(try await ADALApp(f).acquire(ADUserIdentifier(id: Self.alice)).error)
            #expect(error.domain == ADAuthenticationErrorDomain)
            #expect(error.code == ADErrorCode.ERROR_UNEXPECTED.rawValue)
            #expect(error.protocolCode == nil)
        }
    }

    // Mirrors: ADWebAuthResponse handleJSONError, where we differ: it passes on the error of the JSON parser
    @Test func reportsAResponseThatIsNotJSONAndKeepsTheRefreshToken() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.emulator.control.inject(
                Fault {
                    $0.grant = .refreshToken
                    $0.garbage = true
                })
            let error = try #require(try await app.silent(Self.alice).error)
            #expect(error.domain == ADOAuthServerErrorDomain)
            #expect(error.code == ADErrorCode.ERROR_SERVER_INVALID_RESPONSE.rawValue)
            #expect(error.protocolCode == nil)
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 29 ADAcquireTokenTests testMRRT_whenGetting429ThrottledResponse_shouldReturnHttpHeaders
    @Test func hasTheHeadersOfAThrottlingServer() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            f.letTokensExpire()
            f.emulator.control.inject(.status(429, retryAfter: 256, grant: .refreshToken))
            let result = try await app.silent(Self.alice)
            #expect(result.status == AD_FAILED)
            #expect(result.error?.domain == ADHTTPErrorCodeDomain)
            #expect(result.error?.code == 429)
            let headers = try #require(result.error?.userInfo[ADHTTPHeadersKey] as? [String: String])
            #expect(headers["Retry-After"] == "256")
            #expect(f.redemptions == 1)
        }
    }
}
