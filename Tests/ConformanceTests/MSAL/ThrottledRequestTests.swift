internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// Throttling: the agent repeats an error instead of sending the request again.
@Suite(.bounded) struct ThrottledRequestTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: A6 MSIDThrottlingServiceIntegrationTests (429 and 5xx are throttled, for as long as the server says)
    @Test(arguments: [(429, 30, Int64(30)), (503, 30, 30), (429, nil, 60), (500, nil, 60)])
    func sendsNothingToAnOverloadedServer(status: Int, retryAfter: Int?, seconds: Int64) async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(.status(status, retryAfter: retryAfter, grant: .refreshToken))
            let first = try #require(await app.refusal(account))
            #expect(first.userInfo[MSALThrottlingCacheHitKey] == nil)
            f.emulator.control.clearFaults()
            f.emulator.control.resetCounts()
            f.clock.advance(by: seconds - 1)
            let second = try #require(await app.refusal(account))
            #expect(second.userInfo[MSALThrottlingCacheHitKey] as? NSNumber == 1)
            #expect(second.code == first.code && second.internalCode == first.internalCode)
            #expect(second.userInfo[MSALHTTPResponseCodeKey] as? String == "\(status)")
            #expect(f.redemptions == 0)
            f.clock.advance(by: 2)
            try await app.token(account)
        }
    }

    // Mirrors: A6 MSIDThrottlingServiceIntegrationTests (UI required is throttled), for two minutes
    @Test func repeatsAnErrorThatRequiresInteraction() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(.error("interaction_required", grant: .refreshToken))
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            f.clock.advance(by: 119)
            let second = try #require(await app.refusal(account))
            #expect(second.isInteractionRequired)
            #expect(second.userInfo[MSALThrottlingCacheHitKey] as? NSNumber == 1)
            #expect(second.userInfo[MSALOAuthErrorKey] as? String == "interaction_required")
            // Requests for other scopes are not throttled.
            try await app.token(account, scopes: ["Mail.Read"])
            f.clock.advance(by: 2)
            try await app.token(account)
        }
    }

    // Mirrors: A6 MSIDThrottlingServiceIntegrationTests (an interactive success clears it), in whichever app
    @Test func endsThrottlingForEveryAppAfterASignIn() async throws {
        try await AgentFixture.with { f in
            let (app, other) = (try f.msalApp(), try f.msalApp("app-2"))
            let account = try await app.signIn(Self.alice).account
            f.expireTokens()
            f.emulator.control.inject(.error("interaction_required", grant: .refreshToken))
            #expect(await app.refusal(account)?.isInteractionRequired == true)
            try await other.signIn(Self.alice)
            try await app.token(account)
        }
    }

    // Mirrors: MSALAcquireTokenTests …ExtendedLifeTimeEnabled_ShouldReturnTokenResultInitially_AndThenThrottled, where we
    //   are better: the token that bridged the outage goes on bridging it; S25 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenATExpiredButExtendedExpiresInFlagPresent_andServerIsUnavailable_shouldReturnExtendedToken
    @Test func returnsATokenRepeatedlyDuringAnOutage() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp { $0.extendedLifetimeEnabled = true }
            let signedIn = try await app.signIn(Self.alice)
            f.expireTokens()
            f.emulator.control.inject(.status(503, grant: .refreshToken, count: 0))
            for _ in 1...2 {
                let result = try await app.token(signedIn.account)
                #expect(result.accessToken == signedIn.accessToken)
                #expect(result.extendedLifeTimeToken)
            }
            // The second request was not sent.
            #expect(f.redemptions == 1)
        }
    }
}
