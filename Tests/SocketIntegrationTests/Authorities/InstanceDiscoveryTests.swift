internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Clouds that are not built in: discovered once, validated, and stored.
@Suite(.bounded) struct InstanceDiscoveryTests {
    private static let alice = "alice@contoso.com"
    private static let host = "login.contoso.example"
    private static let alias = "sts.contoso.example"
    private static let authority = "https://\(host)/common"

    private static var settings: EmulatorSettings {
        var settings = EmulatorSettings()
        settings.clouds = [EmulatedCloud(hosts: [host, alias], preferredCache: alias)]
        return settings
    }

    @Test func learnsACloudAndStoresIt() async throws {
        try await AgentFixture.online(settings: Self.settings) { f in
            let first = try await f.signIn(Self.alice, f.parameters(at: "https://\(Self.alias)/common"))
            #expect(first.account.environment == Self.alias)
            // Microsoft's host is asked, and its reply names the cloud's hosts.
            let asked = f.emulator.control.requests
            #expect(
                asked.filter { $0.counter == .instanceDiscovery }.map(\.environment) == ["login.microsoftonline.com"])
            #expect(asked.filter { $0.counter == .authorizationCode }.map(\.environment) == [Self.host])
            try await f.restarted { f in
                let again = try await f.silent(f.parameters(at: Self.authority), first.account.reference)
                #expect(again.isFromCache)
                _ = try await f.silent(f.parameters(at: Self.authority), first.account.reference, force: true)
                #expect(f.redeemers == [Self.host])
                #expect(f.emulator.control.counts[.instanceDiscovery] == 1)
            }
        }
    }

    @Test func learnsACloudThatCannotBeStored() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.online(settings: Self.settings, disk: disk) { f in
            _ = try await f.agent.listAccounts(ListAccounts(clientID: nil))
            disk.fail(.full)
            let begun = try await f.agent.beginInteractive(
                BeginInteractive(parameters: f.parameters(at: Self.authority), loginHint: Self.alice))
            #expect(begun.authorizationURL.contains(Self.host))
            disk.recover()
        }
    }

    @Test func refusesAnUnknownHostAndDoesNotAskAgain() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.authority)
            for _ in 0..<2 {
                let error = await #expect(throws: TokenError.self) { try await f.signIn(Self.alice, parameters) }
                #expect(error?.code == .authorityValidation)
                #expect(error?.details.oauthError == "invalid_instance")
            }
            #expect(f.emulator.control.counts[.instanceDiscovery] == 1)
            // Without validation the host is asked about too, and then used.
            let vouched = try f.parameters(at: Self.authority, validates: false)
            let reference = try await f.signIn(Self.alice, vouched).account.reference
            #expect(try await f.silent(vouched, reference).isFromCache)
            let refused = await #expect(throws: TokenError.self) { try await f.silent(parameters, reference) }
            #expect(refused?.code == .authorityValidation)
            // The error is cached for a limited time.
            let asked = f.emulator.control.counts[.instanceDiscovery]
            f.clock.advance(by: 3601)
            await #expect(throws: TokenError.self) { try await f.silent(parameters, reference) }
            #expect(f.emulator.control.counts[.instanceDiscovery] == asked + 1)
        }
    }

    @Test(arguments: [true, false]) func refusesMalformedMetadataEvenWithoutValidation(validates: Bool)
        async throws
    {
        var settings = Self.settings
        settings.clouds.append(EmulatedCloud(hosts: [], preferredCache: "a b"))
        try await AgentFixture.online(settings: settings) { f in
            let parameters = try f.parameters(at: Self.authority, validates: validates)
            let error = await #expect(throws: TokenError.self) { try await f.signIn(Self.alice, parameters) }
            #expect(error?.code == .serverInvalidResponse)
            #expect(f.signIns == 0)
        }
    }

    @Test func failsOnADiscoveryOutageOnlyWithValidation() async throws {
        try await AgentFixture.online(settings: Self.settings) { f in
            f.emulator.control.inject(Fault { ($0.endpoint, $0.status, $0.count) = (.instanceDiscovery, 503, 0) })
            let error = await #expect(throws: TokenError.self) {
                try await f.signIn(Self.alice, f.parameters(at: Self.authority))
            }
            #expect(error?.code == .unhandledHTTPResponse)
            let vouched = try f.parameters(at: Self.authority, validates: false)
            #expect(try await f.signIn(Self.alice, vouched).account.environment == Self.host)
        }
    }

    // Mirrors: AADAuthorityValidationIntegrationTests whenMultipleCalls_shouldOnlyValidateOnce
    @Test func sharesOneDiscoveryAmongApps() async throws {
        try await AgentFixture.online(settings: Self.settings) { f in
            let (down, vouched) = (
                Fault { ($0.endpoint, $0.status, $0.count) = (.instanceDiscovery, 503, 0) },
                try f.parameters(at: Self.authority, validates: false)
            )
            f.emulator.control.inject(down)
            var references: [AccountReference] = []
            for user in ["alice", "bob", "carol"] {
                references.append(try await f.signIn("\(user)@contoso.com", vouched).account.reference)
            }
            f.emulator.control.clearFaults()
            f.emulator.control.resetCounts()
            f.emulator.control.inject(Fault { ($0.endpoint, $0.hold) = (.instanceDiscovery, true) })
            var apps: [RawPeer] = []
            for reference in references {
                let app = try RawPeer(f.socketPath)
                try await app.begin(AcquireTokenSilent(parameters: vouched, account: reference, forceRefresh: true))
                apps.append(app)
            }
            await f.emulator.control.waitForHeld(atLeast: 1)
            f.emulator.control.release()
            for app in apps {
                let reply = try #require(try await offPool { try app.reply() })
                _ = try reply.reply(to: AcquireTokenSilent.self)
            }
            #expect(f.emulator.control.counts[.instanceDiscovery] == 1)
            #expect(f.redemptions == 3)
        }
    }

    // Mirrors: AADAuthorityValidationIntegrationTests whenNoPreferredCache_shouldWriteToPreferred
    // Mirrors: AADAuthorityValidationIntegrationTests whenDifferentPreferredCache_shouldUsePreferred
    @Test func movesRecordsToThePreferredCacheName() async throws {
        try await AgentFixture.online(settings: Self.settings) { f in
            let vouched = try f.parameters(at: Self.authority, validates: false)
            f.emulator.control.inject(Fault { ($0.endpoint, $0.status, $0.count) = (.instanceDiscovery, 503, 0) })
            let reference = try await f.signIn(Self.alice, vouched).account.reference
            f.emulator.control.clearFaults()
            let moved = try await f.silent(vouched, reference, force: true)
            #expect(moved.tenantProfile?.environment == Self.alias)
            #expect(try await f.silent(vouched, reference).accessToken == moved.accessToken)
            _ = try await f.silent(vouched, reference, force: true)
            #expect(f.redemptions == 2)
            #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
        }
    }

    // Mirrors: AADAuthorityValidationIntegrationTests …TokenFails_shouldRemoveCorrectToken
    @Test func removesABadRefreshTokenWhereItWasFound() async throws {
        try await AgentFixture.online(settings: Self.settings) { f in
            let vouched = try f.parameters(at: Self.authority, validates: false)
            f.emulator.control.inject(Fault { ($0.endpoint, $0.status, $0.count) = (.instanceDiscovery, 503, 0) })
            let reference = try await f.signIn(Self.alice, vouched).account.reference
            f.emulator.control.clearFaults()
            f.emulator.control.revokeTokens()
            for _ in 0..<2 {
                await #expect(throws: TokenError.self) { try await f.silent(vouched, reference, force: true) }
            }
            #expect(f.redemptions == 1)
        }
    }

    /// The pages for codes of Microsoft's clouds are at hosts that they share.
    @Test func showsAPageOfMicrosoftsForACodeOfALearntCloud() async throws {
        try await AgentFixture.online(settings: Self.settings) { f in
            f.emulator.control.inject(Self.codeForAPageOfMicrosofts)
            let begun = try await f.agent.beginDeviceCode(
                BeginDeviceCode(parameters: f.parameters(at: Self.authority)))
            #expect(begun.verificationURL == "https://microsoft.com/devicelogin")
        }
    }

    /// Whoever answers there could have asked Microsoft for the code.
    @Test func showsNoPageOfMicrosoftsForACodeOfAHostThatIsNotKnown() async throws {
        try await AgentFixture.online { f in
            f.emulator.control.inject(Self.codeForAPageOfMicrosofts)
            let parameters = try f.parameters(at: Self.authority, validates: false)
            let error = await #expect(throws: TokenError.self) {
                try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: parameters))
            }
            #expect(error?.code == .serverInvalidResponse)
        }
    }

    private static let codeForAPageOfMicrosofts = Fault {
        $0.endpoint = .deviceCode
        $0.status = 200
        $0.error = "none"
        $0.members = [
            "error": nil, "device_code": "d", "user_code": "ABCD",
            "verification_uri": "https://microsoft.com/devicelogin",
        ]
    }

    // Mirrors: MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_whenTokenEndpointInDifferentCloud_shouldReturnInteractionRequired
    @Test func sendsNothingToATokenEndpointInAnotherCloud() async throws {
        try await AgentFixture.online(settings: Self.settings) { f in
            let parameters = try f.parameters(at: Self.authority)
            let reference = try await f.signIn(Self.alice, parameters).account.reference
            f.emulator.control.settings.tokenHost = "login.microsoftonline.us"
            let error = await #expect(throws: TokenError.self) {
                try await f.silent(parameters, reference, force: true)
            }
            #expect(error?.code == .interactionRequired)
            #expect(f.redemptions == 0)
            #expect(f.internet?.hosts.contains("login.microsoftonline.us") == false)
        }
    }
}
