internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Redemptions: each refresh token is sent once, results are durable, other requests go on.
@Suite(.bounded) struct RedemptionTests {
    @Test func answersFromTheCacheWithoutTheNetwork() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters())
            let asked = f.emulator.control.requests.count
            let result = try await f.silent(f.parameters(), signedIn.account.reference)
            #expect(result.isFromCache)
            #expect(result.accessToken == signedIn.accessToken)
            #expect(f.emulator.control.requests.count == asked)
        }
    }

    @Test func redeemsOnceForAppsThatAskAtTheSameTime() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.clock.advance(by: 10_000)
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let parameters = try f.parameters()
            let tokens = try await withThrowingTaskGroup(of: Secret.self) { group in
                for _ in 0..<64 {
                    group.addTask { try await f.silent(parameters, reference).accessToken }
                }
                group.addTask {
                    await f.emulator.control.waitForHeld(atLeast: 1)
                    // A hit is answered while 64 requests wait, which have all arrived by then.
                    _ = try await f.agent.status()
                    f.emulator.control.release()
                    return Secret("")
                }
                return try await group.reduce(into: Set<Secret>()) { $0.insert($1) }
            }
            #expect(tokens.filter { !$0.isEmpty }.count == 1)
            #expect(f.redemptions == 1)
        }
    }

    @Test func redeemsARotatingRefreshTokenForTwoResourcesOneAfterTheOther() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let targets = ["Mail.Read", "Files.Read", "Calendars.Read", "Tasks.Read"]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for target in targets {
                    group.addTask { _ = try await f.silent(f.parameters(scopes: [target]), reference) }
                }
                try await group.waitForAll()
            }
            #expect(f.redemptions == targets.count)
            #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
            #expect(f.emulator.control.counts.maximumInFlight(.refreshToken) == 1)
        }
    }

    @Test func redeemsForDifferentAccountsInParallel() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let bob = try await f.signIn("bob@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken, count: 2))
            async let first = f.silent(f.parameters(), alice, force: true)
            async let second = f.silent(f.parameters(), bob, force: true)
            await f.emulator.control.waitForHeld(atLeast: 2)
            f.emulator.control.release()
            let (one, two) = try await (first, second)
            #expect(one.account.homeAccountID != two.account.homeAccountID)
        }
    }

    @Test func answersAHitWhileARedemptionOnTheSameConnectionWaits() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            async let slow = f.silent(f.parameters(), reference, force: true)
            await f.emulator.control.waitForHeld(atLeast: 1)
            #expect(try await f.silent(f.parameters(), reference).isFromCache)
            f.emulator.control.release()
            #expect(try await slow.isFromCache == false)
        }
    }

    @Test func savesNothingForAnAccountThatHasSignedOutMeanwhile() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let renewal = Task { try await f.silent(f.parameters(), reference, force: true) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            let app = try f.parameters().clientID
            _ = try await f.agent.removeAccount(RemoveAccount(clientID: app, account: reference))
            f.emulator.control.release()
            let failure = await #expect(throws: TokenError.self) { try await renewal.value }
            #expect(failure?.code == .interactionRequired)
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: app)).isEmpty)
        }
    }

    @Test func continuesWhenTheFirstAppDisconnects() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let impatient = AgentClient(socketPath: f.socketPath)
            let first = Task {
                try await impatient.acquireTokenSilent(
                    AcquireTokenSilent(parameters: f.parameters(), account: reference, forceRefresh: true))
            }
            await f.emulator.control.waitForHeld(atLeast: 1)
            let second = try RawPeer(f.socketPath)
            try second.write(
                AcquireTokenSilent(parameters: f.parameters(), account: reference, forceRefresh: true), id: 1)
            // The agent has the request when it answers the next one of the connection.
            try second.write(GetStatus(), id: 2)
            #expect(try await offPool { try second.reply()?.id } == 2)
            first.cancel()
            await #expect(throws: TokenError.self) { try await first.value }
            _ = try await f.agent.status()
            f.emulator.control.release()
            let reply = try #require(try await offPool { try second.reply() })
            #expect(try reply.reply(to: AcquireTokenSilent.self).isFromCache == false)
            #expect(f.redemptions == 1)
        }
    }

    @Test func triesTheFamilyRefreshTokenAfterTheAppsOwnIsRejected() async throws {
        var settings = EmulatorSettings()
        settings.familyApps = ["app-1": "1", "app-2": "1"]
        try await AgentFixture.with(settings: settings) { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters("app-1")).account.reference
            try await f.signIn("alice@contoso.com", f.parameters("app-2"))
            f.emulator.control.inject(.error("invalid_grant", grant: .refreshToken))
            let result = try await f.silent(f.parameters("app-1"), reference, force: true)
            #expect(!result.isFromCache)
            #expect(f.redemptions == 2)
        }
    }

    @Test func sendsNoRefreshTokenOfAFamilyTwice() async throws {
        var settings = EmulatorSettings()
        settings.familyApps = ["app-1": "1", "app-2": "1", "app-3": "1"]
        try await AgentFixture.with(settings: settings) { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters("app-1")).account.reference
            for app in ["app-2", "app-1", "app-3", "app-2"] {
                _ = try await f.silent(f.parameters(app), reference, force: true)
            }
            #expect(f.redemptions == 4)
            #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
        }
    }

    @Test func keepsATemporarilyRefusedRefreshTokenAndRemovesABadOne() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.error("invalid_grant"))
            let refused = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), reference, force: true)
            }
            #expect(refused?.code == .interactionRequired)
            #expect(refused?.details.oauthError == "invalid_grant")
            f.clock.advance(by: 121)
            _ = try await f.silent(f.parameters(), reference, force: true)
            f.emulator.control.inject(.error("invalid_grant", suberror: "bad_token"))
            await #expect(throws: TokenError.self) { try await f.silent(f.parameters(), reference, force: true) }
            let asked = f.redemptions
            await #expect(throws: TokenError.self) { try await f.silent(f.parameters(), reference, force: true) }
            #expect(f.redemptions == asked)
        }
    }

    private static let refusals: [(String, String?, TokenError.Code)] = [
        ("unauthorized_client", "protection_policy_required", .protectionPolicyRequired),
        ("invalid_scope", nil, .invalidScope), ("invalid_client", nil, .invalidClient),
        ("interaction_required", nil, .interactionRequired), ("temporarily_unavailable", nil, .serverError),
    ]

    @Test(arguments: refusals)
    func reportsTheErrorOfTheTokenEndpoint(_ error: String, _ subError: String?, _ code: TokenError.Code) async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.error(error, suberror: subError, count: 2))
            let failure = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), reference, force: true)
            }
            #expect(failure?.code == code)
            #expect(failure?.details.oauthError == error)
            #expect(failure?.details.subError == subError)
        }
    }

    @Test func reportsTheHeadersOfTooManyRequests() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.status(429, retryAfter: 17))
            let failure = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), reference, force: true)
            }
            #expect(failure?.code == .unhandledHTTPResponse)
            #expect(failure?.details.httpStatus == 429)
            #expect(failure?.details.httpHeaders.first { $0.key.lowercased() == "retry-after" }?.value == "17")
            #expect(f.redemptions == 1)
        }
    }

    @Test func returnsATokenThatIsStillValidWhenItCannotBeRenewed() async throws {
        var settings = EmulatorSettings()
        settings.refreshIn = 60
        try await AgentFixture.with(settings: settings) { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters())
            f.clock.advance(by: 120)
            f.emulator.control.inject(.status(503, count: 4))
            for _ in 0..<2 {
                let result = try await f.silent(f.parameters(), signedIn.account.reference)
                #expect(result.accessToken == signedIn.accessToken)
                #expect(!result.isExtendedLifetime)
            }
        }
    }

    @Test func returnsAnExpiredTokenInAnOutageOnlyToAppsThatAllowIt() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters())
            f.clock.advance(by: 4000)
            f.emulator.control.inject(.status(503, count: 4))
            let request = AcquireTokenSilent(
                parameters: try f.parameters(), account: signedIn.account.reference, allowsExtendedLifetime: true)
            let result = try await f.agent.acquireTokenSilent(request)
            #expect(result.isExtendedLifetime)
            #expect(result.accessToken == signedIn.accessToken)
            let failure = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), signedIn.account.reference)
            }
            #expect(failure?.code == .unhandledHTTPResponse)
        }
    }

    @Test func keepsTheTokensWhenFewerScopesWereGranted() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.settings.declinedScopes = ["Mail.Send"]
            let failure = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(scopes: ["Mail.Read", "Mail.Send"]), reference)
            }
            #expect(failure?.code == .declinedScopes)
            #expect(failure?.details.declinedScopes == ["Mail.Send"])
            #expect(failure?.details.grantedScopes.contains("Mail.Read") == true)
            #expect(failure?.details.partialResult?.accessToken.isEmpty == false)
            #expect(try await f.silent(f.parameters(scopes: ["Mail.Read"]), reference).isFromCache)
        }
    }

    /// The error is returned again for two minutes as long as the refresh token stays the same, and has an access token.
    @Test func returnsNoTokenThatWasRemovedWithAnEarlierError() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.rotation = .none
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.settings.declinedScopes = ["Mail.Send"]
            let parameters = try f.parameters(scopes: ["Mail.Read", "Mail.Send"])
            let first = await #expect(throws: TokenError.self) { try await f.silent(parameters, reference) }
            let again = await #expect(throws: TokenError.self) { try await f.silent(parameters, reference) }
            #expect(again?.details.isThrottled == true)
            let token = try #require(first?.details.partialResult).accessToken
            #expect(again?.details.partialResult?.accessToken == token)
            for credential in try await f.agent.listCredentials(ListCredentials()) where credential.accessToken == token
            {
                _ = try await f.agent.removeCredential(RemoveCredential(id: credential.id))
            }
            let last = await #expect(throws: TokenError.self) { try await f.silent(parameters, reference) }
            #expect(last?.details.partialResult?.accessToken != token)
        }
    }
}
