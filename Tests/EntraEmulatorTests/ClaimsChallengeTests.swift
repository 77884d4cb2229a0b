internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

/// Continuous access evaluation, and authentication contexts.
@Suite(.bounded) struct ClaimsChallengeTests {
    private static let capable = #"{"access_token":{"xms_cc":{"values":["CP1"]}}}"#
    private static let context = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
    private static let capableWithContext =
        #"{"access_token":{"acrs":{"essential":true,"value":"c1"},"xms_cc":{"values":["CP1"]}}}"#

    private func graph(_ emulator: Emulator, _ tokens: Reply, _ path: String = "v1.0/me") async throws -> Reply {
        let bearer = ["authorization": "Bearer \(tokens.text("access_token") ?? "")"]
        return try await HTTP.get("\(emulator.url)/\(path)", headers: bearer)
    }

    /// The claims request of a claims challenge; nil if the response is none.
    private func challenge(_ reply: Reply) -> String? {
        let header = reply.headers["www-authenticate"] ?? ""
        guard reply.status == 401, header.contains(#"error="insufficient_claims""#),
            let start = header.firstRange(of: #"claims=""#)?.upperBound
        else { return nil }
        return Data(base64Encoded: String(header[start...].prefix { $0 != "\"" })).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test(arguments: [false, true])
    func issuesLongLivedAccessTokensToCapableApps(isV1: Bool) async throws {
        let clock = TestClock()
        try await withEmulator(EmulatorOptions(now: { clock.date })) { emulator in
            let app = App(emulator: emulator, isV1: isV1)
            let reply = try await app.signIn(["claims": Self.capable])
            for (name, seconds) in [("expires_in", 86_399), ("ext_expires_in", 86_399), ("refresh_in", 43_199)] {
                #expect(reply[name] == (isV1 ? .string("\(seconds)") : .number(seconds)), "\(name)")
            }
            #expect(reply.claims("access_token")["xms_cc"] == ["CP1"])
            #expect(reply.claims("access_token")["exp"] == .number(Int(clock.now) + 86_399))
            #expect(reply.claims("id_token")["exp"] == .number(Int(clock.now) + 3599))
            // Each request names the capabilities.
            let renewed = try await app.redeem(refreshToken: reply.text("refresh_token"))
            #expect(renewed["expires_in"] == (isV1 ? "3599" : 3599))
            #expect(renewed.claims("access_token")["xms_cc"] == nil)
        }
    }

    /// The capabilities are Entra's.
    @Test func ignoresTheClaimsRequestAtAnADFS() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator, authority: "adfs", isV1: true)
            let reply = try await app.signIn(["claims": Self.capable])
            #expect(reply["expires_in"] == 3599)
            #expect(reply.claims("access_token")["xms_cc"] == nil)
            #expect(try await app.signIn(["claims": "{"]).status == 200)
        }
    }

    @Test(arguments: ["{", "[]", "eyJhY2Nlc3NfdG9rZW4iOnt9fQ=="])
    func refusesClaimsThatAreNoJSONObject(claims: String) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            #expect(try await app.authorize(["claims": claims]).redirect["error"] == "invalid_request")
            let reply = try await app.redeem(code: app.code(), ["claims": claims])
            #expect(reply["error"] == "invalid_request")
            #expect(reply["error_codes"] == [90100])
        }
    }

    @Test(arguments: ["oidc/userinfo", "v1.0/me"])
    func challengesARevokedTokenUntilTheAppHasAnotherOne(path: String) async throws {
        let clock = TestClock()
        try await withEmulator(EmulatorOptions(now: { clock.date })) { emulator in
            let app = App(emulator: emulator)
            let first = try await app.signIn(["claims": Self.capable])
            #expect(try await graph(emulator, first, path).status == 200)
            let body = #"{"refresh_tokens":"valid"}"#
            #expect(try await HTTP.post("\(emulator.url)/control/revoke", body)["revoked"] == 0)
            let refusal = try await graph(emulator, first, path)
            let claims = try #require(challenge(refusal))
            #expect(claims == #"{"access_token":{"nbf":{"essential":true,"value":"\#(clock.now)"}}}"#)
            #expect(refusal.body.contains(#""code":"InvalidAuthenticationToken""#), "\(refusal.body)")
            let next = try await app.redeem(refreshToken: first.text("refresh_token"), ["claims": claims])
            #expect(try await graph(emulator, next, path).status == 200)
            #expect(try await challenge(graph(emulator, first, path)) == claims)
        }
    }

    @Test(
        arguments: [
            (refreshTokens: nil, error: "invalid_grant", code: 50173), ("revoked", "invalid_grant", 50173),
            ("interaction_required", "interaction_required", 50076),
        ] as [(refreshTokens: String?, error: String, code: Int)])
    func refusesRefreshTokensUntilTheUserSignsIn(row: (refreshTokens: String?, error: String, code: Int)) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let first = try await app.signIn(["claims": Self.capable])
            let body = row.refreshTokens.map { #"{"refresh_tokens":"\#($0)"}"# } ?? ""
            #expect(try await HTTP.post("\(emulator.url)/control/revoke", body)["revoked"] == 1)
            let claims = try #require(try await challenge(graph(emulator, first)))
            let refused = try await app.redeem(refreshToken: first.text("refresh_token"), ["claims": claims])
            #expect(refused["error"] == .string(row.error))
            #expect(refused["error_codes"] == [.number(row.code)])
            let next = try await app.signIn(["claims": claims])
            #expect(try await graph(emulator, next).status == 200)
            #expect(try await app.redeem(refreshToken: next.text("refresh_token")).status == 200)
        }
    }

    @Test func challengesTheTokensOfADisabledUser() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let capable = try await app.signIn(["claims": Self.capable])
            let other = try await app.signIn()
            emulator.control.setDisabled(true, username: "user@contoso.example")
            #expect(try await challenge(graph(emulator, capable))?.contains("nbf") == true)
            // As at Entra, the token of an app that handles no challenges is valid until it expires.
            #expect(try await graph(emulator, other).status == 200)
        }
    }

    @Test func challengesNoAppThatIsNotCapable() async throws {
        try await withEmulator { emulator in
            let tokens = try await App(emulator: emulator).signIn()
            emulator.control.settings.requiredContext = "c1"
            let forbidden = try await graph(emulator, tokens)
            #expect(forbidden.status == 403 && forbidden.headers["www-authenticate"] == nil)
            emulator.control.revokeTokens()
            let refusal = try await graph(emulator, tokens)
            #expect(refusal.status == 401 && challenge(refusal) == nil)
            #expect(refusal.headers["www-authenticate"]?.contains(#"error="invalid_token""#) == true)
        }
    }

    @Test func acceptsTokensForMicrosoftGraph() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let tokens = try await app.signIn(["login_hint": "alice@contoso.example"])
            let me = try await graph(emulator, tokens)
            #expect(me["userPrincipalName"] == "alice@contoso.example")
            #expect(me["id"] == tokens.claims("access_token")["oid"] && me["id"] != nil)
            let other = try await app.redeem(
                refreshToken: tokens.text("refresh_token"), ["scope": "openid https://vault.example/.default"])
            #expect(try await graph(emulator, other).status == 401)
            #expect(try await graph(emulator, other, "oidc/userinfo").status == 200)
            #expect(emulator.control.counts[.graph] == 2)
        }
    }

    /// Only a sign-in satisfies an authentication context, and only a token that is requested with it has it.
    @Test func stepsUpToAnAuthenticationContext() async throws {
        try await withEmulator { emulator in
            emulator.control.settings.requiredContext = "c1"
            let app = App(emulator: emulator)
            let first = try await app.signIn(["claims": Self.capable])
            let claims = try await challenge(graph(emulator, first))
            #expect(claims == Self.context)
            let refused = try await app.redeem(refreshToken: first.text("refresh_token"), ["claims": Self.context])
            #expect(refused["error"] == "interaction_required")
            #expect(refused["claims"] == .string(Self.context))
            let second = try await app.signIn(["claims": Self.capableWithContext])
            #expect(second.claims("access_token")["acrs"] == ["c1"])
            #expect(try await graph(emulator, second).status == 200)
            let plain = try await app.redeem(
                refreshToken: second.text("refresh_token"), ["claims": Self.capable])
            #expect(try await challenge(graph(emulator, plain)) == Self.context)
            let again = try await app.redeem(
                refreshToken: plain.text("refresh_token"), ["claims": Self.capableWithContext])
            #expect(try await graph(emulator, again).status == 200)
        }
    }

    /// A sign-in has not satisfied what is requested with its code only.
    @Test func refusesAContextThatTheSignInWasNotFor() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let code = try await app.code()
            #expect(try await app.redeem(code: code, ["claims": Self.context])["error"] == "interaction_required")
            #expect(try await app.redeem(code: code).status == 200)
        }
    }

    @Test func stepsUpWithADeviceCode() async throws {
        try await withEmulator { emulator in
            emulator.control.settings.requiredContext = "c1"
            let app = App(emulator: emulator)
            let start = try await HTTP.post(
                app.url("devicecode"),
                form: ["client_id": app.clientID, "scope": App.scope, "claims": Self.capableWithContext])
            emulator.control.approveDeviceCode()
            let tokens = try await app.token([
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                "device_code": start.text("device_code") ?? "",
            ])
            #expect(tokens["expires_in"] == 86_399)
            #expect(try await graph(emulator, tokens).status == 200)
        }
    }
}
