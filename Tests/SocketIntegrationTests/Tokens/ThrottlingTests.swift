internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// Throttling of requests that a token endpoint has refused.
@Suite(.bounded) struct ThrottlingTests {
    private static let alice = "alice@contoso.com"

    @Test(arguments: [(status: 429, retryAfter: 7, wait: Int64(7)), (429, nil, 60), (503, 9, 9), (503, nil, 60)])
    func throttlesAnOverloadedServerForAsLongAsItAsks(row: (status: Int, retryAfter: Int?, wait: Int64)) async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn(Self.alice, f.parameters()).account.reference
            f.clock.advance(by: 10_000)
            f.emulator.control.inject(.status(row.status, retryAfter: row.retryAfter, grant: .refreshToken))
            let first = try await failure { try await f.silent(f.parameters(), alice) }
            #expect(first.code == .unhandledHTTPResponse)
            #expect(!first.details.isThrottled)
            let end = f.clock.now + row.wait
            #expect(first.reason == .throttled && first.details.throttledUntil == end)
            let asked = f.redemptions
            f.clock.advance(by: row.wait - 1)
            let second = try await failure { try await f.silent(f.parameters(), alice) }
            #expect(second.details.isThrottled)
            #expect(second.reason == .throttled && second.details.throttledUntil == end)
            #expect(second.details.httpStatus == first.details.httpStatus)
            #expect(f.redemptions == asked)
            f.clock.advance(by: 1)
            #expect(try await f.silent(f.parameters(), alice).isFromCache == false)
        }
    }

    @Test func throttlesForAnHourAtMost() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn(Self.alice, f.parameters()).account.reference
            f.clock.advance(by: 10_000)
            f.emulator.control.inject(.status(429, retryAfter: 1_000_000, grant: .refreshToken))
            _ = try await failure { try await f.silent(f.parameters(), alice) }
            f.clock.advance(by: 3599)
            let repeated = try await failure { try await f.silent(f.parameters(), alice) }
            #expect(repeated.details.isThrottled)
            f.clock.advance(by: 1)
            #expect(try await f.silent(f.parameters(), alice).isFromCache == false)
        }
    }

    /// The clock was wrong when the server was overloaded, and has been corrected.
    @Test func endsTheThrottlingWhenTheClockIsSetBack() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn(Self.alice, f.parameters()).account.reference
            f.clock.advance(by: 300_000)
            f.emulator.control.inject(.status(503, grant: .refreshToken))
            _ = try await failure { try await f.silent(f.parameters(), alice) }
            f.clock.advance(by: -290_000)
            #expect(try await f.silent(f.parameters(), alice, force: true).isFromCache == false)
        }
    }

    @Test func doesNotThrottleOtherScopes() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn(Self.alice, f.parameters()).account.reference
            f.emulator.control.inject(.status(429, grant: .refreshToken))
            _ = try await failure { try await f.silent(f.parameters(), alice, force: true) }
            #expect(try await f.silent(f.parameters(scopes: ["Mail.Read"]), alice).isFromCache == false)
        }
    }

    @Test func returnsAValidTokenWhileTheServerIsThrottled() async throws {
        var settings = EmulatorSettings()
        settings.refreshIn = 100
        try await AgentFixture.with(settings: settings) { f in
            let alice = try await f.signIn(Self.alice, f.parameters()).account.reference
            f.clock.advance(by: 200)
            f.emulator.control.inject(.status(503, grant: .refreshToken))
            #expect(try await f.silent(f.parameters(), alice).isFromCache)
            let asked = f.redemptions
            #expect(try await f.silent(f.parameters(), alice).isFromCache)
            #expect(f.redemptions == asked)
        }
    }

    @Test func repeatsARequestThatNeedsTheUserAfterTwoMinutes() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn(Self.alice, f.parameters()).account.reference
            f.emulator.control.inject(.error("interaction_required", grant: .refreshToken))
            let first = try await failure { try await f.silent(f.parameters(), alice, force: true) }
            #expect(first.code == .interactionRequired)
            f.clock.advance(by: 119)
            let second = try await failure { try await f.silent(f.parameters(), alice, force: true) }
            #expect(second.details.isThrottled)
            #expect(second.details.oauthError == "interaction_required")
            f.clock.advance(by: 1)
            #expect(try await f.silent(f.parameters(), alice, force: true).isFromCache == false)
        }
    }

    /// The next request has another refresh token, so that it is sent, unless the provider does not renew them.
    @Test(arguments: [(EmulatorSettings.Rotation.strict, false), (.none, true)])
    func saysUntilWhenAnErrorIsRepeatedOnlyIfItIs(
        rotation: EmulatorSettings.Rotation, isRepeated: Bool
    ) async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn(Self.alice, f.parameters()).account.reference
            f.emulator.control.settings.rotation = rotation
            f.emulator.control.settings.declinedScopes = ["Mail.Send"]
            let parameters = try f.parameters(scopes: ["User.Read", "Mail.Send"])
            let first = try await failure { try await f.silent(parameters, alice) }
            #expect(first.code == .declinedScopes)
            #expect(first.details.throttledUntil == (isRepeated ? f.clock.now + 120 : nil))
            let asked = f.redemptions
            let second = try await failure { try await f.silent(parameters, alice) }
            #expect(second.code == .declinedScopes)
            #expect(second.details.isThrottled == isRepeated)
            #expect((f.redemptions == asked) == isRepeated)
        }
    }

    @Test func repeatsARequestAfterASignInWithAnyApp() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn(Self.alice, f.parameters()).account.reference
            f.emulator.control.inject(.error("interaction_required", grant: .refreshToken))
            _ = try await failure { try await f.silent(f.parameters(), alice, force: true) }
            try await f.signIn("bob@contoso.com", f.parameters("app-2"))
            #expect(try await f.silent(f.parameters(), alice, force: true).isFromCache == false)
        }
    }

    @Test func doesNotThrottleADALRequests() async throws {
        try await AgentFixture.with { f in
            let parameters = try f.parameters(resource: "https://graph.example")
            let alice = try await f.signIn(Self.alice, parameters).account.reference
            f.emulator.control.inject(.status(429, retryAfter: 60, grant: .refreshToken))
            _ = try await failure { try await f.silent(parameters, alice, force: true) }
            #expect(try await f.silent(parameters, alice, force: true).isFromCache == false)
        }
    }

    private func failure(_ body: () async throws -> TokenResult) async throws -> TokenError {
        try #require(await #expect(throws: TokenError.self) { _ = try await body() })
    }
}
