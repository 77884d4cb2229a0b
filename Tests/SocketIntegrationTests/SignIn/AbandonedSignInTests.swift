internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Sign-ins whose app has gone.
@Suite(.bounded) struct AbandonedSignInTests {
    /// Returns when the agent has noticed that connections of other peers are closed: it handles what happens in order, and a
    /// second request comes after everything that happened before the first.
    private func settle(_ f: AgentFixture) async throws {
        for _ in 0..<2 { _ = try await f.agent.status() }
    }

    private func expectEnd(of begun: BeginInteractive.Reply, _ f: AgentFixture) async throws {
        try await settle(f)
        // The listener's thread closes it; a page that it still serves says that no sign-in waits.
        while let page = try? await WebClient.send(begun.redirectURI) { #expect(page.status == 400) }
        let error = await #expect(throws: TokenError.self) {
            try await f.agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID))
        }
        #expect(error?.code == .sessionCanceled)
        #expect(f.timers.count == 0)
    }

    @Test func endsASignInWithItsConnection() async throws {
        try await AgentFixture.with { f in
            let peer = Connection(try RawPeer(f.socketPath))
            let begun = try #require(try await peer.ask(BeginInteractive(parameters: f.parameters())))
            peer.close()
            try await expectEnd(of: begun, f)
        }
    }

    @Test func endsASignInWithItsConnectionAlsoWhileACallWaits() async throws {
        try await AgentFixture.with { f in
            let peer = Connection(try RawPeer(f.socketPath))
            let begun = try #require(try await peer.ask(BeginInteractive(parameters: f.parameters())))
            try peer.write(CompleteInteractive(sessionID: begun.sessionID), id: 2)
            try await settle(f)
            peer.close()
            try await expectEnd(of: begun, f)
        }
    }

    @Test func continuesASignInOfAnAppThatOnlyEndsItsWritingSide() async throws {
        try await AgentFixture.with { f in
            let peer = Connection(try RawPeer(f.socketPath))
            let begun = try #require(
                try await peer.ask(BeginInteractive(parameters: f.parameters(), loginHint: "alice@contoso.com")))
            try peer.write(CompleteInteractive(sessionID: begun.sessionID), id: 2)
            peer.finishWriting()
            try await settle(f)
            try await f.browse(to: begun.authorizationURL)
            let result = try await peer.reply()?.reply(to: CompleteInteractive.self)
            #expect(result?.account.username == "alice@contoso.com")
        }
    }

    /// An app may use a connection for each thread.
    @Test func continuesASignInOnTheConnectionThatWaitsForTheResult() async throws {
        try await AgentFixture.with { f in
            let (first, second) = (Connection(try RawPeer(f.socketPath)), Connection(try RawPeer(f.socketPath)))
            // Nothing is read of a connection whose peer is not identified yet.
            _ = try await second.ask(GetStatus())
            let begun = try #require(
                try await first.ask(BeginInteractive(parameters: f.parameters(), loginHint: "alice@contoso.com")))
            try second.write(CompleteInteractive(sessionID: begun.sessionID), id: 2)
            try await settle(f)
            first.close()
            try await settle(f)
            try await f.browse(to: begun.authorizationURL)
            let result = try await second.reply()?.reply(to: CompleteInteractive.self)
            #expect(result?.account.username == "alice@contoso.com")
        }
    }

    @Test func endsASignInOnAnotherDeviceWithItsConnection() async throws {
        try await AgentFixture.with { f in
            let peer = Connection(try RawPeer(f.socketPath))
            let begun = try #require(try await peer.ask(BeginDeviceCode(parameters: f.parameters())))
            try peer.write(CompleteDeviceCode(sessionID: begun.sessionID), id: 2)
            try await settle(f)
            peer.close()
            // The call that polls ends in its own time.
            while f.timers.count > 0 { try await settle(f) }
            let error = await #expect(throws: TokenError.self) {
                try await f.agent.completeDeviceCode(CompleteDeviceCode(sessionID: begun.sessionID))
            }
            #expect(error?.code == .sessionCanceled)
        }
    }

    /// The provider answers when the app has gone.
    @Test func leavesNothingBehindOfASignInWhoseAppGoesBeforeItHasBegun() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .openIDConfiguration
                    $0.hold = true
                })
            let peer = Connection(try RawPeer(f.socketPath))
            try peer.write(BeginInteractive(parameters: f.parameters()), id: 1)
            await f.emulator.control.waitForHeld(atLeast: 1)
            peer.close()
            try await settle(f)
            f.emulator.control.release()
            // A sign-in that begins later gets its answer later.
            _ = try await f.agent.beginInteractive(BeginInteractive(parameters: f.parameters()))
            #expect(f.timers.count == 1, "that of the later one")
        }
    }

    /// The app goes on without the sign-in, of which it knows nothing: its call has ended before the reply.
    @Test(arguments: [false, true])
    func endsASignInWhoseCallEndsBeforeItHasBegun(byTimeout: Bool) async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .openIDConfiguration
                    $0.hold = true
                })
            let client = AgentClient(socketPath: f.socketPath, timeout: byTimeout ? .milliseconds(200) : .seconds(600))
            // On an open connection the request is sent at once, however short the time: without one, the time may be over before.
            while (try? await client.status()) == nil {}
            let call = Task { try await client.beginInteractive(BeginInteractive(parameters: f.parameters())) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            if !byTimeout { call.cancel() }
            let error = await #expect(throws: TokenError.self) { try await call.value }
            #expect(error?.code == (byTimeout ? .timedOut : .cancelled))
            f.emulator.control.release()
            // A sign-in that begins later gets its answer later.
            _ = try await f.agent.beginInteractive(BeginInteractive(parameters: f.parameters()))
            while f.timers.count > 1 { try await settle(f) }
            withExtendedLifetime(client) {}
        }
    }

    /// As when the agent is restarted while the user signs in: nobody has cancelled the sign-in, and apps show nothing if the user has.
    @Test func reportsThatTheSignInIsLostIfItsConnectionClosesBeforeTheCallThatWaits() async throws {
        try await AgentFixture.with { f in
            let path = f.folder.file("relay.sock")
            let relay = try SocketRelay(at: path, to: f.socketPath, closedConnections: 0)
            defer { relay.end() }
            let client = AgentClient(socketPath: path, timeout: .seconds(600))
            let presenter = SignInPresenter(
                method: .deviceCode,
                showDeviceCode: { _ in
                    relay.closeConnection()
                    // On the next connection. When the second one is answered, the agent knows that the first connection has closed.
                    for _ in 0..<2 { _ = try? client.listAccountsAndWait(ListAccounts(clientID: nil)) }
                })
            let error = await #expect(throws: TokenError.self) {
                try await client.signIn(BeginInteractive(parameters: f.parameters()), presenter: presenter)
            }
            #expect(error?.code == .agentUnavailable)
            #expect(error?.message.contains("the sign-in has ended with it") == true)
        }
    }

    /// A connection that a test can close at a point in time.
    private final class Connection {
        private var peer: RawPeer?

        init(_ peer: RawPeer) { self.peer = peer }

        func close() { peer = nil }

        func write(_ request: some WireRequest, id: UInt64) throws { try peer?.write(request, id: id) }

        func finishWriting() { peer?.finishWriting() }

        func ask<Request: WireRequest>(_ request: Request) async throws -> Request.Reply? {
            try await peer?.ask(request)
        }

        func reply() async throws -> ReplyFrame? {
            guard let peer else { return nil }
            return try await offPool { try peer.reply() }
        }
    }
}
