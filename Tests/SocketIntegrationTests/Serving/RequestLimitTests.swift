internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel
internal import TokenWire

/// The limits of a process's requests in progress. The connections of the test are those of one process.
@Suite(.bounded) struct RequestLimitTests {
    /// The limit is that of the process, however many connections it has, and also if it closes those whose requests wait.
    @Test func limitsTheRequestsOfAProcess() async throws {
        var limits = PeerLimits()
        limits.requests = 4
        try await AgentFixture.with(peerLimits: limits) { f in
            let renewal = try await f.heldRenewal()
            let other = try await OtherProcess.connected(to: f.socketPath)
            let peer = try await offPool { try RawPeer.answered(f.socketPath) }
            var busy: RawPeer? = try RawPeer(f.socketPath)
            for number in 3...4 { try busy?.write(renewal, id: UInt64(number)) }
            try await busy?.begin(renewal)
            await f.emulator.control.waitForHeld(atLeast: 1)
            // The requests of a connection are handled in order, so that the first of these is the fourth in progress.
            try peer.write(renewal, id: 5)
            try peer.write(GetStatus(), id: 6)
            try await other.isAnsweredTwice()
            #expect(!peer.hasReceived)
            busy = nil
            try await other.isAnsweredTwice()
            #expect(!peer.hasReceived)
            f.emulator.control.release()
            #expect(Set(try await offPool { try (5...6).map { _ in try peer.reply()?.id } }) == [5, 6])
            try await other.end()
        }
    }

    /// What waits for a redemption in progress would count until its turn had come, though nobody waits for it.
    @Test func forgetsWhatWaitsForAClosedConnection() async throws {
        var limits = PeerLimits()
        limits.requests = 4
        try await AgentFixture.with(peerLimits: limits) { f in
            let renewal = try await f.heldRenewal()
            let peer = try await offPool { try RawPeer.answered(f.socketPath) }
            var busy: RawPeer? = try RawPeer(f.socketPath)
            try busy?.write(renewal, id: 3)
            await f.emulator.control.waitForHeld(atLeast: 1)
            for number in 4...6 {
                var other = renewal
                other.parameters.scopes = ScopeSet(["Scope\(number)"])
                try busy?.write(other, id: UInt64(number))
            }
            try peer.write(GetStatus(), id: 7)
            busy = nil
            // The one that has been sent is still in progress.
            #expect(try await offPool { try peer.reply()?.id } == 7)
            f.emulator.control.release()
        }
    }

    @Test func continuesWhenRequestsOfTheProcessEnd() async throws {
        var limits = PeerLimits()
        limits.requests = 2
        try await AgentFixture.with(peerLimits: limits) { f in
            let renewal = try await f.heldRenewal()
            let busy = try RawPeer(f.socketPath)
            for number in 1...3 { try busy.write(renewal, id: UInt64(number)) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            let peer = try RawPeer(f.socketPath)
            try peer.write(GetStatus())
            f.emulator.control.release()
            #expect(try await offPool { try peer.reply() } != nil)
            #expect(Set(try await offPool { try (1...3).map { _ in try busy.reply()?.id } }) == [1, 2, 3])
        }
    }

    /// The requests of the process wait for the one whose reply is not written, and that reply waits until others have been read.
    @Test func writesAReplyWhenOthersHaveBeenReadAlsoIfNoRequestIsAdmitted() async throws {
        var limits = PeerLimits()
        (limits.requests, limits.replyBytes) = (1, 1)
        try await AgentFixture.with(peerLimits: limits) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let hit = AcquireTokenSilent(parameters: try f.parameters(), account: account)
            let other = try await OtherProcess.connected(to: f.socketPath)
            let (unread, watching) = (try RawPeer(f.socketPath), try RawPeer(f.socketPath))
            // The agent has a reply that does not fit into the socket, and does not know that yet.
            try await unread.fill(with: hit, f)
            let position = try #require(try await watching.ask(WatchEvents(clientID: nil))).position
            try watching.write(WatchEvents(clientID: nil, position: position))
            for _ in 0..<2 { #expect(try await other.isAnswered()) }
            // It finds out when it could close the connection.
            unread.finishWriting()
            for _ in 0..<2 { #expect(try await other.isAnswered()) }
            let locking = try await OtherProcess.connected(to: f.socketPath, asking: Lock())
            #expect(!watching.hasReceived)
            try await offPool { unread.waitUntilClosed() }
            let reply = try #require(try await offPool { try watching.reply() }).reply(to: WatchEvents.self)
            #expect(reply.events.contains { $0.storeState == .locked })
            #expect(try await watching.ask(GetStatus()) != nil)
            for process in [other, locking] { try await process.end() }
        }
    }

    @Test func limitsTheBytesOfAProcessesRequests() async throws {
        try await expectRequestsToWait(bytes: 1000, extraParameters: ["long": String(repeating: "x", count: 1000)])
    }

    /// The tokens stay in memory until the peer reads its replies.
    @Test func countsTheTokensThatARequestWaitsFor() async throws { try await expectRequestsToWait(bytes: 16 << 10) }

    /// Expects that further requests of a process wait while one is in progress that reaches the limit, and are answered afterwards.
    private func expectRequestsToWait(bytes: Int, extraParameters: [String: String] = [:]) async throws {
        var limits = PeerLimits()
        limits.requestBytes = bytes
        try await AgentFixture.with(peerLimits: limits) { f in
            var renewal = try await f.heldRenewal()
            renewal.parameters.extraParameters = extraParameters
            let other = try await OtherProcess.connected(to: f.socketPath)
            let peer = try await offPool { try RawPeer.answered(f.socketPath) }
            let busy = try RawPeer(f.socketPath)
            try busy.write(renewal)
            await f.emulator.control.waitForHeld(atLeast: 1)
            try peer.write(GetStatus())
            try await other.isAnsweredTwice()
            #expect(!peer.hasReceived)
            f.emulator.control.release()
            #expect(try await offPool { try peer.reply() } != nil)
            try await other.end()
        }
    }

    /// After a start, the ID tokens of a page are read from the store.
    @Test func countsThePageThatARequestWaitsFor() async throws {
        let folder = try TemporaryFolder()
        let state = folder.file("state")
        var client: ClientID?
        try await AgentFixture.with(adjust: { $0.stateDirectory = state }) { f in
            client = try f.parameters().clientID
            try await f.signIn("alice@contoso.com", f.parameters())
        }
        var limits = PeerLimits()
        limits.requestBytes = 64 << 10
        try await AgentFixture.with(peerLimits: limits, adjust: { $0.stateDirectory = state }) { [client] f in
            // Waits for the load, and reads no token.
            #expect(try await f.agent.status().accounts == 1)
            let list = try RequestFrame.encode(ListAccounts(clientID: client), id: 1)
            let status = try RequestFrame.encode(GetStatus(), id: 2)
            let peer = try RawPeer(f.socketPath)
            peer.write(list + status)
            let replies = try await offPool { [try peer.reply(), try peer.reply()].compactMap(\.self) }
            try #require(replies.map(\.id) == [1, 2])
            let account = try #require(try replies[0].reply(to: ListAccounts.self).accounts.first)
            #expect(account.homeIDToken != nil || account.tenantProfiles.contains { $0.idToken != nil })
        }
    }
}
