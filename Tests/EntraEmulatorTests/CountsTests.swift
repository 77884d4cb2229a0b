internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

@Suite(.bounded) struct CountsTests {
    @Test func countsByGrantEndpointAndApp() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let token = try await app.signIn().text("refresh_token")
            _ = try await app.redeem(refreshToken: token)
            _ = try await HTTP.get("\(emulator.url)/common/v2.0/.well-known/openid-configuration")
            let counts = emulator.control.counts
            #expect(counts[.authorize] == 1)
            #expect(counts[.authorizationCode] == 1)
            #expect(counts[.refreshToken] == 1)
            #expect(counts[.openIDConfiguration] == 1)
            #expect(counts[.deviceCode] == 0)
            #expect(counts.byClientID[app.clientID]?["refresh_token"] == 1)
            emulator.control.resetCounts()
            #expect(emulator.control.counts[.refreshToken] == 0)
        }
    }

    @Test func countsRequestsInProgressAtTheSameTime() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let token = try await app.signIn().text("refresh_token")
            emulator.control.inject(.hold(count: 0))
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<5 { group.addTask { try await app.redeem(refreshToken: token).status } }
                await emulator.control.waitForHeld(atLeast: 5)
                #expect(emulator.control.counts.maximumInFlight(.refreshToken) == 5)
                emulator.control.release()
                let statuses = try await group.reduce(into: []) { $0.append($1) }
                #expect(statuses.filter { $0 == 200 }.count == 1)
            }
            #expect(emulator.control.counts.reusedRefreshTokens == 4)
            #expect(emulator.control.counts.inFlight["refresh_token"] == 0)
        }
    }

    /// Each renewal of a long run is of another token.
    @Test func forgetsTheTokensThatWereRedeemedOnceBeforeOthers() {
        var counts = Counts()
        for token in ["twice", "twice"] + (0..<100_000).map({ "\($0)" }) {
            counts.countArrival(of: .refreshToken, clientID: nil, fingerprint: token)
        }
        #expect(counts.redemptions == ["twice": 2, "99999": 1])
        #expect(counts[.refreshToken] == 100_002)
    }

    @Test func waitsForARequestToArrive() async throws {
        try await withEmulator { emulator in
            async let arrival: Void = emulator.control.waitForCount(.authorize, atLeast: 2)
            for _ in 0..<2 { _ = try await App(emulator: emulator).authorize() }
            await arrival
            // This returns immediately.
            await emulator.control.waitForCount(.authorize, atLeast: 1)
        }
    }

    @Test func stopsWaitingWhenTheTaskIsCancelled() async throws {
        try await withEmulator { emulator in
            let waiting = Task { await emulator.control.waitForCount(.authorize, atLeast: 1) }
            waiting.cancel()
            await waiting.value
        }
    }

    /// The program records none: nobody could read them, and each may have a body of two megabytes.
    @Test func countsRequestsWithoutARecord() async throws {
        var options = EmulatorOptions()
        options.recordsRequests = false
        try await withEmulator(options) { emulator in
            _ = try await App(emulator: emulator).authorize()
            #expect(emulator.control.counts[.authorize] == 1)
            #expect(emulator.control.requests.isEmpty)
        }
    }

    @Test func recordsRequests() async throws {
        try await withEmulator { emulator in
            _ = try await HTTP.get(
                "\(emulator.url)/common/discovery/instance?api-version=1.1", headers: ["x-client-SKU": "test"])
            let request = try #require(emulator.control.requests.first)
            #expect(request.counter == .instanceDiscovery)
            #expect(request.path == "/common/discovery/instance")
            #expect(request.parameters == ["api-version": "1.1"])
            #expect(request.headers["x-client-sku"] == "test")
        }
    }
}
