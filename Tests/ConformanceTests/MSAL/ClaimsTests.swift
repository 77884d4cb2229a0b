internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// Claims requests together with capabilities, a login hint, and a refresh token that is rejected; claims challenges of an API.
@Suite(.bounded) struct ClaimsTests {
    private static let alice = "alice@contoso.com"
    private static let claims = #"{"access_token":{"polids":{"essential":true,"values":["p1"]}}}"#

    // Mirrors: M37 MSALAcquireTokenTests testAcquireTokenSilent_whenClaimsIsPassedAndCapabilitiesSet_shouldSkipAtAndUseRt,
    //   testAcquireTokenSilent_whenCapabilitiesSetAndExpiredAt_shouldSendCapabilitiesToServer
    @Test func mergesCapabilitiesIntoTheClaimsOfARefresh() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp { $0.clientApplicationCapabilities = ["cp1"] }
            let signedIn = try await app.signIn(Self.alice)
            let result = try await app.token(signedIn.account) {
                $0.claimsRequest = MSALClaimsRequest(jsonString: Self.claims, error: nil)
            }
            #expect(result.accessToken != signedIn.accessToken)
            f.clock.advance(by: 86_400)
            try await app.token(signedIn.account)
            let merged =
                #"{"access_token":{"polids":{"essential":true,"values":["p1"]},"xms_cc":{"values":["cp1"]}}}"#
            let sent = f.redeemed.map { $0.parameters["claims"] }
            #expect(sent == [merged, #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#])
        }
    }

    @Test func answersTheChallengeToARevokedToken() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp { $0.clientApplicationCapabilities = ["CP1"] }
            let signedIn = try await app.signIn(Self.alice)
            f.emulator.control.revokeTokens(refreshTokens: .valid)
            let claims = try await f.emulator.requestedClaims(signedIn.accessToken)
            let renewed = try await app.token(signedIn.account) {
                $0.claimsRequest = MSALClaimsRequest(jsonString: claims, error: nil)
            }
            #expect(try await f.emulator.graph(renewed.accessToken).status == 200)
            #expect(try await app.token(signedIn.account).accessToken == renewed.accessToken)
            #expect(f.signIns == 1)
        }
    }

    @Test func signsInForTheAuthenticationContextThatAnAPIRequires() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.requiredContext = "c1"
            let app = try f.msalApp { $0.clientApplicationCapabilities = ["CP1"] }
            let signedIn = try await app.signIn(Self.alice)
            let claims = try await f.emulator.requestedClaims(signedIn.accessToken)
            let request = MSALClaimsRequest(jsonString: claims, error: nil)
            let error = await app.refusal(signedIn.account) { $0.claimsRequest = request }
            #expect(error?.isInteractionRequired == true)
            let steppedUp = try await app.signIn(Self.alice) { $0.claimsRequest = request }
            #expect(try await f.emulator.graph(steppedUp.accessToken).status == 200)
            #expect(try await app.token(signedIn.account).accessToken == steppedUp.accessToken)
        }
    }

    // Mirrors: M37 MSALAcquireTokenTests testAcquireTokenSilent_whenClaimsIsPassedAndInvalidRt_shouldReturnInteractionRequired
    @Test func requiresInteractionForClaimsWithARevokedRefreshToken() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            let signedIn = try await app.signIn(Self.alice)
            f.emulator.control.revokeTokens()
            let error = await app.refusal(signedIn.account) {
                $0.claimsRequest = MSALClaimsRequest(jsonString: Self.claims, error: nil)
            }
            #expect(error?.isInteractionRequired == true)
            // The access token, which was not issued for the claims, stays for requests without them.
            #expect(try await app.token(signedIn.account).accessToken == signedIn.accessToken)
        }
    }

    // Mirrors: M37 MSALAcquireTokenTests
    //   testAcquireTokenInteractive_whenClaimsIsPassedAndLoginHintNotNil_shouldSendClaimsAndLoginHintToServer
    @Test func sendsClaimsAndTheLoginHintToThePage() async throws {
        try await AgentFixture.with { f in
            try await f.msalApp().signIn(Self.alice) {
                $0.claimsRequest = MSALClaimsRequest(jsonString: Self.claims, error: nil)
            }
            #expect(f.authorized.map { $0.parameters["claims"] } == [Self.claims])
            #expect(f.authorized.map { $0.parameters["login_hint"] } == [Self.alice])
        }
    }
}
